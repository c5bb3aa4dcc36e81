"""Views that show: a turn in its conversation, a whole conversation, the summaries with their audit."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from memory_rag.errors import UnknownTurnError
from memory_rag.interfaces.page.asked import Asked, Drawn
from memory_rag.interfaces.page.marked import pieces_of, words_asked
from memory_rag.summaries.summary import Level
from memory_rag.turns import Span, Turn

_AROUND: Final = 4
_PAGE: Final = 100
_LOST_SHOWN: Final = 60


def turn(asked: Asked) -> Drawn:
    """Draw a turn amid its neighbours, with the words of the question, or the quoted span, marked."""
    turn_id = asked.one("id")
    around = asked.number("around", default=_AROUND, least=0, most=50)
    turns = asked.memory.neighbours(turn_id, before=around, after=around)
    query = asked.one("q")
    target = next(one for one in turns if one.turn_id == turn_id)
    span = _span(asked, target)
    shown = [shown_turn(asked, one, query=query, span=span if one is target else None) for one in turns]
    found = asked.memory.store.findings.of([turn_id]).get(turn_id, ())
    values = {
        "q": query,
        "turns": shown,
        "target": target,
        "conversation_title": _title(asked, target.conversation_id),
        "versions": [
            {"text": one.text, "when": asked.when(one.said_at), "speaker": one.speaker}
            for one in asked.memory.store.earlier_versions(turn_id)
        ],
        "kinds": sorted({finding.kind for finding in found}),
        "more": around * 3 if around < 50 else None,
        "span": span,
        "title": f"{target.speaker}, {asked.when(target.said_at)}",
    }
    return Drawn("turn", values)


def conversation(asked: Asked) -> Drawn:
    """Draw a conversation or a sitting of it, a hundred turns a page."""
    conversation_id, session = asked.one("id"), asked.one("session")
    turns = [
        one for one in asked.memory.turns(conversation_id=conversation_id) if not session or one.session_id == session
    ]
    if not turns:
        raise UnknownTurnError(asked.texts.tell("no_conversation", name=conversation_id))
    first = min(asked.number("from", default=0), max(0, len(turns) - 1))
    first -= first % _PAGE
    values = {
        "conversation_id": conversation_id,
        "session": session,
        "conversation_title": _title(asked, conversation_id),
        "turns": [shown_turn(asked, one) for one in turns[first : first + _PAGE]],
        "n_turns": len(turns),
        "next": first + _PAGE if first + _PAGE < len(turns) else None,
        "previous": first - _PAGE if first else None,
        "title": _title(asked, conversation_id),
    }
    return Drawn("conversation", values)


def summary(asked: Asked) -> Drawn:
    """Draw a conversation's summaries, every line with its turns, and beside them what they lost."""
    chosen = asked.one("conversation")
    level = asked.one("level") if asked.one("level") in tuple(Level) else Level.HUNDRED.value
    names = [(one.conversation_id, one.title or one.conversation_id) for one in asked.memory.store.conversations()]
    if not chosen and names:
        told = (name for name, _title in names if asked.memory.summaries.stored(name, level=Level(level)))
        chosen = next(told, names[0][0])
    found = asked.memory.summaries.audited(chosen, level=Level(level)) if chosen else []
    values = {
        "chosen": chosen,
        "names": names,
        "level": level,
        "levels": [one.value for one in Level],
        "summaries": [
            {
                "made": one.summary,
                "when": asked.when(one.summary.made_at),
                "lines": _by_kind(asked, one.summary.lines),
                "kept": [
                    (asked.texts.get(f"kind_{kind}", kind), kept.kept, kept.of)
                    for kind, kept in one.audit.kept.items()
                    if kept.of
                ],
                "lost": [
                    (asked.texts.get(f"kind_{lost.kind}", lost.kind), lost) for lost in one.audit.lost[:_LOST_SHOWN]
                ],
                "n_lost": len(one.audit.lost),
            }
            for one in found
        ],
        "title": asked.texts.tell("summaries"),
    }
    return Drawn("summary", values)


def make_summary(asked: Asked) -> Drawn:
    """Summarise a conversation now, and show it."""
    chosen = asked.one("conversation")
    asked.memory.summaries.summarise(chosen, focus=asked.one("focus"))
    return Drawn(to=f"/summary?conversation={quote(chosen, safe='', errors='replace')}")


def shown_turn(asked: Asked, one: Turn, *, query: str = "", span: Span | None = None) -> dict[str, Any]:
    """Return a turn as a list of turns shows it."""
    marks = [span] if span is not None else words_asked(asked.memory, query, one.text)
    return {
        "turn": one,
        "when": asked.when(one.said_at),
        "pieces": pieces_of(one.text, marks),
        "blocks": [_block(block.kind, block.caption) for block in one.blocks],
    }


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


def _title(asked: Asked, conversation_id: str) -> str:
    return asked.memory.talks.shelf.titles([conversation_id]).get(conversation_id) or conversation_id


READING: Final = (
    ("GET", "/turn", turn),
    ("GET", "/conversation", conversation),
    ("GET", "/summary", summary),
    ("POST", "/summary", make_summary),
)
