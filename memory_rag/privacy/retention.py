"""How long turns are kept: for a memory, a conversation or a role; what will go and when, and letting it go."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from memory_rag.errors import SettingsError, StoreError
from memory_rag.privacy.forgetting import Forgetting, Forgotten
from memory_rag.store.engine import Connection
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Role, from_microseconds, to_microseconds

_SEEN: Final = "retention clock"
_EVERY: Final = timedelta(days=1)
_JUMP: Final = timedelta(days=30)
"""A clock that is so far ahead of the last opening may be wrong: nothing goes by itself before the next one."""
_MOST_DAYS: Final = 36_500


class Scope(StrEnum):
    """What a rule holds for; of those that hold for a turn, the first in this order decides."""

    CONVERSATION = "conversation"
    ROLE = "role"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Rule:
    """Keep turns for so many days, None for ever. ``name`` is a conversation's id or a role; the memory has none."""

    scope: Scope
    name: str
    days: int | None

    def __str__(self) -> str:
        what = "everything" if self.scope is Scope.MEMORY else f"{self.scope.value} {self.name}"
        if self.days is None:
            return f"{what}: for ever"
        return f"{what}: {self.days:,} {'day' if self.days == 1 else 'days'}"

    def as_json(self) -> dict[str, Any]:
        return {"scope": self.scope.value, "name": self.name or None, "days": self.days}


