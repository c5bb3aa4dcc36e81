"""Whether what an answer quotes was said: by whom, when, and in these words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, Literal

from memory_rag.retrieval.differences import ELLIPSIS, Difference
from memory_rag.retrieval.near import MOST_COMPARED
from memory_rag.retrieval.occurrences import says_something
from memory_rag.retrieval.quotes import Quote, QuoteSource, count_turns, find_quotes, word_for_word
from memory_rag.text.attribution import ASSISTANT, USER
from memory_rag.text.folding import fold
from memory_rag.text.quotations import Quotation, find_quotations
from memory_rag.text.word_bounds import count_words
from memory_rag.turns import Role, Turn

VerdictStatus = Literal["verbatim", "near", "said_by_another", "only_assistant", "too_short", "not_found", "not_judged"]

LEAST_WORDS = 4
"""A quotation of fewer words stands in many turns by chance: it is counted, not attributed."""

_MOST_PLACES = 200
_MOST_SHOWN = 5
_MOST_TOLD = 3
_MOST_CLIPPED = 80
_MOST_MISSED = 20
"""Paragraphs that nobody said, after which no more are looked for: a long invention is known by its beginning."""
_BETWEEN_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n\s*")
_WORST_FIRST: tuple[VerdictStatus, ...] = ("not_judged", "said_by_another", "only_assistant", "near")
_SENTENCE_MARKS = ",.;:"
_TOO_LONG = (
    f"it stands nowhere word for word, and of more than {MOST_COMPARED:,} characters no similar words are looked for."
)
_GENERIC = frozenset(["", "user", "human", "assistant", "ai", "model", "system", "tool", "function"])
_DESCRIBED = {
    Role.USER: "the user",
    Role.ASSISTANT: "the assistant",
    Role.SYSTEM: "a system message",
    Role.TOOL: "a tool's output",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the stored turns say about one quotation of an answer.

    ``verbatim``: said in these words (case, spaces and kinds of marks aside) by whom it is claimed, if by
    anybody. ``near``: similar words were said; the quotes' differences name what differs.
    ``said_by_another``: the words are another's than claimed. ``only_assistant``: only the assistant ever used
    them, and the answer does not say so. ``too_short``: under four words; ``count`` says in how many turns
    they stand. ``not_found``: neither these words nor similar ones; of several paragraphs, not of each.
    ``not_judged``: where it begins or ends can't be told, or it is too long to look for similar words.

    A quotation of several paragraphs that isn't found as one is judged by each of them.

    ``quotes`` are the places, the claimed speaker's first, at most five; none for the last two. ``count`` is
    the number of turns with these very words. ``claimed`` is ``user``, ``assistant``, a name or None.
    """

    quotation: Quotation
    status: VerdictStatus
    quotes: tuple[Quote, ...]
    count: int
    claimed: str | None
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return what ``verify --json`` prints for it; ``start`` and ``end`` are places in the answer."""
        return {
            "status": self.status,
            "text": self.quotation.text,
            "start": self.quotation.span.start,
            "end": self.quotation.span.end,
            "claimed": self.claimed,
            "count": self.count,
            "quotes": [quote.as_json() for quote in self.quotes],
            "message": self.message,
        }


class Verdicts(tuple[Verdict, ...]):
    """A verdict for each quotation of an answer, in its order, as a tuple; empty if it quotes nothing."""

    def _repr_html_(self) -> str:
        from memory_rag.retrieval.in_notebook import verdicts_html

        return verdicts_html(self)


def verify(
    answer: str, *, source: QuoteSource, answer_turn_id: str | None = None, near_threshold: float = 85.0
) -> tuple[Verdict, ...]:
    """Return a verdict on every quoted string of a model's answer, in order; empty when it quotes nothing.

    The answer itself never confirms what it quotes: the turn ``answer_turn_id`` and every turn of the
    assistant with the same text are left out.

    Raises:
        StoreError: a turn was changed or removed meanwhile.
    """
    check = _Check(answer, source, answer_turn_id, near_threshold)
    return tuple(check.verdict(quotation) for quotation in find_quotations(answer))


class _Check:
    """One answer against one source."""

    def __init__(self, answer: str, source: QuoteSource, answer_turn_id: str | None, near_threshold: float) -> None:
        self.answer = answer.strip()
        self.source = source
        self.answer_turn_id = answer_turn_id
        self.near_threshold = near_threshold

    def verdict(self, quotation: Quotation) -> Verdict:
        if not quotation.is_whole:
            return _not_judged(quotation, _missing_partner(quotation))
        as_one = self._as_one(quotation)
        if as_one.status not in ("not_found", "not_judged"):
            return as_one
        return self._by_paragraphs(quotation) or as_one

    def _by_paragraphs(self, quotation: Quotation) -> Verdict | None:
        """Return what its paragraphs together say; None if it has only one."""
        parts = _paragraphs(quotation.text)
        if len(parts) < 2:
            return None
        verdicts: list[Verdict] = []
        missing: list[Verdict] = []
        for part in parts:
            verdicts.append(self._as_one(replace(quotation, text=part)))
            if not verdicts[-1].quotes and verdicts[-1].status != "not_judged":
                missing.append(verdicts[-1])
            if len(missing) == _MOST_MISSED:
                break
        if missing:
            n_found = len(verdicts) - len(missing)
            message = _message("not_found", (), quotation.claimed, 0)
            if n_found:
                first = "first " if len(verdicts) < len(parts) else ""
                message = _partly(f"{first}{len(verdicts)}", n_found, missing[0].quotation.text)
            return Verdict(quotation, "not_found", (), 0, quotation.claimed, message)
        for status in _WORST_FIRST:
            worst = next((one for one in verdicts if one.status == status), None)
            if worst is not None:
                return replace(worst, quotation=quotation)
        quotes = tuple(dict.fromkeys(one.quotes[0] for one in verdicts))
        return Verdict(quotation, "near", quotes[:_MOST_SHOWN], 0, quotation.claimed, _apart(len(parts), quotes))

    def _as_one(self, quotation: Quotation) -> Verdict:
        claimed, wording = quotation.claimed, quotation.text
        said = self._said(wording, claimed)
        if not said and wording[-1] in _SENTENCE_MARKS and not wording.endswith(".."):
            # English puts the comma of the sentence around a quotation before the closing mark.
            wording = wording[:-1]
            said = self._said(wording, claimed)
        short = count_words(wording) < LEAST_WORDS
        count = len({quote.turn_id for quote in said})
        if short:
            count = max(count, count_turns(wording, source=self.source, within=self._admits))
        status = _status(said, claimed, short=short)
        quotes = said
        if status == "not_found":
            quotes = self._near(wording, claimed)
            status = "near" if quotes else "not_found"
            if not quotes and len(fold(wording).text) > MOST_COMPARED:
                return _not_judged(quotation, _TOO_LONG)
        shown = tuple(quotes[:_MOST_SHOWN])
        return Verdict(quotation, status, shown, count, claimed, _message(status, shown, claimed, count))

    def _admits(self, turn: Turn) -> bool:
        itself = turn.role is Role.ASSISTANT and turn.text.strip() == self.answer
        return turn.turn_id != self.answer_turn_id and not itself

    def _said(self, wording: str, claimed: str | None) -> list[Quote]:
        """Return where these very words stand, cutting no word; first where they confirm the claim."""

        def confirming(turn: Turn) -> bool:
            return self._admits(turn) and _rank(turn.role, turn.speaker, claimed) == 0

        found = word_for_word(wording, source=self.source, limit=_MOST_PLACES, within=self._admits)
        if len(found) == _MOST_PLACES:
            # So common that who is claimed may have said it further on.
            found += word_for_word(wording, source=self.source, limit=_MOST_SHOWN, within=confirming)
        return _by_claim([quote for quote in dict.fromkeys(found) if not quote.differences], claimed)

    def _near(self, wording: str, claimed: str | None) -> list[Quote]:
        """Return where similar words stand, or these words as parts of longer ones."""
        found = find_quotes(wording, source=self.source, near_threshold=self.near_threshold, within=self._admits)
        return _by_claim(found, claimed)


def _status(said: Sequence[Quote], claimed: str | None, *, short: bool) -> VerdictStatus:
    if not said:
        return "too_short" if short and claimed is None else "not_found"
    if claimed is not None and not _is_by(claimed, said[0].role, said[0].speaker):
        return "only_assistant" if _all_by_assistant(said) else "said_by_another"
    if short:
        return "too_short"
    return "only_assistant" if claimed is None and _all_by_assistant(said) else "verbatim"


def _all_by_assistant(quotes: Sequence[Quote]) -> bool:
    return all(quote.role is Role.ASSISTANT for quote in quotes)


def _by_claim(quotes: Sequence[Quote], claimed: str | None) -> list[Quote]:
    """Return the quotes in their order, but those that confirm the claim first and the assistant's last."""
    return sorted(quotes, key=lambda quote: _rank(quote.role, quote.speaker, claimed))


