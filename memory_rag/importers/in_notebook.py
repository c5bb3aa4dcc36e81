"""What an import kept and what it didn't, as a notebook shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory_rag.html.cards import card, listed, quiet, table
from memory_rag.html.markup import Html

if TYPE_CHECKING:
    from memory_rag.importers.report import FileReport, ImportReport, Reason


def import_html(report: ImportReport) -> Html:
    """Return the sum of an import, a row a file, and the reasons of what was left out."""
    n_skipped = sum(reason.count for reason in report.skipped.values())
    total = (
        f"{report.read:,} read = {report.kept:,} kept + {report.already_there:,} already there + {n_skipped:,} skipped"
    )
    rows = [_row(file) for file in report.files]
    notes = [f"skipped, {_told(reason, found)}" for reason, found in report.skipped.items()]
    notes += [f"noted, {_told(reason, found)}" for reason, found in report.noted.items()]
    for kind, counts in report.found.items():
        notes += [f"{kind} {action}: {n:,}" for action, n in counts.items()]
    notes += [f"not read: {one.file} ({one.reason})" for one in report.unread]
    files = table(["file", "format", "read", "kept", "already there", "skipped"], rows, numbers=4)
    whole = all(not file.error for file in report.files)
    return card(files, listed(notes), title=total, tone="good" if whole else "bad")


def _row(file: FileReport) -> list[str]:
    name = Path(file.file).name
    if file.error:
        return [name, file.format, quiet(file.error), "", "", ""]
    return [name, file.format, *(f"{n:,}" for n in (file.read, file.kept, file.already_there, file.n_skipped))]


def _told(name: str, reason: Reason) -> str:
    return f"{name}: {reason.count:,}" + (f" (such as {reason.where[0]})" if reason.where else "")
