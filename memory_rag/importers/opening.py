"""A path opened for import: its files, each with the importer that knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memory_rag.errors import ImportFormatError, TurnError
from memory_rag.importers.accounts import Account, account_of
from memory_rag.importers.containers import Unread, files_at
from memory_rag.importers.formats import Detection, Importer, ImportOptions, Noted, Skipped
from memory_rag.importers.guarding import FAULTS
from memory_rag.importers.identity import is_storable
from memory_rag.importers.registry import detections, importer_named, importers, listed, surest_first
from memory_rag.importers.report import FileReport, ImportReport
from memory_rag.importers.sampling import Sample, sample
from memory_rag.importers.source import SourceFile
from memory_rag.turns import Conversation, Turn, Withheld

SURE_ENOUGH = 0.5
_ORDINALS = 2**62

# What ChatGPT's, Claude.ai's and Slack's exports have beside the talks.
COMPANIONS = frozenset(
    {
        "canvases.json",
        "channels.json",
        "chat.html",
        "conversations.json.index",
        "dms.json",
        "group_chats.json",
        "groups.json",
        "integration_logs.json",
        "memories.json",
        "message_feedback.json",
        "mpims.json",
        "org_users.json",
        "projects.json",
        "shared_conversations.json",
        "user.json",
        "users.json",
    }
)


@dataclass(slots=True)
class ImportFile:
    """One file with the importer that reads it. Iterating gives its conversations and turns, and counts."""

    source: SourceFile
    importer: Importer
    options: ImportOptions
    report: FileReport
    alone: bool
    conversation_ids: set[str] = field(default_factory=set)
    latest: datetime | None = None
    """When the last thing was said in what was read."""

    @property
    def size(self) -> int:
        """The file's length in bytes, for a progress bar over several files."""
        return self.source.size

    @property
    def whole_conversations(self) -> bool:
        """Whether the file holds conversations whole, so that what it lacks between two turns is gone at the source."""
        return getattr(self.importer, "whole_conversations", False) is True and self.options.since is None

    def __iter__(self) -> Iterator[Turn | Conversation | Withheld]:
        """Read the file from its beginning; what is skipped or noted is counted in ``report``.

        Raises:
            ImportFormatError: the file can't be read, at any point; nothing of it is then to be kept.
        """
        self.report.clear()
        speakers = self.options.speakers
        n_turns = 0
        try:
            for item in self.importer.read(self.source, self.options):
                if isinstance(item, Turn):
                    reason = self._unwanted(item)
                    if reason:
                        self.report.skip(Skipped(reason, f"{item.conversation_id}, turn {item.ordinal}"))
                        continue
                    n_turns += 1
                    self.report.read += 1
                    self.conversation_ids.add(item.conversation_id)
                    if item.said_at is not None and (self.latest is None or item.said_at > self.latest):
                        self.latest = item.said_at
                    yield speakers.applied(item) if speakers.names else item
                elif isinstance(item, Skipped):
                    self.report.skip(item)
                elif isinstance(item, Noted):
                    self.report.note(item)
                elif is_storable(item.conversation_id):
                    # Also of a conversation of which nothing can be stored now: it isn't gone.
                    self.conversation_ids.add(item.conversation_id)
                    yield item
        except RecursionError as error:
            raise ImportFormatError(f"{self.source.label}: its JSON is nested too deeply to be read") from error
        except (*FAULTS, TurnError) as error:
            raise ImportFormatError(
                f"{self.source.label}: the importer {self.importer.name!r} fails on it "
                f"({type(error).__name__}: {error}); please report this"
            ) from error
        if self.alone and not n_turns:
            raise ImportFormatError(self._nothing_taken())

    def _unwanted(self, turn: Turn) -> str:
        """Return why a turn that was read is not to be stored, or ""."""
        since = self.options.since
        if since is not None and turn.said_at is not None and turn.said_at < since:
            return f"said before {since.isoformat(sep=' ', timespec='minutes')}"
        if not 0 <= turn.ordinal < _ORDINALS:
            return "an ordinal that can't be stored"
        native_id, name = (turn.source.native_id, turn.source.name) if turn.source else ("-", "-")
        ids = (turn.conversation_id, turn.session_id, native_id, name)
        # One look at all of them, which is right but for empty and very long ones.
        if all(ids) and is_storable("".join(ids)):
            return ""
        return "" if all(map(is_storable, ids)) else "an id that can't be stored"

    def _nothing_taken(self) -> str:
        skipped = self.report.skipped
        if not skipped:
            return f"{self.source.label}: nothing to import, it holds no message"
        reasons = "; ".join(f"{reason} ({found.count})" for reason, found in list(skipped.items())[:3])
        return (
            f"{self.source.label}: nothing to import, read as {self.importer.name} none of it is a message "
            f"that can be stored: {reasons}"
        )