def _rank(role: Role, speaker: str, claimed: str | None) -> int:
    if _is_by(claimed, role, speaker) if claimed is not None else role is Role.USER:
        return 0
    return 2 if role is Role.ASSISTANT else 1


def _is_by(claimed: str, role: Role, speaker: str) -> bool:
    """Tell whether a turn is by whom a claim names; a user without a name may have any name."""
    if claimed == USER:
        return role is Role.USER
    if claimed == ASSISTANT:
        return role is Role.ASSISTANT
    names, known = set(fold(claimed).text.split()), set(fold(speaker).text.split())
    if fold(speaker).text in _GENERIC:
        return role is Role.USER
    return names <= known or known <= names


def _not_judged(quotation: Quotation, why: str) -> Verdict:
    return Verdict(quotation, "not_judged", (), 0, quotation.claimed, f"Not judged: {why}")


def _missing_partner(quotation: Quotation) -> str:
    opening, closing = quotation.marks
    return f"the mark {opening} is never closed." if opening else f"nothing opens what the mark {closing} closes."


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a wording that say something; its lines if it is one that is too long to compare."""
    parts = _BETWEEN_PARAGRAPHS.split(text)
    if len(parts) == 1 and len(text) > MOST_COMPARED:
        parts = text.split("\n")
    return [part for part in parts if says_something(part)]


def _partly(n: str, n_found: int, lacking: str) -> str:
    stand = "stands" if n_found == 1 else "stand"
    shown = lacking if len(lacking) <= _MOST_CLIPPED else f"{lacking[:_MOST_CLIPPED]}…"
    return f"Not found: of its {n} paragraphs {n_found} {stand} in what was said, but not “{shown}”"


def _apart(n: int, quotes: Sequence[Quote]) -> str:
    turns = tuple(dict.fromkeys(quote.turn_id for quote in quotes))
    named = ", ".join(turns[:_MOST_SHOWN]) + (
        f" and {len(turns) - _MOST_SHOWN} more" if len(turns) > _MOST_SHOWN else ""
    )
    where = f"turn {named}" if len(turns) == 1 else f"turns {named}"
    return f"Not in one piece: its {n} paragraphs stand apart from each other, in {where}."


def _message(status: VerdictStatus, quotes: Sequence[Quote], claimed: str | None, count: int) -> str:
    if status == "too_short":
        turns = "no stored turn" if count == 0 else "1 turn" if count == 1 else f"{count} turns"
        return f"Too short to tell: these words stand in {turns}."
    if not quotes:
        return "Not found: no stored turn says this, nor anything close to it."
    who, when = _who(quotes[0]), _when(quotes[0])
    more = f", and {count - 1} more" if count > 1 else ""
    if status == "only_assistant":
        return f"Only in the assistant's own words ({when}{more}): nobody else said this."
    if status == "said_by_another":
        return f"Said by {who} ({when}{more}), not by {_claimed(claimed)}."
    if status == "near":
        return f"Not word for word: {who} {_differing(quotes[0])} ({when})."
    if quotes[0].role in (Role.SYSTEM, Role.TOOL):
        return f"Word for word in {who} ({when}{more}), which is not anything that a person said."
    return f"Word for word by {who} ({when}{more})."


def _who(quote: Quote) -> str:
    return _DESCRIBED[quote.role] if fold(quote.speaker).text in _GENERIC else quote.speaker


def _claimed(claimed: str | None) -> str:
    return {USER: "the user", ASSISTANT: "the assistant"}.get(claimed or "", claimed or "")


def _when(quote: Quote) -> str:
    day = f"{quote.said_at.astimezone(UTC):%Y-%m-%d}, " if quote.said_at else ""
    return f"{day}turn {quote.turn_id}"


def _differing(quote: Quote) -> str:
    told = [_told(difference) for difference in quote.differences[:_MOST_TOLD]]
    rest = len(quote.differences) - len(told)
    more = f" and {rest} more differences" if rest > 0 else ""
    return f"has {', '.join(told)}{more}" if told else "has other punctuation or spelling"


def _told(difference: Difference) -> str:
    if difference.expected == ELLIPSIS:
        left_out = f"“{difference.found}”" if difference.found else "nothing"
        return f"{left_out} where the quotation has an ellipsis"
    if not difference.found:
        return f"no “{difference.expected}”"
    if not difference.expected:
        return f"“{difference.found}” as well"
    return f"“{difference.found}” for “{difference.expected}”"
