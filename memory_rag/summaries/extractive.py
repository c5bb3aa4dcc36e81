"""A summary out of the turns' own sentences: offline, deterministic, in every language of the analyzer.

Decisions and preferences come first, then open questions, to-dos and facts about people, each up to a share of the
words; the rest goes to central sentences: near the centroid of all terms (Radev et al. 2004), rich in names, numbers
and dates, and unlike those chosen before them (maximal marginal relevance, Carbonell and Goldstein 1998, eq. 1).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.summaries.anchors import found_in, normal
from memory_rag.summaries.background import give_way
from memory_rag.summaries.reading import is_read, read_sentences
from memory_rag.summaries.summary import MUST_HOLD, WORD_LIMIT, Kind, Line
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Role, Turn, printable

VERSION: Final = "1"
_TOPICS: Final = 6
_TOPIC_TURNS: Final = 3
_SHARES: Final[Mapping[Kind, float]] = {
    Kind.DECISION: 0.65,
    Kind.PREFERENCE: 0.65,
    Kind.QUESTION: 0.1,
    Kind.TODO: 0.1,
    Kind.FACT: 0.12,
}
"""How much of the words each kind may take before all the rest is chosen; decisions and preferences share theirs."""
_FOCUS_SHARE: Final = 0.6
_RELEVANCE: Final = 0.7
"""Carbonell and Goldstein's lambda."""
_CONSIDERED: Final = 300
_LONGEST: Final = 45
_OF_MODELS: Final = 0.6
"""How much a model's sentence counts beside a person's: its answers are long, and what is remembered is the person."""
_SHORTEST: Final = 5
"""Words from which on a sentence says enough to stand alone; greetings and thanks have fewer."""
_ANCHORED: Final = 0.8
"""What each name, number or date that no chosen line has yet is worth beside relevance, over the root of the words."""

Vector = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line that may be taken: its terms, its words, where it stands in the talk, how central it is (0 to about 2)."""

    line: Line
    place: int
    n_words: int
    terms: Sequence[str]
    vector: Vector
    relevance: float
    anchors: frozenset[str]


class ExtractiveSummarizer:
    """Chooses sentences. The analyzer's languages are the memory's; without vectors, so that it needs no model."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    @property
    def fingerprint(self) -> str:
        return f"extractive:{VERSION}"

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = WORD_LIMIT
    ) -> tuple[Line, ...]:
        """Return verbatim sentences of the turns, and of the earlier lines those still worth their words.

        At most ``word_limit`` words together. The same input gives the same lines.
        """
        candidates = self._candidates(earlier, turns)
        if not candidates:
            return ()
        topics = self._topics([line for line in earlier if line.kind is Kind.TOPIC], candidates, turns)
        room = _Room(word_limit, sum(line.n_words for line in topics))
        if focus:
            wanted = set(self._analyzer.query_terms(focus))
            near = [one for one in candidates if wanted.intersection(one.terms)]
            near.sort(key=lambda one: (-len(wanted.intersection(one.terms)), -one.relevance, one.place))
            room.take(near, share=_FOCUS_SHARE)
        room.take(_ranked(one for one in candidates if one.line.kind in MUST_HOLD), share=_SHARES[Kind.DECISION])
        for kind in (Kind.QUESTION, Kind.TODO, Kind.FACT):
            room.take(_ranked(one for one in candidates if one.line.kind is kind), share=_SHARES[kind])
        telling = [one for one in candidates if one.n_words >= _SHORTEST] or candidates
        room.take_unlike(_by_relevance(telling)[:_CONSIDERED])
        chosen = sorted(room.taken, key=lambda one: one.place)
        order = list(Kind)
        return (*topics, *sorted((one.line for one in chosen), key=lambda line: order.index(line.kind)))

    def _candidates(self, earlier: Sequence[Line], turns: Sequence[Turn]) -> list[_Candidate]:
        lines = [line for line in earlier if line.kind is not Kind.TOPIC and not _is_answered(line, turns)]
        languages = [self._analyzer.language_of(line.text) for line in lines]
        for sentence in read_sentences(turns, analyzer=self._analyzer):
            if sentence.text not in {line.text for line in lines[-50:]}:
                lines.append(
                    Line(
                        sentence.kind,
                        sentence.text,
                        (sentence.turn.turn_id,),
                        reason=sentence.reason,
                        speaker=sentence.turn.speaker,
                        verbatim=True,
                    )
                )
                languages.append(sentence.language)
        models = {turn.turn_id for turn in turns if turn.role is Role.ASSISTANT}
        terms = []
        for line in lines:
            give_way()
            terms.append(self._analyzer.terms(printable(line.text)))
        seen_in = Counter(term for own in terms for term in set(own))
        vectors = [_weighed(own, seen_in, n=len(lines)) for own in terms]
        centroid: defaultdict[str, float] = defaultdict(float)
        for vector in vectors:
            for term, weight in vector.items():
                centroid[term] += weight
        length = math.sqrt(sum(weight * weight for weight in centroid.values())) or 1.0
        told = found_in([(line.text, language) for line, language in zip(lines, languages, strict=True)])
        people = {normal(turn.speaker).strip() for turn in turns} | {normal(line.speaker).strip() for line in lines}
        candidates = []
        for place, (line, own, vector, found) in enumerate(zip(lines, terms, vectors, told, strict=True)):
            n_words = line.n_words
            if not own or n_words > _LONGEST:
                continue
            central = sum(weight * centroid[term] for term, weight in vector.items()) / length
            of_model = _OF_MODELS if models.issuperset(line.turn_ids) else 1.0
            told_of = frozenset(anchor.key for anchor in found if anchor.key not in people)
            candidates.append(_Candidate(line, place, n_words, own, vector, central * of_model, told_of))
        return candidates

    def _topics(
        self, earlier: Sequence[Line], candidates: Sequence[_Candidate], turns: Sequence[Turn]
    ) -> tuple[Line, ...]:
        """Return the words that a summary's subject shows in: terms of more than one turn, heaviest first."""
        heavy: defaultdict[str, float] = defaultdict(float)
        turns_of: dict[str, dict[str, None]] = {}
        people = {term for turn in turns for term in self._analyzer.terms(printable(turn.speaker))}
        for one in (one for one in candidates if one.n_words >= _SHORTEST):
            for term, weight in one.vector.items():
                if len(term) > 2 and not term[0].isdigit() and term not in people:
                    heavy[term] += weight
                    turns_of.setdefault(term, {}).update(dict.fromkeys(one.line.turn_ids))
        for line in earlier:
            for term in self._analyzer.terms(line.text):
                heavy[term] += 2
                turns_of.setdefault(term, {}).update(dict.fromkeys(line.turn_ids))
        written = self._as_written(candidates, earlier)
        fewest = 2 if len(turns) > 3 or earlier else 1
        often = [term for term in heavy if len(turns_of[term]) >= fewest and term in written]
        best = sorted(often, key=lambda term: (-heavy[term], term))[:_TOPICS]
        words = dict.fromkeys(written[term] for term in best)
        lines = []
        for word in words:
            cited = dict.fromkeys(turn_id for term in best if written[term] == word for turn_id in turns_of[term])
            lines.append(Line(Kind.TOPIC, word, tuple(cited)[:_TOPIC_TURNS]))
        return tuple(lines)

    def _as_written(self, candidates: Sequence[_Candidate], earlier: Sequence[Line]) -> dict[str, str]:
        """Return each term's commonest spelling."""
        spelt: dict[str, Counter[str]] = {}
        for text in (*(one.line.text for one in candidates), *(line.text for line in earlier)):
            give_way()
            for word in text.split():
                bare = word.strip(".,;:!?\"'“”‘’«»()[]{}*_`#…")
                terms = self._analyzer.terms(printable(bare))
                if len(terms) == 1 and bare and not any(sign in bare for sign in "*`|"):
                    spelt.setdefault(terms[0], Counter())[bare] += 1
        return {term: min(found, key=lambda word: (-found[word], word)) for term, found in spelt.items()}


