"""From other programs' files into the store: each file whole or not at all, everything counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers import Import, ImportFile, ImportOptions, ImportReport, Noted, open_import
from memory_rag.importers.report import FORGOTTEN, FileReport
from memory_rag.store.turn_store import Appended, TurnStore
from memory_rag.turns import Conversation, Role, Turn, Withheld
from memory_rag.whole_memory import put_back

Item = Turn | Conversation | Withheld
OwnWords = Callable[[str], str]

RECALLED: Final = "quoted from this memory and nothing else"
_REPORTED_EVERY: Final = 100


def import_into(
    store: TurnStore,
    path: Path,
    *,
    format: str | None,  # noqa: A002  the word users know
    options: ImportOptions,
    dry_run: bool,
    progress: Callable[[str, int, int], None] | None,
    include_forgotten: bool = False,
    before_write: Callable[[FileReport], None] | None = None,
    own_words: OwnWords = str,
) -> ImportReport:
    """Store what a file, folder or zip holds and return the counts; nothing stays stored of a file that can't be read.

    ``own_words`` returns what of a user's message is stored: without what it quotes from this memory. What was
    forgotten is left out and counted, or stored again with ``include_forgotten``. ``before_write`` is told of each file
    what was found in it, before any of it is stored.

    Raises:
        ImportFormatError: nothing can be imported there, or the only file can't be read.
    """
    with open_import(path, format=format, options=options) as opened:
        _import_files(
            store,
            opened.files,
            dry_run=dry_run,
            progress=progress,
            include_forgotten=include_forgotten,
            before_write=before_write,
            own_words=own_words,
        )
        if not dry_run:
            _note_export(store, opened)
        opened.report.check()
        return opened.report


def _import_files(
    store: TurnStore,
    files: Sequence[ImportFile],
    *,
    dry_run: bool,
    progress: Callable[[str, int, int], None] | None,
    include_forgotten: bool,
    before_write: Callable[[FileReport], None] | None,
    own_words: OwnWords,
) -> None:
    """Store the files one by one, small ones committed together; one of several that can't be read is told only."""
    total = sum(file.size for file in files)
    before = 0
    with store.together():
        for file in files:
            if progress is not None:
                progress("reading", before, total)
            try:
                _import_file(
                    store,
                    file,
                    dry_run=dry_run,
                    progress=progress if total == file.size else None,
                    include_forgotten=include_forgotten,
                    before_write=before_write,
                    own_words=own_words,
                )
            except ImportFormatError as error:
                if len(files) == 1:
                    raise
                file.report.refuse(error)
            before += file.size
    if progress is not None:
        progress("reading", total, total)


def _import_file(
    store: TurnStore,
    file: ImportFile,
    *,
    dry_run: bool,
    progress: Callable[[str, int, int], None] | None,
    include_forgotten: bool,
    before_write: Callable[[FileReport], None] | None,
    own_words: OwnWords,
) -> None:
    if put_back(store, file, dry_run=dry_run):
        return
    items = _without_recalled(file if progress is None else _counted(file, progress), file.report, own_words)

    def found(appended: Appended) -> None:
        file.report.count_found(appended.found)
        if before_write is not None:
            before_write(file.report)

    appended = store.append(
        items,
        dry_run=dry_run,
        newer=True,
        whole=file.whole_conversations,
        include_forgotten=include_forgotten,
        secrets=file.options.secrets,
        before_commit=found,
    )
    file.report.count_kept(len(appended.turn_ids))
    file.report.count_already_there(appended.already_there)
    if appended.forgotten:
        file.report.leave_out(FORGOTTEN, list(appended.forgotten))
    for reason, count in appended.unstored.items():
        file.report.count_unstored(reason, count)
    for turn_id in appended.differing:
        file.report.note(Noted("the source has another text now; the stored one stays", turn_id))
    for turn_id in appended.corrected:
        file.report.corrected += 1
        file.report.note(Noted("edited at its source; corrected, the earlier text kept", turn_id))
    for turn_id in appended.vanished:
        file.report.vanished += 1
        file.report.note(Noted("no longer at its source; kept and marked", turn_id))


def _without_recalled(items: Iterable[Item], report: FileReport, own_words: OwnWords) -> Iterator[Item]:
    """Yield the items, of a user's message only what isn't quoted from this memory: that is stored already."""
    for item in items:
        if not isinstance(item, Turn) or item.role is not Role.USER or (own := own_words(item.text)) == item.text:
            yield item
            continue
        native_id = "" if item.source is None else item.source.native_id
        if own or item.blocks:
            report.note(Noted("stored without what it quotes from this memory", native_id))
            yield replace(item, text=own, indexed=None)
        else:
            report.leave_out(RECALLED, [native_id])


def _note_export(store: TurnStore, opened: Import) -> None:
    """Mark the conversations that an account's export doesn't hold any more, if it is read whole and is the newest."""
    files = opened.files
    times = [file.latest for file in files if file.latest is not None]
    if opened.account is None or not times or any(file.report.error or file.options.since for file in files):
        return
    gone = store.note_export(
        source_name=opened.account.format,
        account=opened.account.native_id,
        conversation_ids=set().union(*(file.conversation_ids for file in files)),
        latest=max(times),
    )
    for turn_id in gone:
        files[-1].report.vanished += 1
        files[-1].report.note(Noted("no longer at its source; kept and marked", turn_id))


def _counted(file: ImportFile, progress: Callable[[str, int, int], None]) -> Iterator[Item]:
    """Yield what a file holds and report its turns; how many there will be isn't known, which is a total of 0."""
    n_turns = 0
    for item in file:
        n_turns += isinstance(item, Turn)
        if n_turns % _REPORTED_EVERY == 0:
            progress("storing", n_turns, 0)
        yield item
