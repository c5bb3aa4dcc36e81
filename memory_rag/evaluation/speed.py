"""How fast a memory is, beside rank-bm25 and plain FAISS: one run, everything that is compared taken in turns."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory_rag.evaluation.speed_corpus import Corpus, DrawnVectors
from memory_rag.evaluation.speed_process import import_s, output_of, peak_mib, process_s
from memory_rag.evaluation.speed_subjects import MeasuredMemory, Repetitions, Subjects, Tell
from memory_rag.evaluation.speed_timing import Timing, interleaved, timed
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn

SIZES: Final = (10_000, 100_000)
SEED: Final = 20
NEAREST: Final = 200
"""The k of plain FAISS's search: as many candidates as a memory takes from its dense side."""
IN_A_ROW: Final = 4
"""Calls of one query in a row, of which the least counts, as in the study that the goals come from."""
MODES: Final = ("keyword", "dense", "hybrid")
_COLD: Final = ("keyword", "hybrid")


def speed_trial(
    subjects: Subjects,
    *,
    scratch: Path,
    embedded: Sequence[str],
    sizes: Sequence[int] = SIZES,
    often: Repetitions | None = None,
    seed: int = SEED,
    tell: Tell = lambda what, done, total: None,
) -> dict[str, Any]:
    """Return every measurement as JSON; ``embedded`` are the texts that the embedder is timed with."""
    trial = _Trial(subjects, scratch, Corpus(seed=seed), often or Repetitions(), tell)
    result: dict[str, Any] = {"start": trial.starting(), "sizes": {"0": {"add": trial.adding(scratch / "empty", 0)}}}
    for size in sizes:
        result["sizes"][str(size)] = trial.at_size(scratch / "grown", size)
    result["embedding"] = trial.embedding(scratch / "embedded", embedded)
    return result


