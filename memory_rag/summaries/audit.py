"""What a summary lost of the turns it stands for, each with its turn, and how much it kept of what must hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_rag.summaries.anchors import AnchorKind, found_in, normal, stands_in
from memory_rag.summaries.reading import Sentence, is_read, read_sentences
from memory_rag.summaries.summary import MUST_HOLD, Kind, Line
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn, printable

KEPT_SHARE: Final = 0.5
"""Of decisions and preferences, the least share that a summary has to keep to be installed, unless set otherwise."""
_SAME_SENTENCE: Final = 0.5
"""Of a decision's or preference's terms, the share that a line has when it is about it."""

COUNTED: Final = (*(kind.value for kind in AnchorKind), Kind.DECISION.value, Kind.PREFERENCE.value)


@dataclass(frozen=True, slots=True)
class Lost:
    """One thing that the turns have and the summary hasn't, as the first turn that has it says it."""

    kind: str
    text: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class Kept:
    """How many things of a kind there were, and how many are still there."""

    kept: int
    of: int

    @property
    def share(self) -> float | None:
        """None where there was nothing to keep."""
        return self.kept / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Audit:
    """What is kept, by kind (``name`` … ``decision``, ``preference``), and what is lost, in spoken order."""

    kept: Mapping[str, Kept]
    lost: tuple[Lost, ...]

    @property
    def must_hold(self) -> Kept:
        """Decisions and preferences together."""
        own = [self.kept[kind.value] for kind in MUST_HOLD]
        return Kept(sum(one.kept for one in own), sum(one.of for one in own))

    def is_good_enough(self, share: float) -> bool:
        """Tell whether at least this share of decisions and preferences is kept; True where there were none."""
        found = self.must_hold.share
        return found is None or found >= share

    def as_json(self) -> dict[str, Any]:
        return {
            "kept": {
                kind: {"kept": one.kept, "of": one.of, "share": None if one.share is None else round(one.share, 3)}
                for kind, one in self.kept.items()
            },
            "lost": [{"kind": one.kind, "text": one.text, "turn": one.turn_id} for one in self.lost],
        }

    def _repr_html_(self) -> str:
        from memory_rag.summaries.in_notebook import audit_html

        return audit_html(self)


def audit(lines: Sequence[Line], turns: Sequence[Turn], *, analyzer: Analyzer) -> Audit:
    """Compare a summary's lines with the turns it stands for, given in spoken order.

    A name, number, date, identifier or path is kept if a line has its words; a decision or preference if a line that
    cites its turn has half of its terms. Each counts once, however often it was said. Who speaks is no name to keep.
    """
    read = [turn for turn in turns if is_read(turn)]
    lost: dict[tuple[str, str], tuple[int, Lost]] = {}
    seen: dict[str, set[str]] = {kind: set() for kind in COUNTED}
    text = normal(" \n ".join(printable(line.shown) for line in lines))
    people = {normal(turn.speaker).strip() for turn in read}
    languages = [analyzer.language_of(turn.text) for turn in read]
    found = found_in([(turn.text, language) for turn, language in zip(read, languages, strict=True)])
    for place, (turn, anchors) in enumerate(zip(read, found, strict=True)):
        for anchor in anchors:
            if anchor.key in seen[anchor.kind.value] or anchor.key in people or not anchor.key:
                continue
            seen[anchor.kind.value].add(anchor.key)
            if not stands_in(anchor, text):
                lost[anchor.kind.value, anchor.key] = place, Lost(anchor.kind.value, anchor.text, turn.turn_id)
    by_turn = _terms_by_turn(lines, analyzer)
    places = {turn.turn_id: place for place, turn in enumerate(read)}
    for sentence in must_hold(read, analyzer=analyzer):
        key = sentence.text.casefold()
        if key in seen[sentence.kind.value]:
            continue
        seen[sentence.kind.value].add(key)
        if not _is_told(sentence, by_turn, analyzer):
            lost[sentence.kind.value, key] = (
                places[sentence.turn.turn_id],
                Lost(sentence.kind.value, sentence.text, sentence.turn.turn_id),
            )
    n_lost = {kind: sum(1 for of, _key in lost if of == kind) for kind in COUNTED}
    kept = {kind: Kept(len(seen[kind]) - n_lost[kind], len(seen[kind])) for kind in COUNTED}
    return Audit(kept, tuple(one for _place, one in sorted(lost.values(), key=lambda pair: pair[0])))


def must_hold(turns: Sequence[Turn], *, analyzer: Analyzer) -> list[Sentence]:
    """Return the sentences of turns that tell a decision or a preference, in spoken order."""
    return [sentence for sentence in read_sentences(turns, analyzer=analyzer) if sentence.kind in MUST_HOLD]


def _terms_by_turn(lines: Iterable[Line], analyzer: Analyzer) -> dict[str, list[frozenset[str]]]:
    by_turn: dict[str, list[frozenset[str]]] = {}
    for line in lines:
        if line.kind is not Kind.TOPIC:
            terms = frozenset(analyzer.terms(printable(f"{line.text} {line.reason}")))
            for turn_id in line.turn_ids:
                by_turn.setdefault(turn_id, []).append(terms)
    return by_turn


def _is_told(sentence: Sentence, by_turn: Mapping[str, Sequence[frozenset[str]]], analyzer: Analyzer) -> bool:
    own = set(analyzer.terms(printable(sentence.text)))
    told = by_turn.get(sentence.turn.turn_id, ())
    return any(len(own & terms) >= _SAME_SENTENCE * len(own) for terms in told)
