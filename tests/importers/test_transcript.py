"""Transcripts in Markdown and plain text: who speaks is told from the file's own way of saying it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.importers import detect
from memory_rag.importers.transcript_lines import speakers_in
from memory_rag.turns import Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


@pytest.mark.parametrize(
    "text",
    [
        "### User\nHej\n\n### Assistant\nHej!\n",
        "# Human\n\nHej\n\n# Claude\n\nHej!\n",
        "**User:** Hej\n\n**Assistant:**\nHej!\n",
        "__User__: Hej\n__Assistant__: Hej!",
        "User: Hej\nAssistant: Hej!\n",
        "USER:\nHej\n\nASSISTANT:\nHej!\n",
        "---\ntitle: Hälsning\n---\n\n## You\nHej\n## ChatGPT\nHej!\n",
        "User: Hej\r\nAssistant: Hej!\r\n",
    ],
)
def test_each_way_of_naming_who_speaks_is_understood(made: Made, import_all: ImportAll, text: str) -> None:
    path = made("talk.md", text)
    assert detect(path)[0].importer == "transcript"
    assert [(turn.role, turn.text) for turn in import_all(path).turns] == [(Role.USER, "Hej"), (Role.ASSISTANT, "Hej!")]


def test_people_speak_under_their_own_names(made: Made, import_all: ImportAll) -> None:
    text = "Ada: Hej\nBo: Hej hej\nAda: Kommer du?\nom en timme\nBo: Ja\nObs: inget namn\n"
    found = import_all(made("talk.txt", text))
    assert [(turn.speaker, turn.role, turn.text) for turn in found.turns] == [
        ("Ada", Role.USER, "Hej"),
        ("Bo", Role.USER, "Hej hej"),
        ("Ada", Role.USER, "Kommer du?\nom en timme"),
        ("Bo", Role.USER, "Ja\nObs: inget namn"),
    ]


def test_a_name_in_fenced_code_is_code(made: Made, import_all: ImportAll) -> None:
    code = "```yaml\nUser: x\n### Assistant\n```"
    found = import_all(made("talk.md", f"User: Se\n{code}\n\nAssistant: Jag ser\n"))
    assert found.texts == [f"Se\n{code}", "Jag ser"]


def test_headings_of_the_text_itself_stay_in_the_text(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("talk.md", "### User\nSkriv\n\n### Assistant\n# Bröd\n\n## Deg\nMjöl\n"))
    assert found.texts == ["Skriv", "# Bröd\n\n## Deg\nMjöl"]


def test_the_front_matter_names_the_conversation_and_what_comes_before_anybody_speaks_is_counted(
    made: Made, import_all: ImportAll
) -> None:
    found = import_all(made("talk.md", '---\ntitle: "Brödet"\n---\nInledning\n\nUser: Hej\nAssistant:\n'))
    assert [conversation.title for conversation in found.conversations] == ["Brödet"]
    assert found.skipped == {"text before the first speaker": 1, "nothing said": 1}


def test_a_text_in_which_nobody_speaks_is_one_document_if_that_is_asked_for(made: Made, import_all: ImportAll) -> None:
    path = made("notes.md", "# Bröd\n\nMjöl och vatten.\n")
    assert detect(path) == []
    found = import_all(path, format="transcript")
    assert found.texts == ["# Bröd\n\nMjöl och vatten."]
    assert found.noted == {"nobody speaks in it, stored as one document": 1}


def test_a_page_with_notes_and_warnings_is_no_talk_of_these_two(made: Made) -> None:
    prose = "Gräv ner bönorna en bit under jorden.\n" * 4
    page = f"**Note:** kort\n{prose}\n**Warning:** kallt\n{prose}\n" * 2
    assert [found.confidence for found in detect(made("guide.md", page))] == [0.3]
    assert [found.confidence for found in detect(made("config.txt", "Host: a\nUser: ada\nPort: 1\n"))] == [0.3]


def test_a_transcript_that_grows_keeps_the_turns_that_were_there(made: Made, import_all: ImportAll) -> None:
    text = "User: ja\nAssistant: nej\nUser: ja\n"
    before = import_all(made("a.md", text)).keys
    assert len(set(before)) == 3
    assert import_all(made("b.md", text + "Assistant: jo\n")).keys[:3] == before


STYLES: dict[str, Callable[[str, str], str]] = {
    "heading": lambda who, text: f"### {who}\n\n{text}\n\n",
    "bold": lambda who, text: f"**{who}:** {text}\n\n",
    "colon": lambda who, text: f"{who}: {text}\n\n",
}
LINES = st.text(st.characters(exclude_characters="\r\n`~", codec="utf-8"), min_size=1)
TEXTS = (
    st.lists(LINES, min_size=1, max_size=3)
    .map("\n".join)
    .map(str.strip)
    .filter(lambda text: bool(text) and speakers_in(text.split("\n") * 2) is None and ":" not in text)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.tuples(st.sampled_from(["User", "Assistant"]), TEXTS), min_size=1, max_size=5),
    style=st.sampled_from(sorted(STYLES)),
)
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, said: list[tuple[str, str]], style: str
) -> None:
    text = "".join(STYLES[style](who, words) for who, words in said)
    found = import_all(made("talk.md", text.encode()), format="transcript")
    assert [(turn.speaker, turn.text) for turn in found.turns] == said
