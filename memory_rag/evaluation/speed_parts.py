"""What is kept of a comparison, part by part, so that a run that is stopped goes on with what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memory_rag.evaluation.speed_peers import PEERS, Peer


class Parts:
    """A work folder: what each has loaded at each size, and a file for each thing that was measured of them."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def folder(self, size: int, peer: Peer) -> Path:
        """Return where what a peer loads lies."""
        return self.work / str(size) / peer.name

    def path(self, size: int, peer: Peer, what: str) -> Path:
        """Return the file of what was measured: ``load``, ``agreement``, ``alone``, ``beside`` or ``import``."""
        return self.work / "parts" / f"{size}-{peer.name}.{what}.json"

    def keep(self, size: int, peer: Peer, what: str, found: dict[str, Any]) -> None:
        """Keep what was measured, whole or not at all."""
        path = self.path(size, peer, what)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")
        part.rename(path)

    def of_size(self, size: int) -> dict[str, dict[str, Any]]:
        """Return all that was measured at a size, by name."""
        found: dict[str, dict[str, Any]] = {}
        for path in sorted((self.work / "parts").glob(f"{size}-*.json")):
            name, _, what = path.stem.removeprefix(f"{size}-").rpartition(".")
            found.setdefault(name, {})[what] = json.loads(path.read_text(encoding="utf-8"))
        for peer in PEERS:
            if peer.name in found:
                found[peer.name] |= {"ranks_by": peer.ranks_by, "waits": peer.waits}
        return found

    @contextmanager
    def changing(self, size: int, *peers: Peer) -> Iterator[None]:
        """Note that what these have loaded is changed within, and put back at the end."""
        notes = [self._changed(size, peer) for peer in peers]
        for note in notes:
            note.touch()
        yield
        for note in notes:
            note.unlink()

    def drop_changed(self, size: int, peer: Peer) -> None:
        """Let a peer load anew if a run was stopped while what it had loaded was changed."""
        if (note := self._changed(size, peer)).exists():
            self.path(size, peer, "load").unlink(missing_ok=True)
            note.unlink()

    def _changed(self, size: int, peer: Peer) -> Path:
        return self.path(size, peer, "load").with_suffix(".changed")
