"""A memory of every earlier format opens, and is searched, quoted, exported and added to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.store.migrations import STEPS
from tests.end_to_end.full_memory import ODD, opened
from tests.golden.make import EXPECTED, HERE, export, main

GOLDEN = sorted(path.parent.name for path in HERE.glob(f"*/{EXPECTED}"))


@pytest.fixture(params=GOLDEN)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def memory(name: str, tmp_path: Path) -> Iterator[Memory]:
    shutil.copytree(HERE / name, tmp_path / "memory")
    with opened(tmp_path / "memory", create=False) as memory:
        yield memory


def test_there_is_one_of_every_step_up_to_the_newest_golden() -> None:
    names = [step.__name__ for step in STEPS]

    assert names[: len(GOLDEN)] == GOLDEN


def test_it_is_exported_to_the_known_bytes(name: str) -> None:
    assert export(HERE / name) == (HERE / name / EXPECTED).read_bytes()


def test_its_words_are_found_and_quoted(memory: Memory, name: str) -> None:
    assert memory.doctor().is_well
    assert memory.search("blue kayak", k=1)[0].turn.text == "The kayak is blue and leaks at the bow."
    assert memory.search("The kayak is blue and leaks at the bow.", mode="dense", k=1).turn_ids == ("t1",)
    quote = memory.quote("kayak is blue")[0]
    assert (quote.turn_id, quote.text, quote.status) == ("t1", "kayak is blue", "exact")
    assert memory.get("t3").text == ODD
    assert memory.store.earlier_versions("t1")[0].text.startswith("The kayak is red")
    assert len(memory.store.vanished()) == (0 if name == GOLDEN[0] else 1)


def test_it_goes_on(memory: Memory) -> None:
    known = {turn.turn_id for turn in memory.turns()}
    last = memory.store.last_seq
    added = memory.add("One more thing about the kayak.")
    memory.correct("t1", text="The kayak is green.")
    memory.prompt.pins.add("be short")
    memory.summaries.summarise("main", keep_recent=0)

    assert added.turn_id not in known
    assert [change.kind for change in memory.store.changes_since(last)] == ["add", "correct"]
    assert memory.search("green kayak", k=1).turn_ids == ("t1",)
    assert memory.summaries.stored("main")
    memory.forget(["t1", added.turn_id])
    assert memory.store.check() == []


def test_what_was_released_is_never_made_anew(capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in (HERE / GOLDEN[0]).iterdir()}

    assert main([GOLDEN[0]]) == 1
    assert main(["m000_nothing"]) == 2
    assert "the steps are: m001_turns_and_changes" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (HERE / GOLDEN[0]).iterdir()} == before
