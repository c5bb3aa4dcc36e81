"""Each signal against a plain reading of what it says it is, one turn at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.length_norm import B_LONG, B_SHORT
from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.scene import Scene
from memory_rag.retrieval.shortlist import Shortlist
from memory_rag.retrieval.signals import WEIGHTS, signals
from memory_rag.text.analyzer import Analyzer
from memory_rag.text.voice import Voice
from memory_rag.turns import Role, Turn
from tests.retrieval.talks import Talk, turn

ANALYZER = Analyzer(("en",))
FIRST_DAY = datetime(2026, 4, 20, 12, tzinfo=UTC)
WORDS = ["kayak", "trip", "tax", "I", "we", "my", "where", "Ada", "rain", "I prefer", "7", "May"]
QUESTIONS = [
    "kayak trip",
    "What did Ada say about the kayak?",
    "When did I pay my tax?",
    "What did you suggest about rain?",
    "What did we decide on 22 April 2026?",
    "What did Ada and Bo see in April?",
    "Which kayak is best for a trip?",
    "snow",
    'Who said "tax I we"?',
]


@dataclass(frozen=True, slots=True)
class Plain:
    """A scene read turn by turn: the turns in their spoken order, and what the two sides say of each."""

    turns: Sequence[Turn]
    scene: Scene
    cosines: Mapping[int, float]

    @property
    def inside(self) -> list[int]:
        return [entry for entry in range(len(self.turns)) if self.scene.pool.searched.mask[entry]]

    def keyword(self, entry: int) -> float:
        best = max(self.inside, key=lambda other: self.scene.bm25.of_all[other], default=None)
        if best is None or self.scene.bm25.of_all[best] == 0:
            return 0.0
        full = self.scene.bm25.of_all[best]
        if full < 0.5 * self.scene.possible_bm25:
            full *= max(1.0, 0.5 / self.share(best, self.scene.query.words))
        return float(self.scene.bm25.of_all[entry] / full)

    def share(self, entry: int, words: Sequence[Sequence[str]]) -> float:
        idf = {
            tuple(word): self.scene.pool.idf(sum(self._holds(other, word) for other in self.inside)) for word in words
        }
        held = sum(idf[tuple(word)] for word in words if self._holds(entry, word))
        return held / sum(idf[tuple(word)] for word in words) if words else 0.0

    def dense(self, entry: int) -> float:
        if entry not in self.cosines or entry not in self.inside:
            return 0.0
        known = [self.cosines[other] for other in self.inside if other in self.cosines]
        deviation = float(np.std(known))
        return float(self.cosines[entry] - np.mean(known)) / (4 * deviation) if deviation > 1e-9 else 0.0

    def session(self, entry: int) -> list[int]:
        own = (self.turns[entry].conversation_id, self.turns[entry].session_id)
        return [n for n, said in enumerate(self.turns) if (said.conversation_id, said.session_id) == own]

    def neighbours(self, entry: int, step: int) -> list[int]:
        """Return the entries on one side in the session, nearest first."""
        session = [other for other in self.session(entry) if self.turns[other].recalled]
        place = session.index(entry)
        return session[place + 1 :] if step > 0 else session[:place][::-1]

    def run_beyond(self, entry: int, step: int) -> tuple[int, list[int]]:
        place, run = 0, list[int]()
        for other in self.neighbours(entry, step):
            if not run and self.turns[other].speaker == self.turns[entry].speaker:
                place += 1
            elif not run or self.turns[other].speaker == self.turns[run[0]].speaker:
                run.append(other)
            else:
                break
        return place, run

    def question(self, side: Callable[[int], float], entry: int) -> float:
        place, run = self.run_beyond(entry, -1)
        asked = [n for n in run if "?" in self.turns[n].text[-60:] and self.turns[n].role is not Role.ASSISTANT]
        return 0.7**place * max((side(other) for other in asked), default=0.0)

    def reply(self, side: Callable[[int], float], entry: int) -> float:
        place, run = self.run_beyond(entry, 1)
        return 0.7**place * max((side(other) for other in run), default=0.0)

    def keyword_before(self, entry: int) -> float:
        earlier = self.neighbours(entry, -1)
        return self.keyword(earlier[1]) if len(earlier) > 1 else 0.0

    def named_talk(self, entry: int) -> float:
        speakers = {self.turns[other].speaker for other in self.inside if self.of_talk(other) == self.of_talk(entry)}
        return float(bool(speakers & set(self.scene.query.named)))

    def standing(self, entry: int) -> float:
        talks_with_model = any(self.turns[other].role is Role.ASSISTANT for other in self.inside)
        query = self.scene.query
        if query.asks_of_the_past or query.gives_words or not talks_with_model:
            return 0.0
        return float(self.turns[entry].role is not Role.ASSISTANT and "I prefer" in self.turns[entry].text)

    def tells_when(self, entry: int) -> float:
        said = self.turns[entry].text
        return float(self.scene.query.text.startswith("When") and ("7" in said or "May" in said))

    def of_session(self, side: Callable[[int], float], entry: int) -> float:
        sessions = {tuple(self.session(other)) for other in self.inside}
        best = {one: max(side(n) for n in one if n in self.inside) for one in sessions}
        mean = sum(best.values()) / len(best)
        deviation = math.sqrt(sum((value - mean) ** 2 for value in best.values()) / len(best))
        if len(best) < 2 or deviation < 1e-9:
            return 0.0
        return (best[tuple(self.session(entry))] - mean) / (3 * deviation) * len(best) / (len(best) + 8)

    def speaker(self, entry: int) -> float:
        named = self.scene.query.named
        return (1.0 if len(named) == 1 else 0.5) if self.turns[entry].speaker in named else 0.0

    def voice(self, entry: int) -> float:
        is_user = self.turns[entry].role is Role.USER
        return {
            Voice.USER: float(is_user),
            Voice.BOTH: float(is_user),
            Voice.NOBODY: -0.5 * (self.turns[entry].role is Role.ASSISTANT),
            Voice.ASSISTANT: float(self.turns[entry].role is Role.ASSISTANT),
        }[self.scene.query.voice]

    def dated(self, entry: int) -> float:
        said_at = self.turns[entry].said_at
        if said_at is None:
            return 0.0
        if "22 April 2026" in self.scene.query.text:
            away = abs((said_at.date() - date(2026, 4, 22)).days)
            return 2.0 if away <= 1 else float(said_at.month == 4)
        return float("April" in self.scene.query.text and said_at.month == 4)

    def wording(self, entry: int) -> float:
        return self.keyword(entry) * (1 + self.share(entry, self.scene.query.words)) / 2 * self.scene.query.gives_words

    def _holds(self, entry: int, word: Sequence[str]) -> bool:
        return not set(word).isdisjoint(ANALYZER.terms(self.turns[entry].text))

    def literal(self, entry: int) -> float:
        question, said = self.scene.query.text, self.turns[entry].text.lower()
        if self.keyword(entry) == 0:
            return 0.0
        if '"' in question:
            return float(question.split('"')[1].lower() in said)
        phrase = question.strip("?.").lower()
        return float(phrase in said and len(self.scene.query.words) > (1 if self.scene.query.gives_words else 3))

    def first_person(self, entry: int) -> float:
        said = bool({"I", "we", "my"} & set(self.turns[entry].text.replace("?", "").split()))
        talk = [other for other in self.inside if self.of_talk(other) == self.of_talk(entry)]
        return said * (0.25 if any(self.turns[other].role is Role.ASSISTANT for other in talk) else 1.0)

    def of_talk(self, entry: int) -> str:
        return self.turns[entry].conversation_id

    def talk(self, entry: int) -> float:
        votes = dict.fromkeys(map(self.of_talk, self.inside), 0.0)
        for other in self.inside:
            fit = 3 * self.keyword(other) + 2.5 * self.dense(other)
            fit += 0.5 * self.length(other) + 2 * self.named_talk(other)
            votes[self.of_talk(other)] += math.exp(2 * fit)
        return (votes[self.of_talk(entry)] - max(votes.values())) / sum(votes.values())

    def fresh(self, entry: int) -> float:
        said = [turn for turn in self.turns[:entry] if turn.recalled and turn.conversation_id == self.of_talk(entry)]
        heard = {term for turn in said for term in ANALYZER.terms(turn.text)}
        return min(2.0, math.log(1 + len(set(ANALYZER.terms(self.turns[entry].text)) - heard)))

    def length(self, entry: int) -> float:
        if self.scene.query.gives_words:
            return 0.0
        norm = self.scene.pool.norm
        n_terms = max(1, int(self.scene.pool.lengths[entry]))
        return -math.log(n_terms / norm.typical) * (norm.b - B_SHORT) / (B_LONG - B_SHORT)

    def value(self, name: str, entry: int) -> float:
        match name.split("_"):
            case [("keyword" | "dense") as side]:
                return getattr(self, side)(entry)  # type: ignore[no-any-return]
            case [("keyword" | "dense") as side, "question"]:
                return self.question(getattr(self, side), entry)
            case [("keyword" | "dense") as side, "reply"]:
                return self.reply(getattr(self, side), entry)
            case [("keyword" | "dense") as side, "session"]:
                return self.of_session(getattr(self, side), entry)
            case ["keyword", "before"]:
                return self.keyword_before(entry)
            case ["speaker", "first", "person"]:
                return self.speaker(entry) * self.first_person(entry)
        return getattr(self, name)(entry)  # type: ignore[no-any-return]


TURNS = st.lists(
    st.builds(
        lambda words, asks, conversation, session, speaker, day, recalled, role: turn(
            " ".join(words) + ("?" if asks else ""),
            conversation_id=conversation,
            session_id=session,
            speaker=speaker,
            role=role,
            said_at=None if day is None else FIRST_DAY + timedelta(days=day),
            recalled=recalled,
        ),
        st.lists(st.sampled_from(WORDS), max_size=40),
        st.booleans(),
        st.sampled_from(["talk", "talk", "other"]),
        st.sampled_from("rs"),
        st.sampled_from(["Ada", "Bo"]),
        st.integers(0, 20) | st.none(),
        st.sampled_from([True, True, True, False]),
        st.sampled_from([Role.USER, Role.ASSISTANT]),
    ),
    min_size=1,
    max_size=12,
)
COSINES = st.dictionaries(st.integers(0, 11), st.floats(-1, 1).map(lambda x: round(x, 3)), max_size=12)


@settings(max_examples=150)
def unweighted(short: Shortlist) -> dict[str, np.ndarray]:
    return ConversationRanker(signals(dict.fromkeys(WEIGHTS, 1.0))).values(short)


@given(TURNS, COSINES, st.sampled_from(QUESTIONS), st.booleans())
def test_every_signal_is_what_it_says_it_is(
    turns: list[Turn], cosines: dict[int, float], question: str, narrowed: bool
) -> None:
    # Sessions one after the other, as they are spoken.
    turns = sorted(turns, key=lambda said: (said.conversation_id, said.session_id))
    talk = Talk(turns)
    within = Within(until="2026-04-30") if narrowed else Within()
    known = {entry: value for entry, value in cosines.items() if entry < len(turns) and turns[entry].recalled}
    scene = talk.scene(question, cosines=known, within=within)
    plain = Plain(turns, scene, known)
    entries = scene.pool.entries
    short = Shortlist(scene, entries)

    values = unweighted(short)

    assert set(values) == set(WEIGHTS)
    for name, found in values.items():
        expected = [plain.value(name, entry) for entry in entries.tolist()]
        assert found.tolist() == pytest.approx(expected, abs=1e-7), name


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What happened on 22 April 2026?", [1, 2, 2, 2, 1, 0, 0]),
        ("What happened in April?", [1, 1, 1, 1, 1, 0, 0]),
        ("What happened in April 2025?", [0, 0, 0, 0, 0, 0, 0]),
        ("What happened on 22 April?", [1, 2, 2, 2, 1, 0, 0]),
        ("What happened last week?", [0, 0, 0, 0, 0, 1, 0]),
        ("What happened?", [0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_a_named_day_counts_double_within_a_day_and_a_named_period_once(question: str, values: list[float]) -> None:
    days = [20, 21, 22, 23, 24, 28]
    talk = Talk([turn("x", said_at=datetime(2026, 4, day, 12, tzinfo=UTC)) for day in days[:5]])
    talk.say(turn("x", said_at=datetime(2026, 5, 1, 12, tzinfo=UTC)))
    talk.say(turn("x", said_at=None))
    scene = talk.scene(question)

    assert unweighted(Shortlist(scene, np.arange(7)))["dated"].tolist() == values


def test_the_talk_with_more_that_fits_leads_and_a_close_one_is_hardly_behind() -> None:
    words = ["kayak trip", "kayak trip", "kayak trip", "tax"]

    def behind(n: int) -> list[float]:
        """Return what two talks get that start with so many of these words, and with the first of them."""
        talk = Talk([turn(said, conversation_id="a") for said in words[:n]])
        talk.say(turn(words[0], conversation_id="b"))
        values = unweighted(Shortlist(talk.scene("Where was the kayak trip?"), np.arange(n + 1)))["talk"]
        return [float(values[0]), float(values[-1])]

    assert behind(1) == [0, 0]
    assert behind(2) == pytest.approx([0, -1 / 3])
    assert behind(3) == pytest.approx([0, -1 / 2])
    # What doesn't fit gives a talk next to nothing.
    assert behind(4) == pytest.approx([0, -1 / 2], abs=0.01)


def test_only_the_signals_with_a_weight_are_used() -> None:
    assert [(signal.name, signal.weight) for signal in signals({"dense": 2.0, "keyword": 1.0, "voice": 0.0})] == [
        ("keyword", 1.0),
        ("dense", 2.0),
    ]
    assert [signal.name for signal in signals()] == list(WEIGHTS)


def test_no_entries_have_no_values() -> None:
    scene = Talk([turn("a")]).scene("What did Ada say on 22 April 2026?", cosines={0: 0.1})

    for name, values in ConversationRanker().values(Shortlist(scene, np.zeros(0, np.int64))).items():
        assert values.tolist() == [], name


def test_signals_of_a_pool_of_another_conversation_are_those_of_a_memory_without_the_rest() -> None:
    own = [turn("kayak?", speaker="Ada"), turn("I went on a kayak trip", speaker="Bo"), turn("tax", session_id="b")]
    other = [turn("kayak " * 30, conversation_id="other", speaker="Ada"), turn("trip?", conversation_id="other")]
    cosines = {0: 0.3, 1: 0.8, 2: -0.1}
    question = "What did Ada say about the kayak trip?"
    ranker = ConversationRanker()
    entries = np.arange(3)

    alone = ranker.values(Shortlist(Talk(own).scene(question, cosines=cosines), entries))
    together = Talk([*own, *other])
    scene = together.scene(question, cosines={**cosines, 3: 0.9, 4: 0.7}, within=Within(conversation="talk"))
    narrowed = ranker.values(Shortlist(scene, entries))

    for name, values in alone.items():
        assert narrowed[name].tolist() == pytest.approx(values.tolist()), name
