"""``memory-rag backup`` and ``restore``: a checked copy of a memory, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.output import Json, print_json, say
from memory_rag.interfaces.cli.place import Place

if TYPE_CHECKING:
    from memory_rag.store.backup import Copied


def backup(
    place: Place,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="A new or empty folder.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Copy a memory, also one in use, and check the copy."""
    from memory_rag.store.backup import backup as copy

    folder = place.folder_or(
        "backup copies a folder; copy the database with pg_dump as a superuser (no other sees every owner's rows), or "
        "this memory into a folder with: memory-rag migrate FROM TO"
    )
    _report("copied", copy(folder, destination), as_json=as_json)


def restore(
    place: Place,
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A folder that backup made.", show_default=False)],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the memory that is there.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a backup a memory again."""
    from memory_rag.store.backup import restore as copy

    folder = place.folder_or(
        "restore makes a backup a folder; bring a backup onto the server with: memory-rag migrate FROM TO"
    )
    _report("restored", copy(source, folder, overwrite=overwrite), as_json=as_json)


def _report(what: str, copied: Copied, *, as_json: bool) -> None:
    told: dict[str, Any] = {
        "folder": str(copied.folder),
        "n_turns": copied.n_turns,
        "last_seq": copied.last_seq,
        "n_files": copied.n_files,
        "n_bytes": copied.n_bytes,
    }
    if as_json:
        print_json(told)
    else:
        from memory_rag.inventory import readable_size

        size = f"{copied.n_files:,} files, {readable_size(copied.n_bytes)}"
        say(f"{what} {copied.n_turns:,} turns ({size}) to {copied.folder}, every text checked")
