"""What is stored about a person is shown, and goes when it is said."""

from __future__ import annotations

import re
from pathlib import Path

from tests.interfaces.page.conftest import Shown


def test_a_pinned_file_is_told_with_its_state_and_taken_off(shown: Shown, tmp_path: Path) -> None:
    file = tmp_path / "project <b>.md"
    file.write_text("Weigh in grams.")
    shown.memory.prompt.files.pin(file)
    assert "as it was pinned" in shown.get("/about").text
    file.write_text("Weigh in ounces.")
    assert "changed since" in shown.get("/about").text

    assert shown.post("/unpin-file", {"path": str(file)}).status_code == 303

    assert shown.memory.prompt.files.read() == []
    assert 'id="files"' not in shown.get("/about").text


def test_the_state_is_shown_field_by_field_under_the_names_that_take_it_away(shown: Shown) -> None:
    state = shown.memory.prompt.state
    state.set("goal.next", "paddle")
    state.set("goal.steps", ["resin", "sand"])
    state.set("a", 1)

    page = shown.get("/about").text

    assert re.findall(r'name="name" value="([^"]*)"', page) == ["goal.next", "goal.steps", "a"]
    assert "<bdi>goal.steps</bdi>" in page
    shown.post("/state", {"name": "goal.next", "value": ""})
    assert state.get() == {"goal": {"steps": ["resin", "sand"]}, "a": 1}


def test_going_off_the_record_and_on_again_is_said_on_the_home_page(shown: Shown) -> None:
    shown.post("/off-record", {"off": "1"})
    assert "Off the record" in shown.get("/").text
    shown.post("/off-record", {"off": "0"})
    assert "Off the record" not in shown.get("/").text


def test_what_was_found_is_counted_and_looked_for_anew(only_shown: Shown) -> None:
    page = only_shown.get("/about?look=1").text

    assert '<th scope="row">phone number</th><td>marked</td><td class="number">1</td>' in page
    at = only_shown.memory.get("t3").text.index("070-123 45 67")
    assert f'href="/turn?id=t3&amp;start={at}&amp;end={at + 13}#turn-t3"' in page
    assert "Nothing personal or secret was found" in only_shown.get("/memory/work/about?look=1").text
