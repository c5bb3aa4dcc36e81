"""Many clients at once, as a result: a server process of its own, clients and a scripted model in this one."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from memory_rag.embedding.minilm import MiniLmEmbedder
from memory_rag.errors import MemoryRagError, MissingExtraError
from memory_rag.evaluation.load import (
    TIMEOUT_S,
    Chat,
    added_to_a_chat,
    by_mcp,
    by_page,
    chats_at_once,
    searches_at_once,
)
from memory_rag.evaluation.provenance import provenance
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.evaluation.speed_vectors import KnownVectors, MadeVectors
from memory_rag.memory import Memory
from memory_rag.trials.scripted_model import scripted_model

TURNS: Final = 100_000
_SEARCHED_BY: Final = ("mcp hybrid", "mcp keyword", "page hybrid")
_MOST_SEARCHES_A_SECOND: Final = 400
"""So many different questions are made ready for each second of searching."""
_WARMING: Final = 5
_BLOCK: Final = 10_000
_LAST_WORDS: Final = 2000
_LOOKS_EVERY_S: Final = 0.05

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _Server:
    url: str
    pid: int

    def cpu_s(self) -> float:
        """Return the seconds of processor that it took so far; 0 where the system doesn't tell."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return 0.0
        fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class LostError(MemoryRagError):
    """Something that was said isn't stored as it was said, or is stored twice."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much is done at once, and for how long."""

    n_turns: int = TURNS
    n_chats: int = 50
    n_questions: int = 4
    """Of each chat; every second asks for what was said before."""
    pace_s: float = 0.1
    """Between two of the twelve pieces of an answer."""
    n_alone: int = 60
    """Questions of the chat that is alone."""
    clients: int = 16
    """That search at once."""
    seconds: float = 10.0
    """Of each kind of search."""


def load_result(scratch: Path, *, load: Load, seed: int, embedder: str, tell: Tell) -> dict[str, Any]:
    """Measure, check that nothing was lost, and return the result.

    Raises:
        LostError: what the chats said and heard isn't stored once and as it was said.
        MissingExtraError: the server's extra isn't installed.
    """
    folder, corpus = scratch / "memory", Corpus(seed=seed)
    load_before = os.getloadavg()[0]
    _fill(folder, corpus, load.n_turns, embedder=embedder, tell=tell)
    log = scratch / "server.log"
    result, chats = asyncio.run(_measured(folder, corpus, load, embedder=embedder, log=log, tell=tell))
    result["stored"] = check_nothing_lost(folder, chats)
    made = provenance(
        seed=seed,
        embedder=embedder,
        load=asdict(load),
        load_average_before=load_before,
        load_average_after=os.getloadavg()[0],
    )
    return {"provenance": made, "result": result}


def check_nothing_lost(folder: Path, chats: Sequence[Chat]) -> dict[str, int]:
    """Return how many turns of how many chats are stored, each once and with the bytes that were said.

    Raises:
        LostError: one isn't.
    """
    with Memory.open(folder, embedder="none", create=False) as memory:
        by_question: dict[str, str] = {}
        for _row, turn in memory.store.scan():
            if turn.source is not None and turn.source.name == "chat":
                by_question.setdefault(turn.text, turn.conversation_id)
        for chat in chats:
            conversation = by_question.get(chat.questions[0])
            if conversation is None:
                raise LostError(f"nothing is stored of the chat that began with {chat.questions[0]!r}")
            stored = [(turn.role.value, turn.text) for turn in memory.turns(conversation_id=conversation)]
            if stored != chat.said:
                wrong = next((pair for pair in zip(stored, chat.said, strict=False) if pair[0] != pair[1]), None)
                raise LostError(
                    f"{conversation} has {len(stored)} turns, {len(chat.said)} were said; first that differs: {wrong}"
                )
    return {"n_chats": len(chats), "n_turns": sum(len(chat.said) for chat in chats)}


def _fill(folder: Path, corpus: Corpus, n_turns: int, *, embedder: str, tell: Tell) -> None:
    """Store invented turns; for minilm with invented vectors under its name, which take no hour to make."""
    known = KnownVectors(fingerprint=MiniLmEmbedder().fingerprint)
    made = MadeVectors(seed=corpus.seed)
    with Memory.open(folder, embedder=known if embedder == "minilm" else "none", language="en") as memory:
        for start in range(0, n_turns, _BLOCK):
            turns = list(corpus.turns(start, min(n_turns, start + _BLOCK)))
            memory.store.append(turns)
            known.know([turn.searchable for turn in turns], made.turns(start, start + len(turns)))
            memory.embed()
            tell("storing", start + len(turns), n_turns)
        memory.indexes.save()