@dataclass(frozen=True, slots=True)
class Expiry:
    """A turn that goes at an instant, by a rule."""

    turn_id: str
    conversation_id: str
    at: datetime
    rule: Rule

    def as_json(self) -> dict[str, Any]:
        return {
            "turn_id": self.turn_id,
            "conversation": self.conversation_id,
            "at": self.at.isoformat(),
            "rule": self.rule.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Schedule:
    """What will go and when, by the rules as they are: soonest first. ``n_kept`` turns are kept for ever."""

    rules: tuple[Rule, ...]
    expiries: tuple[Expiry, ...]
    n_kept: int
    now: datetime

    @property
    def due(self) -> tuple[Expiry, ...]:
        """What goes now."""
        return tuple(one for one in self.expiries if one.at <= self.now)

    def between(self, start: timedelta, end: timedelta) -> int:
        """Count what goes after ``start`` and up to ``end`` from now."""
        return sum(self.now + start < one.at <= self.now + end for one in self.expiries)


class Retention:
    """The rules of one memory. A turn's age counts from when it was said, or stored where that isn't known."""

    def __init__(self, store: TurnWriter, forgetting: Forgetting, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._forgetting = forgetting
        self._clock = clock

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules, those for conversations first, then for roles, then the memory's."""
        with self._store.connections.reading() as connection:
            return _rules(connection)

    def set(self, scope: Scope, name: str = "", *, days: int | None) -> Rule:
        """Keep turns for so many days from when they were said (None: for ever), and return the rule.

        Raises:
            SettingsError: a number of days that is none, a role that is none, or a name where none belongs.
        """
        rule = Rule(scope, _checked(scope, name), days)
        if days is not None and not 0 <= days <= _MOST_DAYS:
            raise SettingsError(f"turns can be kept for 0 to {_MOST_DAYS:,} days, got {days}")
        with self._store.connections.writing() as connection:
            connection.execute(
                "INSERT INTO retention VALUES (?, ?, ?) ON CONFLICT (scope, name) DO UPDATE SET days = excluded.days",
                (scope.value, rule.name, days),
            )
            _see(connection, self._clock())
        return rule

    def unset(self, scope: Scope, name: str = "") -> None:
        """Take a rule away.

        Raises:
            SettingsError: there is no such rule.
        """
        with self._store.connections.writing() as connection:
            gone = connection.execute(
                "DELETE FROM retention WHERE scope = ? AND name = ?", (scope.value, _checked(scope, name))
            ).rowcount
        if not gone:
            known = "; ".join(map(str, self.rules())) or "none"
            what = f"{scope.value} {name}".strip()
            raise SettingsError(f"there is no rule for {what}; rules are: {known}")

    def schedule(self) -> Schedule:
        """Return what will go and when. Nothing is changed."""
        with self._store.connections.reading() as connection:
            rules = _rules(connection)
            by_place = {(rule.scope, rule.name): rule for rule in rules}
            expiries: list[Expiry] = []
            n_kept = 0
            for turn_id, conversation_id, role, at in connection.execute(
                "SELECT turn_id, conversation_id, role, coalesce(said_at, "
                "(SELECT min(changed_at) FROM changes WHERE changes.row = turns.row)) FROM turns ORDER BY row"
                if rules
                else "SELECT turn_id, conversation_id, role, NULL FROM turns"
            ):
                rule = (
                    by_place.get((Scope.CONVERSATION, conversation_id))
                    or by_place.get((Scope.ROLE, role))
                    or by_place.get((Scope.MEMORY, ""))
                )
                if rule is None or rule.days is None or at is None:
                    n_kept += 1
                else:
                    expiries.append(Expiry(turn_id, conversation_id, _after(at, rule.days), rule))
        expiries.sort(key=lambda one: one.at)
        return Schedule(rules, tuple(expiries), n_kept, self._clock())

    def apply(self, *, timeout_s: float | None = None, mend: bool = True) -> Forgotten | None:
        """Forget what is due now, and return what that was; None if nothing is.

        Pins, decisions and the state stay: they were written down apart, to hold until they are taken off. With
        ``mend`` False summaries that lose lines aren't made anew now.
        """
        due = [one.turn_id for one in self.schedule().due]
        done = self._forgetting.forget(due, timeout_s=timeout_s, beside=False, mend=mend) if due else None
        # Only now: who is killed before it is done does it again at the next opening.
        with self._store.connections.writing() as connection:
            _see(connection, self._clock())
        return done

    def apply_daily(self) -> Forgotten | None:
        """Forget what is due, once a day; called when a memory is opened, and never a reason not to open it.

        Waits for nobody who reads, nor for a model: summaries stay without the lines that they lose for now.
        Not when the clock is thirty days ahead of the last opening: then it has to be so at the next one too.
        """
        try:
            with self._store.connections.reading() as connection:
                found = connection.execute("SELECT value FROM facts WHERE name = ?", (_SEEN,)).fetchone()
            now = self._clock()
            seen = now if found is None else datetime.fromisoformat(json.loads(found[0]))
            if timedelta(0) <= now - seen < _EVERY and found is not None:
                return None
            if not timedelta(0) <= now - seen <= _JUMP:
                with self._store.connections.writing() as connection:
                    _see(connection, now - _EVERY)
                return None
            return self.apply(timeout_s=0.0, mend=False)
        except StoreError:
            return None


def _rules(connection: Connection) -> tuple[Rule, ...]:
    found = [
        Rule(Scope(scope), name, days)
        for scope, name, days in connection.execute("SELECT scope, name, days FROM retention")
    ]
    return tuple(sorted(found, key=lambda rule: (list(Scope).index(rule.scope), rule.name)))


def _checked(scope: Scope, name: str) -> str:
    if scope is Scope.ROLE:
        return Role.parse(name).value
    if (scope is Scope.MEMORY) == bool(name):
        raise SettingsError(
            f"a rule for a {scope.value} {'has no name' if scope is Scope.MEMORY else 'needs a name'}, got {name!r}"
        )
    return name


def _after(at: int, days: int) -> datetime:
    latest = from_microseconds(to_microseconds(datetime.max.replace(tzinfo=from_microseconds(0).tzinfo)))
    instant = from_microseconds(at)
    return latest if latest - instant < timedelta(days=days) else instant + timedelta(days=days)


def _see(connection: Connection, now: datetime) -> None:
    connection.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (_SEEN, json.dumps(now.isoformat())),
    )
