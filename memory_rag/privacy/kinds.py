"""The kinds of secrets and personal data that rules can find, and what is done with each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from memory_rag.errors import SettingsError


class Kind(StrEnum):
    """What a span of a text is."""

    EMAIL = "email"
    PHONE = "phone"
    CARD = "card"
    IBAN = "iban"
    PERSONNUMMER = "personnummer"
    FODSELSNUMMER = "fodselsnummer"
    PASSWORD = "password"
    API_KEY = "api_key"
    PRIVATE_KEY = "private_key"


class Action(StrEnum):
    """What is done with it before a turn is stored.

    ``tag``: the words stay and the span is kept. ``redact``: a placeholder is stored in its place, and the span of
    that. ``refuse``: the turn isn't stored.
    """

    TAG = "tag"
    REDACT = "redact"
    REFUSE = "refuse"


SECRETS: Final = frozenset({Kind.PASSWORD, Kind.API_KEY, Kind.PRIVATE_KEY})
"""Kinds that let somebody in; the others tell of a person."""
DEFAULT_ACTIONS: Final[Mapping[Kind, Action]] = {
    kind: Action.REDACT if kind in SECRETS else Action.TAG for kind in Kind
}


def actions_of(wish: str, *, before: Mapping[Kind, Action] = DEFAULT_ACTIONS) -> dict[Kind, Action]:
    """Return the action for every kind, as ``redact``, ``phone=redact`` or ``all=tag,card=refuse`` says it.

    A bare action is for passwords and keys; ``all`` means every kind; later parts count over earlier ones. What the
    wish leaves open is as before.

    Raises:
        SettingsError: an unknown kind or action.
    """
    actions = dict(before)
    for part in filter(None, (part.strip() for part in wish.split(","))):
        name, equals, action = part.rpartition("=")
        try:
            chosen = Action(action.strip())
        except ValueError:
            allowed = ", ".join(Action)
            raise SettingsError(
                f"unknown action {action.strip()!r} for secrets; an action is one of: {allowed}; write it alone "
                "(for passwords and keys), or as phone=redact, all=tag"
            ) from None
        for kind in kinds_of(name.strip()) if equals else SECRETS:
            actions[kind] = chosen
    return actions


def kinds_of(name: str) -> tuple[Kind, ...]:
    """Return the kind of this name; all of them for ``all``.

    Raises:
        SettingsError: no kind has this name.
    """
    if name == "all":
        return tuple(Kind)
    try:
        return (Kind(name),)
    except ValueError:
        raise SettingsError(f"unknown kind {name!r}; a kind is one of: {', '.join(Kind)}, all") from None