class _Trial:
    def __init__(self, subjects: Subjects, scratch: Path, corpus: Corpus, often: Repetitions, tell: Tell) -> None:
        self.subjects = subjects
        self.scratch = scratch
        self.corpus = corpus
        self.often = often
        self.tell = tell
        self.vectors = DrawnVectors(fingerprint=subjects.embedder.fingerprint, dim=subjects.embedder.dim)

    def starting(self) -> dict[str, Any]:
        ways: Mapping[str, Callable[[], float]] = {
            "python": lambda: process_s("-c", "pass"),
            "import_process": lambda: process_s("-c", "import memory_rag"),
            "import_statement": lambda: import_s(),
        }
        return self._processes("starting Python", ways)

    def at_size(self, folder: Path, size: int) -> dict[str, Any]:
        """Fill a memory up to a size and measure everything there."""
        self._fill(folder, size)
        of_texts = sum(len(turn.text.encode()) for turn in self.corpus.turns(0, size))
        measured: dict[str, Any] = {
            "disk_bytes_per_turn": {**_bytes_by_part(folder, size), "text": of_texts / size},
            **self._cold(folder, size),
            "query": self._querying(folder, size),
            "prompt": self._prompting(folder, size),
            "add": self.adding(folder, size),
            "query_after_add": self._searching_after_adding(folder, size),
        }
        took = {way: timing["median_ms"] for way, timing in measured["query"].items()}
        faiss = min(took["faiss"], took["faiss_threads"])
        measured["times_as_long"] = {
            way: {"rank_bm25": took["rank_bm25"] / of_way, "faiss": faiss / of_way} for way, of_way in took.items()
        }
        return measured

    def adding(self, folder: Path, size: int) -> dict[str, Any]:
        """Time adds one by one, with each durability, what the disk takes, and how the keyword index catches up."""
        n = self.often.adds
        seconds: dict[str, list[float]] = {"normal": [], "full": [], "catch_up": [], "plain_sync": []}
        for durability in ("normal", "full"):
            memory = self.subjects.open_memory(folder, durability=durability, embedder=self.vectors)
            memory.indexes.catch_up()
            what = f"adding to {size:,}, {durability}"
            for done, turn in enumerate(self._next_turns(memory, n), start=1):
                seconds[durability].append(timed(add_as_said, memory, turn))
                if durability == "normal":
                    seconds["catch_up"].append(timed(memory.indexes.catch_up))
                else:
                    seconds["plain_sync"].append(timed(_append_durably, self.scratch / "plain", turn.text))
                self.tell(what, done, n)
            memory.close()
        return {name: Timing.of(taken).as_json() for name, taken in seconds.items()}

    def embedding(self, folder: Path, texts: Sequence[str]) -> dict[str, Any]:
        """Time the default embedder as a memory uses it, round after round on other turns."""
        often, embedder = self.often, self.subjects.embedder
        per_second, per_cpu_second = [], []
        memory = self.subjects.open_memory(folder, durability="normal", embedder=embedder)
        embedder.embed_queries(["so that the model is loaded"])
        left = iter(texts)
        for done in range(often.embedding_rounds):
            memory.add_many(_as_turns(islice(left, often.embedding_turns), conversation=f"round-{done}"))
            memory.indexes.catch_up()
            began, cpu = time.perf_counter(), time.process_time()
            n = memory.embed()
            per_second.append(n / (time.perf_counter() - began))
            per_cpu_second.append(n / (time.process_time() - cpu))
            self.tell("embedding", done + 1, often.embedding_rounds)
        memory.close()
        asked = self.corpus.questions(often.questions, among=SIZES[0])
        queries = interleaved({"query": lambda text: embedder.embed_queries([text])}, asked, rounds=often.rounds)
        return {
            "turns_per_s": _of_rounds(per_second),
            "turns_per_cpu_s": _of_rounds(per_cpu_second),
            "query": queries["query"].as_json(),
        }

    def _fill(self, folder: Path, size: int) -> None:
        memory = self.subjects.open_memory(folder, durability="normal", embedder=self.vectors)
        memory.add_many(self.corpus.turns(len(memory), size))
        memory.embed(progress=lambda what, done, total: self.tell(f"{what} {size:,}", done, total))
        memory.indexes.save()
        memory.close()

    def _cold(self, folder: Path, size: int) -> dict[str, Any]:
        question = self.corpus.questions(1, among=size)[0]
        commands = {
            mode: ("search", question, "--memory", f"{folder}/", "--mode", mode, "--no-floor") for mode in _COLD
        }
        for mode, command in commands.items():
            found = json.loads(output_of("-m", "memory_rag", *command, "--json"))
            if not found["hits"] or (found["pending"] and mode != "keyword"):
                raise RuntimeError(f"a fresh {mode} search doesn't see what was stored: {found['notes']}")
        ways = {mode: partial(process_s, "-m", "memory_rag", *command) for mode, command in commands.items()}
        return {
            "cold_search": self._processes(f"fresh processes, {size:,}", ways),
            "peak_mib": {mode: peak_mib(*command) for mode, command in commands.items()},
        }

    def _processes(self, what: str, ways: Mapping[str, Callable[[], float]]) -> dict[str, Any]:
        """Time fresh processes in turns; the first of each kind fills the caches and doesn't count."""
        n = self.often.processes
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(n + 1):
            for name, way in ways.items():
                seconds[name].append(way())
            self.tell(what, number, n)
        return {name: Timing.of(taken[1:]).as_json() for name, taken in seconds.items()}

    def _querying(self, folder: Path, size: int) -> dict[str, Any]:
        """Time a memory's modes beside rank-bm25 on the same tokens and plain FAISS on vectors of the same size."""
        self.tell(f"building the peers, {size:,}", 0, 1)
        analyzer = Analyzer(("en",))
        turns = list(self.corpus.turns(0, size))
        rank_bm25 = self.subjects.rank_bm25([analyzer.terms(f"{turn.speaker} {turn.text}") for turn in turns])
        flat = self.subjects.flat(self.vectors.embed_turns([turn.text for turn in turns]))
        self.tell(f"building the peers, {size:,}", 1, 1)
        memory = self.subjects.open_memory(folder, durability="normal", embedder=self.vectors)
        asked = self.corpus.questions(self.often.questions, among=size)
        tokens = {text: analyzer.query_terms(text) for text in asked}
        vectors = {text: self.vectors.embed_queries([text]) for text in asked}
        ways: dict[str, Callable[[str], object]] = {
            **{mode: partial(memory.search, mode=mode, floor=False) for mode in MODES},
            "rank_bm25": lambda text: rank_bm25(tokens[text]),
            "faiss": lambda text: flat(vectors[text], k=NEAREST, threads=1),
            "faiss_threads": lambda text: flat(vectors[text], k=NEAREST, threads=0),
        }
        for text in asked:
            # The question's vector is cached from here on, as the pages and the analyzer's words are.
            memory.search(text, mode="hybrid", floor=False)
        timings = interleaved(
            ways,
            asked,
            rounds=self.often.rounds,
            in_a_row=IN_A_ROW,
            progress=lambda done, total: self.tell(f"asking {size:,}", done, total),
        )
        memory.close()
        return {name: timing.as_json() for name, timing in timings.items()}

    def _prompting(self, folder: Path, size: int) -> dict[str, Any]:
        """Time prompts beside their searches: the newest turns of the newest talk, and what is quoted."""
        memory = self.subjects.open_memory(folder, durability="normal", embedder=self.vectors)
        [newest] = self.corpus.turns(size - 1, size)
        asked = self.corpus.questions(self.often.questions, among=size)
        ways: dict[str, Callable[[str], object]] = {
            "search": partial(memory.search, mode="hybrid", floor=True),
            "context": partial(memory.context, conversation_id=newest.conversation_id, retrieve="always"),
        }
        for text in asked:
            memory.search(text, mode="hybrid", floor=True)
        timings = interleaved(
            ways,
            asked,
            rounds=self.often.rounds,
            in_a_row=IN_A_ROW,
            progress=lambda done, total: self.tell(f"prompts {size:,}", done, total),
        )
        memory.close()
        search, context = timings["search"], timings["context"]
        added = {
            "median_ms": context.median_ms - search.median_ms,
            "least_ms": context.least_ms - search.least_ms,
        }
        return {"search": search.as_json(), "context": context.as_json(), "added": added}

    def _searching_after_adding(self, folder: Path, size: int) -> dict[str, Any]:
        """Time the first search after a turn was added: it catches up, embeds the turn (by chance) and ranks."""
        memory = self.subjects.open_memory(folder, durability="normal", embedder=self.vectors)
        n = self.often.adds_with_search
        asked = self.corpus.questions(self.often.questions, among=size)
        memory.search(asked[0], mode="hybrid", floor=False)
        seconds: dict[str, list[float]] = {mode: [] for mode in _COLD}
        for done, turn in enumerate(self._next_turns(memory, 2 * n)):
            add_as_said(memory, turn)
            mode, text = _COLD[done % 2], asked[done // 2 % len(asked)]
            seconds[mode].append(timed(memory.search, text, mode=mode, floor=False))
            self.tell(f"adding and asking {size:,}", done + 1, 2 * n)
        memory.close()
        return {mode: Timing.of(taken).as_json() for mode, taken in seconds.items()}

    def _next_turns(self, memory: MeasuredMemory, n: int) -> Iterator[Turn]:
        start = len(memory)
        return iter(list(self.corpus.turns(start, start + n)))


def add_as_said(memory: MeasuredMemory, turn: Turn) -> None:
    """Add a turn by itself, as whoever said it then and there."""
    memory.add(
        turn.text,
        role=turn.role,
        speaker=turn.speaker,
        conversation_id=turn.conversation_id,
        session_id=turn.session_id,
        said_at=turn.said_at,
    )


def _append_durably(path: Path, text: str) -> None:
    """Do the least that a durable add can do: append the words to a file and wait until the disk has them."""
    with path.open("ab", buffering=0) as file:
        file.write(text.encode())
        os.fsync(file.fileno())


def _as_turns(texts: Iterable[str], *, conversation: str) -> list[Turn]:
    return [Turn("", conversation, "session-1", number, Role.USER, "user", text) for number, text in enumerate(texts)]


def _of_rounds(values: Sequence[float]) -> dict[str, Any]:
    return {"median": float(np.median(values)), "best": max(values), "rounds": list(values)}


def _bytes_by_part(folder: Path, n_turns: int) -> dict[str, float]:
    """Return what a closed memory takes on disk for each turn: the store, the vectors, what is derived."""
    sizes = {"store": 0, "vectors": 0, "derived": 0}
    for path in folder.rglob("*"):
        if path.is_file():
            part = path.relative_to(folder).parts[0]
            sizes[part if part in sizes else "store"] += path.stat().st_size
    return {part: size / n_turns for part, size in sizes.items()}
