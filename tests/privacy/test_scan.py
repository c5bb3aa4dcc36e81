"""What is stored already is reported, wherever it lies, and never changed."""

from __future__ import annotations

from pathlib import Path

from memory_rag.memory import Memory
from memory_rag.privacy.scan import Scan, scan
from memory_rag.privacy.screening import Screening
from memory_rag.settings import Settings
from memory_rag.store.screening import OpenDoor
from memory_rag.turns import Block, Conversation, Role, Source, Turn
from tests.either_engine import Place

WORD = "Granola77"


def old_memory(place: Place) -> Memory:
    """A memory from before there was a screen."""
    memory = place.open(embedder="none")
    memory.store.connections.screen = OpenDoor()
    return memory


def scanned(memory: Memory, *, tag: bool = False, secrets: str = "") -> Scan:
    return scan(memory.store, Screening.of_settings(Settings(secrets=secrets)), tag=tag)


def test_everything_that_holds_words_is_read(place: Place) -> None:
    said = f"my password is {WORD}"
    with old_memory(place) as memory:
        memory.add_many(
            [
                Conversation("c", said),
                Turn("", "c", "d", 0, Role.USER, "Åsa", said, source=Source("chat", "m1", f'{{"password": "{WORD}"}}')),
                Turn("", "c", "d", 1, Role.TOOL, "tool", "", blocks=(Block("tool_call", {"password": WORD}),)),
            ]
        )
        memory.store.correct("t1", text="hello")
        memory.prompt.pins.add(said)
        memory.prompt.decisions.add("yes", because=said)
        memory.prompt.state.set("router.password", WORD)
        memory.prompt.events.record("warning", warning=said)
        memory.prompt.blocks.keep("t2", [{"type": "tool_use", "input": {"password": WORD}}], provider="anthropic")
        before = list(memory.export())

        result = scanned(memory)

        assert [(one.what, one.name, one.place) for one in result.held] == [
            ("turn", "t1", "source"),
            ("turn", "t2", "blocks"),
            ("earlier version", "t1", ""),
            ("pin", "p1", ""),
            ("decision", "d1", ""),
            ("state", "task", ""),
            ("title", "c", ""),
            ("event", "1", ""),
            ("returned blocks", "t2", ""),
        ]
        assert {one.kind.value for one in result.held} == {"password"}
        assert result.unwanted == result.held
        assert list(memory.export()) == before


def test_what_is_only_tagged_is_listed_and_not_unwanted(place: Place) -> None:
    with old_memory(place) as memory:
        memory.add("mail ruth@example.com, ring 070-174 06 07")
        memory.add("mail jo@example.com")

        result = scanned(memory)

        assert {kind.value: counts for kind, counts in result.counts().items()} == {"email": (2, 2), "phone": (1, 1)}
        assert result.unwanted == []
        assert [one.kind.value for one in scanned(memory, secrets="phone=redact").unwanted] == ["phone"]


def test_tags_of_old_turns_can_be_written_down(place: Place) -> None:
    with old_memory(place) as memory:
        memory.add("mail ruth@example.com")
        assert memory.store.findings.counts() == {}

        assert scanned(memory, tag=True).tagged == 1
        scanned(memory, tag=True)

        assert memory.store.findings.counts() == {("email", "tag"): 1}


def test_what_was_taken_out_is_counted(place: Place) -> None:
    with place.open(embedder="none") as memory:
        memory.add(f"my password is {WORD}, mail ruth@example.com")
        result = scanned(memory, tag=True)

        assert dict(result.redacted) == {"password": 1}
        assert memory.store.findings.counts() == {("email", "tag"): 1, ("password", "redact"): 1}


def test_what_is_forgotten_takes_its_findings_along(place: Place) -> None:
    with place.open(embedder="none") as memory:
        memory.forget([memory.add("mail ruth@example.com").turn_id])

        assert memory.store.findings.counts() == {}


def test_findings_come_back_with_an_export(place: Place, tmp_path: Path) -> None:
    with place.open(embedder="none") as memory:
        memory.add(f"my password is {WORD}, mail ruth@example.com")
        found = memory.store.findings.of(["t1"])
        (tmp_path / "all.jsonl").write_text("".join(memory.export()), encoding="utf-8")
    with Memory.open(tmp_path / "whole", embedder="none") as whole:
        whole.import_path(tmp_path / "all.jsonl")
        assert whole.store.findings.of(["t1"]) == found
        assert list(whole.export()) == (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    with Memory.open(tmp_path / "beside", embedder="none") as beside:
        beside.add("hello")
        beside.import_path(tmp_path / "all.jsonl")
        (turn,) = [turn for turn in beside.turns() if "password" in turn.text]
        assert beside.store.findings.of([turn.turn_id]) == {turn.turn_id: found["t1"]}


def test_a_turn_that_is_forgotten_or_corrected_while_it_is_scanned_is_not_tagged(place: Place) -> None:
    with old_memory(place) as memory:
        for number in range(1000):
            memory.add(f"mail ruth{number}@example.com")

        def meanwhile(_what: str, _done: int, _total: int) -> None:
            memory.store.remove(["t1"])
            memory.store.correct("t2", text="no mail")

        screening = Screening.of_settings(Settings())
        result = scan(memory.store, screening, tag=True, progress=meanwhile)

        assert result.tagged == 998
        assert memory.store.findings.of(["t2"]) == {}
        assert memory.store.findings.counts() == {("email", "tag"): 998}
