"""Views that change what was said or how long it stays: correct, forget with proof, retention."""

from __future__ import annotations

import hashlib
from typing import Any, Final
from urllib.parse import quote

from memory_rag.errors import QueryError
from memory_rag.interfaces.page.asked import Asked, Drawn
from memory_rag.interfaces.page.finding import within
from memory_rag.interfaces.page.marked import first_words
from memory_rag.privacy.retention import Scope
from memory_rag.turns import Role

_SHOWN: Final = 50
_HORIZONS: Final = (1, 7, 30, 365)


def correct_form(asked: Asked) -> Drawn:
    """Draw a turn's words in a field."""
    turn = asked.memory.get(asked.one("id"))
    return Drawn("correct", {"turn": turn, "when": asked.when(turn.said_at), "title": asked.texts.tell("correct")})


def correct(asked: Asked) -> Drawn:
    """Give a turn other words or another speaker; nothing is done where both are as they were."""
    turn_id = asked.one("id")
    turn = asked.memory.get(turn_id)
    text, speaker = asked.text("text"), asked.one("speaker")
    changed: dict[str, Any] = {}
    # A browser sends every line end as CR LF: where that is all that differs, the words are as they were.
    if text != turn.text.replace("\r\n", "\n"):
        changed["text"] = text
    if speaker and speaker != turn.speaker:
        changed["speaker"] = speaker
    if changed:
        asked.memory.correct(turn_id, **changed, keep_old=asked.one("erase") != "1")
    return Drawn(to=f"/turn?id={quote(turn_id, safe='', errors='replace')}")


def forget_form(asked: Asked) -> Drawn:
    """Draw what would go, before anything does."""
    turn_ids = _chosen(asked)
    values: dict[str, Any] = {
        "chosen": turn_ids is not None,
        "fields": {name: asked.one(name) for name in ("conversation", "speaker", "since", "until")},
        "turn_ids": asked.all("turn"),
        "names": [
            (one.conversation_id, one.title or one.conversation_id) for one in asked.memory.store.conversations()
        ],
        "title": asked.texts.tell("forget"),
        "n": len(turn_ids or ()),
        "seen": _seen(turn_ids or []),
        "turns": [],
        "beside": (),
        "changed": asked.path == "/forget" and asked.one("seen") != "",
    }
    if turn_ids:
        plan = asked.memory.forgetting.plan(turn_ids)
        values["turns"] = [
            {"turn": one, "when": asked.when(one.said_at), "words": first_words(one.text)}
            for one in plan.removed.turns[:_SHOWN]
        ]
        values["beside"] = plan.removed.beside
    return Drawn("forget", values)


def forget(asked: Asked) -> Drawn:
    """Forget what was shown, and draw the proof; where something else would go now, it is shown again."""
    turn_ids = _chosen(asked)
    if not turn_ids:
        raise QueryError(asked.texts.tell("nothing_chosen"))
    if asked.one("seen") != _seen(turn_ids):
        return forget_form(asked)
    done = asked.memory.forgetting.forget(turn_ids, prove=True)
    values = {
        "n": done.n_turns,
        "pending": done.pending,
        "proof": done.proof,
        "lines": done.proof.lines() if done.proof is not None else [],
        "title": asked.texts.tell("forgotten"),
    }
    return Drawn("forgotten", values)


def retention_form(asked: Asked) -> Drawn:
    """Draw how long what is kept, and what goes when."""
    from datetime import timedelta

    schedule = asked.memory.retention.schedule()
    values = {
        "rules": [
            {"rule": rule, "scope": asked.texts.tell(f"scope_{rule.scope.value}"), "days": rule.days}
            for rule in schedule.rules
        ],
        "n_due": len(schedule.due),
        "soon": [(days, schedule.between(timedelta(0), timedelta(days=days))) for days in _HORIZONS],
        "n_kept": schedule.n_kept,
        "scopes": [(one.value, asked.texts.tell(f"scope_{one.value}")) for one in Scope],
        "roles": [role.value for role in Role],
        "names": [one.conversation_id for one in asked.memory.store.conversations()],
        "title": asked.texts.tell("retention"),
    }
    return Drawn("retention", values)


def retain(asked: Asked) -> Drawn:
    """Set a rule, take one away, or let go what is due."""
    what, scope = asked.one("do"), asked.one("scope", "memory")
    if scope not in tuple(Scope):
        raise QueryError(asked.texts.tell("no_scope", name=scope))
    name = "" if scope == Scope.MEMORY else asked.one("name")
    if what == "set":
        days = asked.one("days")
        if days and not (days.isascii() and days.isdigit() and len(days) < 7):
            raise QueryError(asked.texts.tell("no_days", name=days))
        asked.memory.retention.set(Scope(scope), name, days=int(days) if days else None)
    elif what == "unset":
        asked.memory.retention.unset(Scope(scope), name)
    elif what == "apply":
        asked.memory.retention.apply()
    return Drawn(to="/retention")


def _chosen(asked: Asked) -> list[str] | None:
    """Return the turns that a form names, or that its filters find; None if it names nothing at all."""
    if named := asked.all("turn"):
        return list(dict.fromkeys(named))
    filters = within(asked)
    if not any((filters.conversation, filters.speaker, filters.since, filters.until)):
        return None
    return asked.memory.forgetting.select(filters)


def _seen(turn_ids: list[str]) -> str:
    """Return a digest of the turns that were shown, by which it is known that no others go."""
    return hashlib.sha256("\0".join(turn_ids).encode("utf-8", "surrogatepass")).hexdigest()[:32]


CHANGING: Final = (
    ("GET", "/correct", correct_form),
    ("POST", "/correct", correct),
    ("GET", "/forget", forget_form),
    ("POST", "/forget", forget),
    ("GET", "/retention", retention_form),
    ("POST", "/retention", retain),
)
