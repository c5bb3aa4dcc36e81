"""One goes from a memory to another, and a form reaches the memory that it was made for."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from memory_rag.memory import Memory
from tests.interfaces.page.conftest import Shown, hidden


def test_the_memories_of_the_home_folder_are_listed_and_opened(only_shown: Shown) -> None:
    listed = only_shown.get("/memories").text
    assert 'href="/" aria-current="true"><bdi>main</bdi>' in listed
    assert 'href="/memory/work/"><bdi>work</bdi>' in listed

    opened = only_shown.get("/memory/work/search?q=work")
    assert "Only at" in opened.text
    assert 'href="/memory/work/turn?id=t1' in opened.text
    assert 'href="/turn?' not in opened.text


@pytest.mark.parametrize(
    "view",
    ["/", "/search?q=work", "/compare?q=work", "/quotes?q=only+at", "/turn?id=t1", "/conversation?id=jobs", "/summary",
     "/about", "/correct?id=t1", "/forget", "/forget?turn=t1", "/retention", "/benchmarks", "/import", "/memories"],
)  # fmt: skip
def test_every_view_of_another_memory_stays_in_it(only_shown: Shown, view: str) -> None:
    page = only_shown.get("/memory/work" + view)

    assert page.status_code == 200
    links = re.findall(r'(?:href|action)="(/[^"]*)"', page.text)
    outside = [one for one in links if not one.startswith(("/memory/work/", "/static/", "/language"))]
    assert outside == (["/"] if view == "/memories" else [])


def test_a_form_of_one_tab_doesn_t_reach_the_memory_of_another(shown: Shown) -> None:
    with Memory.open(shown.home / "work", embedder="none") as work:
        work.add("Only at work.")
    form = hidden(shown.get("/memory/work/forget?turn=t1").text)
    shown.get("/forget?turn=t1")

    done = shown.client.post("/memory/work/forget", data=form)

    assert "Proved: nothing of it is left" in done.text
    assert len(shown.memory) == 6
    with Memory.open(shown.home / "work", embedder="none") as work:
        assert len(work) == 0


def test_going_on_and_exporting_stay_in_the_memory(shown: Shown) -> None:
    with Memory.open(shown.home / "work", embedder="none") as work:
        work.add("Only at work.")
        lines = "".join(work.export())

    pinned = shown.post("/memory/work/pin", {"text": "Be brief."})

    assert pinned.headers["location"] == "/memory/work/about#pins"
    assert shown.memory.prompt.pins.all() == []
    exported = shown.get("/memory/work/export/jsonl")
    assert exported.headers["content-disposition"] == 'attachment; filename="work.jsonl"'
    assert exported.text.splitlines()[1] == lines.splitlines()[1]


@pytest.mark.parametrize("name", ["nope", "..%2fmain", "main%2f..", "%00", "main%00", "a" * 300, "%ff"])
def test_a_name_that_is_no_memory_s_is_not_there(only_shown: Shown, name: str) -> None:
    for view in ("/", "/turn?id=t1", "/export/jsonl", "/import"):
        answer = only_shown.get(f"/memory/{name}{view}")
        assert answer.status_code == 404
    assert sorted(one.name for one in only_shown.home.iterdir()) == ["main", "work"]


def test_a_memory_may_be_called_as_one_likes(shown: Shown) -> None:
    for name in ("a?b#c d", "Åsas minne", "<b>x</b>", "100%", "'\""):
        with Memory.open(shown.home / name, embedder="none") as memory:
            memory.add("Said here.")

    for name in ("a?b#c d", "Åsas minne", "100%", "'\""):
        root = f"/memory/{quote(name, safe='')}"
        page = shown.get(root + "/turn?id=t1")
        assert "Said here." in page.text
        assert f'action="{root}/' in shown.get(root + "/correct?id=t1").text
    assert "<b>x" not in shown.get("/memories").text
