"""The options of ``memory-rag import`` that say how to read a file and what of it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.interfaces.cli.place import checked_zone, usable

if TYPE_CHECKING:
    from memory_rag.importers import ImportOptions


class Order(StrEnum):
    """The order of day, month and year in a date of figures."""

    DMY = "dmy"
    MDY = "mdy"
    YMD = "ymd"


class Branches(StrEnum):
    """Which branches of a talk with edits are stored."""

    ACTIVE = "active"
    ALL = "all"


def _since(value: str | None) -> str | None:
    if value is not None:
        from memory_rag.text.instants import parse_bound

        usable(lambda text: parse_bound(text, end=False), value)
    return value


def _speakers(values: list[str] | None) -> list[str] | None:
    if values:
        from memory_rag.importers.wishes import SpeakerMap

        for value in values:
            usable(lambda text: SpeakerMap.parse([text]), value)
    return values


def _format(value: str | None) -> str | None:
    if value is not None:
        from memory_rag.importers.registry import importer_named

        usable(importer_named, value)
    return value


def _secrets(value: str) -> str:
    if value:
        from memory_rag.privacy.kinds import actions_of

        usable(actions_of, value)
    return value


Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", callback=_format, help="What they are. Default: told by looking."),
]
Zone = Annotated[
    str | None,
    typer.Option(
        "--tz",
        metavar="ZONE",
        callback=checked_zone,
        help="The zone of times written without one, such as Europe/Oslo.",
    ),
]
DateOrder = Annotated[
    Order | None, typer.Option("--date-order", help="Which of 1/2/24 is the day. Default: told by looking.")
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", callback=_since, help="Skip what was said before: 2026, 2026-04-10 ..."),
]
Speakers = Annotated[
    list[str] | None,
    typer.Option(
        "--speaker-map",
        metavar="OLD=NEW",
        callback=_speakers,
        help="Another name for a speaker, or a JSON file of such; may be repeated. With a role: Bot=assistant:Nova.",
    ),
]
WhichBranches = Annotated[
    Branches, typer.Option("--branches", help="Of talks with edits: what was shown last, or everything.")
]


Secrets = Annotated[
    str,
    typer.Option(
        "--secrets",
        metavar="WISH",
        callback=_secrets,
        help="tag, redact or refuse passwords and keys; or by kind: phone=redact,card=refuse, all=tag.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class Wishes:
    """These options as they were given."""

    form: str | None
    tz: str | None
    date_order: Order | None
    since: str | None
    speakers: tuple[str, ...]
    branches: Branches
    include_forgotten: bool = False
    secrets: str = ""

    def options(self, default_zone: Callable[[], tzinfo]) -> ImportOptions:
        """Return them as importers read them; without ``--tz`` times are those of the memory's zone."""
        from memory_rag.importers import ImportOptions
        from memory_rag.importers.wishes import SpeakerMap
        from memory_rag.text.instants import parse_bound, zone

        tz = default_zone() if self.tz is None else zone(self.tz)
        return ImportOptions(
            tz=tz,
            date_order=None if self.date_order is None else self.date_order.value,
            branches=self.branches.value,
            since=None if self.since is None else parse_bound(self.since, tz=tz, end=False).instant,
            speakers=SpeakerMap.parse(self.speakers),
            secrets=self.secrets,
        )
