"""A memory beside its peers, size after size: everybody loads the same turns and is measured beside us, in turns."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import sleep
from typing import Any, Final

from memory_rag.evaluation.speed_parts import Parts
from memory_rag.evaluation.speed_peer import PeerError, PeerProcess, disk_bytes, read_through, strace
from memory_rag.evaluation.speed_peer_bounds import Bounds, busy, too_slow
from memory_rag.evaluation.speed_peer_fresh import opened_cold, waits_for_disk
from memory_rag.evaluation.speed_peer_side import ACTS, Act, Side, in_turns
from memory_rag.evaluation.speed_peers import US, US_FULL, Often, Peer
from memory_rag.evaluation.speed_shared import Question, SharedCorpus
from memory_rag.evaluation.speed_subjects import Tell

COMPARED_AT: Final = (10_000, 100_000, 1_000_000)
GROWN_AT: Final = (1_000, 3_000, 30_000, 300_000)
"""Where we are measured alone, for the chart of cost against turns."""
ADDS_ALONE: Final = 20
"""A round's adds where we are measured alone: the first of a round finds nothing of what it needs in the caches."""
_RESERVED: Final = 10_000_000
"""Numbers of new turns begin here: no file holds them."""


class Comparison:
    """A work folder in which everybody has a folder for each size, and what was measured is kept."""

    def __init__(
        self,
        work: Path,
        scripts: Path,
        *,
        our_python: Path,
        python: Path,
        peers: Sequence[Peer],
        seed: int,
        often: Often | None = None,
        bounds: Bounds | None = None,
        tell: Tell = lambda what, done, total: None,
    ) -> None:
        self.work = work
        self.scripts = scripts
        self.our_python = our_python
        self.python = python
        self.peers = peers
        self.shared = SharedCorpus(work / "corpus", seed=seed)
        self.often = often or Often()
        self.bounds = bounds or Bounds()
        self.tell = tell
        self._parts = Parts(work)
        self._smallest = 0
        self._asked: dict[int, list[Question]] = {}

    def load(self, *, compared: Sequence[int], grown: Sequence[int]) -> None:
        """Write turns and vectors and load them into everybody, smallest size first.

        It is told by processor time alone, and what is loaded stays: the machine needn't be calm before the rest.
        """
        sizes = sorted({*compared, *grown})
        self.tell("writing turns and vectors", 0, 1)
        self.shared.write(sizes[-1])
        self.tell("writing turns and vectors", 1, 1)
        for place, size in enumerate(sizes):
            self._load(size, sizes[place - 1] if place else None, with_peers=size in compared)
            questions = self._questions(size)
            for peer in (US, *(self.peers if size in compared else ())):
                self._agree(peer, size, questions)

    def run(self, *, compared: Sequence[int], grown: Sequence[int]) -> dict[str, Any]:
        """Measure at every size, smallest first, and return what was measured, all that is kept included."""
        self.load(compared=compared, grown=grown)
        sizes = sorted({*compared, *grown})
        self._smallest = min(compared, default=0)
        for size in sizes:
            questions = self._questions(size)
            self._import(size)
            self._alone(size, questions)
            if size in compared:
                for done, peer in enumerate(self.peers):
                    self.tell(f"beside us at {size:,}", done, len(self.peers))
                    self._beside(peer, size, questions)
                self.tell(f"beside us at {size:,}", len(self.peers), len(self.peers))
        return {"sizes": {str(size): self._parts.of_size(size) for size in sizes}}

    # -- loading

    def _load(self, size: int, smaller: int | None, *, with_peers: bool) -> None:
        """Load whoever isn't loaded yet, two at a time: loading is told by processor time."""
        waiting = [(US, smaller)]
        if with_peers:
            waiting += [(peer, None) for peer in self.peers]
        for peer, _ in waiting:
            self._parts.drop_changed(size, peer)
        waiting = [
            (peer, grown_from) for peer, grown_from in waiting if not self._parts.path(size, peer, "load").exists()
        ]
        with ThreadPoolExecutor(2) as pool:
            for done, _ in enumerate(pool.map(lambda one: self._load_one(one[0], size, one[1]), waiting), start=1):
                self.tell(f"loading {size:,}", done, len(waiting))

    def _load_one(self, peer: Peer, size: int, grown_from: int | None) -> None:
        folder = self._parts.folder(size, peer)
        shutil.rmtree(folder, ignore_errors=True)
        if peer is not US and (why := self._too_much(peer, size)):
            self._parts.keep(size, peer, "load", {"left_out": why})
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        if grown_from is not None and self._parts.folder(grown_from, peer).exists():
            shutil.copytree(self._parts.folder(grown_from, peer), folder)
        try:
            with self._start(peer, size) as process:
                loaded = process.ask(
                    "load", within_s=None if peer is US else self.bounds.load_s * busy(), **self._all_turns(size)
                )
                process.ask("close")
        except PeerError as error:
            self._leave_out(error, peer, size, "load")
            return
        told = {"s": loaded.s, "cpu_s": loaded.cpu_s, "peak_mib": loaded.peak_mib, "busy": busy()}
        told["grown_from"] = grown_from or 0
        self._parts.keep(size, peer, "load", told | {"disk_bytes": disk_bytes(folder)})

    def _too_much(self, peer: Peer, size: int) -> str:
        """Tell why this size isn't tried, from what a smaller one took; empty if it is to be tried."""
        smaller = next((n for n in (size // 10, size // 100) if self._parts.path(n, peer, "load").exists()), None)
        if smaller is None:
            return ""
        took = json.loads(self._parts.path(smaller, peer, "load").read_text(encoding="utf-8"))
        if "left_out" in took:
            return f"at {smaller:,} turns: {took['left_out']}"
        times = size / smaller
        # At least: by the wall it may have waited for others, by the processor it may have used several cores.
        calm_s = min(took["cpu_s"], took["s"] / took["busy"])
        if calm_s * times > self.bounds.load_s:
            return (
                f"not tried: loading {smaller:,} turns took {calm_s:.0f} s, so {size:,} would take over "
                f"{self.bounds.load_s:.0f} s"
            )
        if (took["peak_mib"] or 0) * times > 2 * self.bounds.mib:
            return f"not tried: {smaller:,} turns took {took['peak_mib']:,.0f} MiB"
        return ""

    def _agree(self, peer: Peer, size: int, questions: Sequence[Question]) -> None:
        """Measure whose nearest turns are the exactly nearest, before anything is added to what was loaded."""
        loaded = json.loads(self._parts.path(size, peer, "load").read_text(encoding="utf-8"))
        if peer.ranks_by == "keyword" or "left_out" in loaded or self._parts.path(size, peer, "agreement").exists():
            return
        try:
            with self._start(peer, size) as process:
                process.ask("open")
                share = Side(peer, process, questions, iter(()), often=self.often).agreement()
                process.ask("close")
        except PeerError as error:
            self._leave_out(error, peer, size, "agreement")
            return
        self._parts.keep(size, peer, "agreement", {"share": share})

    def _questions(self, size: int) -> list[Question]:
        if size not in self._asked:
            self._asked = {size: self.shared.questions(self.often.all_questions, among=size)}
        return self._asked[size]

    # -- measuring

    def _import(self, size: int) -> None:
        """Measure what it takes us to import all turns of a size at once, with their vectors, into a new folder."""
        if self._parts.path(size, US, "import").exists():
            return
        folder = self.work / "import"
        shutil.rmtree(folder, ignore_errors=True)
        with self._start(US, size, folder=folder) as process:
            took = process.ask("load", **self._all_turns(size))
            process.ask("close")
        shutil.rmtree(folder, ignore_errors=True)
        self._parts.keep(
            size, US, "import", {"s": took.s, "cpu_s": took.cpu_s, "peak_mib": took.peak_mib, "busy": busy()}
        )

    def _alone(self, size: int, questions: Sequence[Question]) -> None:
        """Measure us without anybody: every search of ours, adds of both durabilities, opening, memory."""
        if self._parts.path(size, US, "alone").exists():
            return
        measured: dict[str, Any] = {}
        read_through(self._parts.folder(size, US))
        # Words alone first: what the others add has to be searched by no more than they do.
        trials: tuple[tuple[Peer, str, Sequence[Act]], ...] = (
            (US, "keyword", ()),
            (US, "search", ACTS),
            (US_FULL, "search", (Side.add, Side.add_and_ask)),
        )
        often = replace(self.often, adds=ADDS_ALONE)
        for peer, way, acts in trials:
            with self._parts.changing(size, US), self._start(peer, size) as process:
                process.ask("open")
                side = Side(peer, process, questions, self._new_turns(), often=often, our_way=way)
                side.warm_up()
                sleep(often.settle_s)
                in_turns([side], acts=acts)
                times = side.as_json()
                if peer is US_FULL:
                    measured |= {"add_full": times["add"], "add_and_ask_full": times["add_and_ask"]}
                elif way == "keyword":
                    measured["keyword"] = times["keyword"]
                else:
                    measured |= times
                process.ask("close")
        for name, way in (("cold", "search"), ("cold_keyword", "keyword")):
            start = {"us": lambda: self._start(US, size)}
            measured[name] = opened_cold(start, questions[0], self.often, our_way=way)["us"]
        for peer, name in ((US, "add"), (US_FULL, "add_full")):
            measured[name]["waits_for_disk"] = self._waits_for_disk(peer, size)
        self._parts.keep(size, US, "alone", measured)

    def _beside(self, peer: Peer, size: int, questions: Sequence[Question]) -> None:
        loaded = json.loads(self._parts.path(size, peer, "load").read_text(encoding="utf-8"))
        if self._parts.path(size, peer, "beside").exists() or "left_out" in loaded:
            return
        smaller = self._parts.path(size // 10, peer, "beside")
        before = json.loads(smaller.read_text(encoding="utf-8")) if smaller.exists() else {}
        not_tried = too_slow(before.get("peer", {}), n_before=size // 10, step_s=self.bounds.step_s)
        if why := not_tried.get("search"):
            self._parts.keep(size, peer, "beside", {"left_out": f"search: {why}"})
            return
        our_way = "keyword" if peer.ranks_by == "keyword" else "search"
        try:
            measured = self._measured_beside(peer, size, questions, our_way=our_way, not_tried=not_tried)
        except PeerError as error:
            self._leave_out(error, peer, size, "beside")
            return
        self._parts.keep(size, peer, "beside", measured)

    def _leave_out(self, error: PeerError, peer: Peer, size: int, what: str) -> None:
        """Keep why a peer isn't in the result; where we are the ones who failed, there is none."""
        if peer is US or error.script == Path(US.script).stem:
            raise error
        self._parts.keep(size, peer, what, {"left_out": str(error)})

    def _measured_beside(
        self, peer: Peer, size: int, questions: Sequence[Question], *, our_way: str, not_tried: Mapping[str, str]
    ) -> dict[str, Any]:
        measured: dict[str, Any] = {"load_average": os.getloadavg()[0], "not_tried": dict(not_tried)}
        us = peer.against
        for one in (peer, us):
            read_through(self._parts.folder(size, one))
        measured["cold"] = opened_cold(
            {"peer": lambda: self._start(peer, size), "us": lambda: self._start(us, size)},
            questions[0],
            self.often,
            our_way=our_way,
        )
        with self._parts.changing(size, peer, US), self._start(peer, size) as theirs, self._start(us, size) as ours:
            theirs.ask("open")
            ours.ask("open")
            sides = [
                Side(
                    whose,
                    process,
                    questions,
                    self._new_turns(),
                    often=self.often,
                    our_way=our_way,
                    not_tried=not_tried,
                )
                for whose, process in ((peer, theirs), (us, ours))
            ]
            for side in sides:
                side.warm_up()
            sleep(self.often.settle_s)
            in_turns(sides)
            measured |= {name: side.as_json() for name, side in zip(("peer", "us"), sides, strict=True)}
            theirs.ask("close")
            ours.ask("close")
        if sides[0].can("add") and (waits := self._waits_for_disk(peer, size)) is not None:
            measured["waits_for_disk_an_add"] = waits
        return measured

    def _waits_for_disk(self, peer: Peer, size: int) -> float | None:
        """Return how often an add waits for the disk; None without strace, and at all sizes but the first."""
        tracer = strace()
        if tracer is None or size != self._smallest:
            return None
        return waits_for_disk(
            lambda command: self._start(peer, size, tracer=command),
            self._new_turns(),
            self.work / "trace",
            strace=tracer,
        )

    # -- places

    def _all_turns(self, size: int) -> dict[str, Any]:
        return {"turns": str(self.shared.turns_path), "vectors": str(self.shared.vectors_path), "n": size}

    def _start(self, peer: Peer, size: int, *, tracer: tuple[str, ...] = (), folder: Path | None = None) -> PeerProcess:
        return PeerProcess(
            self.scripts / peer.script,
            folder or self._parts.folder(size, peer),
            python=self.our_python if peer.name == US.name else self.python,
            words=peer.words,
            max_mib=None if peer.name == US.name else self.bounds.mib,
            within_s=None if peer.name == US.name else self.bounds.ended_s,
            tracer=tracer,
            log=self.work / "logs" / f"{peer.name}.log",
        )

    def _new_turns(self) -> Iterator[tuple[dict[str, str], list[float]]]:
        """Yield turns that nobody has, nor had in a run before."""
        counter = self.work / "new-turns"
        taken = int(counter.read_text(encoding="utf-8")) if counter.exists() else 0
        counter.parent.mkdir(parents=True, exist_ok=True)
        counter.write_text(str(taken + 1), encoding="utf-8")
        return islice(self.shared.new_turns(_RESERVED + 400 * taken), 400)
