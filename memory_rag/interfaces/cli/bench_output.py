"""What ``memory-rag bench`` prints, and the page that it writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from memory_rag.interfaces.cli.output import is_colourful, note, print_json, say
from memory_rag.interfaces.cli.terminal import screen_width

if TYPE_CHECKING:
    from memory_rag.evaluation.benchmark import Benchmark
    from memory_rag.evaluation.report_shape import AnyReport


def print_report(report: AnyReport, *, as_json: bool) -> None:
    """Print a report as tables, or as JSON."""
    from memory_rag.interfaces.cli.report_table import report_text

    if as_json:
        print_json(report)
    else:
        say(report_text(report, width=screen_width(widest=120), colour=is_colourful(sys.stdout)).rstrip("\n"))


def print_summary(benchmark: Benchmark, *, as_json: bool) -> None:
    """Print what was read of a data set: what is kept, and what is dropped by reason."""
    from memory_rag.evaluation.benchmark import summary_of

    summary = summary_of(benchmark)
    if as_json:
        print_json(summary)
        return
    for key, value in summary.items():
        if key == "dropped":
            for one in value:
                say(f"dropped, {one['reason']}: {one['count']:,} (such as {', '.join(one['where'])})")
        elif isinstance(value, dict):
            for part, count in value.items():
                say(f"{key}, {part or 'none'}: {count if isinstance(count, str) else f'{count:,}'}")
        else:
            say(f"{key}: {value}")


def report_file(path: Path) -> Path:
    """Return a run's report, named by itself or by its folder."""
    from memory_rag.evaluation.runner import REPORT

    return path / REPORT if path.is_dir() else path


def write_page(folder: Path, report: AnyReport) -> None:
    """Write the page, with charts where matplotlib is there."""
    from memory_rag.evaluation import page_file

    page_file.write_page(folder, report, note=note)