@dataclass(slots=True)
class Import:
    """A path opened for import: its files in order, each to be stored in a transaction of its own.

    ``report`` holds the same files' counts and the files that are not read. Used with ``with``, since a zip
    stays open meanwhile.
    """

    path: Path
    files: tuple[ImportFile, ...]
    report: ImportReport
    opened: ExitStack = field(repr=False)
    account: Account | None = None
    """Whose whole export it is, if it tells."""

    def __iter__(self) -> Iterator[ImportFile]:
        return iter(self.files)

    def close(self) -> None:
        self.opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def detect(path: str | PathLike[str]) -> list[Detection]:
    """Say which formats a path may be of, the surest first; of a folder or zip, by its likeliest file.

    No format is an empty list; :func:`open_import` then says why.

    Raises:
        ImportFormatError: there is no such path, or it is a zip that can't be read.
    """
    found: list[Detection] = []
    with ExitStack() as opened:
        for source in files_at(Path(path), opened=opened):
            if isinstance(source, SourceFile):
                with suppress(ImportFormatError):
                    found += detections(sample(source), importers())
    best: dict[str, Detection] = {}
    for detection in sorted(found, key=surest_first):
        best.setdefault(detection.importer, detection)
    return list(best.values())


def open_import(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that the command line uses
    options: ImportOptions | None = None,
) -> Import:
    """Find out what a file, folder or zip holds, and make it ready to be read, having read beginnings only.

    A file of a ``format`` given is read as that, whatever it looks like; of a folder or zip with more than
    one file, those that look like it.

    Raises:
        ImportFormatError: no such path or format, nothing that an importer knows, or a zip that can't be
            read.
    """
    known = importers()
    candidates = known if format is None else {format: importer_named(format)}
    where = Path(path)
    with ExitStack() as opened:
        found = list(files_at(where, opened=opened))
        alone = len(found) == 1
        report = ImportReport(str(where))
        files: list[ImportFile] = []
        shared: dict[Any, Any] = {}
        for source in found:
            chosen = source if isinstance(source, Unread) else _chosen(source, candidates, known, alone)
            if isinstance(chosen, Unread):
                report.unread.append(chosen)
            elif isinstance(source, SourceFile):
                counts = FileReport(source.label, chosen.name)
                report.files.append(counts)
                source = replace(source, shared=shared)
                files.append(ImportFile(source, chosen, options or ImportOptions(), counts, alone))
        if not files:
            raise ImportFormatError(_nothing_found(report, known))
        sources = [source for source in found if isinstance(source, SourceFile)]
        account = account_of((file.importer.name for file in files), sources)
        return Import(where, tuple(files), report, opened.pop_all(), account)


def _chosen(
    source: SourceFile, candidates: Mapping[str, Importer], known: Mapping[str, Importer], alone: bool
) -> Importer | Unread:
    """Return the importer for a file; a file that is the only one is never passed over but refused."""
    try:
        beginning = sample(source)
    except ImportFormatError as error:
        if alone:
            raise
        return Unread(source.label, str(error).removeprefix(f"{source.label}: "))
    if alone and len(candidates) == 1 and beginning.kind != "empty":
        return next(iter(candidates.values()))
    likely = detections(beginning, candidates)
    if likely and likely[0].confidence >= SURE_ENOUGH:
        return candidates[likely[0].importer]
    reason = _why_not(beginning, likely)
    if not alone and source.path.name in COMPANIONS:
        return Unread(source.label, "part of an export, holds no talk")
    if alone:
        unknown = not beginning.problem and beginning.kind != "empty"
        raise ImportFormatError(
            f"{source.label}{reason}" + (f"; the known formats are {listed(known)}" if unknown else "")
        )
    return Unread(source.label, reason.lstrip(":, "))


def _why_not(beginning: Sample, likely: list[Detection]) -> str:
    """Say why a file that begins like this is not read, to be put after its name."""
    if beginning.kind == "empty":
        return ": nothing to import, it is empty"
    if beginning.problem:
        return beginning.problem
    if likely:
        best = likely[0]
        return f": perhaps {best.importer} ({best.why}), but not surely; say so with --format {best.importer}"
    return f": no importer knows this {'binary file' if beginning.kind == 'binary' else 'format'}"


def _nothing_found(report: ImportReport, known: Mapping[str, Importer]) -> str:
    if not report.unread:
        return f"{report.path}: nothing to import, it holds no file"
    first = report.unread[0]
    return (
        f"{report.path}: nothing to import in {len(report.unread)} files; "
        f"the first, {first.file}: {first.reason}; "
        f"the known formats are {listed(known)}"
    )
