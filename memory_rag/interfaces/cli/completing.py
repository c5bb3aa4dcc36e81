"""What the shell offers after an option: names of memories, conversations and speakers, and the words that it takes."""

from __future__ import annotations

import copy
import inspect
import os
import re
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args

import typer

from memory_rag.errors import MemoryRagError
from memory_rag.server_url import is_on_server

if TYPE_CHECKING:
    from memory_rag.store.names_used import Kind
    from memory_rag.store.turn_writer import TurnWriter

Command = TypeVar("Command", bound=Callable[..., None])
Complete = Callable[[typer.Context, str], list[str]]
# A shell puts what is offered into the line as it stands, and some evaluate it: names come from imported files.
_WAITED_FOR_S: Final = 2
"""Seconds; libpq takes whole ones, and none under 2."""
_PLAIN: Final = re.compile(r"[\w@%+=,./-]+")


def memory_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the memories of the home folder; a path is left to the shell."""
    from memory_rag.settings import home_folder

    try:
        found = [folder.parent.name for folder in home_folder(_given(ctx, "home")).glob("*/turns.sqlite")]
    except OSError:
        return []
    return _offered(found, incomplete)


def setting_names(incomplete: str) -> list[str]:
    """Return the settings."""
    from memory_rag.settings import setting_names as names

    return _offered(names(), incomplete)


def _used(kind: Kind) -> Complete:
    """Return what completes a name that turns of the memory use."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from memory_rag.settings import memory_folder
        from memory_rag.store.names_used import names_used, names_used_in

        name = str(_given(ctx, "memory") or os.environ.get("MEMORY_RAG_MEMORY") or "main")
        try:
            if is_on_server(name):
                with closing(_store_on_server(ctx, name)) as store:
                    return _offered(names_used_in(store, kind, beginning=incomplete), incomplete)
            folder = memory_folder(name, home=_given(ctx, "home"))
            return _offered(names_used(folder, kind, beginning=incomplete), incomplete)
        except (MemoryRagError, OSError):
            # A shell has no place for an error.
            return []

    return complete


def _store_on_server(ctx: typer.Context, url: str) -> TurnWriter:
    """Open a store for a person who waits at the TAB key: not for long."""
    from memory_rag.opening import opened
    from memory_rag.settings import CONFIG_NAME, Settings, home_folder

    config = home_folder(_given(ctx, "home")) / CONFIG_NAME
    settings = Settings.load(config=config, owner=_given(ctx, "owner"), busy_timeout_s=_WAITED_FOR_S)
    soon = f"connect_timeout={_WAITED_FOR_S}"
    url = url if "connect_timeout=" in url else f"{url}{'&' if '?' in url else '?'}{soon}"
    return opened(url, settings=settings, create=False).store


def _words(*words: str) -> Callable[[str], list[str]]:
    """Return what completes an option that takes one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def _formats(incomplete: str) -> list[str]:
    from memory_rag.importers import importers

    return _offered(importers(), incomplete)


def _benchmarks(incomplete: str) -> list[str]:
    from memory_rag.evaluation.definition import definitions

    return _offered(definitions(), incomplete)


def _zones(incomplete: str) -> list[str]:
    from zoneinfo import available_timezones

    return _offered(available_timezones(), incomplete)


def _languages(incomplete: str) -> list[str]:
    """Return the codes that may stand next in ``sv,en``."""
    from memory_rag.text.language import LANGUAGES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{code}" for code in _offered(LANGUAGES, last) if code not in before.split(",")]


COMPLETED: Final[dict[str, Callable[..., list[str]]]] = {
    "--memory": memory_names,
    "--conversation": _used("conversation"),
    "--session": _used("session"),
    "--speaker": _used("speaker"),
    "--embedder": _words("minilm", "e5", "sentence-transformers:", "openai:", "none"),
    "--with-embedder": _words("minilm", "e5", "sentence-transformers:", "openai:"),
    "--language": _languages,
    "--timezone": _zones,
    "--tz": _zones,
    "--format": _formats,
    "--role": _words("user", "assistant", "system", "tool"),
    "--mode": _words("hybrid", "keyword", "dense", "rrf", "overlap", "okapi", "rank-bm25"),
    "--unit": _words("turn", "session", "conversation"),
    "--level": _words("hundred", "thousand", "lifetime"),
    "--retrieve": _words("auto", "always", "never", "tool"),
    "--for": _words("openai", "anthropic", "responses"),
    "--pool": _words("conversation", "memory", "both"),
    "--scope": _words("user", "project"),
    "SETTING": setting_names,
    "PROGRAM": _words("claude-desktop", "claude-code", "cursor", "vscode"),
    "on|off": _words("on", "off"),
    "NAME|TOML": _benchmarks,
}
"""What completes an option, by its name, or an argument, by what stands for it in the help."""


def with_completion(run: Command) -> Command:
    """Return the command, with what completes each of its options and arguments."""
    signature = inspect.signature(run, eval_str=True)
    parameters = [one.replace(annotation=_completed(one.annotation)) for one in signature.parameters.values()]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _completed(annotation: Any) -> Any:
    """Return what typer reads of a parameter, with its completion if there is one."""
    kind, *told = get_args(annotation) or (annotation,)
    if not told or not hasattr(told[0], "param_decls"):
        return annotation
    [info] = told
    # In Annotated, typer holds an option's first name as its default until it builds the command.
    names = (info.default, *(info.param_decls or ()), info.metavar)
    completes = next((COMPLETED[name] for name in names if isinstance(name, str) and name in COMPLETED), None)
    if completes is None:
        return annotation
    info = copy.copy(info)
    info.autocompletion = completes
    return Annotated[kind, info]


def _given(ctx: typer.Context, name: str) -> Path | str | None:
    """Return what a line says so far of where the memory is, after the command or before it."""
    at: Any = ctx
    while at is not None:
        if at.params.get(name):
            value: Path | str = at.params[name]
            return value
        at = at.parent
    return None


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name))
