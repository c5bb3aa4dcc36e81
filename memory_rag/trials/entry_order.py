"""The best entries of a memory's table as documents, without comparing a text while questions are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_rag.retrieval.ranking import Entries, Scores


class EntryOrder:
    """Entries best first, equal scores by turn id: the order of every search, from ranks of ids made once."""

    def __init__(self, turn_ids: Sequence[str], document_of: Mapping[str, str]) -> None:
        self._rank_of_id = np.empty(len(turn_ids), np.int64)
        self._rank_of_id[sorted(range(len(turn_ids)), key=turn_ids.__getitem__)] = np.arange(len(turn_ids))
        self._documents = [document_of.get(turn_id, "") for turn_id in turn_ids]

    def __len__(self) -> int:
        return len(self._documents)

    def best(self, entries: Entries, scores: Scores, *, k: int) -> Entries:
        """Return the k best of parallel arrays."""
        if len(entries) > k:
            # Everything that ties with the k-th stays until ids have been compared.
            keep = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            entries, scores = entries[keep], scores[keep]
        best: Entries = entries[np.lexsort((self._rank_of_id[entries], -scores))[:k]]
        return best

    def documents(self, entries: Entries) -> list[str]:
        """Return the document that each entry is of; empty for an entry of none."""
        return list(map(self._documents.__getitem__, entries.tolist()))
