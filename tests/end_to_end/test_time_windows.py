"""Since and until are instants and days, never letters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within


def found(memory: Memory, *, since: str | None = None, until: str | None = None) -> list[str]:
    """Return the ids of the turns in a window, the first said first."""
    hits = memory.search("word", mode="keyword", within=Within(since=since, until=until), k=100)
    said = [(hit.turn.said_at, hit.turn.turn_id) for hit in hits if hit.turn.said_at is not None]
    assert len(said) == len(hits)
    return [turn_id for _, turn_id in sorted(said)]


def test_times_with_any_offset_are_compared_as_instants(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        for number, written in enumerate(
            (
                "2026-05-02T10:30:00+02:00",
                "2026-05-02T09:30:00Z",
                "2026-05-02T09:30:00.002Z",
                "2026-05-02 10:00:00+00:00",
                "2026-05-02T11:30:00+02:00",
            ),
            start=1,
        ):
            memory.add("word", said_at=datetime.fromisoformat(written), turn_id=f"{number}")

        assert found(memory, since="2026-05-02T09:30:00Z") == ["2", "5", "3", "4"]
        assert found(memory, since="2026-05-02T11:30:00+02:00") == ["2", "5", "3", "4"]
        assert found(memory, until="2026-05-02T09:30:00Z") == ["1", "2", "5"]
        assert found(memory, since="2026-05-02 09:30:00.001", until="2026-05-02 09:59") == ["3"]


def test_a_window_of_half_an_hour_does_not_reach_an_hour_back(tmp_path: Path) -> None:
    now = datetime(2026, 5, 2, 18, 20, tzinfo=UTC)
    with Memory.open(tmp_path / "m", embedder="none", clock=lambda: now) as memory:
        memory.add("word", said_at=datetime(2026, 5, 2, 17, 10, tzinfo=UTC))
        memory.add("word")

        assert found(memory, since=(now - timedelta(minutes=30)).isoformat()) == ["t2"]


def test_until_a_day_includes_the_day_in_the_zone_of_the_memory(tmp_path: Path) -> None:
    times = ["2026-04-10T00:00:00+02:00", "2026-04-10T23:59:59.999+02:00", "2026-04-11T00:00:00+02:00"]
    with Memory.open(tmp_path / "m", embedder="none", timezone="Europe/Stockholm") as memory:
        for number, written in enumerate(times, start=1):
            memory.add("word", said_at=datetime.fromisoformat(written), turn_id=f"t{number}")
        memory.add("word", said_at=datetime(2026, 4, 9, 21, 59, 59, 999_999, tzinfo=UTC), turn_id="before")

        assert found(memory, since="2026-04-10", until="2026-04-10") == ["t1", "t2"]
        assert found(memory, since="2026-04-10T00:00", until="2026-04-10T00:00") == ["t1"]
        assert found(memory, until="2026-04-10T23:59:59.999") == ["before", "t1", "t2"]
        assert found(memory, since="2026-04", until="2026-04") == ["before", "t1", "t2", "t3"]


def test_a_turn_without_a_session_belongs_to_its_day_in_the_zone_of_the_memory(tmp_path: Path) -> None:
    late = datetime(2026, 4, 9, 22, 30, tzinfo=UTC)
    with Memory.open(tmp_path / "m", embedder="none", timezone="Europe/Stockholm") as memory:
        assert memory.add("word", said_at=late).session_id == "2026-04-10"
    with Memory.open(tmp_path / "m", embedder="none", timezone="America/New_York") as memory:
        assert memory.add("word", said_at=late).session_id == "2026-04-09"
