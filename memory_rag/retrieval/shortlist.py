"""The entries that are ranked for one question, and what signals read of them, each worked out once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ascending import are_among
from memory_rag.retrieval.best_of_group import Groups, alike
from memory_rag.retrieval.once import once
from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import LEAST_DEVIATION, Scene, mean_and_deviation
from memory_rag.retrieval.spoken_order import NOBODY, Beyond
from memory_rag.retrieval.turn_table import ROLES, Mask, TurnTable
from memory_rag.turns import Role


class Shortlist:
    """Entries (ascending, each once) before a scene; every array has a value for each of them.

    A longer list that is made from a ``core`` measures sessions by the core's turns: nobody's score depends on how much
    longer it is.
    """

    def __init__(self, scene: Scene, entries: Entries, *, core: Entries | None = None) -> None:
        self.scene = scene
        self.table: TurnTable = scene.table
        self.entries = entries
        self._core = core

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def keyword(self) -> Scores:
        return self._keywords[0]

    @property
    def dense(self) -> Scores:
        return self._denses[0]

    @property
    def keyword_question(self) -> Scores:
        """``keyword`` of the question that each turn answers, as :class:`Beyond` has it."""
        return self.questions.best(self._keywords[1])

    @property
    def dense_question(self) -> Scores:
        return self.questions.best(self._denses[1])

    @property
    def keyword_reply(self) -> Scores:
        """``keyword`` of what was replied to each turn."""
        return self.replies.best(self._keywords[2])

    @property
    def dense_reply(self) -> Scores:
        return self.replies.best(self._denses[2])

    @property
    def keyword_before(self) -> Scores:
        """``keyword`` of the turn two before in the session; 0 for none."""
        earlier = self.scene.order.before(self.scene.order.before(self.entries))
        found = self.scene.keyword(earlier)
        found[earlier == NOBODY] = 0.0
        return found

    @once
    def cosine(self) -> Scores:
        return self._cosines[self._all.places[: len(self)]]

    @once
    def questions(self) -> Beyond:
        """What each turn answers."""
        return self.scene.order.questions(self.entries, self.table)

    @once
    def replies(self) -> Beyond:
        """What was replied to each turn."""
        return self.scene.order.replies(self.entries)

    @once
    def conversation(self) -> npt.NDArray[np.int32]:
        """The conversation of each turn, as the table numbers them."""
        return self.table.conversation[self.entries]

    def wording(self) -> Scores | None:
        """Return half of ``keyword``, all of it for a turn that holds every word; None where anything is asked."""
        words = self.scene.wording
        if words is None or not self.scene.query.gives_words:
            return None
        return self.keyword * (1 + words.share(self.entries)) / 2

    def literal(self) -> Scores | None:
        """Return 1 for turns that say as they stand the words given or quoted, 0 for others; None if no turn does."""
        words = self.scene.wording
        if words is None or len(words.literal) == 0:
            return None
        return are_among(words.literal, self.entries).astype(np.float64)

    def by_date(self) -> Scores | None:
        """How well each turn's day fits the dates that the question names: 0, 1 or 2; None where it names none."""
        if not self.scene.query.dates:
            return None
        values, places = self.scene.stage.by_day(self.scene.query.dates)
        return values[places[self.entries]]

    def best_of_session(self, values: Scores) -> Scores | None:
        """Return the best value in each turn's session, as deviations from the mean of these bests, over 3.

        Of a session, the turns of the core count; where it has none, each turn for itself. With few sessions the best
        tells less: n of them are held back by n / (n + 8). None where it tells nothing.
        """
        held = self._sessions.best(values)
        best = self._sessions.one_each(held)
        n = len(best)
        mean, deviation = mean_and_deviation(best)
        if n < 2 or deviation < LEAST_DEVIATION:
            return None
        held -= mean
        held *= n / (n + 8) / (3 * deviation)
        return held

    @property
    def is_of_one_talk(self) -> bool:
        """Whether all turns, or all of the core, are of one conversation."""
        talks = self.conversation if self._places_of_core is None else self.conversation[self._places_of_core]
        return not (talks != talks[:1]).any()

    def behind_of_talk(self, values: Scores) -> Scores:
        """Return how far each turn's conversation is behind the leading one in its share of all votes: 0 to -1.

        A turn, of which there must be one, has e to the power of its value as votes; those of the core count.
        """
        counted = self._places_of_core
        talks = Groups(self.conversation, n_codes=len(self.table.conversations.names), counted=counted)
        votes = np.exp(values - (values if counted is None else values[counted]).max())
        behind = talks.total(votes)
        of_talks = talks.one_each(behind)
        behind -= of_talks.max()
        behind /= of_talks.sum()
        return behind

    def has_role(self, role: Role) -> Mask:
        """Return which turns are of this role."""
        spoken: Mask = self.table.role[self.entries] == ROLES.index(role)
        return spoken

    @once
    def first_person(self) -> Scores:
        """1 for turns in which the speaker speaks of themself, less where a model takes part."""
        return self.table.first_person[self.entries] * self.scene.stage.worth_of_first_person[self.conversation]

    @once
    def named(self) -> frozenset[int]:
        """The people whom the question names, as the table numbers them."""
        codes = (self.table.speakers.find(name) for name in self.scene.query.named)
        return frozenset(code for code in codes if code is not None)

    @once
    def by_named(self) -> Mask:
        """Which turns are by any of the people whom the question names."""
        speaker = self.table.speaker[self.entries]
        spoken = np.zeros(len(self), np.bool_)
        for code in self.named:
            spoken |= speaker == code
        return spoken

    def in_talks_of_named(self) -> Scores:
        """Return 1 for turns of a conversation in which any of the people named speaks, 0 for others."""
        found: Scores = self.scene.stage.conversations_with(self.named)[self.conversation]
        return found

    @once
    def _all(self) -> _EachOnce:
        """The entries, those that they answer, and those that answer them: looked up in one go."""
        everyone = np.concatenate([self.entries, self.questions.said, self.replies.said])
        return _EachOnce.of(everyone)

    def _parts(self, of_each: Scores) -> tuple[Scores, Scores, Scores]:
        values = of_each[self._all.places]
        first, second = len(self), len(self) + len(self.questions.said)
        return values[:first], values[first:second], values[second:]

    @once
    def _keywords(self) -> tuple[Scores, Scores, Scores]:
        return self._parts(self.scene.keyword(self._all.entries))

    @once
    def _cosines(self) -> Scores:
        return self.scene.cosine(self._all.entries)

    @once
    def _denses(self) -> tuple[Scores, Scores, Scores]:
        return self._parts(self.scene.standardized(self._cosines))

    @once
    def _sessions(self) -> Groups:
        sessions = self.table.session[self.entries]
        return Groups(sessions, n_codes=len(self.table.sessions.names), counted=self._places_of_core)

    @once
    def _places_of_core(self) -> npt.NDArray[np.int64] | None:
        """The places of the core among the entries; None where all are of it."""
        return None if self._core is None else self.entries.searchsorted(self._core)


@dataclass(frozen=True, slots=True)
class _EachOnce:
    """Entries that stand there several times: each of them once, and at which place among these each one given is."""

    entries: Entries
    places: npt.NDArray[np.int64]

    @classmethod
    def of(cls, given: Entries) -> _EachOnce:
        one_like = alike(given)
        numbers = np.arange(len(given))
        kept = (one_like == numbers).nonzero()[0]
        place = np.empty(len(given), np.int64)
        place[kept] = numbers[: len(kept)]
        return cls(given[kept], place[one_like])
