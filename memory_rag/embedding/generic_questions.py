"""Questions about nothing in particular, and the shift they give against turns that are near to any question.

A turn's score is corrected by what the generic questions give it, t.q - s * mean(t.g). That is t.(q - s * g) with g
the mean of the questions' vectors: a constant to subtract from the query. The questions below, recall@10 of the dense
side alone on LoCoMo: e5 65.6, at strength .75 with all of them 69.5; MiniLM 58.1, at strength .5 with the English ones
59.9, with all of them 59.1. Sixty-four questions gave .5 to .9 points more; they need not match the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from memory_rag.embedding.embedder import Vectors
from memory_rag.embedding.generic_means import mean_of, shipped_mean

ENGLISH: Final = (
    "What do they like to do in their free time?",
    "Where did they go on holiday?",
    "When did this happen?",
    "What did I say about my work?",
    "Who did they meet last week?",
    "What was the plan for the weekend?",
    "How did they feel about it?",
    "Why did they change their mind?",
    "What did we decide in the end?",
    "How much did it cost?",
    "What advice did you give me?",
    "Which book or film did they talk about?",
    "How long have they been doing that?",
    "What was the problem, and how was it solved?",
    "Who is in their family?",
    "What is the name of the place they mentioned?",
)
SWEDISH: Final = (
    "Vad gör de på fritiden?",
    "När var det vi pratade om det?",
    "Vad bestämde vi till slut?",
    "Vem träffade de förra veckan?",
    "Hur mycket kostade det?",
    "Vad sa jag om mitt jobb?",
    "Varför ändrade de sig?",
    "Vilket råd gav du mig?",
)
NORWEGIAN: Final = (
    "Hva liker de å gjøre på fritiden?",
    "Når skjedde det?",
    "Hvor skal de reise i sommer?",
    "Hva ble vi enige om til slutt?",
    "Hvordan gikk det med prosjektet?",
    "Hvem var det de snakket med?",
    "Hvor lenge har de bodd der?",
    "Hva foreslo du at jeg skulle gjøre?",
)


GENERIC_QUESTIONS: Final = ENGLISH + SWEDISH + NORWEGIAN


def hub_shift(
    embed_queries: Callable[[Sequence[str]], Vectors],
    *,
    strength: float,
    dim: int,
    questions: Sequence[str] = GENERIC_QUESTIONS,
    model_sha256: str = "",
) -> Vectors:
    """Return what to subtract from a query's vector, shape (dim,); strength 0 is zeros and embeds nothing.

    The query isn't normalised again afterwards. Nothing is embedded either for a model that is known by its SHA-256.
    """
    if strength == 0:
        return np.zeros(dim, np.float32)
    mean = shipped_mean(model_sha256=model_sha256, questions=questions) if model_sha256 else None
    if mean is None:
        mean = mean_of(questions, embed_queries=embed_queries)
    shift: Vectors = (strength * mean).astype(np.float32)
    return shift
