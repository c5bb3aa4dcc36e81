"""What a search has to answer, worked out the plain way from the definitions, one turn at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median

import numpy as np

from memory_rag.embedding.embedder import as_embedded
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn
from tests.end_to_end.hashed_words import HashedWords

ANALYZER = Analyzer(("en",))
EMBEDDER = HashedWords()
NAMES = ("Ada", "Bo Ek")
"""The speakers of these tests who have names; the others are parts in a conversation."""


def terms_of(turn: Turn) -> list[str]:
    own = ANALYZER.terms(turn.speaker) if turn.speaker in NAMES else []
    return [*own, *ANALYZER.terms(turn.searchable)]


def bm25(question: str, turns: Sequence[Turn]) -> dict[str, float]:
    """Lucene's idf, k1 .9; b from .2 to .75 with the spread of ln(length) from .7 to 1.4, over the median length."""
    documents = {turn.turn_id: terms_of(turn) for turn in turns}
    lengths = [max(1, len(document)) for document in documents.values()]
    if not lengths:
        return {}
    logs = [math.log(length) for length in lengths]
    spread = math.sqrt(fmean((log - fmean(logs)) ** 2 for log in logs))
    b = 0.2 + 0.55 * min(1.0, max(0.0, (spread - 0.7) / 0.7))
    typical = max(1.0, median(lengths))
    scores = dict.fromkeys(documents, 0.0)
    for term in ANALYZER.query_terms(question):
        df = sum(term in document for document in documents.values())
        idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
        for name, document in documents.items():
            tf = Counter(document)[term]
            if tf:
                scores[name] += idf * 1.9 * tf / (tf + 0.9 * (1 - b + b * len(document) / typical))
    return {name: score for name, score in scores.items() if score > 0}


def cosines(question: str, turns: Sequence[Turn]) -> dict[str, float]:
    """The cosine of the question with the best passage of each turn that is embedded."""
    (asked,) = EMBEDDER.embed_queries([question]).astype(np.float64)
    scores = {}
    for turn in turns:
        if turn.recalled:
            text = turn.searchable
            passages = [
                as_embedded(span.of(text), speaker=turn.speaker, embedder=EMBEDDER) for span in EMBEDDER.passages(text)
            ]
            scores[turn.turn_id] = float((EMBEDDER.embed_turns(passages).astype(np.float64) @ asked).max())
    return scores
