"""What a talk is, a session or a whole conversation, and the few words that tell what it was about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory_rag.errors import QueryError
from memory_rag.retrieval.ranking import Hit
from memory_rag.summaries.summary import Kind, Line
from memory_rag.text.word_bounds import count_words
from memory_rag.turns import Role

_ROLES: Final = frozenset(Role)
LINE_WORDS: Final = 40
"""Words of a summary on one line at most."""


class Unit(StrEnum):
    """What a search returns: single turns, sessions (one sitting), or whole conversations."""

    TURN = "turn"
    SESSION = "session"
    CONVERSATION = "conversation"

    @classmethod
    def parse(cls, value: str) -> Unit:
        """Return the unit named.

        Raises:
            QueryError: it is none.
        """
        try:
            return cls(value)
        except ValueError:
            raise QueryError(f"unknown unit {value!r}; a unit is one of: {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True, order=True)
class TalkId:
    """Which talk: a session of a conversation, or with ``session_id`` None all of the conversation."""

    conversation_id: str
    session_id: str | None = None

    @property
    def unit(self) -> Unit:
        return Unit.CONVERSATION if self.session_id is None else Unit.SESSION

    @property
    def key(self) -> str:
        """Both ids as one string; two talks of a unit never share one."""
        return self.conversation_id if self.session_id is None else f"{self.conversation_id}\0{self.session_id}"


@dataclass(frozen=True, slots=True)
class TalkSummary:
    """What a talk was about: lines that cite its turns, the subject first.

    ``made_by`` is the summarizer's fingerprint, or ``user`` for what somebody wrote by hand. ``n_turns`` is how many
    turns it was made of; ``number`` the store's own, 0 for one that isn't stored.
    """

    talk: TalkId
    lines: tuple[Line, ...]
    made_by: str
    made_at: datetime
    n_turns: int
    number: int = field(default=0, compare=False)

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.kind is Kind.TOPIC)

    @property
    def texts(self) -> tuple[str, ...]:
        """Its subjects as one text, then every other line as it is shown."""
        return self._told(self.lines)

    @property
    def found_by(self) -> tuple[str, ...]:
        """The texts that it is found by: its subjects as one, and the lines that say in other words what was said.

        A verbatim line is a part of a turn, which is found itself; so is an extractive summarizer's subject. On talks
        of two people, sessions found by those too were first .75 of the time instead of .80 (LoCoMo, 350 questions).
        """
        if self.made_by.startswith("extractive:"):
            return ()
        return self._told([line for line in self.lines if not line.verbatim])

    @staticmethod
    def _told(lines: Sequence[Line]) -> tuple[str, ...]:
        about = ", ".join(line.text for line in lines if line.kind is Kind.TOPIC)
        return tuple(text for text in (about, *(line.shown for line in lines if line.kind is not Kind.TOPIC)) if text)

    @property
    def one_line(self) -> str:
        """The summary on one line of at most 40 words, whole lines of it; '' if it has none.

        A speaker is named who has a name: "user" and "assistant" say nothing to a reader.
        """
        taken: list[str] = []
        told = [replace(line, speaker="") if line.speaker in _ROLES else line for line in self.lines]
        for text in (" ".join(text.split()) for text in self._told(told)):
            if taken and count_words("; ".join([*taken, text])) > LINE_WORDS:
                break
            taken.append(text)
        return "; ".join(taken)


@dataclass(frozen=True, slots=True)
class Talk:
    """A session or conversation as it is stored: how many turns of it count, and when they were said.

    ``first_said_at`` and ``last_said_at`` are None where no time is known; ``title`` is '' where its source gave none.
    """

    talk: TalkId
    title: str
    n_turns: int
    first_said_at: datetime | None
    last_said_at: datetime | None
    summary: TalkSummary | None = None

    @property
    def name(self) -> str:
        """What a reader calls it by: the title, or the conversation's id."""
        return self.title or self.talk.conversation_id


@dataclass(frozen=True, slots=True)
class TalkHit:
    """A talk that a search found; ``rank`` starts at 1, a higher score is better.

    ``turns`` are its best turns for the question, best first, at most three; ``signals`` are the weighted values that
    add up to the score.
    """

    talk: Talk
    score: float
    rank: int
    turns: tuple[Hit, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)

    @property
    def conversation_id(self) -> str:
        return self.talk.talk.conversation_id

    @property
    def session_id(self) -> str | None:
        return self.talk.talk.session_id

    @property
    def summary(self) -> TalkSummary | None:
        return self.talk.summary

    @property
    def one_line(self) -> str:
        """What the talk was about, on one line: its summary, else its title, else its best turn."""
        if self.summary is not None and self.summary.one_line:
            return self.summary.one_line
        if self.talk.title:
            return self.talk.title
        best = self.turns[0] if self.turns else None
        return " ".join(best.span.of(best.turn.text).split()) if best is not None else ""


@dataclass(frozen=True, slots=True)
class TalkRanking:
    """The talks that a question is about, best first; ``evidence`` and ``notes`` as a :class:`Ranking` has them.

    ``untold`` counts the talks among those searched that have no summary: they were found by their turns alone.
    """

    query: str
    unit: Unit
    hits: tuple[TalkHit, ...] = ()
    untold: int = 0
    evidence: str = "none"
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[TalkHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> TalkHit:
        return self.hits[index]

    @property
    def conversation_ids(self) -> tuple[str, ...]:
        """The hits' conversations, best first, each once."""
        return tuple(dict.fromkeys(hit.conversation_id for hit in self.hits))


def lines_by_hand(text: str, *, subjects: Sequence[str], turn_ids: Sequence[str]) -> tuple[Line, ...]:
    """Return what somebody wrote as lines of a summary: each subject, and each line of the text that has words."""
    told = [Line(Kind.POINT, line.strip(), tuple(turn_ids)) for line in text.splitlines() if line.strip()]
    return (*(Line(Kind.TOPIC, one.strip(), tuple(turn_ids)) for one in subjects if one.strip()), *told)
