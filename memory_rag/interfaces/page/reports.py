"""Benchmark reports: those that the server was told of, each as the page that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from memory_rag.interfaces.page.asked import Asked, Drawn

_REPORT: Final = "report.json"


class Reports:
    """Reports by a name of their own; a path never comes from a request."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: dict[str, Path] = {}
        for path in paths:
            name, number = path.stem if path.suffix else path.name, 1
            while (f"{name}-{number}" if number > 1 else name) in self._files:
                number += 1
            self._files[f"{name}-{number}" if number > 1 else name] = path / _REPORT if path.is_dir() else path

    def listed(self, asked: Asked) -> Drawn:
        """Draw the list."""
        return Drawn("benchmarks", {"reports": list(self._files), "title": asked.texts.tell("benchmarks")})

    def page(self, name: str) -> bytes | None:
        """Return a report's page; None if there is no such report.

        Raises:
            MemoryRagError: it can't be read.
        """
        from memory_rag.evaluation.page import report_page
        from memory_rag.evaluation.report_file import read_report

        if name not in self._files:
            return None
        return report_page(read_report(self._files[name])).encode("utf-8", "backslashreplace")
