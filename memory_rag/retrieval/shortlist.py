"""The entries that are ranked for one question, and what signals read of them, each worked out once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from memory_rag.retrieval.ranking import Entries, Scores
from memory_rag.retrieval.scene import LEAST_DEVIATION, Scene, mean_and_deviation
from memory_rag.retrieval.spoken_order import NOBODY, Beyond
from memory_rag.retrieval.turn_table import ROLES, TurnTable
from memory_rag.turns import Role


class Shortlist:
    """Entries (ascending, each once) before a scene; every array has a value for each of them.

    A longer list that is made from a ``core`` measures sessions by the core's turns: nobody's score depends on how much
    longer it is.
    """

    def __init__(self, scene: Scene, entries: Entries, *, core: Entries | None = None) -> None:
        self.scene = scene
        self.entries = entries
        self._core = core

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def table(self) -> TurnTable:
        return self.scene.table

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
        return np.where(earlier == NOBODY, 0.0, self.scene.keyword(earlier))

    @cached_property
    def cosine(self) -> Scores:
        return self._cosines[: len(self)]

    @cached_property
    def questions(self) -> Beyond:
        """What each turn answers."""
        return self.scene.order.questions(self.entries, self.table)

    @cached_property
    def replies(self) -> Beyond:
        """What was replied to each turn."""
        return self.scene.order.replies(self.entries, self.table)

    def wording(self) -> Scores:
        """Return half of ``keyword``, all of it for a turn that holds every word of the question; 0 where it asks."""
        words = self.scene.wording
        if words is None or not self.scene.query.gives_words:
            return np.zeros(len(self))
        return self.keyword * (1 + words.share(self.entries)) / 2

    def literal(self) -> Scores:
        """Return 1 for turns that say as they stand the words given or quoted, 0 for others."""
        words = self.scene.wording
        if words is None or len(words.literal) == 0:
            return np.zeros(len(self))
        return np.isin(self.entries, words.literal, assume_unique=True).astype(np.float64)

    @cached_property
    def by_date(self) -> Scores:
        """How well each turn's day fits the dates that the question names: 0, 1 or 2."""
        if not self.scene.query.dates:
            return np.zeros(len(self))
        values, places = self.scene.stage.by_day(self.scene.query.dates)
        return values[places[self.entries]]

    def best_of_session(self, values: Scores) -> Scores:
        """Return the best value in each turn's session, as deviations from the mean of these bests, over 3.

        Of a session, the turns of the core count; where it has none, each turn for itself. With few sessions the best
        tells less: n of them are held back by n / (n + 8).
        """
        sessions, core = self.table.session[self.entries], self._places_of_core
        best = np.full(len(self.table.sessions.names), -np.inf)
        np.maximum.at(best, sessions[core], values[core])
        of_core = best[best > -np.inf]
        n = len(of_core)
        mean, deviation = mean_and_deviation(of_core)
        if n < 2 or deviation < LEAST_DEVIATION:
            return np.zeros(len(self))
        of_turn = best[sessions]
        if self._core is not None:
            of_turn = np.where(of_turn > -np.inf, of_turn, values)
        held: Scores = (of_turn - mean) * (n / (n + 8) / (3 * deviation))
        return held

    def behind_of_talk(self, values: Scores) -> Scores:
        """Return how far the best value in each turn's conversation is behind the best of all: 0 or less.

        Of a conversation the turns of the core count; where it has none, each turn for itself.
        """
        talks, core = self.table.conversation[self.entries], self._places_of_core
        if len(talks) == 0 or talks.min() == talks.max():
            return np.zeros(len(self))
        best = np.full(len(self.table.conversations.names), -np.inf)
        np.maximum.at(best, talks[core], values[core])
        of_turn = best[talks]
        if self._core is not None:
            of_turn = np.where(of_turn > -np.inf, of_turn, values)
        behind: Scores = np.minimum(of_turn - best.max(), 0.0)
        return behind

    def has_role(self, role: Role) -> Scores:
        """Return 1 for turns of this role, 0 for others."""
        spoken: Scores = (self.table.role[self.entries] == ROLES.index(role)).astype(np.float64)
        return spoken

    @cached_property
    def named(self) -> frozenset[int]:
        """The people whom the question names, as the table numbers them."""
        codes = (self.table.speakers.find(name) for name in self.scene.query.named)
        return frozenset(code for code in codes if code is not None)

    def by_named(self) -> Scores:
        """Return 1 for turns by any of the people whom the question names, 0 for others."""
        speaker = self.table.speaker[self.entries]
        spoken = np.zeros(len(self), np.bool_)
        for code in self.named:
            spoken |= speaker == code
        return spoken.astype(np.float64)

    def in_talks_of_named(self) -> Scores:
        """Return 1 for turns of a conversation in which any of the people named speaks, 0 for others."""
        found: Scores = self.scene.stage.conversations_with(self.named)[self.table.conversation[self.entries]]
        return found

    @cached_property
    def _all(self) -> Entries:
        """The entries, those that they answer, and those that answer them: looked up in one go."""
        return np.concatenate([self.entries, self.questions.said, self.replies.said])

    def _parts(self, values: Scores) -> tuple[Scores, Scores, Scores]:
        first, second = len(self), len(self) + len(self.questions.said)
        return values[:first], values[first:second], values[second:]

    @cached_property
    def _keywords(self) -> tuple[Scores, Scores, Scores]:
        return self._parts(self.scene.keyword(self._all))

    @cached_property
    def _cosines(self) -> Scores:
        return self.scene.cosine(self._all)

    @cached_property
    def _denses(self) -> tuple[Scores, Scores, Scores]:
        return self._parts(self.scene.standardized(self._cosines))

    @cached_property
    def _places_of_core(self) -> npt.NDArray[np.int64] | slice:
        """The places of the core among the entries."""
        return slice(None) if self._core is None else np.searchsorted(self.entries, self._core)
