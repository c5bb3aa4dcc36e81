"""The running summaries of a memory, with its settings, its languages and its embedder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from memory_rag.embedding.embedder import Embedder
from memory_rag.errors import EmbedderError, MissingExtraError, SettingsError
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.memory_of_turns import MemoryOfTurns
from memory_rag.summaries.reading import is_read
from memory_rag.summaries.running import Events, RunningSummaries
from memory_rag.summaries.summary import Summarizer
from memory_rag.summaries.triggers import Triggers, Vectors, term_vectors
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import printable

_KEPT_VECTORS: Final = 2_000
_SAMPLE: Final = 256
_LEAST_SAMPLE: Final = 64
SUMMARIZERS: Final = ("extractive", "openai:<model>")


def summaries_of(
    memory: MemoryOfTurns,
    *,
    clock: Callable[[], datetime],
    events: Callable[[], Events],
    made: Callable[[str], None] = lambda _conversation_id: None,
) -> RunningSummaries:
    """Return the running summaries of a memory; nothing is loaded before it is needed.

    ``made`` is called with a conversation's id when a summary of it was made.

    Raises:
        SettingsError: the setting ``summarizer`` names none.
    """
    settings = memory.settings
    known = Analyzers(memory.indexes.spoken_languages)
    return RunningSummaries(
        memory.store,
        analyzer=known,
        summarizer=summarizer_named(settings.summarizer, analyzer=known),
        triggers=Triggers(
            tokens=settings.summary_tokens,
            turns=settings.summary_turns,
            keep_recent=settings.keep_recent,
            # Terms alone move too much from turn to turn to tell a new subject.
            drift=None if settings.embedder == "none" else settings.summary_drift or None,
        ),
        kept_share=settings.summary_kept,
        vectors_of=MeaningVectors(
            lambda: memory.indexes.embedder, analyzer=known, sample=lambda: sample_of_turns(memory.store)
        ),
        events=LateEvents(events),
        made=made,
        clock=clock,
    )


def summarizer_named(name: str, *, analyzer: Callable[[], Analyzer]) -> Callable[[], Summarizer]:
    """Return what gives the summarizer of a name, which is made when it is first asked for.

    Raises:
        SettingsError: the name is none.
    """
    kind, _, model = name.partition(":")
    if name == "extractive":
        return lambda: ExtractiveSummarizer(analyzer())
    if kind == "openai" and model:
        return _Once(lambda: _model_summarizer(model))
    raise SettingsError(f"unknown summarizer {name!r}; a summarizer is one of: {', '.join(SUMMARIZERS)}")


def _model_summarizer(model: str) -> Summarizer:
    from memory_rag.summaries.chat_endpoint import ChatEndpoint
    from memory_rag.summaries.model_written import ModelSummarizer

    return ModelSummarizer(ChatEndpoint(model))


class _Once:
    """Makes a summarizer once: it remembers what its endpoint can't do."""

    def __init__(self, make: Callable[[], Summarizer]) -> None:
        self._make = make
        self._made: Summarizer | None = None

    def __call__(self) -> Summarizer:
        if self._made is None:
            self._made = self._make()
        return self._made


class Analyzers:
    """The analyzer of a memory's languages as they are now; a memory learns its languages from what is said."""

    def __init__(self, languages: Callable[[], tuple[str, ...]]) -> None:
        self._languages = languages
        self._present: Analyzer | None = None

    def __call__(self) -> Analyzer:
        languages = self._languages()
        if self._present is None or self._present.languages != languages:
            self._present = Analyzer(languages)
        return self._present


class MeaningVectors:
    """Vectors of texts by a memory's embedder, each text embedded once; by its terms where there is no embedder.

    Of a long text its first passage is embedded: it tells what a turn is about. What the turns of ``sample`` have in
    common (their language, their tone, the embedder's own lean) is taken off, so that a cosine of 0 means nothing in
    common beyond that, with any embedder and in any language; of fewer than 64 turns nothing can be told.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | None],
        *,
        analyzer: Callable[[], Analyzer],
        sample: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._sample = sample
        self._known: dict[str, Vectors] = {}
        self._common: tuple[str, int, Vectors] | None = None
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        try:
            embedder = self._embedder()
        except (EmbedderError, MissingExtraError):
            embedder = None
        if embedder is None:
            return term_vectors(self._analyzer())(texts)
        with self._lock:
            if len(self._known) > _KEPT_VECTORS:
                self._known.clear()
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            self._known.update(zip(new, _of_first_passages(embedder, new), strict=True))
            rows = np.array([self._known[text] for text in texts], np.float32) - self._in_common(embedder)
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            unit: Vectors = (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
            return unit

    def _in_common(self, embedder: Embedder) -> Vectors:
        """Return the mean vector of the sample, made anew while it is small and has doubled; zeros of too few."""
        known = self._common
        if known is not None and known[0] == embedder.fingerprint and known[1] >= 2 * _LEAST_SAMPLE:
            return known[2]
        texts = self._sample()
        if known is None or known[0] != embedder.fingerprint or len(texts) >= 2 * known[1]:
            common = np.zeros(embedder.dim, np.float32)
            if len(texts) >= _LEAST_SAMPLE:
                common = _of_first_passages(embedder, texts).mean(axis=0)
            known = self._common = (embedder.fingerprint, max(len(texts), 1), common)
        return known[2]


def _of_first_passages(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    return embedder.embed_turns([embedder.passages(text)[0].of(text) for text in texts])


def sample_of_turns(store: TurnWriter) -> list[str]:
    """Return the texts of turns spread evenly over a store, in stored order; at most 256."""
    last = store.last_seq
    rows = sorted({round(1 + place * (last - 1) / (_SAMPLE - 1)) for place in range(_SAMPLE)}) if last else []
    return [printable(turn.text) for _row, turn in sorted(store.turns_at(rows).items()) if is_read(turn)]


class LateEvents:
    """Tells events to a log that is only made when there is something to tell."""

    def __init__(self, log: Callable[[], Events]) -> None:
        self._log = log

    def record(self, kind: str, **fields: Any) -> None:
        self._log().record(kind, **fields)
