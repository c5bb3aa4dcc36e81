"""The memory that a benchmark's turns lie in: made once, kept, and taken up again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memory_rag.embedding.catalogue import open_embedder
from memory_rag.errors import StoreError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.memory import Memory
from memory_rag.settings import CONFIG_NAME, Settings, home_folder
from memory_rag.trials.query_vectors import RememberingEmbedder
from memory_rag.turns import Turn


def default_work_folder(home: Path | None = None) -> Path:
    """Return where benchmarks' memories are kept unless another folder is named: beside the user's memories."""
    return home_folder(home) / ".bench"


def remembering(
    work: Path, *, embedder: str | None = None, home: Path | None = None, weights: str | None = None
) -> tuple[Settings, RememberingEmbedder | None]:
    """Return the settings that hold, and their embedder, which keeps questions' vectors in the work folder.

    The embedder is None if they say ``none``.
    """
    settings = Settings.load(config=home_folder(home) / CONFIG_NAME, embedder=embedder, weights=weights)
    if settings.embedder == "none":
        return settings, None
    return settings, RememberingEmbedder(open_embedder(settings.embedder, threads=settings.threads), work)


def benchmark_memory(
    benchmark: Benchmark,
    work: Path,
    *,
    settings: Settings,
    embedder: RememberingEmbedder | None,
    language: str | None = None,
) -> Memory:
    """Return a memory that holds a benchmark's turns under the benchmark's ids, and nothing else.

    It lies in a folder of the work folder that the same turns find again, so what was embedded stays embedded.

    Raises:
        StoreError: the folder holds something else.
    """
    turns = list(_stored(benchmark))
    languages = settings.language if language is None else language
    folder = work / f"{_plain(benchmark.name)}-{_digest(turns)[:12]}-{_plain(languages)}"
    memory = Memory(
        folder,
        settings=replace(settings, language=languages, embedder="none" if embedder is None else settings.embedder),
        embedder=embedder,
    )
    try:
        if len(memory) == 0:
            memory.add_many(turns)
        if len(memory) != len(turns):
            raise StoreError(
                f"{folder} holds {len(memory)} turns where {benchmark.name} has {len(turns)}; delete the folder, or "
                "name another with --work"
            )
    except BaseException:
        memory.close()
        raise
    return memory


def _stored(benchmark: Benchmark) -> Iterator[Turn]:
    for turn in benchmark.turns():
        # All documents are candidates, and a turn is known by its id alone: histories may share their sources.
        yield replace(turn, source=None, recalled=True)


def _digest(turns: list[Turn]) -> str:
    listed = hashlib.sha256()
    for turn in turns:
        about = (turn.turn_id, turn.conversation_id, turn.session_id, turn.ordinal, turn.speaker, turn.said_at)
        listed.update(f"{about!r} {turn.sha256} {turn.searchable != turn.text}\n".encode("utf-8", "surrogatepass"))
    return listed.hexdigest()


def _plain(name: str) -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)
