"""How a talk, a session or a conversation, is shown: for a reader on two lines, and as JSON."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from memory_rag.interfaces.cli.output import say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import Ink, fitted, padded, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import DOT, instant_json

if TYPE_CHECKING:
    from memory_rag.talks.talk import Talk, TalkHit, TalkRanking

_LINES = 3


def print_talks(ranking: TalkRanking, zone: tzinfo, *, place: Place, ink: Ink) -> None:
    """Print talks for a reader: rank, when, which, and what each was about."""
    if not ranking.hits:
        say("not found")
        return
    margin = len(str(len(ranking))) + 2
    width = screen_width() - margin
    for hit in ranking:
        rank = padded(str(hit.rank), margin - 2, right=True)
        say(f"{ink.bold(rank)}  {fitted(shown(head_line(hit.talk, zone)), width)}")
        for line in about_lines(hit.one_line, width):
            say(" " * margin + line)
        if hit.turns:
            best = hit.turns[0].turn
            more = place.command("show", best.turn_id)
            say(" " * margin + ink.dim(fitted(f"best turn {best.turn_id}: {more}", width)))
        if hit.rank < len(ranking):
            say()


def head_line(talk: Talk, zone: tzinfo) -> str:
    """Return when a talk was, what it is called, and how long it is."""
    parts = [days(talk, zone), talk.name]
    session = talk.talk.session_id
    if session is not None and session not in parts[0]:
        parts.append(session)
    return DOT.join([*parts, "1 turn" if talk.n_turns == 1 else f"{talk.n_turns:,} turns"])


def days(talk: Talk, zone: tzinfo) -> str:
    """Return the day of a talk, or its first and last."""
    found = sorted({at.astimezone(zone).date().isoformat() for at in (talk.first_said_at, talk.last_said_at) if at})
    return " to ".join(found) or "time unknown"


def about_lines(text: str, width: int, *, at_most: int = _LINES) -> list[str]:
    """Return what a talk was about, wrapped, three lines at most."""
    text = " ".join(shown(text).split())
    lines = [span.of(text) for span in wrapped(text, width)]
    if len(lines) > at_most:
        lines = [*lines[: at_most - 1], fitted(" ".join(lines[at_most - 1 :]), width)]
    return lines


def talks_json(ranking: TalkRanking) -> dict[str, Any]:
    """Return what ``search --unit session --json`` prints."""
    return {
        "query": ranking.query,
        "unit": ranking.unit.value,
        "hits": [_hit_json(hit) for hit in ranking],
        "untold": ranking.untold,
        "evidence": ranking.evidence,
        "notes": list(ranking.notes),
    }


def talk_json(talk: Talk) -> dict[str, Any]:
    summary = talk.summary
    return {
        "conversation": talk.talk.conversation_id,
        "session": talk.talk.session_id,
        "title": talk.title,
        "turns": talk.n_turns,
        "first_said_at": instant_json(talk.first_said_at),
        "last_said_at": instant_json(talk.last_said_at),
        "summary": None
        if summary is None
        else {"made_by": summary.made_by, "lines": [line.as_json() for line in summary.lines]},
    }


def _hit_json(hit: TalkHit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": hit.score,
        **talk_json(hit.talk),
        "about": hit.one_line,
        "best_turns": [one.turn.turn_id for one in hit.turns],
        "signals": dict(hit.signals),
    }
