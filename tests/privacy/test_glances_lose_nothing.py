"""The cheap looks before the search for secrets change nothing of what is found: asked with and without them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_rag.importers import open_import
from memory_rag.privacy.finding import find
from memory_rag.privacy.glance import ALL, KEY, PASSWORD, PRIVATE_KEY
from memory_rag.privacy.screening import Screening
from memory_rag.privacy.source_glance import is_dull
from memory_rag.settings import Settings
from memory_rag.turns import Turn
from tests.eval_sets.made_secrets import read_examples
from tests.privacy.without_glance import found_without_glance

TAKEN = PASSWORD | KEY | PRIVATE_KEY
NAMES = ("text", "content", "password", "api_key", "key", "tokens", "input_tokens", "tokenet", "keyboard", "nyckeln")

Shape = Callable[[str], Any]
SHAPES: dict[str, Shape] = {
    "a message": lambda text: {"id": "58322eaf-a99d-559f-93f0-e27a0f473981", "role": "user", "content": text},
    "a text twice": lambda text: {"text": text, "content": [{"type": "text", "text": text, "citations": []}]},
    "an answer": lambda text: {"message": {"content": text, "usage": {"input_tokens": 4, "output_tokens": 27}}},
    "under a name that tells": lambda text: {"role": "user", "password": text, "api_key": [text]},
    "as a name": lambda text: {"fields": {text: 1}},
    "in a list": lambda text: [text, {"ts": "1700000001.000200"}, text],
}


def check(text: str, raws: list[str]) -> None:
    everything = find(text, seen=ALL)
    assert find(text) == everything
    screening = Screening.of_settings(Settings())
    for raw in raws:
        found = list(found_without_glance(raw))
        assert [(value, one.kind) for value, one in screening.found_in_raw(raw)] == found
        if not everything and is_dull(raw, text, TAKEN):
            assert found == []


def raws_of(text: str) -> list[str]:
    return [json.dumps(shape(text), ensure_ascii=escaped) for shape in SHAPES.values() for escaped in (False, True)]


def test_every_labelled_secret_is_found_in_every_place_a_source_has() -> None:
    texts = [example.text for example in read_examples()]
    assert len(texts) > 400
    for text in texts[::2]:
        check(text, raws_of(text))


@given(
    st.dictionaries(
        st.sampled_from(NAMES) | st.text(max_size=8),
        st.sampled_from(["Granola77!", "a8F3kLm9Qw2Zx7Tp5Rv1Yd4S", "-u bob:Granola77", "hej", "", "x" * 20])
        | st.text(max_size=20)
        | st.integers(0, 10**12),
        max_size=5,
    ),
    st.data(),
)
@example({"keyboard": "a8F3kLm9Qw2Zx7Tp5Rv1Yd4S"}, None)
@example({"tokenet": "a8F3kLm9Qw2Zx7Tp5Rv1Yd4S"}, None)
@example({"key": "a8F3kLm9Qw2Zx7Tp5Rv1Yd4S", "text": "hej"}, None)
def test_a_source_that_is_called_dull_holds_nothing(fields: dict[str, Any], data: Any) -> None:
    strings = [value for value in fields.values() if isinstance(value, str)] or [""]
    text = strings[0] if data is None else data.draw(st.sampled_from(strings))
    # What was met before is known the second time.
    for _time in range(2):
        check(text, [json.dumps(fields), json.dumps({"message": fields}, ensure_ascii=False)])


def test_most_sources_of_a_usual_history_are_dull() -> None:
    raws = [json.dumps({"id": f"{number:08x}-aa", "content": f"ord {number}", "at": number}) for number in range(9)]
    assert [is_dull(raw, f"ord {number}", TAKEN) for number, raw in enumerate(raws)] == [True] * 9
    assert not is_dull(raws[0], "ord 0", ALL)
    assert not is_dull('{"content": "ord", "password": "x"}', "ord", TAKEN)
    assert not is_dull("12:00 - Ada: ord", "ord", TAKEN)


@pytest.mark.slow
@pytest.mark.needs_data
def test_nothing_more_is_found_in_real_talks_when_every_rule_is_asked(data_dir: Path) -> None:
    turns: list[Turn] = []
    for place in (data_dir / "locomo10.json", data_dir / "beam" / "100K"):
        with open_import(place) as opened:
            turns += [item for file in opened for item in file if isinstance(item, Turn)]
    assert len(turns) > 9000
    for turn in turns:
        assert turn.source is not None
        check(turn.text, [turn.source.raw or ""])
