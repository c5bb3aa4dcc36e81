"""Nobody changes by a form what they haven't seen."""

from __future__ import annotations

import pytest

from tests.interfaces.page.conftest import Shown, hidden


def test_words_that_were_corrected_meanwhile_are_shown_before_they_are_replaced(shown: Shown) -> None:
    form = hidden(shown.get("/correct?id=t3").text) | {"speaker": "Ebba", "text": "My kayak is red."}
    shown.memory.correct("t3", text="My kayak is green.")

    answer = shown.client.post("/correct", data=form)

    assert answer.status_code == 409
    assert "Somebody changed this turn since you opened the form" in answer.text
    assert "My kayak is green." in answer.text
    assert "My kayak is red.</textarea>" in answer.text
    assert shown.memory.get("t3").text == "My kayak is green."

    shown.client.post("/correct", data=form | hidden(answer.text))
    assert shown.memory.get("t3").text == "My kayak is red."


def test_the_same_words_sent_twice_are_one_correction(shown: Shown) -> None:
    form = hidden(shown.get("/correct?id=t3").text) | {"speaker": "Ebba", "text": "My kayak is red."}

    for _ in range(2):
        assert shown.client.post("/correct", data=form).status_code == 303

    assert len(shown.memory.store.earlier_versions("t3")) == 1


def test_erasing_the_old_version_proves_it_and_shows_first_what_goes_along(shown: Shown) -> None:
    shown.memory.prompt.pins.add("Call 070-123 45 67 about it.", turn_id="t3")
    form = hidden(shown.get("/correct?id=t3").text) | {"speaker": "Ebba", "text": "It floats.", "erase": "1"}

    asked = shown.client.post("/correct", data=form)
    assert asked.status_code == 409
    assert "Call 070-123 45 67 about it." in asked.text
    assert len(shown.memory.prompt.pins.all()) == 1

    done = shown.client.post("/correct", data=form | hidden(asked.text))
    assert "The old version is erased" in done.text
    assert "Proved: nothing of it is left" in done.text
    assert shown.memory.prompt.pins.all() == []
    assert shown.memory.store.earlier_versions("t3") == []


def test_a_turn_whose_words_changed_is_shown_again_before_it_is_forgotten(shown: Shown) -> None:
    form = hidden(shown.get("/forget?turn=t3").text)
    shown.memory.correct("t3", text="This one is worth keeping.")

    asked = shown.client.post("/forget", data=form)

    assert "Something changed since you looked" in asked.text
    assert "This one is worth keeping." in asked.text
    assert len(shown.memory) == 6


@pytest.mark.parametrize(
    ("path", "fields"),
    [("/forget", {}), ("/correct", {"text": "x", "speaker": "y"}), ("/correct", {"text": "x", "erase": "1"})],
)
def test_what_was_forgotten_meanwhile_is_told_as_gone(shown: Shown, path: str, fields: dict[str, str]) -> None:
    form = hidden(shown.get(f"{path}?{'turn' if path == '/forget' else 'id'}=t3").text) | fields
    shown.memory.forget(["t3"])

    answer = shown.client.post(path, data=form)

    assert answer.status_code == 404
    assert "It may have been forgotten since" in answer.text
    assert len(shown.memory) == 5


def test_what_was_taken_off_in_another_tab_is_no_fault_of_the_server(shown: Shown) -> None:
    pin = shown.memory.prompt.pins.add("Be brief.")

    assert shown.post("/unpin", {"id": pin.pin_id}).status_code == 303
    assert shown.post("/unpin", {"id": pin.pin_id}).status_code == 400
    assert shown.post("/undecide", {"id": "d9"}).status_code == 400
    assert shown.post("/state", {"name": "nope", "value": ""}).status_code in (303, 400)
    assert shown.post("/summary", {"conversation": "nope"}).status_code in (303, 400, 404)


def test_a_form_of_another_process_changes_nothing_and_says_what_to_do(shown: Shown) -> None:
    form = hidden(shown.get("/forget?turn=t3").text) | {"mark": "0" * 64}

    answer = shown.client.post("/forget", data=form, headers={"accept-language": "sv"})

    assert answer.status_code == 403
    assert "Gå tillbaka, ladda om sidan och skicka det igen" in answer.text
    assert len(shown.memory) == 6
