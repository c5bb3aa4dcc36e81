"""How fast a memory on a PostgreSQL server is, beside the same memory in a folder: many owners, one server, in turns.

The server is the caller's, and so are its settings; what was stored there and in the work folder is found again by the
next run, which measures at once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.speed import add_as_said
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_subjects import Tell
from memory_rag.evaluation.speed_timing import Timing, interleaved, timed
from memory_rag.evaluation.speed_vectors import MadeVectors
from memory_rag.memory import Memory
from memory_rag.server_url import server_of
from memory_rag.trials.speed_postgres_places import APART, Asked, Owner, Place

SEED: Final = 20
_BATCH: Final = 2_000
_WARMING: Final = 3
_SIZES: Final = (
    "SELECT pg_class.relname, coalesce(of_table.relname, ''), coalesce(amname, ''), pg_relation_size(pg_class.oid) "
    "+ CASE WHEN pg_class.reltoastrelid <> 0 THEN pg_total_relation_size(pg_class.reltoastrelid) ELSE 0 END "
    "FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "LEFT JOIN pg_index ON indexrelid = pg_class.oid LEFT JOIN pg_class AS of_table ON of_table.oid = indrelid "
    "LEFT JOIN pg_am ON pg_am.oid = pg_class.relam AND pg_class.relkind = 'i' "
    "WHERE nspname = 'memory_rag' AND pg_class.relkind IN ('r', 'i') ORDER BY 1"
)
_SETTINGS: Final = (
    "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('server_version', 'shared_buffers', 'fsync', "
    "'synchronous_commit', 'full_page_writes', 'work_mem', 'maintenance_work_mem', 'max_wal_size', 'jit') ORDER BY name"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is stored, and how often each thing is measured."""

    n_owners: int = 100
    n_turns: int = 1_000
    """Of each owner."""
    n_large: int = 200_000
    """Of one owner more, whose turns no process holds; 0 leaves it out."""
    n_asked: int = 10
    """Owners that are asked, spread over all."""
    n_questions: int = 15
    """Of each; every one is asked once of every way, since what was asked before is at hand."""
    n_adds: int = 30
    """To each."""


def speed_postgres_result(
    url: str, work: Path, *, amount: Amount, seed: int = SEED, only_fill: bool = False, tell: Tell
) -> dict[str, Any] | None:
    """Store what isn't stored yet, measure, and return the result; None with ``only_fill``.

    Raises:
        MemoryRagError: the database or the folder holds something else, or the server can't be reached.
    """
    trial = _Trial(url, work, amount, seed, tell)
    load_before = os.getloadavg()[0]
    with ExitStack() as open_places:
        for place in trial.places.values():
            open_places.callback(place.close)
        trial.fill()
        trial.know()
        if only_fill:
            return None
        result = {
            "sizes": trial.sizes(),
            "open": trial.opening(),
            "hybrid": trial.asking(),
            "add": trial.adding(),
            "large": trial.large(),
            "server": trial.server_settings(),
        }
    made = provenance(
        seed=seed,
        amount=asdict(amount),
        load_average_before=load_before,
        load_average_after=os.getloadavg()[0],
    )
    return {"provenance": made, "result": result}


