"""The rankings of a run that isn't finished, in a folder: a run that was stopped, or killed, goes on where it was."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.retrievers import Ranked

_FLUSHED_EVERY: Final = 20
_BUFFERED_BYTES: Final = 2**17


class _Written(dict[str, bytes]):
    """Texts as JSON, each written once: a turn is ranked for many queries. Lone surrogates are escaped, and so kept."""

    def __missing__(self, text: str) -> bytes:
        written = self[text] = json.dumps(text).encode("ascii")
        return written


class KeptRankings:
    """Rankings by pool, retriever and query; one is kept as soon as it is made, a few at most are lost.

    The folder is named by everything that rankings depend on (``made_with``), so that another run doesn't take them.
    Both pools and retrievers are named as in the report.
    """

    def __init__(self, folder: Path, made_with: Mapping[str, Any]) -> None:
        text = json.dumps(made_with, sort_keys=True, default=str)
        self._folder = folder / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._files: dict[tuple[str, str], BinaryIO] = {}
        self._unwritten = 0
        self._written = _Written()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MemoryRagError(
                f"{self._folder} can't be made ({error.strerror}); name another folder with --work"
            ) from error

    def __len__(self) -> int:
        """How many rankings are kept."""
        return sum(path.read_bytes().count(b"\n") for path in self._folder.glob("*.jsonl"))

    def of(self, pool: str, retriever: str) -> dict[str, Ranked]:
        """Return what is kept of a retriever in a pool, by query; a line that was cut off is none."""
        path = self._path(pool, retriever, ".jsonl")
        if not path.is_file():
            return {}
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        found: dict[str, Ranked] = {}
        for line in whole.splitlines():
            query_id, doc_ids, ms = json.loads(line)
            found.setdefault(query_id, Ranked(doc_ids, ms))
        return found

    def add(self, pool: str, retriever: str, query_id: str, ranked: Ranked) -> None:
        """Keep a ranking."""
        file = self._files.get((pool, retriever))
        if file is None:
            file = self._files[pool, retriever] = self._opened(self._path(pool, retriever, ".jsonl"))
        doc_ids = b", ".join(map(self._written.__getitem__, ranked.doc_ids))
        file.write(b"[%b, [%b], %b]\n" % (self._written[query_id], doc_ids, json.dumps(ranked.ms).encode("ascii")))
        self._unwritten += 1
        if self._unwritten >= _FLUSHED_EVERY * len(self._files):
            self.flush()

    def value(self, pool: str, name: str) -> Any:
        """Return a value that was kept, such as fitted weights; None if none was."""
        path = self._path(pool, name, ".json")
        return json.loads(path.read_bytes()) if path.is_file() else None

    def keep_value(self, pool: str, name: str, value: Any) -> None:
        """Keep a JSON value, all of it or nothing."""
        path = self._path(pool, name, ".json")
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(value), encoding="ascii")
        temporary.replace(path)

    def flush(self) -> None:
        """Hand everything to the system: it outlives this process from here on."""
        for file in self._files.values():
            file.flush()
        self._unwritten = 0

    def close(self) -> None:
        """Close the files; what is kept stays."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def forget(self) -> None:
        """Remove everything: the run is finished, and the next one ranks anew."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, pool: str, name: str, suffix: str) -> Path:
        return self._folder / f"{quote(pool, safe=' ')}-{quote(name, safe=' ')}{suffix}"

    def _opened(self, path: Path) -> BinaryIO:
        file = path.open("a+b", buffering=_BUFFERED_BYTES)
        # The line that a killed process was writing would run into the next.
        file.seek(0)
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)
        return file
