"""Every language says everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memory_rag.interfaces.page.texts as texts_module
from memory_rag.interfaces.page.texts import chosen, languages, texts_in
from memory_rag.privacy.kinds import Action, Kind
from memory_rag.retrieval.signals import signals

FOLDER = Path(texts_module.__file__).parent


def test_there_are_english_and_swedish() -> None:
    assert languages() == {"en": "English", "sv": "Svenska"}


@pytest.mark.parametrize("language", sorted(languages()))
def test_a_language_has_the_same_keys_and_the_same_values_to_fill_in(language: str) -> None:
    source, other = texts_in("en").catalogue, texts_in(language).catalogue

    assert other.keys() == source.keys()
    fields = {key: sorted(re.findall(r"{(\w+)}", text)) for key, text in source.items()}
    assert {key: sorted(re.findall(r"{(\w+)}", text)) for key, text in other.items()} == fields


def test_every_text_that_a_template_asks_for_is_there() -> None:
    asked = set()
    for template in (FOLDER / "templates").glob("*.html"):
        asked |= set(re.findall(r"\bt\('(\w+)'[,)]", template.read_text(encoding="utf-8")))

    assert asked - texts_in("en").catalogue.keys() == set()


def test_every_signal_kind_and_action_has_a_name() -> None:
    wanted = {f"signal_{one.name}" for one in signals()}
    wanted |= {f"kind_{kind.value}" for kind in Kind} | {f"action_{action.value}" for action in Action}

    assert wanted - texts_in("en").catalogue.keys() == set()


@pytest.mark.parametrize(
    ("cookie", "accepted", "language"),
    [("sv", "en", "sv"), ("", "sv-SE,sv;q=0.9,en;q=0.8", "sv"), ("xx", "de, en", "en"), ("", "", "en"),
     ("../en", "", "en")],
)  # fmt: skip
def test_a_language_is_chosen_by_cookie_then_by_what_the_browser_asks_for(
    cookie: str, accepted: str, language: str
) -> None:
    assert chosen(cookie, accepted).language == language


def test_one_thing_and_many_are_told_apart() -> None:
    assert texts_in("en").tell("n_turns", 1) == "1 turn"
    assert texts_in("en").tell("n_turns", 1200) == "1,200 turns"
    assert texts_in("sv").tell("n_turns", 1200) == "1\u202f200 inlägg"