class _Trial:
    def __init__(self, url: str, work: Path, amount: Amount, seed: int, tell: Tell) -> None:
        self._url, self._work, self._amount, self._tell = url, work, amount, tell
        corpus, made = Corpus(seed=seed), MadeVectors(seed=seed)

        def owner(name: str, number: int, n_turns: int) -> Owner:
            # Whole conversations, and room for the turns that are added.
            return Owner(f"speed owner {name}", corpus, made, number * APART, n_turns)

        self._owners = [owner(str(number), number, amount.n_turns) for number in range(amount.n_owners)]
        self._large = owner("large", amount.n_owners, amount.n_large)
        step = max(1, amount.n_owners // amount.n_asked)
        self._asked = self._owners[::step][: amount.n_asked]
        self.places = {
            "sqlite": self._in_folders("normal"),
            "sqlite full": self._in_folders("full"),
            "held": self._on_server(amount.n_turns + 10_000),
            "on the server": self._on_server(0),
        }

    def _in_folders(self, durability: str) -> Place:
        return Place(
            lambda owner, embedder: Memory.open(
                self._work / "sqlite" / owner.replace(" ", "-"), embedder=embedder, language="en", durability=durability
            )
        )

    def _on_server(self, resident: int) -> Place:
        return Place(
            lambda owner, embedder: Memory.open(
                self._url, owner=owner, embedder=embedder, language="en", resident=resident
            )
        )

    # -- stored

    def fill(self) -> None:
        """Store every owner's turns with their vectors; on the server with their words, too."""
        amount = self._amount
        done = [server_of(self._url), amount.n_owners, amount.n_turns, amount.n_large, self._owners[0].made.seed]
        mark = self._work / "filled.json"
        if mark.exists() and json.loads(mark.read_text(encoding="utf-8")) == done:
            return
        for number, owner in enumerate(self._owners, 1):
            for name in ("sqlite", "on the server"):
                self._fill(self.places[name], owner)
            self._tell("storing owners", number, len(self._owners))
            if 10 * number == len(self._owners) and not self._sizes.exists():
                self._sizes.write_text(json.dumps([self._bytes_by_part(number * owner.n_turns)]), encoding="utf-8")
        if self._large.n_turns:
            self._fill(self.places["on the server"], self._large, tell=self._tell)
        mark.write_text(json.dumps(done), encoding="utf-8")

    def _fill(self, place: Place, owner: Owner, tell: Tell | None = None) -> None:
        with place.opened(owner.name) as memory:
            first = next((turn.text for turn in memory.turns()), "")
            if first not in ("", owner.turns(0, 1)[0].text):
                raise MemoryRagError(
                    f"{owner.name!r} holds something else; name an empty database, and a new work folder"
                )
            for start in range(len(memory), owner.n_turns, _BATCH):
                turns = owner.turns(start, min(owner.n_turns, start + _BATCH))
                memory.add_many(turns)
                place.embedder.know([turn.searchable for turn in turns], owner.vectors(start, start + len(turns)))
                memory.embed()
                if tell is not None:
                    tell("storing a large one", start + len(turns), owner.n_turns)
            memory.indexes.save()
        with place.opened(owner.name) as memory:
            # A memory that was empty when it was opened was held, and its words are not on the server yet.
            memory.indexes.catch_up()

    def sizes(self) -> list[dict[str, Any]]:
        """Return what a turn took on disk when a tenth of the owners was there, and what it takes now."""
        texts = [len(turn.text.encode()) for owner in self._asked for turn in owner.turns(0, owner.n_turns)]
        in_folders = sum(path.stat().st_size for path in (self._work / "sqlite").rglob("*") if path.is_file())
        n_turns = sum(owner.n_turns for owner in self._owners)
        now = {
            **self._bytes_by_part(n_turns + self._large.n_turns),
            "sqlite": in_folders / n_turns,
            "text": sum(texts) / len(texts),
        }
        earlier = json.loads(self._sizes.read_text(encoding="utf-8")) if self._sizes.exists() else []
        return [*earlier, now]

    @property
    def _sizes(self) -> Path:
        return self._work / "sizes.json"

    def _bytes_by_part(self, n_turns: int) -> dict[str, Any]:
        """Return bytes a turn on the server, tables by name and indexes by table and kind."""
        memory = self.places["held"].memory(self._asked[0].name)
        with memory.store.connections.writing() as connection:
            if connection.execute("SELECT to_regclass('memory_rag.words_by_bm25')::text").fetchone() != (None,):
                # What is new is in memory only.
                connection.execute("SELECT bm25_spill_index('words_by_bm25')").fetchall()
        with memory.store.connections.reading() as connection:
            found = connection.execute(_SIZES).fetchall()
        parts: dict[str, float] = {}
        for name, table, kind, size in found:
            part = f"{table}, {kind}" if kind in ("bm25", "hnsw") else f"{table}, indexes" if table else str(name)
            parts[part] = parts.get(part, 0) + int(size) / n_turns
        return {"n_turns": n_turns, "postgres": {part: size for part, size in sorted(parts.items()) if size >= 0.5}}

    # -- measured

    def know(self) -> None:
        for place in self.places.values():
            for owner in self._asked:
                place.know(owner)

    def opening(self) -> dict[str, Any]:
        """Time opening an owner's memory up to its first answer, and closing it."""
        cases = [Asked(owner.name, *owner.questions(1)[0]) for owner in self._asked]
        for case in cases:
            # Whoever opens a memory first after a server's start looks at its indexes.
            self.places["held"].memory(case.owner)
        return self._timed("opening", cases, {name: place.open_and_ask for name, place in self._searched().items()})

    def asking(self) -> dict[str, Any]:
        """Time questions; every memory was asked a few others before."""
        questions = {owner.name: owner.questions(self._amount.n_questions + _WARMING) for owner in self._asked}
        cases = []
        for number in range(self._amount.n_questions + _WARMING):
            for owner, asked in questions.items():
                cases.append(Asked(owner, *asked[number]))
        n_warming = _WARMING * len(questions)
        for case in cases[:n_warming]:
            for place in self._searched().values():
                place.ask(case)
        return self._timed("asking", cases[n_warming:], {name: place.ask for name, place in self._searched().items()})

    def _searched(self) -> dict[str, Place]:
        return {name: place for name, place in self.places.items() if name != "sqlite full"}

    def adding(self) -> dict[str, Any]:
        """Time adds one by one, the same turn to each place, and a plain statement there and back."""
        names = ("sqlite", "sqlite full", "held")
        seconds: dict[str, list[float]] = {name: [] for name in (*names, "a round trip")}
        for number, owner in enumerate(self._asked):
            for turn in owner.turns(owner.n_turns, owner.n_turns + self._amount.n_adds):
                for name in names:
                    seconds[name].append(timed(add_as_said, self.places[name].memory(owner.name), turn))
                with self.places["held"].memory(owner.name).store.connections.reading() as connection:
                    seconds["a round trip"].append(timed(lambda on: on.execute("SELECT 1").fetchone(), connection))
            self._tell("adding", number + 1, len(self._asked))
        return {name: Timing.of(taken).as_json() for name, taken in seconds.items()}

    def large(self) -> dict[str, Any] | None:
        """Time questions of the owner whose turns no process holds."""
        if not self._large.n_turns:
            return None
        asked = self._large.questions(self._amount.n_questions + _WARMING)
        cases = [Asked(self._large.name, *one) for one in asked]
        place = self.places["on the server"]
        began = time.perf_counter()
        place.ask(cases[0])
        first_s = time.perf_counter() - began
        for case in cases[1:_WARMING]:
            place.ask(case)
        timing = self._timed("asking the large one", cases[_WARMING:], {"on the server": place.ask})
        return {"n_turns": self._large.n_turns, "first_ms": 1000 * first_s, **timing}

    def server_settings(self) -> dict[str, str]:
        """Return what the server is set to, and its extensions."""
        memory = self.places["held"].memory(self._asked[0].name)
        with memory.store.connections.reading() as connection:
            found = [
                *connection.execute(_SETTINGS),
                *connection.execute("SELECT extname, extversion FROM pg_extension"),
            ]
        return {str(name): str(value) for name, value in found}

    def _timed(self, what: str, cases: Sequence[Asked], ways: Mapping[str, Callable[[Asked], None]]) -> dict[str, Any]:
        timings = interleaved(ways, cases, rounds=1, progress=lambda done, total: self._tell(what, done, total))
        return {name: timing.as_json() for name, timing in timings.items()}
