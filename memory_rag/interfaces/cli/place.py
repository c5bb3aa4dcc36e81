"""Which memory a command works on, and how it is opened: the options that every command has."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_PANEL: Final = "Which memory (also before the command)"
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        "-m",
        metavar="NAME|PATH",
        help="A name under the home folder, or a path with a slash in it. Default: main, or MEMORY_RAG_MEMORY.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="FOLDER",
        help="Where memories with a name lie. Default: MEMORY_RAG_HOME, or your data folder.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="minilm, e5, sentence-transformers:NAME, openai:MODEL, or none. Default: minilm.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="CODES",
        help="The memory's languages, such as sv or en,sv. Default: guessed from its turns.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
TimezoneOption = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        help="Where times without a zone are read and shown, such as Europe/Stockholm. Default: UTC.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
_SHARED: Final[dict[str, Any]] = {
    "memory": MemoryOption,
    "home": HomeOption,
    "embedder": EmbedderOption,
    "language": LanguageOption,
    "timezone": TimezoneOption,
}


@dataclass(frozen=True, slots=True)
class Place:
    """A memory as a command line names it; None is what was not given."""

    memory: str | None = None
    home: Path | None = None
    embedder: str | None = None
    language: str | None = None
    timezone: str | None = None

    def over(self, outer: Place) -> Place:
        """Return this place with what it lacks from another: what stands after the command over what stands before."""
        return Place(
            memory=self.memory or outer.memory,
            home=self.home or outer.home,
            embedder=self.embedder or outer.embedder,
            language=self.language or outer.language,
            timezone=self.timezone or outer.timezone,
        )

    @property
    def name(self) -> str:
        return self.memory or os.environ.get("MEMORY_RAG_MEMORY") or "main"

    @property
    def folder(self) -> Path:
        from memory_rag.settings import memory_folder

        return memory_folder(self.name, home=self.home)

    @property
    def exists(self) -> bool:
        """Tell whether there is a memory already."""
        return (self.folder / "turns.sqlite").is_file()

    def open(self, *, create: bool = False) -> Memory:
        """Open the memory; one that isn't there is made only if ``create``."""
        from memory_rag.memory import Memory

        return Memory.open(
            self.name,
            home=self.home,
            embedder=self.embedder,
            create=create,
            language=self.language,
            timezone=self.timezone,
        )

    def command(self, *words: str) -> str:
        """Return a command line that works on this memory, to be copied from a message."""
        given = [("--memory", self.memory), ("--home", self.home)]
        return shlex.join(
            ["memory-rag", *words, *(part for name, value in given if value for part in (name, str(value)))]
        )


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
        run(place.over(ctx.obj or Place()), **given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command
