"""``memory-rag import`` and ``export``: whole histories, in and out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.errors import EmbedderError, ImportFormatError, MemoryRagError, MissingExtraError
from memory_rag.interfaces.cli.import_reporting import Imported, print_counts, print_embedding, print_offer, tell_found
from memory_rag.interfaces.cli.import_watching import changed, state_of
from memory_rag.interfaces.cli.import_wishes import (
    Branches,
    DateOrder,
    Format,
    Secrets,
    Since,
    Speakers,
    WhichBranches,
    Wishes,
    Zone,
)
from memory_rag.interfaces.cli.output import Json, error, flush, print_json, tell, write_json
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import progress_bar

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_LOOKED_EVERY_S: Final = 1.0


def import_(
    place: Place,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files, folders or zips.", show_default=False)],
    form: Format = None,
    tz: Zone = None,
    date_order: DateOrder = None,
    since: Since = None,
    speaker_map: Speakers = None,
    branches: WhichBranches = Branches.ACTIVE,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, and store what is added, until stopped with Ctrl-C.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and count, store nothing.")] = False,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Leave embedding for later; keyword search works meanwhile.")
    ] = False,
    include_forgotten: Annotated[
        bool, typer.Option("--include-forgotten", help="Also store again what was forgotten.", show_default=False)
    ] = False,
    secrets: Secrets = "",
    as_json: Json = False,
) -> None:
    """Store what other programs kept, and embed it.

    Importing a file again, or a newer export, adds only what is new. Formats: anthropic, beam, chatgpt, claude,
    claude-code, codex, discord, locomo, longmemeval, memory-rag, openai, openai-responses, sharegpt, slack,
    telegram, transcript, whatsapp.
    """
    if watch and (dry_run or as_json):
        raise typer.BadParameter("--watch goes on until it is stopped; leave out --dry-run and --json")
    wishes = Wishes(form, tz, date_order, since, tuple(speaker_map or ()), branches, include_forgotten, secrets)
    imported = Imported()
    before = state_of(paths) if watch else {}
    with ExitStack() as opened:
        openable = [path for path in paths if _can_be_read(path, wishes, imported)]
        if openable or watch:
            memory = opened.enter_context(_memory(place, dry_run=dry_run, opened=opened))
            if place.language is not None and not dry_run:
                memory.indexes.languages.remember(place.language)
            _read(memory, openable, imported, wishes=wishes, dry_run=dry_run)
            if not as_json:
                print_counts(imported, dry_run=dry_run)
            if not dry_run:
                imported.languages = memory.indexes.languages()
                _embed(memory, imported, no_embed=no_embed, place=place)
            if watch:
                _finish(imported, place=place)
                _watch(memory, paths, before, wishes=wishes, no_embed=no_embed, place=place)
                return
    if as_json:
        print_json(imported.as_json(dry_run=dry_run))
        _finish(imported, place=None)
    else:
        _finish(imported, place=place)
    if imported.errors or not imported.kept + imported.already_there + imported.forgotten:
        raise typer.Exit(1)


def export(
    place: Place,
    path: Annotated[str, typer.Argument(metavar="FILE|-", help="Where to, or - for stdout.", show_default=False)] = "-",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write Markdown, to be read.", show_default=False)
    ] = False,
) -> None:
    """Write everything, as JSON lines or as Markdown.

    Imported where nothing is stored yet, the JSON lines make the same memory again: versions, pins, summaries and all.
    """
    with place.open() as memory:
        lines = memory.export(form="markdown" if markdown else "jsonl")
        if path == "-":
            for line in lines:
                write_json(line)
            return
        # Line by line through a sibling, so that a file that was there is replaced whole or not at all.
        from memory_rag.store.files import write_atomically

        target = Path(path)
        write_atomically(target, lambda file: file.writelines(line.encode() for line in lines))
        tell(f"exported {len(memory):,} turns to {target}")


def _can_be_read(path: Path, wishes: Wishes, imported: Imported) -> bool:
    """Tell whether an importer knows a path, so that a slip of the pen makes no empty memory."""
    from memory_rag.importers import open_import

    try:
        open_import(path, format=wishes.form).close()
    except MemoryRagError as failure:
        imported.errors[str(path)] = str(failure)
        return False
    return True


def _memory(place: Place, *, dry_run: bool, opened: ExitStack) -> Memory:
    if dry_run and not place.exists:
        elsewhere = opened.enter_context(tempfile.TemporaryDirectory(prefix="memory-rag-"))
        return replace(place, memory=f"{elsewhere}/memory").open(create=True)
    return place.open(create=True)


def _read(memory: Memory, paths: Iterable[Path], imported: Imported, *, wishes: Wishes, dry_run: bool) -> None:
    options = wishes.options(lambda: memory.zone)
    with progress_bar() as progress:
        for path in paths:
            try:
                report = memory.import_path(
                    path,
                    format=wishes.form,
                    options=options,
                    dry_run=dry_run,
                    include_forgotten=wishes.include_forgotten,
                    progress=progress,
                    before_write=None if dry_run else tell_found,
                )
            except ImportFormatError as failure:
                imported.errors[str(path)] = str(failure)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"stopped while reading {path}; files read whole are stored, of this one nothing is"
                ) from None
            else:
                imported.reports.append(report)


def _embed(memory: Memory, imported: Imported, *, no_embed: bool, place: Place) -> None:
    imported.embedder = memory.settings.embedder
    if no_embed or not imported.has_embedder:
        from memory_rag.inventory import coverage_of

        imported.pending = coverage_of(memory.indexes).pending
        return
    before = time.monotonic()
    try:
        with progress_bar() as progress:
            imported.embedded = memory.embed(progress=progress)
    except (EmbedderError, MissingExtraError) as failure:
        imported.errors["embedding"] = f"every turn is stored and found by keyword, but not embedded: {failure}"
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "stopped; every turn is stored, and what is embedded stays so; go on with: " + place.command("reindex")
        ) from None
    imported.seconds = time.monotonic() - before


def _finish(imported: Imported, *, place: Place | None) -> None:
    """Say how the embedding went, if anybody is to read it, and what failed."""
    if place is not None:
        print_embedding(imported, place=place)
        print_offer(imported)
    for path, message in imported.errors.items():
        error(message if path in message or path == "embedding" else f"{path}: {message}")


def _watch(
    memory: Memory,
    paths: list[Path],
    before: dict[Path, tuple[int, int]],
    *,
    wishes: Wishes,
    no_embed: bool,
    place: Place,
) -> None:
    """Store what is added to the paths until Ctrl-C; of what was there already, only what changed meanwhile."""
    tell(f"watching {', '.join(map(str, paths))}; stop with Ctrl-C")
    stored = 0
    refused: dict[str, str] = {}
    try:
        while True:
            now = state_of(paths)
            again = Imported()
            _read(memory, changed(before, now), again, wishes=wishes, dry_run=False)
            before = now
            stored += again.kept
            again.reports = [report for report in again.reports if report.kept or report.corrected or report.vanished]
            again.errors = {path: why for path, why in again.errors.items() if refused.get(path) != why}
            refused.update(again.errors)
            if again.reports:
                print_counts(again, dry_run=False)
                _embed(memory, again, no_embed=no_embed, place=place)
                print_embedding(replace(again, pending=0), place=place)
            failed = again.errors.pop("embedding", None)
            for path, why in again.errors.items():
                # No error: a session that has just begun holds no message yet.
                tell(f"not read: {why if path in why else f'{path}: {why}'}")
            if failed is not None:
                error(failed)
            flush()
            time.sleep(_LOOKED_EVERY_S)
    except KeyboardInterrupt:
        tell(f"stopped watching; {stored:,} turns were added meanwhile")
