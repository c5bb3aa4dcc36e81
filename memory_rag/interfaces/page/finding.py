"""Views that find: the home page with its timeline, search, the comparison of modes, quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from memory_rag.errors import QueryError
from memory_rag.html.pieces import Piece, at_words, pieces_of
from memory_rag.interfaces.page.asked import Asked, Drawn, ToldError
from memory_rag.interfaces.page.marked import first_words, passage
from memory_rag.interfaces.page.notes import notes_shown
from memory_rag.interfaces.page.titles import conversations
from memory_rag.retrieval.differences import Difference
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.store.conversation_pages import opening_of
from memory_rag.talks.talk import Unit
from memory_rag.text.instants import parse_bound
from memory_rag.turns import Span, Turn

_SESSIONS: Final = 20
_HITS: Final = 10
_MOST_HITS: Final = 100
_QUOTES: Final = 30
_LONGEST: Final = 10_000
_IN_A_ROW: Final = 160
"""Characters of a turn that a row of the comparison shows."""
_AROUND: Final = 120
"""Characters shown on each side of a quote."""
FILTERS: Final = ("conversation", "speaker", "since", "until")


@dataclass(frozen=True, slots=True)
class SignalShown:
    """One reason for a rank: its name in words, its value, and its share of the largest, in per cent."""

    name: str
    value: float
    width: int


@dataclass(frozen=True, slots=True)
class HitShown:
    """A hit as a list shows it."""

    turn: Turn
    rank: int
    when: str
    title: str
    pieces: Sequence[Piece]
    is_cut_before: bool
    is_cut_after: bool
    signals: Sequence[SignalShown]


def home(asked: Asked) -> Drawn:
    """Draw the search field and the sittings, newest first, by month."""
    first = asked.number("from", default=0)
    talks = asked.memory.talks.shelf.newest(Unit.SESSION, n=first + _SESSIONS + 1)[first:]
    months: dict[str, list[dict[str, Any]]] = {}
    for talk in talks[:_SESSIONS]:
        summary = asked.memory.talks.summary_of(talk.talk)
        told = replace(talk, summary=summary)
        line = summary.one_line if summary is not None else ""
        if not line:
            connections, talk_id = asked.memory.store.connections, talk.talk
            opening = opening_of(connections, talk_id.conversation_id, session_id=talk_id.session_id or "")
            line = first_words(opening.text) if opening is not None else ""
        at = talk.last_said_at
        month = asked.texts.tell("time_unknown")
        if at is not None:
            local = at.astimezone(asked.memory.zone)
            month = f"{asked.texts.tell('months').split()[local.month - 1]} {local.year}"
        months.setdefault(month, []).append({"talk": told, "line": line, "day": asked.day(at)})
    return Drawn(
        "home",
        {
            "months": months,
            "n_turns": len(asked.memory),
            "next": first + _SESSIONS if len(talks) > _SESSIONS else None,
            "previous": max(0, first - _SESSIONS) if first else None,
            "off_record": asked.memory.off_record.since,
            "title": asked.texts.tell("home"),
        },
    )


def search(asked: Asked) -> Drawn:
    """Draw what answers a question, each with its words marked and its reasons."""
    query = asked.one("q")[:_LONGEST]
    k = asked.number("k", default=_HITS, least=1, most=_MOST_HITS)
    floor = asked.one("all") != "1"
    filters = filters_of(asked)
    ranking = Ranking(query, "hybrid")
    if query:
        ranking = asked.memory.search(query, k=k, within=within(asked), floor=floor)
    values = {
        "q": query,
        "hits": shown_hits(asked, ranking),
        "evidence": ranking.evidence,
        "notes": notes_shown(asked, ranking.notes),
        "pending": ranking.pending if asked.memory.settings.embedder != "none" else 0,
        "more": k + _HITS if len(ranking) == k and k < _MOST_HITS else None,
        "floor": floor,
        "filters": filters,
        "narrowed": any(filters.values()),
        "again": asked_again(asked, query),
        "title": query or asked.texts.tell("search"),
    }
    if asked.one("part") == "1":
        return Drawn("hits", values)
    return Drawn("search", {**values, "conversations": conversations(asked, filters["conversation"])})


def compare(asked: Asked) -> Drawn:
    """Draw what keyword, dense and hybrid recall find, side by side."""
    query = asked.one("q")[:_LONGEST]
    found = asked.memory.compare(query, within=within(asked)) if query else None
    hits: dict[str, Hit] = {}
    for ranking in found.rankings.values() if found is not None else ():
        hits.update({hit.turn.turn_id: hit for hit in ranking})
    rows = []
    for one in found.turns if found is not None else ():
        pieces, before, after = passage(asked.memory, hits[one.turn.turn_id], query, most=_IN_A_ROW)
        rows.append(
            {
                "turn": one.turn,
                "ranks": one.ranks,
                "move": one.move("keyword", "hybrid"),
                "when": asked.when(one.turn.said_at),
                "pieces": pieces,
                "is_cut_before": before,
                "is_cut_after": after,
            }
        )
    notes = (note for ranking in (found.rankings.values() if found is not None else ()) for note in ranking.notes)
    values = {
        "q": query,
        "rows": rows,
        "notes": notes_shown(asked, notes),
        "title": asked.texts.tell("compare"),
        "again": asked_again(asked, query),
    }
    return Drawn("compare", values)


def quotes(asked: Asked) -> Drawn:
    """Draw where words were said, exactly or nearly."""
    words = asked.text("q")[:_LONGEST]
    found = asked.memory.quote(words, limit=_QUOTES, within=within(asked)) if words.strip() else ()
    shown = [
        {
            "quote": one,
            "when": asked.when(one.said_at),
            "around": _around(asked.memory.get(one.turn_id).text, Span(one.start, one.end)),
            "differences": [_told(asked, difference) for difference in one.differences],
        }
        for one in found
    ]
    return Drawn("quotes", {"q": words, "found": shown, "most": _QUOTES, "title": asked.texts.tell("quotes")})


def _told(asked: Asked, difference: Difference) -> str:
    """Return one place where a quote isn't word for word, in the reader's language."""
    return asked.texts.tell(f"differs_{difference.change}", expected=difference.expected, found=difference.found)


def _around(text: str, quoted: Span) -> list[Piece]:
    """Return a quote with the words just before and after it, the quote marked."""
    start, end = at_words(text, max(0, quoted.start - _AROUND), min(len(text), quoted.end + _AROUND))
    pieces = pieces_of(text, [quoted], within=Span(start, end))
    return [*([Piece("… ")] if start else []), *pieces, *([Piece(" …")] if end < len(text) else [])]


def filters_of(asked: Asked) -> dict[str, str]:
    """Return the filters as they were typed, those that are empty among them."""
    return {name: asked.exact(name) if name == "conversation" else asked.one(name) for name in FILTERS}


def asked_again(asked: Asked, query: str) -> str:
    """Return a question and its filters as a part of an address."""
    narrowed = {name: value for name, value in filters_of(asked).items() if value}
    return urlencode({"q": query, **narrowed}, errors="replace")


def within(asked: Asked) -> Within:
    """Return the filters that a form gives.

    Raises:
        ToldError: a bound is no time.
    """
    given: Mapping[str, str | None] = {name: value or None for name, value in filters_of(asked).items()}
    for bound in filter(None, (given["since"], given["until"])):
        try:
            parse_bound(bound, end=False)
        except QueryError as error:
            raise ToldError(asked.texts.tell("no_time", name=bound)) from error
    return Within(
        conversation=given["conversation"], speaker=given["speaker"], since=given["since"], until=given["until"]
    )


def shown_hits(asked: Asked, ranking: Ranking) -> list[HitShown]:
    titles = asked.memory.talks.shelf.titles({hit.turn.conversation_id for hit in ranking})
    shown = []
    for hit in ranking:
        pieces, before, after = passage(asked.memory, hit, ranking.query)
        title = titles.get(hit.turn.conversation_id) or hit.turn.conversation_id
        when = asked.when(hit.turn.said_at)
        shown.append(HitShown(hit.turn, hit.rank, when, title, pieces, before, after, signals_of(asked, hit)))
    return shown


def signals_of(asked: Asked, hit: Hit) -> list[SignalShown]:
    """Return why a hit is where it is, the weightiest reasons first; those that say nothing are left out."""
    told = [(name, value) for name, value in hit.signals.items() if abs(value) >= 0.0005]
    told.sort(key=lambda pair: (-abs(pair[1]), pair[0]))
    largest = max((abs(value) for _name, value in told), default=1.0)
    return [
        SignalShown(asked.texts.get(f"signal_{name}", name), value, round(100 * abs(value) / largest))
        for name, value in told
    ]


FINDING: Final = (
    ("GET", "/", home),
    ("GET", "/search", search),
    ("GET", "/compare", compare),
    ("GET", "/quotes", quotes),
)
