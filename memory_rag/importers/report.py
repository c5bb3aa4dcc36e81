"""What an import did, counted so that nothing goes missing: read = kept + already there + skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_rag.errors import MemoryRagError
from memory_rag.importers.containers import Unread
from memory_rag.importers.tally import Noted, Skipped

_PLACES = 3
FORGOTTEN = "forgotten earlier; --include-forgotten takes it in again"
"""The reason for which a message is left out that was stored once and forgotten since."""


@dataclass(slots=True)
class Reason:
    """How often a reason was given, and the first three places where."""

    count: int = 0
    where: list[str] = field(default_factory=list)

    def add(self, count: int, where: list[str]) -> None:
        self.count += count
        self.where.extend(where[: _PLACES - len(self.where)])


@dataclass(slots=True)
class FileReport:
    """The counts of one file, in messages.

    Whoever stores the turns calls ``count_kept`` or ``count_already_there`` for each, and ``refuse`` when
    the file as a whole was not stored; ``read``, ``skipped`` and ``noted`` are counted while the file is
    read. ``corrected`` are those of the turns already there that were edited at their source since; ``vanished`` are
    stored turns that the source has no more. ``found`` counts, by kind and what was done (``tag``, ``redact``), the
    secrets and personal data in what was kept.
    """

    file: str
    format: str
    read: int = 0
    kept: int = 0
    already_there: int = 0
    corrected: int = 0
    vanished: int = 0
    found: dict[str, dict[str, int]] = field(default_factory=dict)
    skipped: dict[str, Reason] = field(default_factory=dict)
    noted: dict[str, Reason] = field(default_factory=dict)
    error: str = ""

    def count_kept(self, count: int = 1) -> None:
        self.kept += count

    def count_already_there(self, count: int = 1) -> None:
        self.already_there += count

    def skip(self, skipped: Skipped) -> None:
        """Count messages that were read and are not stored."""
        self.read += skipped.count
        self.skipped.setdefault(skipped.reason, Reason()).add(skipped.count, [skipped.where])

    def leave_out(self, reason: str, where: list[str]) -> None:
        """Count messages that are counted as read already, and are not stored."""
        self.skipped.setdefault(reason, Reason()).add(len(where), where)

    def count_unstored(self, reason: str, count: int) -> None:
        """Count messages that are counted as read already, and that a rule of the memory keeps out."""
        self.skipped.setdefault(reason, Reason()).add(count, [])

    def count_found(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Count secrets and personal data, by (kind, what was done)."""
        for (kind, action), count in counts.items():
            of_kind = self.found.setdefault(kind, {})
            of_kind[action] = of_kind.get(action, 0) + count

    def note(self, noted: Noted) -> None:
        self.noted.setdefault(noted.reason, Reason()).add(noted.count, [noted.where])

    def refuse(self, error: Exception) -> None:
        """Forget the counts, since nothing of the file is stored, and say why."""
        self.clear()
        self.error = str(error)

    def clear(self) -> None:
        self.read = self.kept = self.already_there = self.corrected = self.vanished = 0
        self.found, self.skipped, self.noted, self.error = {}, {}, {}, ""

    @property
    def n_skipped(self) -> int:
        return sum(reason.count for reason in self.skipped.values())

    def check(self) -> None:
        """Check that every message read is accounted for.

        Raises:
            MemoryRagError: the sum doesn't hold; it is a fault of the program, not of the file.
        """
        if self.read != self.kept + self.already_there + self.n_skipped:
            raise MemoryRagError(
                f"{self.file}: the import doesn't add up: {self.read} read, but {self.kept} kept + "
                f"{self.already_there} already there + {self.n_skipped} skipped; please report this"
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "format": self.format,
            "read": self.read,
            "kept": self.kept,
            "already_there": self.already_there,
            "corrected": self.corrected,
            "vanished": self.vanished,
            "found": self.found,
            "skipped": _listed(self.skipped),
            "noted": _listed(self.noted),
            "error": self.error or None,
        }


@dataclass(slots=True)
class ImportReport:
    """The counts of an import: its files in the order they are read, and the files that no importer knows."""

    path: str
    files: list[FileReport] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    @property
    def read(self) -> int:
        return sum(file.read for file in self.files)

    @property
    def kept(self) -> int:
        return sum(file.kept for file in self.files)

    @property
    def already_there(self) -> int:
        return sum(file.already_there for file in self.files)

    @property
    def corrected(self) -> int:
        return sum(file.corrected for file in self.files)

    @property
    def vanished(self) -> int:
        return sum(file.vanished for file in self.files)

    @property
    def skipped(self) -> dict[str, Reason]:
        return _summed([file.skipped for file in self.files])

    @property
    def noted(self) -> dict[str, Reason]:
        return _summed([file.noted for file in self.files])

    @property
    def found(self) -> dict[str, dict[str, int]]:
        """How many secrets and personal data there are in what was kept, by kind and what was done."""
        total: dict[str, dict[str, int]] = {}
        for file in self.files:
            for kind, counts in file.found.items():
                of_kind = total.setdefault(kind, {})
                for action, count in counts.items():
                    of_kind[action] = of_kind.get(action, 0) + count
        return {kind: total[kind] for kind in sorted(total)}

    def check(self) -> None:
        """Check each file's sum, as :meth:`FileReport.check` does."""
        for file in self.files:
            file.check()

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "read": self.read,
            "kept": self.kept,
            "already_there": self.already_there,
            "corrected": self.corrected,
            "vanished": self.vanished,
            "found": self.found,
            "skipped": _listed(self.skipped),
            "noted": _listed(self.noted),
            "files": [file.to_json() for file in self.files],
            "unread": [{"file": unread.file, "reason": unread.reason} for unread in self.unread],
        }

    def _repr_html_(self) -> str:
        from memory_rag.importers.in_notebook import import_html

        return import_html(self)


def _summed(counts: list[dict[str, Reason]]) -> dict[str, Reason]:
    total: dict[str, Reason] = {}
    for by_reason in counts:
        for reason, found in by_reason.items():
            total.setdefault(reason, Reason()).add(found.count, found.where)
    return total


def _listed(by_reason: dict[str, Reason]) -> list[dict[str, Any]]:
    """Return the reasons as JSON, the most frequent first."""
    ordered = sorted(by_reason.items(), key=lambda item: (-item[1].count, item[0]))
    return [{"reason": reason, "count": found.count, "where": found.where} for reason, found in ordered]
