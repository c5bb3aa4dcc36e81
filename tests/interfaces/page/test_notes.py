"""What an import says of messages is said in the reader's language, whichever importer says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_rag
from memory_rag.importers.report import FORGOTTEN
from memory_rag.ingest import RECALLED
from memory_rag.interfaces.page.asked import Asked
from memory_rag.interfaces.page.notes import reason_shown
from memory_rag.interfaces.page.texts import texts_in

PACKAGE = Path(memory_rag.__file__).parent


def asked(language: str) -> Asked:
    return Asked("/import", {}, texts_in(language), None, "m")  # type: ignore[arg-type]


def reasons() -> Iterator[str]:
    """Yield every reason that stands whole in the code of importers."""
    for file in [*(PACKAGE / "importers").glob("*.py"), PACKAGE / "ingest.py"]:
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            given = [word.value for word in call.keywords if word.arg == "problem" and call.func.id == "Moment"]
            given += call.args[:1] if call.func.id in ("Skipped", "Noted") else []
            for value in given:
                branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                yield from (
                    one.value
                    for one in branches
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value
                )


def test_every_reason_of_an_importer_is_told_in_swedish() -> None:
    untold = {reason for reason in [*reasons(), RECALLED, FORGOTTEN] if not reason_shown(asked("sv"), reason).is_told}

    assert untold == set()
    assert "conversation id repeated, numbered" in set(reasons())


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("nothing said", "inget sagt"),
        ("unknown role 'moderator'", "okänd roll 'moderator'"),
        ("no message but 'summary'", "inget meddelande utan 'summary'"),
        ("a line that isn't UTF-8", "en rad som inte är UTF-8"),
        ("no session_id and no text", "något saknas: session_id, text"),
        ("time out of range", "tiden går inte att tolka och räknas som okänd"),
        ("a conversation of a shape that isn't known (KeyError)", "ett samtal vars form inte är känd"),
        ("forgotten earlier; --include-forgotten takes it in again", "glömt tidigare och tas inte in igen"),
    ],
)
def test_what_a_reason_names_is_told_with_it(reason: str, told: str) -> None:
    assert reason_shown(asked("sv"), reason).text == told


def test_what_nobody_knows_is_told_as_it_is() -> None:
    shown = reason_shown(asked("sv"), "kept out by a rule of somebody's own")

    assert (shown.text, shown.is_told) == ("kept out by a rule of somebody's own", False)
