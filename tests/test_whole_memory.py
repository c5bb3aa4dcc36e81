"""An export holds all that a memory holds: put back, it is the same memory, to the byte."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError, StoreError
from memory_rag.importers import ImportOptions
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.store.whole import LEFT_OUT, is_untouched
from memory_rag.turns import Role, Turn
from tests.end_to_end.full_memory import ODD, filled, opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("full")
    filled(place / "memory", place)
    return place / "memory"


def exported(folder: Path) -> bytes:
    with opened(folder) as memory:
        return "".join(memory.export()).encode()


def put_back(content: bytes, place: Path, **given: Any) -> Path:
    (place / "export.jsonl").write_bytes(content)
    with opened(place / "again", **given) as memory:
        memory.import_path(place / "export.jsonl")
    return place / "again"


def tables(folder: Path) -> dict[str, list[Any]]:
    """Return every row of every table, as SQLite gives it."""
    database = sqlite3.connect(folder / "turns.sqlite")
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    rows = {name: sorted(database.execute(f'SELECT * FROM "{name}"'), key=repr) for name in names}
    database.close()
    return {name: rows[name] for name in names if name not in LEFT_OUT}


def test_something_is_in_every_table_that_is_compared(folder: Path) -> None:
    filled_in = {name for name, rows in tables(folder).items() if rows}

    assert filled_in >= {
        "changes", "conversations", "decisions", "events", "facts", "pinned_files", "pins", "returned_blocks", "state",
        "summaries", "summary_citations", "summary_lines", "summary_turns", "turns", "vanished", "versions",
    }  # fmt: skip


def test_an_export_put_back_is_the_same_in_every_table_and_is_exported_to_the_same_bytes(
    folder: Path, tmp_path: Path
) -> None:
    content = exported(folder)

    again = put_back(content, tmp_path)

    assert tables(again) == tables(folder)
    assert exported(again) == content


def test_what_was_put_back_is_searched_quoted_corrected_and_grows(folder: Path, tmp_path: Path) -> None:
    again = put_back(exported(folder), tmp_path)
    with opened(again) as memory, opened(folder) as original:
        assert [*memory.turns()] == [*original.turns()]
        assert memory.store.earlier_versions("t1") == original.store.earlier_versions("t1")
        assert memory.search("blue kayak", k=3).turn_ids == original.search("blue kayak", k=3).turn_ids
        assert memory.quote("leaks at the bow")[0].text == "leaks at the bow"
        assert memory.search("jetty", within=Within(unrecalled=True), mode="keyword").turn_ids == ("shown",)
        assert memory.prompt.pins.all() == original.prompt.pins.all()
        assert memory.summaries.stored("main") == original.summaries.stored("main")
        added = memory.add("one more")
        assert added.turn_id not in {turn.turn_id for turn in original.turns()}
        memory.correct("t1", text="The kayak is green.")
        assert [turn.text for turn in memory.store.earlier_versions("t1")][-1] == original.get("t1").text
        assert memory.doctor().is_well


def test_the_export_is_readable_json_and_ends_with_a_count(folder: Path) -> None:
    lines = exported(folder).decode().splitlines(keepends=False)
    records = [json.loads(line) for line in exported(folder).decode().split("\n")[:-1]]

    assert lines[0].startswith('{"format": "memory_rag.turns", "version": 2, "numbers": {')
    assert records[-1] == {
        "end": {
            "turns": sum("turn" in record for record in records),
            "rows": sum("table" in record for record in records),
        }
    }
    assert {"table": "pins", "row": {"pin": 1, "text": "always answer in Swedish", "turn_id": "t1"}}.items() <= next(
        {**record, "row": {k: v for k, v in record["row"].items() if k != "pinned_at"}}
        for record in records
        if record.get("table") == "pins"
    ).items()


def test_into_a_memory_that_holds_something_only_the_turns_go_and_the_rest_is_told(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "export.jsonl").write_bytes(exported(folder))
    with opened(tmp_path / "other") as memory, opened(folder) as original:
        own = memory.add("mine")
        report = memory.import_path(tmp_path / "export.jsonl")
        assert memory.get(own.turn_id).text == "mine"
        assert sorted(turn.text for turn in memory.turns()) == sorted(["mine", *(t.text for t in original.turns())])
        assert memory.prompt.pins.all() == []
        assert any("belongs to the whole memory" in reason for reason in report.noted)
        assert memory.import_path(tmp_path / "export.jsonl").kept == 0


def test_a_memory_with_nothing_but_a_pin_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "export.jsonl").write_bytes(exported(folder))
    with opened(tmp_path / "other") as memory:
        assert is_untouched(memory.store.connections)
        memory.prompt.pins.add("mine")
        assert not is_untouched(memory.store.connections)
        memory.import_path(tmp_path / "export.jsonl")
        assert [pin.text for pin in memory.prompt.pins.all()] == ["mine"]


def test_a_dry_run_stores_nothing_and_counts(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "export.jsonl").write_bytes(exported(folder))
    with opened(tmp_path / "other") as memory, opened(folder) as original:
        assert memory.import_path(tmp_path / "export.jsonl", dry_run=True).kept == len(original)
        assert is_untouched(memory.store.connections)


def test_a_part_of_an_export_is_imported_as_turns(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "export.jsonl").write_bytes(exported(folder))
    with opened(tmp_path / "other") as memory:
        since = ImportOptions(since=datetime(2026, 5, 1, tzinfo=UTC))
        report = memory.import_path(tmp_path / "export.jsonl", options=since)
        assert sum(reason.count for reason in report.skipped.values()) == 4
        assert memory.prompt.pins.all() == []


@pytest.mark.parametrize(
    "damage", ["a line less", "no end", "half a line", "a turn without words", "two ends", "a row"]
)
def test_an_export_that_was_cut_or_changed_is_put_back_whole_or_not_at_all(
    folder: Path, tmp_path: Path, damage: str
) -> None:
    lines = exported(folder).decode().split("\n")[:-1]
    at = next(number for number, line in enumerate(lines) if line.startswith('{"turn"'))
    match damage:
        case "a line less":
            del lines[at]
        case "no end":
            del lines[-1]
        case "half a line":
            lines[-1] = lines[-1][:9]
        case "a turn without words":
            lines[at] = lines[at].replace('"text"', '"said"')
        case "two ends":
            lines.append(lines[-1])
        case _:
            lines.insert(-1, '{"table": "pins", "row": {"colour": "red"}}')
    (tmp_path / "export.jsonl").write_text("\n".join(lines) + "\n" * (damage != "half a line"), encoding="utf-8")
    with opened(tmp_path / "other") as memory:
        with pytest.raises(
            (ImportFormatError, StoreError), match=r"damaged or was cut|knows no table 'pins' with 'colour'"
        ):
            memory.import_path(tmp_path / "export.jsonl")
        assert is_untouched(memory.store.connections)


def test_what_is_written_meanwhile_is_not_in_an_export_and_does_not_stop_it(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add_many([Turn("", "c", "s", -1, Role.USER, "Ada", f"number {n}") for n in range(1500)])
        lines: Iterator[str] = memory.export()
        next(lines)
        memory.add("too late")
        memory.correct("t1400", text="changed meanwhile")
        rest = [*lines]

        assert sum('"turn"' in line[:8] for line in rest) == 1500
        assert not [line for line in rest if "too late" in line or "changed meanwhile" in line]
        assert memory.get("t1400").text == "changed meanwhile"


def test_an_export_that_is_given_up_half_way_keeps_nothing_open(tmp_path: Path) -> None:
    memory = opened(tmp_path / "memory")
    memory.add_many([Turn("", "c", "s", -1, Role.USER, "Ada", f"number {n}") for n in range(1500)])
    lines = memory.export()
    next(lines)
    memory.close()
    with pytest.raises(StoreError, match="is closed"):
        list(lines)


def test_an_export_and_its_import_take_a_few_megabytes_whatever_its_size(tmp_path: Path) -> None:
    with opened(tmp_path / "memory", embedder="none") as memory:
        memory.add_many(Turn("", "c", "s", -1, Role.USER, "Ada", f"kayak {n} " * 900) for n in range(800))
        tracemalloc.start()
        with (tmp_path / "export.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(memory.export())
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (tmp_path / "export.jsonl").stat().st_size > 6_000_000
    assert used < 5_000_000


texts = st.text(st.characters(codec=None, exclude_categories=()) | st.sampled_from("\ud83d\ude00\0~"), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


@settings(max_examples=8)
@given(st.lists(st.tuples(texts, texts, texts), max_size=3), st.dictionaries(texts.filter(bool), values, max_size=3))
def test_any_words_and_any_state_come_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, str]], state: dict[str, Any]
) -> None:
    place = tmp_path_factory.mktemp("any")
    with opened(place / "memory", embedder="none") as memory:
        for text, speaker, later in said:
            memory.correct(memory.add(text, speaker=speaker).turn_id, text=later)
            memory.prompt.decisions.add(text + ".", because=later + ".")
    database = sqlite3.connect(place / "memory" / "turns.sqlite")
    database.execute("INSERT INTO state VALUES ('task', ?, 0)", (json.dumps(state).encode(),))
    database.commit()
    database.close()
    content = exported(place / "memory")

    again = put_back(content, place)

    assert tables(again) == tables(place / "memory")
    assert exported(again) == content


# -- for a reader


def test_markdown_shows_the_words_who_said_them_and_what_they_were_before(folder: Path) -> None:
    with opened(folder) as memory:
        text = "".join(memory.export(form="markdown"))

    assert text.startswith("# What this memory holds\n\n8 turns.\n")
    assert "## State\n\n- `task`: `{'task': 'mend the bow'" in text.replace('"', "'")
    assert "- always answer in Swedish (said in `t1`)\n" in text
    assert "- use resin, because it sets in the cold\n" in text
    assert "\n**Ebba N** (user), 2026-05-01 07:00 UTC, `t1`\n\n> The kayak is blue and leaks at the bow.\n" in text
    assert "\nbefore a correction, by Ebba:\n\n> The kayak is red and leaks at the bow.\n" in text
    assert "**camera** (tool), time unknown, `shown`, left out of search\n\n> a picture of the jetty [end]\n" in text
    assert "(not at its source any more, noticed " in text
    assert "zebra" not in text
    assert "東京" in text
    assert text.encode()


def test_no_word_of_a_turn_begins_a_heading_or_an_entry_of_its_own(tmp_path: Path) -> None:
    with opened(tmp_path / "memory", embedder="none") as memory:
        memory.add("# not a heading\n**Bo** (user)\u2028## nor this\r- nor this\x0c> nor this", speaker="Eve**\n## Bo")
        lines = "".join(memory.export(form="markdown")).splitlines()

    assert [line for line in lines if line.startswith("#")] == ["# What this memory holds", "## `main`"]
    assert ODD not in "\n".join(lines)


def test_an_export_imported_into_the_memory_that_it_came_from_adds_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        memory.add("said here, without a source")
        memory.add("and corrected since")
        export = tmp_path / "own.jsonl"
        export.write_text("".join(f"{line.rstrip()}\n" for line in memory.export()), encoding="utf-8")
        memory.correct("t2", text="and corrected")

        report = memory.import_path(export)

        assert (report.kept, report.already_there, len(memory)) == (0, 2, 2)
    with Memory.open(tmp_path / "other", embedder="none", language="en") as other:
        other.add("another memory's first turn")

        assert other.import_path(export).kept == 2
