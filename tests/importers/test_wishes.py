"""What the user wants of a file: other names, roles, and only what is newer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers.wishes import SpeakerMap
from memory_rag.turns import Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

CHAT = "2026-07-01, 10:00 - Mamma: hej\n2026-07-02, 10:00 - +46 70 1: hej hej\n2026-07-03, 10:00 - Bot: beep\n"


def test_speakers_get_the_names_and_roles_given(made: Made, import_all: ImportAll) -> None:
    names = SpeakerMap.parse(["+46 70 1=Bo", "Bot=assistant:Nova", "Mamma=Moder: Ek"])
    turns = import_all(made("a.txt", CHAT), speakers=names).turns
    assert [(turn.speaker, turn.role) for turn in turns] == [
        ("Moder: Ek", Role.USER),
        ("Bo", Role.USER),
        ("Nova", Role.ASSISTANT),
    ]


def test_names_may_come_from_a_file(made: Made) -> None:
    path = made("names.json", {"U1": "Ada"})
    assert SpeakerMap.parse([str(path), "U2=Bo"]).names == {"U1": "Ada", "U2": "Bo"}


@pytest.mark.parametrize("given", ["Ada", "=Bo", "Ada="])
def test_what_is_neither_a_pair_nor_a_file_is_refused(given: str) -> None:
    with pytest.raises(
        ImportFormatError, match=r'neither OLD=NEW nor a JSON file .* write --speaker-map "Old name=New name"'
    ):
        SpeakerMap.parse([given])


def test_a_file_that_holds_no_names_is_refused(made: Made) -> None:
    with pytest.raises(ImportFormatError, match="no speaker map; it is a JSON object"):
        SpeakerMap.parse([str(made("names.json", ["Ada"]))])


def test_what_was_said_before_is_skipped_and_counted(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("a.txt", CHAT), since=datetime(2026, 7, 2, tzinfo=UTC))
    assert found.texts == ["hej hej", "beep"]
    assert found.skipped == {"said before 2026-07-02 00:00+00:00": 1}


def test_what_has_no_time_is_kept_whatever_the_bound(made: Made, import_all: ImportAll) -> None:
    path = made("a.md", "User: hej\nAssistant: hej!\n")
    assert import_all(path, since=datetime(2026, 7, 2, tzinfo=UTC)).texts == ["hej", "hej!"]
