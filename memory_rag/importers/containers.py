"""The files behind a path: a file itself, the files of a folder, or those of a zip; nothing is unpacked."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import IO, Final

from memory_rag.errors import ImportFormatError
from memory_rag.importers.source import SourceFile
from memory_rag.importers.zstd import SUFFIX, decompressed

MAX_ENTRY_BYTES = 4 * 1024**3

_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_OF_A_MEMORY: Final = "a memory's own file; write what it holds to another with: memory-rag export"


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was found and not read, and why."""

    file: str
    reason: str


def files_at(path: Path, *, opened: ExitStack, max_entry_bytes: int = MAX_ENTRY_BYTES) -> Iterator[SourceFile | Unread]:
    """Yield the files behind a path in natural order (2 before 10), zips in a folder looked into as well.

    Zips stay open until ``opened`` is closed. Linked folders and zips inside zips are named, not followed.

    Raises:
        ImportFormatError: the path is nothing that can be read, or an encrypted or damaged zip.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise ImportFormatError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(mode):
        yield from _folder(path, opened, max_entry_bytes)
    elif not stat.S_ISREG(mode):
        raise ImportFormatError(f"{path}: neither a file nor a folder; save what it gives to a file first")
    elif _is_of_a_memory(path):
        raise ImportFormatError(f"{path}: {_OF_A_MEMORY}")
    elif _is_zip(path):
        yield from _zip(path, str(path), opened, max_entry_bytes)
    else:
        yield _plain(path, str(path))


def _folder(root: Path, opened: ExitStack, max_entry_bytes: int) -> Iterator[SourceFile | Unread]:
    faults: list[OSError] = []
    for folder, subfolders, names in os.walk(root, onerror=faults.append):
        subfolders.sort(key=_natural)
        for name in subfolders:
            if (Path(folder) / name).is_symlink():
                yield Unread(str(Path(folder) / name), "a link to a folder")
        inside = Path(folder).resolve()
        for name in sorted(names, key=_natural):
            yield from _in_folder(Path(folder) / name, inside, opened, max_entry_bytes)
    for fault in faults:
        yield Unread(str(fault.filename), f"can't be read: {fault.strerror}")


def _in_folder(path: Path, inside: Path, opened: ExitStack, max_entry_bytes: int) -> Iterator[SourceFile | Unread]:
    try:
        if not path.is_file():
            yield Unread(str(path), "not a file")
        elif _is_of_a_memory(path):
            yield Unread(str(path), _OF_A_MEMORY)
        elif _is_zip(path):
            yield from _zip(path, str(path), opened, max_entry_bytes)
        elif path.is_symlink():
            yield _plain(path, str(path))
        else:
            yield _plain(path, str(path), resolved=inside / path.name)
    except ImportFormatError as error:
        yield Unread(str(path), str(error).removeprefix(f"{path}: "))


def _zip(path: Path, label: str, opened: ExitStack, max_entry_bytes: int) -> Iterator[SourceFile | Unread]:
    try:
        archive = opened.enter_context(zipfile.ZipFile(path))
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise ImportFormatError(f"{label}: not a zip that can be read: {error}; export it again") from error
    # Not is_dir(): it fails for an entry without a name, which a damaged zip may have.
    entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise ImportFormatError(f"{label}: the zip is encrypted; unpack it with its password and import the folder")
    inside = path.resolve()
    for entry in sorted(entries, key=lambda entry: _natural(entry.filename)):
        name = f"{label}/{entry.filename}"
        if entry.file_size > max_entry_bytes:
            yield Unread(name, f"{entry.file_size:,} bytes unpacked; the limit in a zip is {max_entry_bytes:,}")
        elif entry.filename.lower().endswith(".zip"):
            yield Unread(name, "a zip inside a zip; unpack it first")
        else:
            yield _entry(archive, entry, label=label, inside=inside)


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, label: str, inside: Path) -> SourceFile:
    def neighbour(path: PurePath) -> SourceFile | None:
        try:
            found = archive.NameToInfo.get(path.relative_to(inside).as_posix())
        except ValueError:  # it lies outside of the zip
            return None
        return None if found is None else _entry(archive, found, label=label, inside=inside)

    return _source(
        f"{label}/{entry.filename}", inside / entry.filename, entry.file_size, partial(archive.open, entry), neighbour
    )


def _plain(path: Path, label: str, *, resolved: Path | None = None) -> SourceFile:
    try:
        return _file(resolved or path.resolve(), label)
    except OSError as error:
        raise ImportFormatError(f"{label}: can't be read: {error.strerror}") from error


def _on_disk(path: PurePath) -> SourceFile | None:
    found = Path(path)
    return _file(found, str(found)) if found.is_file() else None


def _file(path: Path, label: str) -> SourceFile:
    return _source(label, path, path.stat().st_size, lambda: path.open("rb"), _on_disk)


def _source(
    label: str,
    path: Path,
    size: int,
    opener: Callable[[], IO[bytes]],
    neighbour: Callable[[PurePath], SourceFile | None],
) -> SourceFile:
    if path.suffix == SUFFIX:
        path, opener = path.with_suffix(""), decompressed(opener, label=label)
    return SourceFile(label, path, size, opener, neighbour)


def _is_of_a_memory(path: Path) -> bool:
    """Tell whether a file is one of SQLite's in a memory's folder, by its name.

    It isn't opened: if this process has that memory open, closing the file again would take SQLite's locks from it.
    """
    return (path.resolve() if path.is_symlink() else path).name.startswith("turns.sqlite")


def _is_zip(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(4) in _ZIP_MARKS
    except OSError as error:
        raise ImportFormatError(f"{path}: can't be read: {error.strerror}") from error


def _natural(name: str) -> tuple[list[str], str]:
    """Order names as people do: digits by their number; the name itself settles what is left."""
    pieces = re.split(r"(\d+)", name.casefold())
    for at in range(1, len(pieces), 2):
        digits = pieces[at].lstrip("0")
        pieces[at] = f"{len(digits):05}{digits}"
    return pieces, name
