"""Which memory a command works on, and how it is opened: the options that every command has."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from memory_rag.errors import MemoryRagError, NotAMemoryError, StoreError
from memory_rag.interfaces.cli.completing import with_completion
from memory_rag.interfaces.cli.help_page import WHERE
from memory_rag.server_url import is_on_server, memory_of, without_secrets

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.settings import Settings

Result = TypeVar("Result")


def _embedder(value: str | None) -> str | None:
    if value is None:
        return None
    from memory_rag.embedding.catalogue import SPECS

    known = ["none", *SPECS]
    if value.partition(":")[0] not in {spec.partition(":")[0] for spec in known}:
        raise typer.BadParameter(f"unknown embedder {value!r}; an embedder is one of: {', '.join(known)}")
    return value


def _languages(value: str | None) -> str | None:
    if value is None:
        return None
    from memory_rag.text.language import parse_language

    for name in value.split(","):
        usable(parse_language, name)
    return value


def checked_zone(value: str | None) -> str | None:
    """Return the name of a time zone as it was given, for typer; one that nothing has is wrong usage."""
    if value is not None:
        from memory_rag.text.instants import zone

        usable(zone, value)
    return value


def usable(read: Callable[[str], Result], value: str) -> Result:
    """Return what a function reads from an option's value; what it can't read is wrong usage."""
    try:
        return read(value)
    except MemoryRagError as error:
        raise typer.BadParameter(str(error)) from error


MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        "-m",
        metavar="NAME|PATH|URL",
        help="A name under the home folder, a path with a slash in it, or the postgresql:// URL of a server. "
        "Default: main, or MEMORY_RAG_MEMORY.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="FOLDER",
        help="Where memories with a name lie. Default: MEMORY_RAG_HOME, or your data folder.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
OwnerOption = Annotated[
    str | None,
    typer.Option(
        "--owner",
        metavar="NAME",
        help="Whose memory, on a server. Default: main, or MEMORY_RAG_OWNER.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        callback=_embedder,
        help="minilm, e5, sentence-transformers:NAME, openai:MODEL, or none. Default: minilm.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="CODES",
        callback=_languages,
        help="The memory's languages, such as sv or en,sv. Default: guessed from its turns.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
TimezoneOption = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        callback=checked_zone,
        help="Where times without a zone are read and shown, such as Europe/Stockholm. Default: UTC.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
_SHARED: Final[dict[str, Any]] = {
    "memory": MemoryOption,
    "home": HomeOption,
    "owner": OwnerOption,
    "embedder": EmbedderOption,
    "language": LanguageOption,
    "timezone": TimezoneOption,
}


@dataclass(frozen=True, slots=True)
class Place:
    """A memory as a command line names it; None is what was not given."""

    memory: str | None = None
    home: Path | None = None
    owner: str | None = None
    embedder: str | None = None
    language: str | None = None
    timezone: str | None = None

    def over(self, outer: Place) -> Place:
        """Return this place with what it lacks from another: what stands after the command over what stands before."""
        return Place(**{spec.name: getattr(self, spec.name) or getattr(outer, spec.name) for spec in fields(Place)})

    @property
    def name(self) -> str:
        """The memory as it was named; of a server, its URL with all that is secret in it."""
        return self.memory or os.environ.get("MEMORY_RAG_MEMORY") or "main"

    @property
    def is_on_server(self) -> bool:
        return is_on_server(self.name)

    @property
    def shown(self) -> str:
        """Where the memory is, as messages name it."""
        return memory_of(self.name, owner=self.settings().owner) if self.is_on_server else str(self.folder)

    @property
    def title(self) -> str:
        """What the memory is called: its name or its folder's, or its owner's on a server."""
        if self.is_on_server:
            return self.settings().owner
        return self.name if "/" not in self.name else self.folder.name

    @property
    def folder(self) -> Path:
        """The folder of a memory that isn't on a server.

        Raises:
            StoreError: it is on one.
        """
        return self.folder_or("it has no folder")

    def folder_or(self, instead: str) -> Path:
        """Return the folder; for a memory on a server, ``instead`` says what does there what a command does here.

        Raises:
            StoreError: it is on one.
        """
        if self.is_on_server:
            raise StoreError(f"{self.shown}, lies on a server: {instead}")
        from memory_rag.settings import memory_folder

        return memory_folder(self.name, home=self.home)

    @property
    def exists(self) -> bool:
        """Tell whether there is a memory already."""
        if not self.is_on_server:
            return (self.folder / "turns.sqlite").is_file()
        try:
            self.open().close()
        except NotAMemoryError:
            return False
        return True

    def settings(self) -> Settings:
        """Return the settings that the memory is opened with."""
        from memory_rag.settings import CONFIG_NAME, Settings, home_folder

        return Settings.load(
            config=home_folder(self.home) / CONFIG_NAME,
            owner=self.owner,
            embedder=self.embedder,
            language=self.language,
            timezone=self.timezone,
        )

    def open(self, *, create: bool = False, **settings: Any) -> Memory:
        """Open the memory, with further settings; one that isn't there is made only if ``create``."""
        from memory_rag.memory import Memory

        if not (create or self.is_on_server or self.exists) and (others := self._others()):
            raise NotAMemoryError(
                f"{self.folder} holds no memory; choose one of these with --memory: {', '.join(others)}; "
                "or make it with: memory-rag import"
            )
        given = {"owner": self.owner, "embedder": self.embedder, "language": self.language, "timezone": self.timezone}
        return Memory.open(self.name, home=self.home, create=create, **{**given, **settings})

    def _others(self) -> list[str]:
        """Return the names of the memories under the home folder; none where this one is a path."""
        if "/" in self.name:
            return []
        return sorted(path.parent.name for path in self.folder.parent.glob("*/turns.sqlite"))

    def command(self, *words: str) -> str:
        """Return a command line that works on this memory, to be copied from a message; no password is in it."""
        memory = without_secrets(self.memory) if self.memory and is_on_server(self.memory) else self.memory
        given = [("--memory", memory), ("--home", self.home), ("--owner", self.owner)]
        return shlex.join(
            ["memory-rag", *words, *(part for name, value in given if value for part in (name, str(value)))]
        )

    def checked(self, *given: object) -> Place:
        """Return this place; an owner where neither it nor an argument names a server is wrong usage."""
        named = (self.name, *(one for one in given if isinstance(one, str)))
        if self.owner is not None and not any(map(is_on_server, named)):
            raise typer.BadParameter(
                f"--owner says whose memory on a server, and {self.name!r} is none; name the server's URL with "
                "--memory postgresql://…, or leave --owner out"
            )
        return self


def with_place(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command function for typer that has the shared options and hands them over as a :class:`Place`."""
    _place, *own = inspect.signature(run, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, default=None, annotation=annotation) for name, annotation in _SHARED.items()
    ]
    context = inspect.Parameter("ctx", keyword, annotation=typer.Context)
    parameters = [context, *(parameter.replace(kind=keyword) for parameter in own), *shared]

    @functools.wraps(run)
    def command(*, ctx: typer.Context, **given: Any) -> None:
        place = Place(**{name: given.pop(name) for name in _SHARED})
        run(place.over(ctx.obj or Place()).checked(*given.values()), **given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return with_completion(command)
