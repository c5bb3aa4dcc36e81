"""What a summary is: lines of a kind, each citing the turns that it came from, and what they cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol, Self

from memory_rag.errors import ModelError
from memory_rag.text.word_bounds import count_words
from memory_rag.turns import Turn

WORD_LIMIT: Final = 200
"""Words of a summary at most, as :func:`memory_rag.text.word_bounds.count_words` counts them."""


class Kind(StrEnum):
    """What a line tells; a summary shows its lines in this order."""

    TOPIC = "topic"
    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    QUESTION = "question"
    TODO = "todo"
    POINT = "point"
    """Anything else worth keeping."""


MUST_HOLD: Final = frozenset({Kind.DECISION, Kind.PREFERENCE})
"""What a summary has to keep before all else; the audit installs none that loses too much of it."""

LAST_TO_GO: Final = (Kind.DECISION, Kind.PREFERENCE, Kind.QUESTION, Kind.TODO, Kind.FACT, Kind.TOPIC, Kind.POINT)
"""The kinds of lines, the most important first: where there is no room for all, the last ones go first."""


class Level(StrEnum):
    """How much one summary stands for: up to 100 turns, up to ten of those, or a conversation's whole life."""

    HUNDRED = "hundred"
    THOUSAND = "thousand"
    LIFETIME = "lifetime"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a summary and the ids of the turns it came from, in spoken order, at least one.

    ``reason`` is why a decision was made, empty if nobody said. A line is ``verbatim`` when ``text`` (and ``reason``)
    are exact parts of the turn that it cites; ``speaker`` then is who said it.
    """

    kind: Kind
    text: str
    turn_ids: tuple[str, ...]
    reason: str = ""
    speaker: str = ""
    verbatim: bool = False

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ModelError(f"a line of a summary ({self.kind.value}) has no words; leave it out")
        if not self.turn_ids:
            raise ModelError(f"the line {self.text[:60]!r} cites no turn; every line of a summary names its turns")

    @property
    def shown(self) -> str:
        """The line as it stands in a summary's text, without its turns."""
        who = f"{self.speaker}: " if self.speaker else ""
        why = f" (why: {self.reason})" if self.reason and self.reason not in self.text else ""
        return f"{who}{self.text}{why}"

    @property
    def n_words(self) -> int:
        return count_words(self.shown)

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "text": self.text,
            **({"reason": self.reason} if self.reason else {}),
            **({"speaker": self.speaker} if self.speaker else {}),
            "turns": list(self.turn_ids),
            "verbatim": self.verbatim,
        }


_HEADINGS: Final = {
    Kind.TOPIC: "Topics",
    Kind.PREFERENCE: "Preferences",
    Kind.FACT: "About the people",
    Kind.DECISION: "Decisions",
    Kind.QUESTION: "Open questions",
    Kind.TODO: "To do",
    Kind.POINT: "Also said",
}


@dataclass(frozen=True, slots=True)
class Summary:
    """What some turns of a conversation come to.

    ``first_turn_id`` to ``last_turn_id`` are the ends, in spoken order, of the ``n_turns`` turns it stands for.
    ``made_by`` is the summarizer's fingerprint; ``note`` says what a reader has to know of how it came about, such as
    why another summarizer stood in. ``number`` is the store's own, 0 for one that isn't stored.
    """

    conversation_id: str
    level: Level
    lines: tuple[Line, ...]
    n_turns: int
    first_turn_id: str
    last_turn_id: str
    made_by: str
    made_at: datetime
    focus: str = ""
    note: str = ""
    number: int = field(default=0, compare=False)

    @property
    def n_words(self) -> int:
        return sum(line.n_words for line in self.lines)

    def of_kind(self, *kinds: Kind) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.kind in kinds)

    @property
    def text(self) -> str:
        """The summary as a model reads it: subject words, then lines under headings, each with the ids of its turns."""
        return shown_lines(self.lines)

    def structured(self) -> dict[str, Any]:
        """Return topics, user facts (preferences among them), decisions with reasons, open questions and to-dos."""
        listed: dict[str, list[Line]] = {
            "topics": [*self.of_kind(Kind.TOPIC)],
            "user_facts": [*self.of_kind(Kind.PREFERENCE, Kind.FACT)],
            "decisions": [*self.of_kind(Kind.DECISION)],
            "open_questions": [*self.of_kind(Kind.QUESTION)],
            "todos": [*self.of_kind(Kind.TODO)],
            "points": [*self.of_kind(Kind.POINT)],
        }
        return {name: [line.as_json() for line in lines] for name, lines in listed.items()}

    def as_json(self) -> dict[str, Any]:
        return {
            "conversation": self.conversation_id,
            "level": self.level.value,
            "turns": self.n_turns,
            "first_turn": self.first_turn_id,
            "last_turn": self.last_turn_id,
            "made_by": self.made_by,
            "made_at": self.made_at.isoformat(),
            "words": self.n_words,
            **({"focus": self.focus} if self.focus else {}),
            **({"note": self.note} if self.note else {}),
            **self.structured(),
        }

    def with_lines(self, lines: Sequence[Line]) -> Self:
        return replace(self, lines=tuple(lines))

    def _repr_html_(self) -> str:
        from memory_rag.summaries.in_notebook import summary_html

        return summary_html(self)


def shown_lines(lines: Sequence[Line]) -> str:
    """Return lines under the headings of their kinds, each with its turns; none is ''.

    Subject words stand all on one line, with the first turn of each.
    """
    parts: list[str] = []
    for kind in Kind:
        own = [line for line in lines if line.kind is kind]
        if own and kind is Kind.TOPIC:
            cited = dict.fromkeys(turn_id for line in own for turn_id in line.turn_ids[:1])
            words = ", ".join(_one_line(line.shown) for line in own)
            parts.append(f"{_HEADINGS[kind]}: {words} [{', '.join(cited)}]")
        elif own:
            parts.append(f"{_HEADINGS[kind]}:")
            parts += [f"- {_one_line(line.shown)} [{', '.join(line.turn_ids)}]" for line in own]
    return "\n".join(parts)


def check_lines(lines: Sequence[Line], *, known: Set[str], made_by: str, word_limit: int = WORD_LIMIT) -> None:
    """Refuse lines that cite a turn that isn't known, or that together have more words than are allowed.

    Raises:
        ModelError: names the first such line, or the number of words.
    """
    for line in lines:
        for turn_id in line.turn_ids:
            if turn_id not in known:
                raise ModelError(
                    f"the summary by {made_by} cites turn {turn_id!r} in a {line.kind.value}, but that is none of the "
                    f"{len(known)} turns it was made of; it was not kept"
                )
    n_words = sum(line.n_words for line in lines)
    if n_words > word_limit:
        raise ModelError(f"the summary by {made_by} has {n_words} words, at most {word_limit} are allowed")


class Summarizer(Protocol):
    """Makes lines of turns, and of lines that were made before."""

    @property
    def fingerprint(self) -> str:
        """What decides the lines: the method, its version, the model."""

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = WORD_LIMIT
    ) -> tuple[Line, ...]:
        """Return the lines that stand for ``earlier`` lines and for ``turns`` (in spoken order) together.

        Without turns, earlier lines become fewer. Each line cites turns among ``turns`` and those that the earlier
        lines cite. ``focus`` says in anybody's words what has to be kept. No words in gives no lines.

        Raises:
            ModelError: nothing usable could be made.
        """


Count = Callable[[str], int]
"""How many tokens a text has."""


def _one_line(text: str) -> str:
    return " ".join(text.split())
