"""``memory-rag stats``, ``doctor`` and ``reindex``: what is in a memory, whether it is well, its indexes made anew."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.errors import MemoryLockedError, NewerFormatError, NotAMemoryError, StoreError
from memory_rag.interfaces.cli.finding_words import kinds_listed
from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.terminal import Ink, columns_of, fitted, padded, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import when

if TYPE_CHECKING:
    from memory_rag.checkup import Checkup
    from memory_rag.inventory import Stats

_SPEAKERS_SHOWN = 6
_TOLD_AS = {
    "changes": "changes logged",
    "facts": "facts about the memory itself",
    "versions": "earlier versions",
    "vanished": "marks of what its source has no more",
    "pinned_files": "pinned files, by name",
    "returned_blocks": "answers as a provider gave them",
    "summary_lines": "lines of summaries",
    "summary_citations": "citations",
    "summary_turns": "turns summarised",
    "tombstones": "marks against what was forgotten",
}
_TITLE = 24
"""Columns from which on a title stands in the same line."""


def stats(
    place: Place,
    conversations: Annotated[
        bool, typer.Option("--conversations", help="List the conversations.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Count turns, people, times, bytes, and what is embedded."""
    with place.open() as memory:
        counted = memory.stats()
        zone = memory.zone
    if as_json:
        listed = {"conversations": [one.as_json() for one in counted.conversations]} if conversations else {}
        print_json({**counted.as_json(), **listed})
    elif conversations:
        _print_conversations(counted, zone)
    else:
        _print_stats(counted, zone)
    if counted.note:
        note(counted.note)


