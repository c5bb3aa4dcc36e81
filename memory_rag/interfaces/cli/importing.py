"""``memory-rag import`` and ``export``: whole histories, in and out."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.errors import EmbedderError, ImportFormatError, MemoryRagError, MissingExtraError
from memory_rag.interfaces.cli.output import Json, error, flush, is_colourful, note, print_json, say, tell, write_json
from memory_rag.interfaces.cli.place import Place, checked_zone
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.terminal import Ink, shown

if TYPE_CHECKING:
    from memory_rag.importers import ImportReport
    from memory_rag.importers.report import Reason
    from memory_rag.memory import Memory

_FILES_SHOWN = 5


@dataclass(slots=True)
class Imported:
    """What became of each path, and of the embedding after it."""

    reports: list[ImportReport] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    embedded: int = 0
    seconds: float = 0.0
    pending: int = 0
    has_embedder: bool = True

    @property
    def kept(self) -> int:
        return sum(report.kept for report in self.reports)

    @property
    def already_there(self) -> int:
        return sum(report.already_there for report in self.reports)

    def as_json(self, *, dry_run: bool) -> dict[str, Any]:
        return {
            "dry_run": dry_run,
            "read": sum(report.read for report in self.reports),
            "kept": self.kept,
            "already_there": self.already_there,
            "imports": [report.to_json() for report in self.reports],
            "errors": [{"path": path, "error": message} for path, message in self.errors.items()],
            "languages": list(self.languages),
            "embedded": self.embedded,
            "pending": self.pending,
        }


def import_(
    place: Place,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files, folders or zips.", show_default=False)],
    form: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="What they are. Default: told by looking.")
    ] = None,
    tz: Annotated[
        str | None,
        typer.Option(
            "--tz",
            metavar="ZONE",
            callback=checked_zone,
            help="The zone of times written without one, such as Europe/Oslo.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and count, store nothing.")] = False,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Leave embedding for later; keyword search works meanwhile.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Store what other programs kept, and embed it.

    Importing the same file twice adds nothing. Formats: LoCoMo, BEAM, OpenAI messages, ChatGPT export, and what
    memory-rag export writes.
    """
    imported = Imported()
    with ExitStack() as opened:
        openable = [path for path in paths if _can_be_read(path, form, imported)]
        if openable:
            memory = opened.enter_context(_memory(place, dry_run=dry_run, opened=opened))
            if place.language is not None and not dry_run:
                memory.indexes.set_languages(place.language)
            _read(memory, openable, imported, form=form, tz=tz, dry_run=dry_run)
            if not as_json:
                _print_counts(imported, dry_run=dry_run)
            if not dry_run:
                imported.languages = memory.indexes.languages()
                _embed(memory, imported, no_embed=no_embed, place=place)
    if as_json:
        print_json(imported.as_json(dry_run=dry_run))
    else:
        _print_embedding(imported, place=place)
    for path, message in imported.errors.items():
        error(message if path in message or path == "embedding" else f"{path}: {message}")
    if imported.errors or not imported.kept + imported.already_there:
        raise typer.Exit(1)


def export(
    place: Place,
    path: Annotated[str, typer.Argument(metavar="FILE|-", help="Where to, or - for stdout.", show_default=False)] = "-",
) -> None:
    """Write everything as JSON lines, to be imported again."""
    with place.open() as memory:
        lines = memory.export()
        if path == "-":
            for line in lines:
                write_json(line)
            return
        # Line by line through a sibling, so that a file that was there is replaced whole or not at all.
        from memory_rag.store.files import write_atomically

        target = Path(path)
        write_atomically(target, lambda file: file.writelines(line.encode() for line in lines))
        tell(f"exported {len(memory):,} turns to {target}")


def _can_be_read(path: Path, form: str | None, imported: Imported) -> bool:
    """Tell whether an importer knows a path, so that a slip of the pen makes no empty memory."""
    from memory_rag.importers import open_import

    try:
        open_import(path, format=form).close()
    except MemoryRagError as failure:
        imported.errors[str(path)] = str(failure)
        return False
    return True


def _memory(place: Place, *, dry_run: bool, opened: ExitStack) -> Memory:
    if dry_run and not place.exists:
        elsewhere = opened.enter_context(tempfile.TemporaryDirectory(prefix="memory-rag-"))
        return replace(place, memory=f"{elsewhere}/memory").open(create=True)
    return place.open(create=True)


def _read(
    memory: Memory, paths: Iterable[Path], imported: Imported, *, form: str | None, tz: str | None, dry_run: bool
) -> None:
    with progress_bar() as progress:
        for path in paths:
            try:
                imported.reports.append(
                    memory.import_path(path, format=form, tz=tz, dry_run=dry_run, progress=progress)
                )
            except ImportFormatError as failure:
                imported.errors[str(path)] = str(failure)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"stopped while reading {path}; files read whole are stored, of this one nothing is"
                ) from None


def _embed(memory: Memory, imported: Imported, *, no_embed: bool, place: Place) -> None:
    imported.has_embedder = memory.settings.embedder != "none"
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


def _print_counts(imported: Imported, *, dry_run: bool) -> None:
    ink = Ink(is_colourful(sys.stdout))
    for report in imported.reports:
        print_report(report, ink, note=", not stored: a dry run" if dry_run else "")
    # Before the long part begins, which may be stopped.
    flush()


def _print_embedding(imported: Imported, *, place: Place) -> None:
    if imported.languages:
        say(f"language: {', '.join(imported.languages)}")
    if imported.embedded:
        rate = f" ({imported.embedded / imported.seconds:,.0f} turns/s)" if imported.seconds >= 1 else ""
        say(f"embedded {imported.embedded:,} turns in {imported.seconds:,.1f} s{rate}")
    if imported.pending and not imported.has_embedder:
        note("found by keyword only: this memory has no embedder (embedder = none)")
    elif imported.pending:
        note(f"{imported.pending:,} turns are found by keyword only until you embed them: {place.command('reindex')}")


def print_report(report: ImportReport, ink: Ink, *, name: str = "", note: str = "") -> None:
    """Print the counts of one path so that they add up, and every reason for what was left out."""
    formats = ", ".join(dict.fromkeys(file.format for file in report.files))
    n_files = f", {len(report.files):,} files" if len(report.files) > 1 else ""
    say(f"{ink.bold(shown(name or report.path))} ({formats}{n_files}){note}")
    skipped = sum(reason.count for reason in report.skipped.values())
    say(f"  {report.read:,} read = {report.kept:,} kept + {report.already_there:,} already there + {skipped:,} skipped")
    _print_reasons("skipped", report.skipped)
    _print_reasons("noted", report.noted)
    unread = defaultdict[str, list[str]](list)
    for file in report.unread:
        unread[file.reason].append(file.file)
    for refused in report.files:
        if refused.error:
            unread[refused.error.removeprefix(f"{refused.file}: ")].append(refused.file)
    for reason, files in unread.items():
        more = f" and {len(files) - _FILES_SHOWN:,} more" if len(files) > _FILES_SHOWN else ""
        say(f"  not read: {shown(', '.join(files[:_FILES_SHOWN]))}{more}: {shown(reason)}")


def _print_reasons(what: str, reasons: Mapping[str, Reason]) -> None:
    for reason, found in sorted(reasons.items(), key=lambda item: (-item[1].count, item[0])):
        say(f"  {what}: {found.count:,} × {shown(reason)} ({shown(', '.join(found.where))})")
