"""Views that take a history in: files are uploaded, looked at without storing anything, and stored when told so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from memory_rag.importers import ImportOptions
from memory_rag.importers.registry import importers
from memory_rag.interfaces.page.asked import Asked, Drawn, ToldError
from memory_rag.interfaces.page.notes import NoteShown, reason_shown
from memory_rag.interfaces.page.uploads import LARGEST, MOST_FILES, Upload, Uploads
from memory_rag.inventory import readable_size

if TYPE_CHECKING:
    from starlette.datastructures import FormData

    from memory_rag.importers import ImportReport
    from memory_rag.importers.report import FileReport, Reason
    from memory_rag.interfaces.serving.live_memory import LiveMemory
    from memory_rag.memory import Memory

_ORDERS: Final = ("dmy", "mdy", "ymd")
_SHOWN: Final = 100


@dataclass(slots=True)
class CountsShown:
    """What was read of an upload, or would be stored: in all, by file, by reason, and by kind of personal data."""

    files: list[tuple[str, FileReport]] = field(default_factory=list)
    n_files: int = 0
    read: int = 0
    kept: int = 0
    already_there: int = 0
    skipped: int = 0
    corrected: int = 0
    reasons: list[tuple[NoteShown, int]] = field(default_factory=list)
    notes: list[tuple[NoteShown, int]] = field(default_factory=list)
    found: list[tuple[str, str, int]] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)


class Importing:
    """The views, over the uploads that wait."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads

    def shown(self, asked: Asked) -> Drawn:
        """Draw the form that uploads, or what was found in an upload."""
        upload = self._upload(asked)
        values: dict[str, Any] = {
            "upload": upload,
            "gone": upload is None and asked.one("id") != "",
            "formats": sorted(importers()),
            "orders": _ORDERS,
            "largest": LARGEST,
            "largest_shown": readable_size(LARGEST),
            "most_files": MOST_FILES,
            "title": asked.texts.tell("import"),
        }
        if upload is not None:
            done, total = upload.progress
            values["percent"] = min(100, 100 * done // total) if total else 0
            values["size"] = readable_size(upload.n_bytes)
            report = upload.stored or upload.read
            values["counts"] = None if report is None else _counts(asked, upload, report)
        return Drawn("import", values)

    def take(self, asked: Asked, form: FormData) -> Drawn:
        """Keep the files of a form that has just come, and read them without storing anything of them."""
        chosen, order = asked.one("format"), asked.one("date_order")
        if (chosen and chosen not in importers()) or (order and order not in _ORDERS):
            raise ToldError(asked.texts.tell("no_format", name=chosen or order))
        upload = self._uploads.keep(form, memory_name=asked.memory_name)
        upload.form, upload.date_order = chosen, order
        upload.run(partial(_look, asked.live, upload))
        return Drawn(to=f"/import?id={quote(upload.upload_id)}")

    def store(self, asked: Asked) -> Drawn:
        """Store an upload that was looked at; nothing is done where that is done already."""
        upload = self._upload(asked)
        if upload is not None and upload.stored is None and not upload.is_running:
            upload.run(partial(_store, asked.live, upload))
        return Drawn(to=f"/import?id={quote(asked.one('id'), safe='', errors='replace')}")

    def drop(self, asked: Asked) -> Drawn:
        """Remove an upload unstored."""
        if (upload := self._upload(asked)) is not None:
            self._uploads.drop(upload)
        return Drawn(to="/import")

    def routes(self) -> tuple[tuple[str, str, Callable[[Asked], Drawn]], ...]:
        return (
            ("GET", "/import", self.shown),
            ("POST", "/import/store", self.store),
            ("POST", "/import/drop", self.drop),
        )

    def _upload(self, asked: Asked) -> Upload | None:
        return self._uploads.get(asked.one("id"), memory_name=asked.memory_name)


def _look(live: LiveMemory, upload: Upload) -> None:
    from memory_rag.memory import Memory

    if live.is_absent():
        with (
            TemporaryDirectory(prefix="memory-rag-") as elsewhere,
            Memory.open(Path(elsewhere) / "memory", embedder="none") as empty,
        ):
            upload.read = _imported(empty, upload, dry_run=True)
    else:
        upload.read = _imported(live.get(), upload, dry_run=True)


def _store(live: LiveMemory, upload: Upload) -> None:
    memory = live.get(create=True)
    upload.stored = _imported(memory, upload, dry_run=False)
    upload.remove()
    live.catching_up.begin(memory)


def _imported(memory: Memory, upload: Upload, *, dry_run: bool) -> ImportReport:
    options = ImportOptions(tz=memory.zone, date_order=upload.date_order or None)  # type: ignore[arg-type]
    return memory.import_path(
        upload.path, format=upload.form or None, options=options, dry_run=dry_run, progress=upload.tell
    )


def _counts(asked: Asked, upload: Upload, report: ImportReport) -> CountsShown:
    counts = CountsShown(
        n_files=len(report.files), read=report.read, kept=report.kept, already_there=report.already_there
    )
    reasons, notes, found = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for file in report.files:
        counts.corrected += file.corrected
        counts.skipped += file.n_skipped
        _count(reasons, file.skipped)
        _count(notes, file.noted)
        for kind, actions in file.found.items():
            for action, n in actions.items():
                found[kind, action] += n
        if file.error:
            counts.unread.append((upload.named(file.file), upload.named(file.error.removeprefix(f"{file.file}: "))))
    counts.files = [(upload.named(file.file), file) for file in report.files[:_SHOWN] if not file.error]
    counts.reasons, counts.notes = _told(asked, upload, reasons), _told(asked, upload, notes)
    counts.found = [
        (asked.texts.get(f"kind_{kind}", kind), asked.texts.get(f"action_{action}", action), n)
        for (kind, action), n in sorted(found.items())
    ]
    counts.unread += [(upload.named(one.file), upload.named(one.reason)) for one in report.unread]
    counts.unread = counts.unread[:_SHOWN]
    return counts


def _told(asked: Asked, upload: Upload, reasons: Mapping[str, int]) -> list[tuple[NoteShown, int]]:
    """Return reasons in the reader's language, each once, the most frequent first."""
    counted = Counter[NoteShown]()
    for why, n in reasons.items():
        counted[reason_shown(asked, upload.named(why))] += n
    return sorted(counted.items(), key=lambda one: (-one[1], one[0].text))


def _count(into: Counter[str], reasons: Mapping[str, Reason]) -> None:
    for why, reason in reasons.items():
        into[why] += reason.count
