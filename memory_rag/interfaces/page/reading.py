"""Views that show: a turn in its conversation, a whole conversation, the summaries with their audit."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from memory_rag.errors import UnknownTurnError
from memory_rag.html.pieces import at_words, pieces_of
from memory_rag.interfaces.page.asked import Asked, Drawn
from memory_rag.interfaces.page.finding import asked_again, signals_of, within
from memory_rag.interfaces.page.marked import best_span, words_asked
from memory_rag.interfaces.page.titles import conversations, title_of
from memory_rag.retrieval.ranking import Hit
from memory_rag.store.conversation_pages import page_of, place_of
from memory_rag.summaries.audit import audit
from memory_rag.summaries.summary import Level, Summary
from memory_rag.turns import Span, Turn

PART: Final = 40_000
"""Characters of a turn that are shown at once on its own page."""
_AROUND: Final = 4
_PAGE: Final = 50
_LINES: Final = 60
_CHARACTERS: Final = 4000
_LOOKED_THROUGH: Final = 100
_LONGEST_QUESTION: Final = 10_000
_LOST_SHOWN: Final = 60
_SUMMARIES: Final = 10
_VERSIONS: Final = 20


def turn(asked: Asked) -> Drawn:
    """Draw a turn amid its neighbours, with the words of the question, or the quoted span, marked."""
    turn_id, query = asked.exact("id"), asked.one("q")[:_LONGEST_QUESTION]
    around = asked.number("around", default=_AROUND, least=0, most=50)
    turns = asked.memory.neighbours(turn_id, before=around, after=around)
    target = next(one for one in turns if one.turn_id == turn_id)
    span = _span(asked, target)
    hit = _hit(asked, target, query)
    found = asked.memory.store.findings.of([turn_id]).get(turn_id, ())
    n_parts = max(1, -(-len(target.text) // PART))
    part = asked.number("part", default=_first_mark(asked, target, span, hit, query) // PART + 1, least=1, most=n_parts)
    versions = asked.memory.store.earlier_versions(turn_id)
    values = {
        "q": query,
        "again": asked_again(asked, query),
        "turns": [
            _part_shown(asked, one, part, query=query, span=span)
            if one is target
            else shown_turn(asked, one, query=query)
            for one in turns
        ],
        "target": target,
        "part": part,
        "n_parts": n_parts,
        "place": place_of(asked.memory.store.connections, target),
        "conversation_title": title_of(asked, target.conversation_id),
        "hit": hit,
        "signals": signals_of(asked, hit) if hit is not None else (),
        "versions": [
            {"text": one.text[:PART], "when": asked.when(one.said_at), "speaker": one.speaker}
            for one in versions[-_VERSIONS:]
        ],
        "n_versions": len(versions),
        "kinds": sorted({finding.kind for finding in found}),
        "more": around * 3 if around < 50 else None,
        "span": span,
        "title": f"{target.speaker}, {asked.when(target.said_at)}",
    }
    return Drawn("turn", values)


def conversation(asked: Asked) -> Drawn:
    """Draw a conversation or a sitting of it, fifty turns a page."""
    conversation_id, session = asked.exact("id"), asked.exact("session")
    connections = asked.memory.store.connections
    first = asked.number("from", default=0)
    first -= first % _PAGE
    page = page_of(connections, conversation_id, session_id=session or None, first=first, n=_PAGE)
    if not page.n_turns:
        raise UnknownTurnError(f"there is no conversation {conversation_id!r}")
    if not page.turns:
        last = (page.n_turns - 1) // _PAGE * _PAGE
        page = page_of(connections, conversation_id, session_id=session or None, first=last, n=_PAGE)
    title = title_of(asked, conversation_id)
    values = {
        "conversation_id": conversation_id,
        "session": session,
        "conversation_title": title,
        "turns": [shown_turn(asked, one) for one in page.turns],
        "n_turns": page.n_turns,
        "shown": (page.first + 1, page.first + len(page.turns)),
        "next": page.first + _PAGE if page.first + _PAGE < page.n_turns else None,
        "previous": page.first - _PAGE if page.first else None,
        "last": (page.n_turns - 1) // _PAGE * _PAGE,
        "title": title,
    }
    return Drawn("conversation", values)


def summary(asked: Asked) -> Drawn:
    """Draw a conversation's summaries, the newest first, every line with its turns, and beside them what they lost."""
    chosen = asked.exact("conversation")
    level = Level(asked.one("level")) if asked.one("level") in tuple(Level) else Level.HUNDRED
    names = conversations(asked, chosen)
    if not chosen and names:
        told = (name for name, _title in names if asked.memory.summaries.stored(name, level=level))
        chosen = next(told, names[0][0])
    stored = asked.memory.summaries.stored(chosen, level=level) if chosen else []
    first = asked.number("from", default=0)
    page = list(reversed(stored))[first : first + _SUMMARIES]
    values = {
        "chosen": chosen,
        "names": names,
        "level": level.value,
        "levels": [one.value for one in Level],
        "summaries": [_summary_shown(asked, one) for one in page],
        "next": first + _SUMMARIES if first + _SUMMARIES < len(stored) else None,
        "previous": max(0, first - _SUMMARIES) if first else None,
        "nothing": asked.one("nothing") == "1",
        "title": asked.texts.tell("summaries"),
    }
    return Drawn("summary", values)