async def _measured(
    folder: Path, corpus: Corpus, load: Load, *, embedder: str, log: Path, tell: Tell
) -> tuple[dict[str, Any], list[Chat]]:
    try:
        import httpx2
    except ImportError as error:
        raise MissingExtraError("the server", extra="server") from error
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with (
        scripted_model(pace_s=load.pace_s) as slow,
        scripted_model() as quick,
        httpx2.AsyncClient(timeout=TIMEOUT_S, limits=limits) as client,
    ):
        result: dict[str, Any] = {}
        questions = corpus.questions(load.n_alone, among=load.n_turns)
        with _serving(folder, upstream=quick, embedder=embedder, log=log) as server:
            await _warmed(client, server.url, log=log)
            alone = [f"Do you remember: {question} [alone m{n}]" for n, question in enumerate(questions)]
            result["alone"] = await added_to_a_chat(
                client, straight=quick, through=f"{server.url}/v1", questions=alone, tell=tell
            )
            result["searches"] = await _searches(client, server, corpus, load, tell=tell)
        with _serving(folder, upstream=slow, embedder=embedder, log=log) as server:
            await _warmed(client, server.url, log=log)
            straight = await chats_at_once(client, slow, _chats(corpus, load), tell=tell)
            chats = _chats(corpus, load)
            before = server.cpu_s()
            through = await chats_at_once(client, f"{server.url}/v1", chats, tell=tell)
            through["cpu_ms"] = _each(server.cpu_s() - before, through["n_answers"])
        result["chats"] = {"straight": straight, "through": through}
    return result, chats


def _chats(corpus: Corpus, load: Load) -> list[Chat]:
    asked = iter(corpus.questions(load.n_chats * load.n_questions, among=load.n_turns))
    return [
        Chat(
            [
                f"{'Do you remember: ' if number % 2 else 'Note this. '}{next(asked)} [c{chat} m{number}]"
                for number in range(load.n_questions)
            ]
        )
        for chat in range(load.n_chats)
    ]


async def _searches(client: Any, server: _Server, corpus: Corpus, load: Load, *, tell: Tell) -> dict[str, Any]:
    ways = {
        "mcp hybrid": by_mcp(client, server.url, mode="hybrid"),
        "mcp keyword": by_mcp(client, server.url, mode="keyword"),
        "page hybrid": by_page(client, server.url),
    }
    n = int(_MOST_SEARCHES_A_SECOND * load.seconds)
    made = corpus.questions(n, among=load.n_turns)
    found = {}
    for number, name in enumerate(_SEARCHED_BY, 1):
        questions: Iterator[str] = (f"{question} {name}" for question in made)
        before = server.cpu_s()
        searched = await searches_at_once(ways[name], questions, clients=load.clients, seconds=load.seconds)
        found[name] = {**searched.as_json(), "cpu_ms": _each(server.cpu_s() - before, len(searched.took))}
        tell("searches", number, len(_SEARCHED_BY))
    return found


def _each(seconds: float, n: int) -> float:
    """Return the milliseconds that each of n took; 0 where there are none, or the system doesn't tell."""
    return 1000 * seconds / n if n else 0.0


async def _warmed(client: Any, url: str, *, log: Path) -> None:
    """Ask a few questions, so that everything is loaded."""
    for number in range(_WARMING):
        for search in (by_page(client, url), by_mcp(client, url, mode="hybrid")):
            if not await search(f"What did I say in March 2023 about number {number}?"):
                said = log.read_text(encoding="utf-8")[-_LAST_WORDS:]
                raise MemoryRagError(f"the server doesn't answer searches: {said}")


@contextmanager
def _serving(folder: Path, *, upstream: str, embedder: str, log: Path) -> Iterator[_Server]:
    """Run ``memory-rag serve`` in a process of its own until the end; what it says goes to a file.

    Raises:
        MemoryRagError: it didn't start.
    """
    command = [sys.executable, "-m", "memory_rag", "--embedder", embedder, "serve", "--memory", str(folder)]
    command += ["--port", "0", "--upstream", upstream]
    environment = {**os.environ, "MEMORY_RAG_LANGUAGE": "en"}
    environment.pop("MEMORY_RAG_TOKEN", None)
    with (
        log.open("wb") as file,
        subprocess.Popen(command, stdout=file, stderr=file, env=environment) as process,
    ):
        try:
            yield _Server(_url_in(log, process), process.pid)
        finally:
            process.terminate()
            process.wait()


def _url_in(log: Path, process: subprocess.Popen[bytes]) -> str:
    while True:
        has_ended = process.poll() is not None
        said = log.read_text(encoding="utf-8")
        if found := re.search(r"the page +(http://\S+?)/?\s", said):
            return found[1]
        if has_ended:
            raise MemoryRagError(f"the server didn't start: {said[-_LAST_WORDS:]}")
        time.sleep(_LOOKS_EVERY_S)
