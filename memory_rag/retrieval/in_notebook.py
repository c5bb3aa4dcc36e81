"""Hits, quotes, verdicts and comparisons as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memory_rag.html.cards import Tone, badge, card, listed, place, place_of, quiet, row, words
from memory_rag.html.markup import Html, joined
from memory_rag.retrieval.rank_lines import rank_lines
from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.retrieval.comparison import Comparison
    from memory_rag.retrieval.differences import Difference
    from memory_rag.retrieval.quotes import Quote
    from memory_rag.retrieval.ranking import Hit, Ranking
    from memory_rag.retrieval.verification import Verdict

_EVIDENCE: Final[dict[str, Tone]] = {"strong": "good", "weak": "unsure"}
_STATUS: Final[dict[str, tuple[str, Tone]]] = {
    "exact": ("exact", "good"),
    "folded": ("folded", "good"),
    "near": ("near", "unsure"),
    "verbatim": ("verbatim", "good"),
    "said_by_another": ("by another", "bad"),
    "only_assistant": ("assistant's", "unsure"),
    "too_short": ("too short", "calm"),
    "not_found": ("not found", "bad"),
    "not_judged": ("not judged", "unsure"),
}
_COMPARED: Final = 3


def ranking_html(ranking: Ranking) -> Html:
    """Return a search: the question, its hits, how far to trust them."""
    notes = list(ranking.notes)
    if ranking.pending:
        notes.append(f"{ranking.pending:,} turns were found by keyword only; memory.embed() embeds them")
    if not ranking.hits:
        nothing = "Not found: nothing that was said answers this."
        return card(nothing, listed(notes), title=ranking.query, tone="calm")
    if ranking.evidence == "weak":
        notes.insert(0, "Weak evidence: these may well not answer the question.")
    tone = _EVIDENCE.get(ranking.evidence, "calm")
    return card(*(_hit(hit) for hit in ranking), listed(notes), title=ranking.query, tone=tone)


def hit_html(hit: Hit) -> Html:
    """Return one hit by itself."""
    return card(_hit(hit))


def _hit(hit: Hit) -> Html:
    where = place_of(hit.turn, more=f"score {hit.score:.2f}")
    return row(f"{hit.rank}", where, words(hit.turn.text, around=hit.span))


def quotes_html(query: str, quotes: Sequence[Quote]) -> Html:
    """Return where words were said; that nobody said them, if there are none."""
    if not quotes:
        return card("Not found: nobody said these words, nor any like them.", title=f"“{query}”", tone="bad")
    tone = _STATUS[quotes[0].status][1]
    return card(*(quote_row(quote) for quote in quotes), title=f"“{query}”", tone=tone)


def quote_row(quote: Quote) -> Html:
    """Return a quote with its place in the turn, and each word that differs."""
    word, tone = _STATUS[quote.status]
    more = f"characters {quote.start:,} to {quote.end:,}"
    where = place(
        who=quote.speaker or quote.role.value,
        said_at=quote.said_at,
        turn_id=quote.turn_id,
        conversation_id=quote.conversation_id,
        more=more if quote.corrected_at is None else f"{more} · corrected {quote.corrected_at:%Y-%m-%d}",
    )
    return row(
        badge(word, tone), where, words(quote.text, marks=_differing(quote)), listed(map(_told, quote.differences))
    )


def _differing(quote: Quote) -> list[Span]:
    """Return where the words stand that are not the words asked for."""
    found: list[Span] = []
    at = 0
    for difference in quote.differences:
        start = quote.text.find(difference.found, at) if difference.found else -1
        if start >= 0:
            at = start + len(difference.found)
            found.append(Span(start, at))
    return found


def verdicts_html(verdicts: Sequence[Verdict]) -> Html:
    """Return every quotation of an answer with what the memory says of it."""
    if not verdicts:
        return card("There is no quotation in this answer.")
    return card(*(_verdict(one) for one in verdicts), title="Was it said?", tone=_worst(verdicts))


def _verdict(verdict: Verdict) -> Html:
    word, tone = _STATUS[verdict.status]
    claimed = "" if verdict.claimed is None else f"said to be {_claimed(verdict.claimed)}"
    return row(badge(word, tone), words(f"“{verdict.quotation.text}”"), quiet(claimed), quiet(verdict.message))


def _claimed(claimed: str) -> str:
    return {"user": "the user's", "assistant": "the assistant's"}.get(claimed, f"{claimed}'s")


def _worst(verdicts: Sequence[Verdict]) -> Tone:
    tones = {_STATUS[one.status][1] for one in verdicts}
    order: tuple[Tone, ...] = ("bad", "unsure", "calm", "good")
    return next(tone for tone in order if tone in tones)


def _told(difference: Difference) -> str:
    if not difference.found:
        return f"{difference.kind}: “{difference.expected}” does not stand there"
    if not difference.expected:
        return f"{difference.kind}: “{difference.found}” stands there too"
    return f"{difference.kind}: “{difference.expected}” asked for, “{difference.found}” said"


def comparison_html(comparison: Comparison) -> Html:
    """Return one question's rankings as lines from mode to mode, and the words of the first turns."""
    if not comparison.turns:
        return card("None of the modes finds anything.", title=comparison.query)
    rows = []
    for number, one in enumerate(comparison.turns[:_COMPARED], start=1):
        ranks = ", ".join(f"{mode} {one.ranks.get(mode, '–')}" for mode in comparison.rankings)
        rows.append(row(f"{number}", place_of(one.turn, more=ranks), words(one.turn.text, around=Span(0, 0))))
    return card(rank_lines(comparison), joined(rows), title=comparison.query)
