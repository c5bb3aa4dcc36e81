"""Embedding on the way: a search embeds the few turns that were said since, so that it finds them by meaning, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_rag.errors import EmbedderError, StoreError
from memory_rag.retrieval.turn_table import TurnTable
from memory_rag.store.turn_writer import TurnWriter

if TYPE_CHECKING:
    from memory_rag.retrieval.dense import DenseIndex
    from memory_rag.retrieval.embedding_batches import Unlocked

_BUDGET: Final = 200_000
"""Code points at most: about 400 passages, some seconds."""


def embed_in_passing(dense: DenseIndex, table: TurnTable, store: TurnWriter, *, limit: int, unlocked: Unlocked) -> str:
    """Embed at most ``limit`` pending turns, and say why not if it can't be done: the vectors that are there will do.

    The embedder works within ``unlocked()``; ``dense`` has caught up with the table.
    """
    try:
        dense.embed(table, store, limit=limit, budget=_BUDGET, unlocked=unlocked)
    except (EmbedderError, StoreError) as error:
        return str(error)
    return ""
