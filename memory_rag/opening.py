"""A memory's words and what is made of them, opened where they are kept: in a folder, or on a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memory_rag.embedding.embedder import Embedder
from memory_rag.privacy.screening import Screening
from memory_rag.retrieval.derived import DerivedFiles
from memory_rag.retrieval.indexes import Indexes
from memory_rag.server_url import is_on_server
from memory_rag.settings import Settings
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_writer import TurnWriter

if TYPE_CHECKING:
    # Loading it loads what keyword search does without.
    from memory_rag.retrieval.vectors import VectorFile


@dataclass(frozen=True, slots=True)
class Opened:
    """The store of a memory, the indexes over it, and its folder, if it has one.

    ``vector_files`` are the files in it that the indexes search in, by the paths of their ids.
    """

    store: TurnWriter
    indexes: Indexes
    folder: Path | None = None
    vector_files: Mapping[Path, VectorFile] = field(default_factory=dict)


def opened(place: Path | str, *, settings: Settings, create: bool, embedder: Embedder | None = None) -> Opened:
    """Open what lies in a folder, or at the URL of a server, making it if ``create``.

    Raises:
        NotAMemoryError: there is no memory and ``create`` is False, or this can't hold one.
        NewerFormatError: a later release wrote it.
        MissingExtraError: it is on a server, and the client isn't installed.
        StoreError: it can't be opened.
    """
    if is_on_server(place):
        return _on_server(str(place), settings=settings, create=create, embedder=embedder)
    folder = Path(place)
    store = SqliteTurnStore(
        folder,
        durability=settings.durability,
        busy_timeout_s=settings.busy_timeout_s,
        create=create,
        screen=Screening.of_settings(settings),
    )
    derived = DerivedFiles(folder, lock_timeout_s=settings.lock_timeout_s, waits_for_disk=settings.durability == "full")
    indexes = Indexes(store, derived, settings=settings, embedder=embedder)
    return Opened(store, indexes, folder, derived.vector_files)


def _on_server(url: str, *, settings: Settings, create: bool, embedder: Embedder | None) -> Opened:
    from memory_rag.postgres.derived import DerivedOnServer
    from memory_rag.postgres.large_indexes import LargeIndexes
    from memory_rag.postgres.turn_store import PostgresTurnStore

    store = PostgresTurnStore(
        url,
        owner=settings.owner,
        busy_timeout_s=settings.busy_timeout_s,
        create=create,
        screen=Screening.of_settings(settings),
        n_partitions=settings.partitions,
        replica=settings.replica,
    )
    if settings.resident == 0 or len(store) > settings.resident:
        return Opened(store, LargeIndexes(store, settings=settings, embedder=embedder))
    derived = DerivedOnServer(store.connections)
    return Opened(store, Indexes(store, derived, settings=settings, embedder=embedder))