def _is_answered(line: Line, turns: Sequence[Turn]) -> bool:
    """Tell whether somebody else spoke after a question that was the last thing said."""
    asks = line.kind is Kind.QUESTION and line.text.rstrip("\"'”’)*_").endswith(("?", "？", "؟"))
    return asks and any(is_read(turn) and turn.speaker != line.speaker for turn in turns)


class _Room:
    """The words that are left, and what was taken."""

    def __init__(self, word_limit: int, used: int) -> None:
        self._limit = word_limit
        self._left = word_limit - used
        self.taken: list[_Candidate] = []
        self._texts: set[str] = set()
        self._anchors: set[str] = set()

    def take(self, candidates: Sequence[_Candidate], *, share: float) -> None:
        """Take the first of these that fit, up to a share of all words."""
        own = self._limit * share - sum(one.n_words for one in self.taken if one in candidates)
        for one in candidates:
            if one.n_words <= min(own, self._left) and self._is_new(one):
                self._keep(one)
                own -= one.n_words

    def take_unlike(self, candidates: Sequence[_Candidate]) -> None:
        """Take what is central and unlike what was taken, as long as something fits."""
        waiting = [one for one in candidates if self._is_new(one)]
        likest = [max((_cosine(one.vector, other.vector) for other in self.taken), default=0.0) for one in waiting]
        while waiting:
            give_way()
            fits = [place for place, one in enumerate(waiting) if one.n_words <= self._left]
            if not fits:
                return
            best = max(
                fits,
                key=lambda place: (
                    _RELEVANCE * (waiting[place].relevance + self._news(waiting[place]))
                    - (1 - _RELEVANCE) * likest[place],
                    -waiting[place].place,
                ),
            )
            chosen = waiting.pop(best)
            likest.pop(best)
            if self._is_new(chosen):
                self._keep(chosen)
                for place, one in enumerate(waiting):
                    likest[place] = max(likest[place], _cosine(one.vector, chosen.vector))

    def _news(self, one: _Candidate) -> float:
        """Return what the names, numbers and dates are worth that a candidate would add."""
        return _ANCHORED * len(one.anchors - self._anchors) / math.sqrt(one.n_words)

    def _is_new(self, one: _Candidate) -> bool:
        return one.line.text.casefold() not in self._texts

    def _keep(self, one: _Candidate) -> None:
        self.taken.append(one)
        self._texts.add(one.line.text.casefold())
        self._anchors |= one.anchors
        self._left -= one.n_words


def _weighed(terms: Sequence[str], seen_in: Counter[str], *, n: int) -> Vector:
    """Return a unit vector of tf-idf weights; empty for no terms."""
    weights = {
        term: count * math.log(1 + (n - seen_in[term] + 0.5) / (seen_in[term] + 0.5))
        for term, count in Counter(terms).items()
    }
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def _cosine(one: Vector, other: Vector) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(weight * other[term] for term, weight in one.items() if term in other)


def _ranked(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """What must hold: as much of it as fits, so that short lines come before long ones of the same weight."""
    return sorted(candidates, key=lambda one: (-one.relevance / math.sqrt(one.n_words), one.place))


def _by_relevance(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    def worth(one: _Candidate) -> float:
        return one.relevance + _ANCHORED * len(one.anchors) / math.sqrt(one.n_words)

    return sorted(candidates, key=lambda one: (-worth(one), one.place))
