"""Which turns of a search go into a prompt: hits with the question before them, then neighbours, in spoken order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final, Protocol

from memory_rag.prompt.fencing import CLOSING, OPENING, Excerpt, fenced, quoted
from memory_rag.prompt.tokens import MESSAGE_OVERHEAD, TokenCounter
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.turns import Role, Span, Turn

NEIGHBOUR_SHARE: Final = 0.25
"""Of the tokens for retrieved turns, what neighbours may take at most."""
WEAK: Final = "It is not clear that any of it answers what is asked now: these turns are the nearest ones.\n"
"""Stands among the fence's own words where the evidence is weak."""
_OF_THE_REST: Final = 0.6
"""Of what is left, what one hit may take; a longer turn is quoted around its best passage."""
_LEAST: Final = 60
"""Tokens under which no excerpt is worth its heading."""
_HEADING: Final = 10
"""Tokens of a turn's heading at least."""
_LONGEST_TOKEN: Final = 8
"""Code points of a token at most, on the average of a text in words."""
_LOOKED_BACK: Final = 6
_LAST: Final = datetime.max.replace(tzinfo=UTC)


class Around(Protocol):
    """Gives turns, by id, each amid so many said just before it and those after; one that is gone is left out."""

    def __call__(self, before: Mapping[str, int], *, after: int) -> dict[str, list[Turn]]: ...


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What is quoted: the fenced text, its tokens with its message's marks, and each turn with why it is there.

    ``n_left_out`` counts the hits for which there was no room.
    """

    text: str = ""
    n_tokens: int = 0
    excerpts: tuple[Excerpt, ...] = ()
    why: dict[str, str] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    n_left_out: int = 0


def retrieved_turns(
    ranking: Ranking,
    *,
    around: Around,
    n_tokens: int,
    counter: TokenCounter,
    zone: tzinfo,
    without: frozenset[str] = frozenset(),
    neighbour_share: float = NEIGHBOUR_SHARE,
) -> Retrieved:
    """Return what of a search's hits fits in so many tokens, best hits first; no hits or no room give nothing.

    The hit of an assistant comes with the question that it answers, or not at all. ``without`` are turns that the
    prompt holds already.
    """
    choosing = _Choosing(counter=counter, zone=zone, left=n_tokens - MESSAGE_OVERHEAD)
    # An estimate counts the fence differently amid texts in other languages.
    mark = WEAK if ranking.evidence == "weak" else ""
    choosing.left -= 3 * (counter.count(OPENING + mark) + counter.count(CLOSING)) // 2
    hits = [hit for hit in ranking if hit.turn.turn_id not in without]
    surroundings: list[tuple[Hit, list[Turn]]] = []
    # One look at the store for all hits: they are most of what a prompt costs beside its search.
    looked_back = {hit.turn.turn_id: _LOOKED_BACK if hit.turn.role is Role.ASSISTANT else 1 for hit in hits}
    found = around(looked_back, after=1) if hits and choosing.left > 0 else {}
    for hit in hits:
        # None where it was forgotten by another process since the search.
        turns = found.get(hit.turn.turn_id)
        if turns is not None and choosing.take_hit(hit, _question_before(hit.turn, turns, without)):
            surroundings.append((hit, turns))
    n_left_out = len(hits) - len(surroundings)
    choosing.take_neighbours(_neighbours(surroundings, without), at_most=int(neighbour_share * n_tokens))
    while choosing.chosen:
        excerpts = _spoken_order(choosing.chosen.values())
        text = fenced(excerpts, zone=zone, note=mark, shown=choosing.text_of)
        total = counter.count(text) + MESSAGE_OVERHEAD
        if total <= n_tokens:
            return Retrieved(text, total, tuple(excerpts), choosing.why, choosing.costs, n_left_out)
        n_left_out += choosing.give_back()
    return Retrieved(n_left_out=n_left_out)


@dataclass(slots=True)
class _Choosing:
    """What was chosen so far, in the order in which it was, and the tokens that are left."""

    counter: TokenCounter
    zone: tzinfo
    left: int
    chosen: dict[str, Excerpt] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    _groups: list[tuple[bool, list[str]]] = field(default_factory=list)
    _counted: dict[tuple[str, Span], tuple[str, int]] = field(default_factory=dict)

    def take_hit(self, hit: Hit, question: Turn | None) -> bool:
        """Take a hit with its question, cut to what may be spent on it; False if there is no room for both."""
        turns = [turn for turn in (question, hit.turn) if turn is not None and turn.turn_id not in self.chosen]
        if not turns:
            return True
        may_spend = int(_OF_THE_REST * self.left)
        excerpts = [_whole(turn) for turn in turns]
        if sum(map(self._cost, excerpts)) > may_spend:
            each = may_spend // len(turns)
            excerpts = []
            for turn in turns:
                span = hit.span if turn is hit.turn else Span(len(turn.text), len(turn.text))
                cut = self._cut(turn, span, each)
                if cut is None:
                    return False
                excerpts.append(cut)
        rank = f"hit {hit.rank}"
        whys = [f"the question before {rank}" if turn is not hit.turn else rank for turn in turns]
        self._add(excerpts, whys, is_hit=True)
        return True

    def take_neighbours(self, neighbours: Iterator[tuple[Turn, str]], *, at_most: int) -> None:
        """Take whole neighbours as long as they fit in the share and in what is left."""
        for turn, why in neighbours:
            room = min(at_most, self.left)
            if turn.turn_id in self.chosen or len(turn.text) > _LONGEST_TOKEN * (room - _HEADING):
                # Most neighbours don't fit, and counting them would take longer than all that is quoted.
                continue
            cost = self._cost(_whole(turn))
            if cost <= room:
                at_most -= cost
                self._add([_whole(turn)], [why], is_hit=False)

    def give_back(self) -> int:
        """Take back what was chosen last, and return how many hits that are."""
        is_hit, turn_ids = self._groups.pop()
        for turn_id in turn_ids:
            del self.chosen[turn_id], self.why[turn_id], self.costs[turn_id]
        return int(is_hit)

    def _add(self, excerpts: Sequence[Excerpt], whys: Sequence[str], *, is_hit: bool) -> None:
        for excerpt, why in zip(excerpts, whys, strict=True):
            turn_id = excerpt.turn.turn_id
            cost = self._cost(excerpt)
            self.chosen[turn_id], self.why[turn_id], self.costs[turn_id] = excerpt, why, cost
            self.left -= cost
        self._groups.append((is_hit, [excerpt.turn.turn_id for excerpt in excerpts]))

    def text_of(self, excerpt: Excerpt) -> str:
        """Return an excerpt as it is quoted."""
        return self._quoted(excerpt)[0]

    def _cost(self, excerpt: Excerpt) -> int:
        return self._quoted(excerpt)[1]

    def _quoted(self, excerpt: Excerpt) -> tuple[str, int]:
        key = (excerpt.turn.turn_id, excerpt.span)
        found = self._counted.get(key)
        if found is None:
            text = quoted(excerpt, zone=self.zone)
            found = self._counted[key] = text, self.counter.count(text)
        return found

    def _cut(self, turn: Turn, span: Span, n_tokens: int) -> Excerpt | None:
        """Return as much of a turn around a span as so many tokens hold, all of it if they do; None for too few."""
        whole = _whole(turn)
        cost = self._cost(whole)
        if cost <= n_tokens:
            return whole
        if n_tokens < _LEAST:
            return None
        length = len(turn.text) * n_tokens // cost
        while length > 0:
            middle = (span.start + min(span.end, span.start + length)) // 2
            start = max(0, min(middle - length // 2, len(turn.text) - length))
            excerpt = Excerpt(turn, _between_words(turn.text, Span(start, start + length)))
            if self._cost(excerpt) <= n_tokens:
                return excerpt
            length = length * 3 // 4
        return None


def _question_before(turn: Turn, surrounding: Sequence[Turn], without: frozenset[str]) -> Turn | None:
    """Return what a person said last before an assistant's turn; None for others, or if the prompt holds it already."""
    if turn.role is not Role.ASSISTANT:
        return None
    before = surrounding[: _place(turn, surrounding)]
    question = next((one for one in reversed(before) if one.recalled and one.role is Role.USER), None)
    return None if question is None or question.turn_id in without else question


