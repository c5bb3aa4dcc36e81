"""Questions about nothing in particular, and the shift they give against turns that are near to any question.

A turn's score is corrected by what the generic questions give it, t.q - s * mean(t.g). That is t.(q - s * g)
with g the mean of the questions' vectors: a constant to subtract from the query. Measured as recall@10 of the
dense side alone on LoCoMo and on human chat: e5 +4.3 and +4.2 points at strength .75, MiniLM +2.7 and +2.5 at
.5. Sixteen questions did as well as sixty-four, and they need not match the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from memory_rag.embedding.embedder import Vectors

GENERIC_QUESTIONS: Final = (
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
    "Vad gör de på fritiden?",
    "När var det vi pratade om det?",
    "Vad bestämde vi till slut?",
    "Vem träffade de förra veckan?",
    "Hur mycket kostade det?",
    "Vad sa jag om mitt jobb?",
    "Varför ändrade de sig?",
    "Vilket råd gav du mig?",
    "Hva liker de å gjøre på fritiden?",
    "Når skjedde det?",
    "Hvor skal de reise i sommer?",
    "Hva ble vi enige om til slutt?",
    "Hvordan gikk det med prosjektet?",
    "Hvem var det de snakket med?",
    "Hvor lenge har de bodd der?",
    "Hva foreslo du at jeg skulle gjøre?",
)


def hub_shift(embed_queries: Callable[[Sequence[str]], Vectors], *, strength: float, dim: int) -> Vectors:
    """Return what to subtract from a query's vector, shape (dim,); strength 0 is zeros and embeds nothing.

    The query isn't normalised again afterwards.
    """
    if strength == 0:
        return np.zeros(dim, np.float32)
    mean = embed_queries(GENERIC_QUESTIONS).mean(axis=0, dtype=np.float64)
    shift: Vectors = (strength * mean).astype(np.float32)
    return shift
