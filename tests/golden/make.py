"""Makes golden memories: small ones of each format, kept for ever, which every later release must open.

``python -m tests.golden.make`` makes the one of the present format, under the name of its newest migration step; run it
when a release is made, and commit the folder. One that is there already is never made anew: it was released.
``python -m tests.golden.make m003_prompt`` makes one of an earlier step, with what that step's tables could hold.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from memory_rag.store.migrations import STEPS
from tests.end_to_end.full_memory import ODD, filled, opened

HERE: Final = Path(__file__).parent
AT: Final = 1_780_000_000_000_000
EXPECTED: Final = "expected.jsonl"


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (table, row) of an invented summer, for the tables that every step since the first has, and later ones."""
    said = [
        ("t1", "main", 0, "user", "Ebba", "The kayak is blue and leaks at the bow."),
        ("t2", "main", 1, "assistant", "assistant", "Noted: blue kayak, leaks at the bow."),
        ("t3", "main", 2, "user", "Åsa \udc80", ODD),
        ("t5", "other", 0, "user", "Bo", "Jag vill ha svaren på svenska."),
    ]
    for row, (turn_id, conversation_id, ordinal, role, speaker, text) in zip((1, 2, 3, 5), said, strict=True):
        data = text.encode("utf-8", "surrogatepass")
        yield (
            "turns",
            {
                "row": row,
                "turn_id": turn_id,
                "conversation_id": conversation_id,
                "session_id": f"{conversation_id}/1",
                "ordinal": ordinal,
                "role": role,
                "speaker": speaker.encode("utf-8", "surrogatepass"),
                "text": data,
                "sha256": hashlib.sha256(data).digest(),
                "said_at": AT + row * 60_000_000 if row != 3 else None,
                "said_at_text": b"last Thursday" if row == 3 else None,
                "blocks": b'[{"kind": "image", "data": {"url": "a.png"}, "caption": "the jetty"}]'
                if row == 2
                else None,
                "source_name": "elsewhere" if row == 5 else None,
                "source_id": "n5" if row == 5 else None,
                "raw": '{"raw": "ö"}'.encode() if row == 5 else None,
                "recalled": int(row != 2),
                "indexed_start": 0 if row == 5 else None,
                "indexed_end": 10 if row == 5 else None,
            },
        )
    yield "versions", {"row": 1, "replaced_by": 6, "text": b"The kayak is red.", "speaker": b"Ebba", "said_at": None}
    yield "conversations", {"conversation_id": "other", "title": "Språk".encode()}
    for seq, kind, row in ((1, "add", 1), (2, "add", 2), (3, "add", 3), (4, "add", 4), (5, "add", 5)):
        yield "changes", {"seq": seq, "kind": kind, "row": row, "changed_at": AT}
    yield "changes", {"seq": 6, "kind": "correct", "row": 1, "changed_at": AT}
    yield "changes", {"seq": 7, "kind": "remove", "row": 4, "changed_at": AT}
    yield "facts", {"name": "languages", "value": "en,sv"}
    yield "vanished", {"row": 5, "noticed_at": AT}
    yield "state", {"name": "task", "value": b'{"task": "mend the bow"}', "changed_at": AT}
    yield "pins", {"pin": 1, "text": b"always in Swedish", "turn_id": "t5", "pinned_at": AT}
    yield "decisions", {"decision": 1, "text": b"resin", "because": b"it sets", "turn_id": None, "decided_at": AT}
    yield "returned_blocks", {"row": 2, "provider": "anthropic", "content": b'[{"type": "text", "text": "Noted"}]'}
    summary = {"conversation_id": "main", "level": "hundred", "made_by": "extractive", "made_at": AT, "focus": b""}
    yield "summaries", {"summary": 1, **summary, "note": b"", "is_open": 1, "is_stale": 0}
    line = {"kind": "fact", "text": b"The kayak is blue.", "reason": b"", "speaker": b"Ebba", "verbatim": 0}
    yield "summary_lines", {"summary": 1, "place": 0, **line}
    yield "summary_citations", {"summary": 1, "place": 0, "row": 1}
    for row in (1, 2, 3):
        yield "summary_turns", {"row": row, "summary": 1}


def make_earlier(step: str, folder: Path) -> None:
    """Make a memory as the release that had this step last would have left it."""
    names = [one.__name__ for one in STEPS]
    folder.mkdir()
    database = sqlite3.connect(folder / "turns.sqlite", isolation_level=None)
    # Small pages make a small file to keep; the format is the same.
    database.execute("PRAGMA page_size = 512")
    database.execute("BEGIN")
    database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) WITHOUT ROWID")
    for one in STEPS[: names.index(step) + 1]:
        one(database)
        database.execute("INSERT INTO migrations VALUES (?, '2026-11-30T00:00:00+00:00')", (one.__name__,))
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, row in rows():
        if table in tables:
            marks = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    database.execute("COMMIT")
    database.execute("PRAGMA journal_mode = WAL")
    database.close()


def make_present(folder: Path) -> None:
    """Make a memory with something in every table, vectors and a saved index."""
    with tempfile.TemporaryDirectory() as place:
        filled(Path(place) / "memory", Path(place))
        database = sqlite3.connect(Path(place) / "memory" / "turns.sqlite", isolation_level=None)
        for table in ("pinned_files", "pinned_words"):
            database.execute(f"UPDATE {table} SET path = CAST('/home/ebba/rules.md' AS BLOB)")
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA page_size = 512")
        database.execute("VACUUM")
        database.execute("PRAGMA journal_mode = WAL")
        database.close()
        (Path(place) / "memory" / ".lock").unlink(missing_ok=True)
        shutil.copytree(Path(place) / "memory", folder)


def export(folder: Path) -> bytes:
    """Return what a copy of a golden memory is exported to."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder, Path(place) / "memory")
        with opened(Path(place) / "memory", create=False) as memory:
            return "".join(memory.export()).encode()


def main(arguments: list[str]) -> int:
    names = [step.__name__ for step in STEPS]
    step = arguments[0] if arguments else names[-1]
    if step not in names:
        print(f"no step {step!r}; the steps are: {', '.join(names)}", file=sys.stderr)
        return 2
    folder = HERE / step
    if folder.exists():
        print(f"{folder} is there already; what was released is never made anew", file=sys.stderr)
        return 1
    make_present(folder) if step == names[-1] else make_earlier(step, folder)
    content = export(folder)
    assert tempfile.gettempdir().encode() not in content
    assert all(isinstance(json.loads(line), dict) for line in content.split(b"\n")[:-1])
    (folder / EXPECTED).write_bytes(content)
    print(f"made {folder}; commit it")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
