"""``memory-rag migrate``: a memory from where it lies to another place, with the proof that both are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.interfaces.cli.output import Json, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.terminal import shown

if TYPE_CHECKING:
    from memory_rag.migrating.ends import End
    from memory_rag.migrating.migration import Migrated

_DIGITS: Final = 16
_WHERE: Final = "A name, a path with a slash in it, or the postgresql:// URL of a server."


def migrate(
    place: Place,
    source: Annotated[str, typer.Argument(metavar="FROM", help=_WHERE, show_default=False)],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="The same; nothing may be there yet.", show_default=False)
    ],
    to_owner: Annotated[
        str | None,
        typer.Option("--to-owner", metavar="NAME", help="Whose it becomes, if not --owner's.", show_default=False),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Copy nothing, compare the two.", show_default=False)] = False,
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Begin from the start: remove what a stopped run copied.", show_default=False),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be copied.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Copy a memory to another engine or place, and prove it the same.

    Everything goes: turns, earlier versions, sources, summaries, pins, vectors. What is at FROM stays. Stopped half-way
    it goes on where it was when it is run again. At the end both are read again and compared byte by byte.
    """
    if check + anew + dry_run > 1:
        raise typer.BadParameter("--check, --anew and --dry-run exclude each other; give one of them")
    with _opened(place, source, owner=place.owner, create=False) as origin:
        if dry_run:
            _print_counts(origin, as_json=as_json)
            return
        from memory_rag.migrating.migration import compare
        from memory_rag.migrating.migration import migrate as copy

        with (
            _opened(place, target, owner=to_owner or place.owner, create=not check) as destination,
            progress_bar() as progress,
        ):
            if check:
                done = compare(origin, destination, tell=progress)
            else:
                done = copy(origin, destination, anew=anew, tell=progress)
    _print(done, checked_only=check, as_json=as_json)
    if not done.is_equal:
        raise typer.Exit(1)


@contextmanager
def _opened(place: Place, named: str, *, owner: str | None, create: bool) -> Iterator[End]:
    from memory_rag.migrating.ends import end_at
    from memory_rag.server_url import is_on_server
    from memory_rag.settings import CONFIG_NAME, Settings, home_folder, memory_folder

    settings = Settings.load(config=home_folder(place.home) / CONFIG_NAME, owner=owner)
    where = named if is_on_server(named) else memory_folder(named, home=place.home)
    with end_at(where, settings=settings, create=create) as end:
        yield end


def _print_counts(origin: End, *, as_json: bool) -> None:
    from memory_rag.migrating.migration import rows_to_copy

    counts = rows_to_copy(origin)
    if as_json:
        print_json({"dry_run": True, "from": origin.place, "rows": dict(counts)})
        return
    say(f"would copy from {shown(origin.place)}:")
    for table, n in counts.items():
        say(f"  {n:>9,} {table}")


def _print(done: Migrated, *, checked_only: bool, as_json: bool) -> None:
    if as_json:
        print_json({"checked_only": checked_only, **done.as_json()})
        return
    if not checked_only:
        before = f", {done.n_before:,} of them in an earlier run" if done.n_before else ""
        say(shown(f"copied {done.n_turns:,} turns{before}"))
    say(shown(f"from {done.source}"))
    say(shown(f"to   {done.target}"))
    say("compared, every byte of every row (SHA-256 of all rows):")
    for one in done.compared:
        if one.n_source or one.n_target or not one.is_equal:
            hashes = dict.fromkeys((one.sha256_source[:_DIGITS], one.sha256_target[:_DIGITS]))
            verdict = "equal" if one.is_equal else "NOT EQUAL"
            say(shown(f"  {one.n_source:>9,} {one.name:<18} {' '.join(hashes)}  {verdict}"))
    for one in done.compared:
        if not one.is_equal:
            tell(f"first difference: {one.difference}")
    if done.is_equal:
        say("both are the same memory, to the last byte")
    else:
        tell(
            "the two are NOT the same memory"
            if checked_only
            else "the copy is NOT the same memory, and stays marked as unfinished; begin anew with: "
            "memory-rag migrate FROM TO --anew"
        )
