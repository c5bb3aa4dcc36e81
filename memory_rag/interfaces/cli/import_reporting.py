"""What an import did, as it is printed: counts that add up, and a reason for everything that was left out."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from memory_rag.interfaces.cli.finding_words import found_words
from memory_rag.interfaces.cli.output import flush, is_colourful, note, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import Ink, fitted, screen_width, shown

if TYPE_CHECKING:
    from memory_rag.importers import ImportReport
    from memory_rag.importers.report import FileReport, Reason

_FILES_SHOWN: Final = 5


@dataclass(slots=True)
class Imported:
    """What became of each path, and of the embedding after it."""

    reports: list[ImportReport] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    embedded: int = 0
    seconds: float = 0.0
    pending: int = 0
    embedder: str = ""

    @property
    def has_embedder(self) -> bool:
        return self.embedder != "none"

    @property
    def kept(self) -> int:
        return sum(report.kept for report in self.reports)

    @property
    def forgotten(self) -> int:
        """Messages that were left out since they were forgotten earlier."""
        from memory_rag.importers.report import FORGOTTEN

        found = [report.skipped.get(FORGOTTEN) for report in self.reports]
        return sum(reason.count for reason in found if reason is not None)

    @property
    def already_there(self) -> int:
        return sum(report.already_there for report in self.reports)

    def as_json(self, *, dry_run: bool) -> dict[str, Any]:
        return {
            "dry_run": dry_run,
            "read": sum(report.read for report in self.reports),
            "kept": self.kept,
            "already_there": self.already_there,
            "skipped": sum(file.n_skipped for report in self.reports for file in report.files),
            "corrected": sum(report.corrected for report in self.reports),
            "vanished": sum(report.vanished for report in self.reports),
            "imports": [report.to_json() for report in self.reports],
            "errors": [{"path": path, "error": message} for path, message in self.errors.items()],
            "languages": list(self.languages),
            "embedded": self.embedded,
            "pending": self.pending,
        }


def print_counts(imported: Imported, *, dry_run: bool) -> None:
    ink = Ink(is_colourful(sys.stdout))
    for report in imported.reports:
        print_report(report, ink, dry_run=dry_run)
    # Before the long part begins, which may be stopped.
    flush()


def print_embedding(imported: Imported, *, place: Place) -> None:
    if imported.languages and imported.reports:
        say(f"language: {', '.join(imported.languages)}")
    if imported.embedded:
        rate = f" ({imported.embedded / imported.seconds:,.0f} turns/s)" if imported.seconds >= 1 else ""
        say(f"embedded {imported.embedded:,} turns in {imported.seconds:,.1f} s{rate}")
    if imported.pending and not imported.has_embedder:
        note("these turns will be found by keyword only: this memory has no embedder (embedder = none)")
    elif imported.pending:
        note(f"{imported.pending:,} turns are found by keyword only until you embed them: {place.command('reindex')}")


def print_offer(imported: Imported) -> None:
    """Say which embedder reads what was imported, if it isn't the memory's own."""
    from memory_rag.embedding.catalogue import offer_for
    from memory_rag.text.language import language_names

    if offer := offer_for(language_names(imported.languages), spec=imported.embedder):
        note(offer)


def tell_found(report: FileReport) -> None:
    """Say what secrets and personal data are in a file, before anything of it is stored."""
    if report.found:
        tell(f"{shown(report.file)}: {found_words(report.found)}")


def print_report(report: ImportReport, ink: Ink, *, name: str = "", dry_run: bool = False) -> None:
    """Print the counts of one path so that they add up, and every reason for what was left out."""
    formats = ", ".join(dict.fromkeys(file.format for file in report.files))
    n_files = f", {len(report.files):,} files" if len(report.files) > 1 else ""
    kept_out = ", not stored: a dry run" if dry_run else ""
    say(f"{ink.bold(shown(name or report.path))} ({formats}{n_files}){kept_out}")
    skipped = sum(reason.count for reason in report.skipped.values())
    say(f"  {report.read:,} read = {report.kept:,} kept + {report.already_there:,} already there + {skipped:,} skipped")
    if report.found:
        say(f"  found: {found_words(report.found, dry_run=dry_run)}")
    _print_reasons("skipped", report, lambda file: file.skipped)
    _print_reasons("noted", report, lambda file: file.noted)
    unread = defaultdict[str, list[str]](list)
    for file in report.unread:
        unread[file.reason].append(file.file.removeprefix(f"{report.path}/"))
    for refused in report.files:
        if refused.error:
            unread[refused.error.removeprefix(f"{refused.file}: ")].append(refused.file.removeprefix(f"{report.path}/"))
    for reason, files in unread.items():
        more = f" and {len(files) - _FILES_SHOWN:,} more" if len(files) > _FILES_SHOWN else ""
        say(f"  not read: {shown(', '.join(files[:_FILES_SHOWN]))}{more}: {shown(reason)}")


def _print_reasons(what: str, report: ImportReport, reasons_of: Callable[[FileReport], Mapping[str, Reason]]) -> None:
    """Print how often each reason was given, the most frequent first, and the first place where."""
    counts, places = Counter[str](), dict[str, str]()
    for file in report.files:
        for reason, found in reasons_of(file).items():
            counts[reason] += found.count
            if found.where:
                places.setdefault(reason, _place(found.where[0], file, report))
    for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        line = f"{what}: {count:,} × {shown(reason)}"
        if reason in places:
            line += f" ({'first: ' if count > 1 else ''}{shown(places[reason])})"
        say("  " + (fitted(line, screen_width() - 2) if sys.stdout.isatty() else line))


def _place(where: str, file: FileReport, report: ImportReport) -> str:
    """Return a place as it is said below the path's own line: in its file, if there are several."""
    place = where.removeprefix(file.file).removeprefix(", ") or file.file
    if len(report.files) == 1 or place == file.file:
        return place.removeprefix(f"{report.path}/")
    return f"{file.file.removeprefix(f'{report.path}/')}: {place}"
