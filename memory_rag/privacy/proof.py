"""What was looked at for what was forgotten, and what was found, told; and every byte of a folder looked at."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from memory_rag.privacy.byte_search import ByteSearch
from memory_rag.privacy.sought import Needle

_COMPRESSED: Final = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf": "7z",
}


@dataclass(frozen=True, slots=True)
class Trace:
    """Where something of it was found: the file (relative to the memory's folder) or the column and row, the byte, what
    it was and in what encoding; ``words`` is empty for what is no text."""

    file: str
    at: int
    kind: str
    encoding: str
    words: str

    def __str__(self) -> str:
        what = f"{self.kind} {self.words!r}" if self.words else self.kind
        return f"{self.file}, byte {self.at:,}: {what}{f' as {self.encoding}' if self.encoding else ''}"

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "at": self.at, "kind": self.kind, "encoding": self.encoding, "words": self.words}


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked at, what for, and what was found.

    ``unit`` says what was looked at in ``place``: the files of a folder, or the rows on a server. ``searched`` counts
    byte strings by kind and encoding. ``unreadable`` is what could not be looked into, with the reason: compressed
    files among it. ``left_out`` counts words, stems and pieces that others said too; ``named`` are words among them
    that stand in a name that stays: of a pinned file, a model, a rule of retention. Of a server, ``done`` says what was
    done to the bytes of removed rows, and ``beyond`` where bytes may be that nobody can look at through SQL.
    """

    place: str
    n_looked_at: int
    n_bytes: int
    searched: Mapping[str, int]
    found: tuple[Trace, ...]
    unreadable: tuple[str, ...]
    left_out: int = 0
    named: tuple[str, ...] = ()
    unit: Literal["files", "rows"] = "files"
    done: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything in its place was looked at and nothing was found; what lies beyond is not in it."""
        return not self.found and not self.unreadable

    def lines(self) -> list[str]:
        """Return the proof for a reader: what was searched, for what, and what was found."""
        looked_at = f"{self.n_looked_at:,} {self.unit} ({self.n_bytes:,} bytes)"
        told = [f"looked at every byte of {looked_at} {'in' if self.unit == 'files' else 'at'} {self.place}"]
        told += [f"  for {n:,} × {what}" for what, n in self.searched.items()]
        if not self.searched:
            told.append("  for nothing: every word of it was said elsewhere too, and it had no vector")
        if self.left_out:
            told.append(f"  not for {self.left_out:,} words, stems and pieces that stand in other turns too")
        told += [f"  nor for {word}, which stays as a name of its own" for word in self.named]
        told += [f"  could not look into {what}" for what in self.unreadable]
        told += [f"  FOUND {trace}" for trace in self.found]
        told += self.done if self.holds else ()
        told.append(self._verdict)
        told += [f"  not looked at: {what}" for what in self.beyond]
        return told

    @property
    def _verdict(self) -> str:
        if not self.holds:
            return "this proves nothing: see above"
        if self.unit == "files":
            return "nothing of it is there any more"
        return "no row has anything of it any more, nor has a vector; this is no proof for what can't be looked at:"

    def as_json(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            self.unit: self.n_looked_at,
            "bytes": self.n_bytes,
            "searched": dict(self.searched),
            "left_out": self.left_out,
            "named": list(self.named),
            "found": [trace.as_json() for trace in self.found],
            "unreadable": list(self.unreadable),
            **({} if self.unit == "files" else {"done": list(self.done), "not_looked_at": list(self.beyond)}),
        }

    def _repr_html_(self) -> str:
        from memory_rag.privacy.in_notebook import proof_html

        return proof_html(self)


def prove(
    folder: Path,
    texts: Sequence[Needle],
    others: Sequence[Needle],
    *,
    left_out: int = 0,
    named: tuple[str, ...] = (),
    opened: Callable[[Path], BinaryIO] = lambda path: path.open("rb"),
) -> Proof:
    """Look at every byte of every file under a folder, and at the names of files and folders.

    ``texts`` are in lower case, and looked for in bytes whose ASCII letters are; ``others`` as they are. ``opened``
    opens a file for reading.
    """
    in_text, in_bytes = ByteSearch([one.data for one in texts]), ByteSearch([one.data for one in others])
    found: list[Trace] = []
    unreadable: list[str] = []
    n_files = n_bytes = 0
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        for number, _place in in_text.found_in(name.encode("utf-8", "surrogateescape").lower()):
            found.append(_trace(name, 0, texts[number]))
        if path.is_dir() and not path.is_symlink():
            continue
        n_files += 1
        try:
            if not path.is_file() and path.exists():
                # A pipe would be waited for, without end.
                unreadable.append(f"{name}: it is no file")
                continue
            n_bytes += path.stat().st_size
            with opened(path) as file:
                if method := _compression(file):
                    unreadable.append(f"{name}: it is compressed ({method})")
                for place, number in _in_order(in_text.found_in_file(file, seen_as=bytes.lower)):
                    found.append(_trace(name, place, texts[number]))
                for place, number in _in_order(in_bytes.found_in_file(file)):
                    found.append(_trace(name, place, others[number]))
        except FileNotFoundError:
            # SQLite, or another process, took it away meanwhile; what it wrote instead has its own name.
            n_files -= 1
        except OSError as error:
            unreadable.append(f"{name}: {error.strerror}")
    searched = kinds_of(texts, others)
    return Proof(str(folder), n_files, n_bytes, searched, tuple(found), tuple(unreadable), left_out, named)


def kinds_of(texts: Sequence[Needle], others: Sequence[Needle]) -> dict[str, int]:
    """Return how many byte strings are looked for, by kind and encoding."""
    return dict(Counter(f"{one.kind}{f' in {one.encoding}' if one.encoding else ''}" for one in (*texts, *others)))


def _trace(name: str, place: int, needle: Needle) -> Trace:
    return Trace(name, place, needle.kind, needle.encoding, needle.words)


def _in_order(found: Mapping[int, int]) -> list[tuple[int, int]]:
    return sorted((place, number) for number, place in found.items())


def _compression(file: BinaryIO) -> str:
    """Return how a file is compressed; an empty text for one that isn't."""
    head = file.read(8)
    for magic, method in _COMPRESSED.items():
        if head.startswith(magic):
            return method
    if not zipfile.is_zipfile(file):
        return ""
    try:
        with zipfile.ZipFile(file) as archive:
            methods = {member.compress_type for member in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError) as error:
        return f"zip that can't be read: {error}"
    return "" if methods <= {zipfile.ZIP_STORED} else "zip"
