"""Views by which turns go: forgotten with a proof, or by a rule that says how long they stay."""

from __future__ import annotations

from typing import Any, Final

from memory_rag.interfaces.page.asked import Asked, Drawn, ToldError, digest_of
from memory_rag.interfaces.page.finding import filters_of, within
from memory_rag.interfaces.page.marked import first_words
from memory_rag.interfaces.page.titles import conversations
from memory_rag.privacy.beside import Beside
from memory_rag.privacy.forgetting import Forgotten
from memory_rag.privacy.retention import Scope
from memory_rag.turns import Role

_SHOWN: Final = 50
_PLANNED: Final = 2000
"""Turns up to which it is looked up what goes along with them: nobody else can write meanwhile."""
_HORIZONS: Final = (1, 7, 30, 365)


def forget_form(asked: Asked) -> Drawn:
    """Draw what would go, before anything does."""
    turn_ids = _chosen(asked)
    values: dict[str, Any] = {
        "chosen": turn_ids is not None,
        "asked_for_nothing": turn_ids is None and bool(asked.fields),
        "fields": filters_of(asked),
        "turn_ids": asked.all("turn"),
        "names": conversations(asked, asked.exact("conversation")),
        "title": asked.texts.tell("forget"),
        "n": len(turn_ids or ()),
        "seen": _seen_to_go(asked, turn_ids or []),
        "turns": [],
        "beside": (),
        "n_beside": 0,
        "is_planned": True,
        "changed": asked.path == "/forget" and asked.one("seen") != "",
    }
    if turn_ids:
        values["turns"] = [
            {"turn": one, "when": asked.when(one.said_at), "words": first_words(one.text)}
            for one in asked.memory.store.get(turn_ids[:_SHOWN])
        ]
        values["is_planned"] = len(turn_ids) <= _PLANNED
        if values["is_planned"]:
            plan = asked.memory.forgetting.plan(turn_ids)
            values["beside"] = beside_shown(plan)[:_SHOWN]
            values["n_beside"] = len(beside_shown(plan))
    return Drawn("forget", values)


def forget(asked: Asked) -> Drawn:
    """Forget what was shown, and draw the proof; where something else would go now, it is shown again."""
    turn_ids = _chosen(asked)
    if not turn_ids:
        raise ToldError(asked.texts.tell("nothing_chosen"))
    if asked.one("seen") != _seen_to_go(asked, turn_ids):
        return forget_form(asked)
    done = asked.memory.forgetting.forget(turn_ids, prove=True)
    told = asked.texts.tell("n_forgotten", done.n_turns)
    return Drawn(
        "forgotten", {**proof_shown(done), "told": told, "turn_id": "", "title": asked.texts.tell("forgotten")}
    )


def beside_shown(plan: Forgotten) -> list[Beside]:
    """Return what goes along with turns and is worth a reader's look; events tell of no words."""
    return [one for one in plan.removed.beside if one.kind != "event"]


def proof_shown(done: Forgotten) -> dict[str, Any]:
    """Return what the proof's template needs."""
    return {
        "pending": done.pending,
        "beside": beside_shown(done)[:_SHOWN],
        "n_beside": len(beside_shown(done)),
        "proof": done.proof,
        "lines": done.proof.lines() if done.proof is not None else [],
    }


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
        "names": conversations(asked),
        "title": asked.texts.tell("retention"),
    }
    return Drawn("retention", values)


def retain(asked: Asked) -> Drawn:
    """Set a rule, take one away, or let go what is due."""
    what, scope = asked.one("do"), asked.one("scope", "memory")
    if scope not in tuple(Scope):
        raise ToldError(asked.texts.tell("no_scope", name=scope))
    name = "" if scope == Scope.MEMORY else asked.exact("name").strip() if what == "set" else asked.exact("name")
    if what == "set":
        days = asked.one("days")
        if days and not (days.isascii() and days.isdigit() and len(days) < 7):
            raise ToldError(asked.texts.tell("no_days", name=days))
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


def _seen_to_go(asked: Asked, turn_ids: list[str]) -> str:
    """Return a digest of the turns that would go, and of the words that are shown of them."""
    return digest_of([*turn_ids, *(turn.text for turn in asked.memory.store.get(turn_ids[:_SHOWN]))])


CHANGING: Final = (
    ("GET", "/forget", forget_form),
    ("POST", "/forget", forget),
    ("GET", "/retention", retention_form),
    ("POST", "/retention", retain),
)