def _summary_shown(asked: Asked, made: Summary) -> dict[str, Any]:
    turns = asked.memory.summaries.shelf.turns_of(made.number)
    audited = audit(made.lines, turns, analyzer=asked.memory.indexes.keyword.analyzer)
    return {
        "made": made,
        "when": asked.when(made.made_at),
        "lines": _by_kind(asked, made.lines),
        "kept": [(asked.texts.get(f"kind_{kind}", kind), of.kept, of.of) for kind, of in audited.kept.items() if of.of],
        "lost": [(asked.texts.get(f"kind_{lost.kind}", lost.kind), lost) for lost in audited.lost[:_LOST_SHOWN]],
        "n_lost": len(audited.lost),
    }


def make_summary(asked: Asked) -> Drawn:
    """Summarise a conversation now, and show it."""
    chosen = asked.exact("conversation")
    did = asked.memory.summaries.summarise(chosen, focus=asked.one("focus"))
    return Drawn(to=f"/summary?conversation={quote(chosen, safe='', errors='replace')}{'' if did else '&nothing=1'}")


def shown_turn(asked: Asked, one: Turn, *, query: str = "", shown: Span | None = None) -> dict[str, Any]:
    """Return a turn as a list of turns shows it: a long one by its beginning, or by the span that is given."""
    shown = shown or _beginning(one.text)
    return {
        "turn": one,
        "when": asked.when(one.said_at),
        "pieces": pieces_of(one.text, words_asked(asked.memory, query, one.text, within=shown), within=shown),
        "n_left": len(one.text) - shown.end,
        "blocks": [_block(block.kind, block.caption) for block in one.blocks],
    }


def _first_mark(asked: Asked, target: Turn, span: Span | None, hit: Hit | None, query: str) -> int:
    """Return where in a turn a reader wants to look first."""
    if span is not None or hit is None:
        return span.start if span is not None else 0
    best = best_span(asked.memory, hit, query)
    return min((mark.start for mark in words_asked(asked.memory, query, target.text, within=best)), default=best.start)


def _part_shown(asked: Asked, one: Turn, part: int, *, query: str, span: Span | None) -> dict[str, Any]:
    shown = Span((part - 1) * PART, min(part * PART, len(one.text)))
    told = shown_turn(asked, one, query=query, shown=shown) | {"n_left": 0}
    return told if span is None else told | {"pieces": pieces_of(one.text, [span], within=shown)}


def _beginning(text: str) -> Span:
    """Return how much of a turn a list shows: some thousand characters, or some dozen lines."""
    end = -1
    for _line in range(_LINES):
        end = text.find("\n", end + 1)
        if end < 0 or end > _CHARACTERS:
            break
    end = len(text) if end < 0 else end
    return Span(0, end if end <= _CHARACTERS else at_words(text[: _CHARACTERS + 100], 0, _CHARACTERS)[1])


def _hit(asked: Asked, target: Turn, query: str) -> Hit | None:
    """Return a turn as the search for a question found it; None if it didn't."""
    if not query:
        return None
    ranking = asked.memory.search(query, k=_LOOKED_THROUGH, within=within(asked), floor=False)
    return next((hit for hit in ranking if hit.turn.turn_id == target.turn_id), None)


def _block(kind: str, caption: str) -> str:
    return f"{kind}: {caption}" if caption else kind


def _by_kind(asked: Asked, lines: Any) -> list[tuple[str, list[Any]]]:
    kinds: dict[str, list[Any]] = {}
    for line in lines:
        kinds.setdefault(line.kind.value, []).append(line)
    return [(asked.texts.get(f"kind_{kind}", kind), told) for kind, told in kinds.items()]


def _span(asked: Asked, target: Turn) -> Span | None:
    """Return the span that a permalink names; None if it names none in this turn."""
    start, end = asked.number("start", default=0), asked.number("end", default=0)
    return Span(start, min(end, len(target.text))) if start < min(end, len(target.text)) else None


READING: Final = (
    ("GET", "/turn", turn),
    ("GET", "/conversation", conversation),
    ("GET", "/summary", summary),
    ("POST", "/summary", make_summary),
)
