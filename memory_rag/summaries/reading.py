"""Turns as a summarizer and an audit read them: sentence by sentence, each with its turn and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_rag.summaries.background import give_way
from memory_rag.summaries.cues import begins_with_reason, kind_of, reason_in
from memory_rag.summaries.sentences import sentences
from memory_rag.summaries.summary import Kind
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn

_OF_ASSISTANTS = frozenset({Kind.DECISION})
"""What counts in a model's mouth: it has no preferences, and its "you need to" and "I am a" are no one's facts."""
_NOT_ASKED = frozenset({Kind.POINT, Kind.TODO, Kind.FACT})
"""What a question isn't, whatever its words: "How many jars do we need?" is nothing to do."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a turn, verbatim: what it tells, why (for a decision), and its place among all that were read."""

    turn: Turn
    place: int
    text: str
    kind: Kind
    language: str
    reason: str = ""


def read_sentences(turns: Sequence[Turn], *, analyzer: Analyzer) -> list[Sentence]:
    """Return the sentences of turns in spoken order.

    Turns of the system, of tools, and those left out of recall have none. A question that nobody else spoke after is
    open.
    """
    read: list[Sentence] = []
    for number, turn in enumerate(turns):
        if not is_read(turn):
            continue
        text = turn.text if turn.indexed is None else turn.indexed.of(turn.text)
        language = analyzer.language_of(text)
        own = [span.of(text) for span in sentences(text)]
        for at, sentence in enumerate(own):
            give_way()
            kind = kind_of(sentence, language=language)
            if turn.role is Role.ASSISTANT and kind not in _OF_ASSISTANTS:
                kind = Kind.POINT
            elif kind in _NOT_ASKED and sentence.rstrip("\"'”’)*_").endswith(("?", "？", "؟")):
                kind = Kind.POINT if _is_answered(turns, number) else Kind.QUESTION
            reason = ""
            if kind is Kind.DECISION:
                reason = reason_in(sentence, language=language)
                if not reason and at + 1 < len(own) and begins_with_reason(own[at + 1], language=language):
                    reason = own[at + 1]
            read.append(Sentence(turn, len(read), sentence, kind, language, reason))
    return read


def is_read(turn: Turn) -> bool:
    """Tell whether a turn is something that somebody said, to a summary."""
    return turn.recalled and turn.role in (Role.USER, Role.ASSISTANT) and bool(turn.text.strip())


def _is_answered(turns: Sequence[Turn], number: int) -> bool:
    asker = turns[number].speaker
    return any(is_read(later) and later.speaker != asker for later in turns[number + 1 :])
