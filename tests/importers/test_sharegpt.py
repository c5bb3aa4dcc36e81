"""ShareGPT: arrays and lines, odd openings, and values as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.turns import Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def said(who: str, value: str) -> dict[str, str]:
    return {"from": who, "value": value}


TALK = {"id": "x_0", "conversations": [said("gpt", "Hej!"), said("human", "Ett"), said("human", "<b>Två</b>")]}


@pytest.mark.parametrize("as_lines", [False, True])
def test_it_may_begin_with_the_model_and_have_two_of_a_person_in_a_row(
    made: Made, import_all: ImportAll, as_lines: bool
) -> None:
    other = {**TALK, "id": "x_1"}
    content = "".join(json.dumps(one) + "\n" for one in (TALK, other)) if as_lines else [TALK, other]
    found = import_all(made("sharegpt.json", content))
    assert [(turn.conversation_id, turn.role, turn.text) for turn in found.turns][:3] == [
        ("x_0", Role.ASSISTANT, "Hej!"),
        ("x_0", Role.USER, "Ett"),
        ("x_0", Role.USER, "<b>Två</b>"),
    ]
    assert [turn.said_at for turn in found.turns] == [None] * 6


@pytest.mark.parametrize(
    ("who", "role", "recalled"),
    [
        ("human", Role.USER, True),
        ("user", Role.USER, True),
        ("chatgpt", Role.ASSISTANT, True),
        ("bing", Role.ASSISTANT, True),
        ("system", Role.SYSTEM, True),
        ("function_call", Role.ASSISTANT, False),
        ("observation", Role.TOOL, False),
        ("tool", Role.TOOL, False),
    ],
)
def test_every_word_for_a_speaker_has_its_role(
    made: Made, import_all: ImportAll, who: str, role: Role, recalled: bool
) -> None:
    (turn,) = import_all(made("s.json", [{"conversations": [said(who, "x")]}])).turns
    assert (turn.role, turn.recalled) == (role, recalled)


def test_other_names_of_the_fields_are_taken(made: Made, import_all: ImportAll) -> None:
    assert import_all(made("a.json", [{"items": [said("human", "a")]}])).texts == ["a"]
    assert import_all(made("b.json", [{"conversations": [{"role": "user", "content": "b"}]}])).texts == ["b"]


def test_what_is_no_message_is_counted(made: Made, import_all: ImportAll) -> None:
    odd = [said("human", "a"), said("narrator", "b"), {"from": "gpt", "value": None}, 7]
    found = import_all(made("a.json", [{"conversations": odd}, {"conversations": []}, {"x": 1}]))
    assert found.texts == ["a"]
    assert found.skipped == {"unknown role 'narrator'": 1, "nothing said": 1, "no role": 1, "not a conversation": 2}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talk=st.lists(st.tuples(st.sampled_from(["human", "gpt"]), st.text(min_size=1)), min_size=1, max_size=6))
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, talk: list[tuple[str, str]]
) -> None:
    found = import_all(made("a.json", [{"id": "a", "conversations": [said(who, text) for who, text in talk]}]))
    roles = {"human": Role.USER, "gpt": Role.ASSISTANT}
    assert [(turn.role, turn.text) for turn in found.turns] == [(roles[who], text) for who, text in talk]