def doctor(
    place: Place,
    rescue: Annotated[
        Path | None,
        typer.Option("--rescue", metavar="NEW", help="Bring what can still be read into a new memory."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that all of a memory is well; changes nothing.

    Every text against its SHA-256, the keyword index against the words, the vectors, the files, the disk. On a server
    also what keeps owners apart, the server's indexes, its versions and settings. With --rescue, the words of a damaged
    memory that can still be read, and are what was stored, go into a new folder.
    """
    if rescue is not None:
        _rescue(place, rescue, as_json=as_json)
        return
    try:
        with place.open() as memory, progress_bar() as progress:
            checkup = memory.doctor(progress=progress)
    except (NotAMemoryError, NewerFormatError):
        raise
    except StoreError as error:
        if place.is_on_server:
            raise
        from memory_rag.checkup import Checkup, Finding

        remedy = _remedy_for(error, place.folder)
        checkup = Checkup(place.shown, (Finding("words", "fail", str(error), remedy),))
    if as_json:
        print_json(checkup.as_json())
    else:
        _print_checkup(checkup)
    if not checkup.is_well:
        raise typer.Exit(1)


def _remedy_for(error: StoreError, folder: Path) -> str:
    """Return what helps a memory that can't be opened: only what is damaged wants a rescue."""
    from memory_rag.health import WORDS_REMEDY

    if isinstance(error, MemoryLockedError):
        return "wait until the other process is done, and look again"
    if not all(_may_write(path) for path in (folder, *folder.glob("turns.sqlite*"))):
        return (
            f"let yourself write there, with: chmod -R u+rwX {folder}; or copy the folder to a disk that you may write"
        )
    return WORDS_REMEDY


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _rescue(place: Place, new: Path, *, as_json: bool) -> None:
    from memory_rag.store.rescue import rescue

    folder = place.folder_or(
        "--rescue reads a damaged file; put the database back from a backup of your server's own tools, or bring what "
        "can be read into a folder with: memory-rag migrate FROM TO"
    )
    rescued = rescue(folder, new)
    if as_json:
        print_json(rescued.as_json())
    else:
        say(f"rescued {rescued.n_turns:,} turns into {new}, lost {rescued.n_lost:,}")
        say(f"and {rescued.n_rows:,} rows of what is kept beside turns (versions, pins, summaries …)")
        if rescued.lost:
            more = "" if rescued.n_lost == len(rescued.lost) else " …"
            note(f"lost: {', '.join(map(shown, rescued.lost))}{more}")
        if rescued.damaged_tables:
            note(f"not all could be read of: {', '.join(map(shown, rescued.damaged_tables))}")
        if not rescued.is_log_whole:
            note("the log of changes is damaged too: more turns may be lost than it can tell")
        note(f"look at it with: memory-rag stats --memory {new}; the damaged folder is as it was")
    if rescued.n_lost or not rescued.is_log_whole:
        raise typer.Exit(1)


def reindex(
    place: Place,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete other embedders' vectors at the end.", show_default=False)
    ] = False,
    as_json: Json = False,
) -> None:
    """Build the keyword index anew and embed what is pending.

    May be stopped with Ctrl-C and taken up again; search goes on meanwhile. --language is remembered.
    """
    before = time.monotonic()
    with place.open() as memory:
        try:
            with progress_bar() as progress:
                embedded = memory.reindex(language=place.language, prune=prune, progress=progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"stopped; what is embedded stays so, go on with: {place.command('reindex')}"
            ) from None
        n_turns, languages = len(memory), memory.indexes.languages()
    seconds = time.monotonic() - before
    if as_json:
        print_json({"n_turns": n_turns, "embedded": embedded, "languages": list(languages), "seconds": seconds})
        return
    rate = f" ({embedded / seconds:,.0f} turns/s)" if embedded else ""
    say(f"indexed {n_turns:,} turns in {', '.join(languages)}; embedded {embedded:,} in {seconds:,.1f} s{rate}")


def _print_stats(counted: Stats, zone: tzinfo) -> None:
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    rows = list(_stats_rows(counted, zone))
    room = max(len(name) for name, _ in rows) + 2
    for name, value in rows:
        value = shown(value)
        for number, line in enumerate(wrapped(value, width - room)):
            say(ink.dim(padded("" if number else name, room)) + line.of(value))


def _stats_rows(counted: Stats, zone: tzinfo) -> Iterator[tuple[str, str]]:
    from memory_rag.inventory import readable_size

    yield "memory", counted.place
    yield "turns", f"{counted.n_turns:,}{_in_brackets(counted.by_role)}"
    yield "words", f"{counted.n_words:,}"
    sessions = "1 session" if counted.n_sessions == 1 else f"{counted.n_sessions:,} sessions"
    yield "conversations", f"{len(counted.conversations):,}, in {sessions}"
    if counted.by_speaker:
        people = list(counted.by_speaker.items())
        more = f" and {len(people) - _SPEAKERS_SHOWN:,} more" if len(people) > _SPEAKERS_SHOWN else ""
        yield "speakers", ", ".join(f"{name} {n:,}" for name, n in people[:_SPEAKERS_SHOWN]) + more
    if counted.first is not None:
        yield "said", f"{when(counted.first, zone)} to {when(counted.last, zone)}"
    if counted.undated:
        yield "undated", f"{counted.undated:,}"
    if counted.unrecalled:
        yield "left out", f"{counted.unrecalled:,} of tool traffic, hidden or abandoned; search with --all"
    if counted.off_record_since is not None:
        since = when(datetime.fromisoformat(counted.off_record_since), zone)
        yield "off record", f"since {since}: no turn is stored; end it with memory-rag off-record off"
    if tagged := {kind: n for (kind, action), n in counted.found.items() if action == "tag"}:
        yield "tagged", kinds_listed(tagged)
    if redacted := {kind: n for (kind, action), n in counted.found.items() if action == "redact"}:
        yield "redacted", f"{kinds_listed(redacted)}, before they were stored"
    yield "languages", ", ".join(counted.languages)
    sizes = ", ".join(f"{kind} {readable_size(size)}" for kind, size in counted.n_bytes.items())
    if counted.folder is None:
        yield "on disk", f"{readable_size(sum(counted.n_bytes.values()))} of rows ({sizes}), indexes not counted"
        yield "words in", "tables: " + _rows_told(counted)
    else:
        yield "on disk", f"{readable_size(sum(counted.n_bytes.values()))} ({sizes})"
        yield "words in", "turns.sqlite: " + _rows_told(counted)
        if counted.n_bytes["vectors"]:
            yield "vectors in", "vectors/, a pair of files for each embedder"
        if counted.n_bytes["derived"]:
            yield "indexes in", "derived/, which may be deleted at any time"
    yield "embedder", counted.embedder or "none"
    yield "embedded", f"{counted.embedded:,}, pending {counted.pending:,}"
    saved = "not saved" if counted.snapshot_seq is None else f"saved at {counted.snapshot_seq:,}"
    yield "changes", f"{counted.seq:,}" + (f"; keyword index {saved}" if counted.folder is not None else "")


def _rows_told(counted: Stats) -> str:
    """Return what lies beside turns in the file of words, in a reader's words where there are some."""
    also = [f"{_TOLD_AS.get(table, table.replace('_', ' '))} {n:,}" for table, n in counted.rows.items()]
    return ", ".join([f"turns with their sources {counted.n_turns:,}", *also])


def _in_brackets(counts: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{name} {n:,}' for name, n in counts.items())})" if counts else ""


def _print_conversations(counted: Stats, zone: tzinfo) -> None:
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    # Never cut: an id is there to be copied into --conversation.
    ids = max(columns_of(name) for name in ["conversation", *(one.conversation_id for one in counted.conversations)])
    room = width - ids - 35
    say(ink.bold(f"{padded('conversation', ids)}  turns  {padded('first to last', 24)}" + "  title" * (room >= _TITLE)))
    for one in counted.conversations:
        days = padded(f"{_day(one.first, zone)} to {_day(one.last, zone)}", 24)
        line = f"{padded(shown(one.conversation_id), ids)}  {one.n_turns:>5,}  {days}"
        if room >= _TITLE:
            say(f"{line}  {fitted(shown(one.title), room)}".rstrip())
            continue
        say(line.rstrip())
        if one.title:
            say("  " + ink.dim(fitted(shown(one.title), width - 2)))


def _day(instant: datetime | None, zone: tzinfo) -> str:
    return "unknown   " if instant is None else instant.astimezone(zone).strftime("%Y-%m-%d")


def _print_checkup(checkup: Checkup) -> None:
    ink, width = Ink(is_colourful(sys.stdout)), screen_width()
    styles = {"ok": ink.good, "warn": ink.odd, "fail": ink.bad}
    room = max(len(finding.name) for finding in checkup.findings) + 2
    say(f"{ink.bold('memory')} {shown(checkup.place)}")
    for finding in checkup.findings:
        head = styles[finding.state](padded(finding.state, 6)) + padded(finding.name, room)
        remedy = [f"→ {finding.remedy}"] if finding.remedy and finding.state != "ok" else []
        for line in _hanging([finding.message, *remedy], width - room - 6):
            say(head + line)
            head = " " * (room + 6)
    counts = [sum(finding.state == state for finding in checkup.findings) for state in ("fail", "warn")]
    say("all is well" if not any(counts) else f"{counts[0]} failed, {counts[1]} to look at")


def _hanging(texts: Iterable[str], width: int) -> Iterator[str]:
    for text in map(shown, texts):
        yield from (line.of(text) for line in wrapped(text, width))