def _neighbours(
    surroundings: Sequence[tuple[Hit, Sequence[Turn]]], without: frozenset[str]
) -> Iterator[tuple[Turn, str]]:
    for hit, turns in surroundings:
        at = _place(hit.turn, turns)
        for where, beside in (("before", turns[max(0, at - 1) : at]), ("after", turns[at + 1 : at + 2])):
            for turn in beside:
                if turn.recalled and turn.turn_id not in without:
                    yield turn, f"said just {where} hit {hit.rank}"


def _place(turn: Turn, turns: Sequence[Turn]) -> int:
    return next(at for at, one in enumerate(turns) if one.turn_id == turn.turn_id)


def _spoken_order(excerpts: Iterable[Excerpt]) -> list[Excerpt]:
    given = list(excerpts)
    began: dict[str, datetime] = {}
    for excerpt in given:
        at = excerpt.turn.said_at or _LAST
        conversation = excerpt.turn.conversation_id
        began[conversation] = min(at, began.get(conversation, _LAST))
    return sorted(
        given,
        key=lambda one: (
            began[one.turn.conversation_id],
            one.turn.conversation_id,
            one.turn.ordinal,
            one.turn.turn_id,
        ),
    )


def _whole(turn: Turn) -> Excerpt:
    return Excerpt(turn, Span(0, len(turn.text)))


def _between_words(text: str, span: Span) -> Span:
    """Return the span begun and ended between words, where it has a space to do so."""
    start, end = span.start, span.end
    if start > 0:
        start = next((at + 1 for at in range(start, end) if text[at].isspace()), start)
    if end < len(text):
        cut = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = cut if cut > start else end
    return Span(start, end)
