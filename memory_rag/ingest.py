"""From other programs' files into the store: one transaction a file, everything counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers import ImportFile, ImportOptions, ImportReport, Noted, open_import
from memory_rag.store.turn_store import TurnStore
from memory_rag.turns import Conversation, Turn

_REPORTED_EVERY: Final = 100


def import_into(
    store: TurnStore,
    path: Path,
    *,
    format: str | None,  # noqa: A002  the word users know
    tz: tzinfo,
    dry_run: bool,
    progress: Callable[[str, int, int], None] | None,
) -> ImportReport:
    """Store what a file, folder or zip holds and return the counts; nothing stays stored of a file that can't be read.

    Raises:
        ImportFormatError: nothing can be imported there, or the only file can't be read.
    """
    with open_import(path, format=format, options=ImportOptions(tz=tz)) as opened:
        total = sum(file.size for file in opened.files)
        before = 0
        for file in opened.files:
            if progress is not None:
                progress("reading", before, total)
            try:
                _import_file(store, file, dry_run=dry_run, progress=progress if total == file.size else None)
            except ImportFormatError as error:
                if len(opened.files) == 1:
                    raise
                file.report.refuse(error)
            before += file.size
        if progress is not None:
            progress("reading", total, total)
        opened.report.check()
        return opened.report


def _import_file(
    store: TurnStore, file: ImportFile, *, dry_run: bool, progress: Callable[[str, int, int], None] | None
) -> None:
    items = file if progress is None else _counted(file, progress)
    appended = store.append(items, dry_run=dry_run)
    file.report.count_kept(len(appended.turn_ids))
    file.report.count_already_there(appended.already_there)
    for turn_id in appended.differing:
        file.report.note(Noted("the source has another text now; the stored one stays", turn_id))


def _counted(file: ImportFile, progress: Callable[[str, int, int], None]) -> Iterator[Turn | Conversation]:
    """Yield what a file holds and report its turns; how many there will be isn't known, which is a total of 0."""
    n_turns = 0
    for item in file:
        n_turns += isinstance(item, Turn)
        if n_turns % _REPORTED_EVERY == 0:
            progress("storing", n_turns, 0)
        yield item
