"""A memory's life by chance: turns of all lengths added, corrected and forgotten; what is left of it in its files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from memory_rag.privacy.byte_search import ByteSearch
from memory_rag.privacy.erasure import Erasure
from memory_rag.store.folder import FILE_NAME
from memory_rag.store.held_files import HeldFiles
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Block, Source, text_bytes
from tests.said import said

FRAGMENT = 12
"""Bytes that hardly stand anywhere by chance, of letters that are drawn."""
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789åäöæøé東京"
SHORT = (1, 2, 5, 11, 12, 13, 40, 60, 100, 200, 300, 700, 1300)
LONG = (3000, 3900, 4020, 4060, 4061, 4070, 4092, 4096, 5000, 8184, 8200, 12_300, 40_000, 200_000)
"""Letters of a text, of which some take more bytes: around the ends of pages, and over many."""
_SAMPLED = 40
_AT_FIRST = 400
_LOOKED_FOR = 300


class LongLife:
    """Does by chance, again the same for a seed, what a store is used for, and knows every text that has to be gone."""

    def __init__(self, store: TurnWriter, *, seed: int) -> None:
        self.store = store
        self._chance = random.Random(seed)
        self._looks = random.Random(seed)
        self._said: dict[str, list[str]] = {}
        """What is there of each turn: its text, its source, and earlier versions."""
        self.gone: list[str] = []

    def goes_on(self) -> None:
        """Add some turns, correct some, and forget some: the first, the last, neighbours, or any; then erase them."""
        chance = self._chance
        for _ in range(chance.randint(1, 30) if self._said else _AT_FIRST):
            self._add()
        for turn_id in self._some(chance.randint(0, 40)):
            self._correct(turn_id)
        for turn_id in chance.choice((self._some, self._neighbours))(chance.randint(1, 30)):
            self._forget(turn_id)

    def text(self) -> str:
        return self.text_of(self._chance.choice(LONG if self._chance.random() < 0.04 else SHORT))

    def text_of(self, length: int) -> str:
        return "".join(self._chance.choices(LETTERS, k=length))

    def fragments(self) -> list[bytes]:
        """Return pieces of what has to be gone, the last few hundred texts: the ends of each, and some of its midst."""
        found: dict[bytes, None] = {}
        for text in self.gone[-_LOOKED_FOR:]:
            data = text_bytes(text)
            last = len(data) - FRAGMENT
            if last < 0:
                continue
            starts = range(last + 1) if last < _SAMPLED else self._looks.sample(range(last + 1), _SAMPLED)
            found.update(dict.fromkeys(data[start : start + FRAGMENT] for start in (0, *starts, last)))
        return list(found)

    def found_in(self, folder: Path) -> dict[str, list[bytes]]:
        """Return which pieces of what has to be gone each file of a folder holds; the store has to be open."""
        fragments = self.fragments()
        search = ByteSearch(fragments)
        found: dict[str, list[bytes]] = {}
        with HeldFiles(folder / FILE_NAME) as held:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    with held.open(path) if held.are(path) else path.open("rb") as file:
                        if pieces := [fragments[number] for number in search.found_in_file(file)]:
                            found[path.name] = pieces
        return found

    def _add(self) -> None:
        text, raw, caption = self.text(), self.text(), self.text()
        has_source = self._chance.random() < 0.3
        turn = said(
            text,
            conversation_id=f"c{self._chance.randint(0, 5)}",
            speaker=self.text()[:40],
            blocks=(Block("image", {}, caption),) if self._chance.random() < 0.2 else (),
            source=Source("chance", "".join(self._chance.choices(LETTERS, k=20)), raw) if has_source else None,
        )
        turn_id = self.store.add(turn).turn_id
        self._said[turn_id] = [
            text,
            turn.speaker,
            *([raw] if has_source else ()),
            *(one.caption for one in turn.blocks),
        ]

    def _correct(self, turn_id: str) -> None:
        text, keep_old = self.text(), self._chance.random() < 0.5
        before = self.store.get([turn_id])[0]
        self.store.correct(turn_id, text=text, keep_old=keep_old)
        if not keep_old:
            self.gone.append(before.text)
            self._said[turn_id].remove(before.text)
            if before.source is not None and before.source.raw is not None:
                self.gone.append(before.source.raw)
        self._said[turn_id].append(text)

    def _forget(self, turn_id: str) -> None:
        self.store.remove([turn_id])
        self.gone += self._said.pop(turn_id)

    def _some(self, n: int) -> list[str]:
        return self._chance.sample(list(self._said), min(n, len(self._said) - 1))

    def _neighbours(self, n: int) -> list[str]:
        """Return turns that were said one after the other; it may be the first ones, or the last."""
        first = self._chance.choice((0, len(self._said) - n, self._chance.randrange(len(self._said))))
        return list(self._said)[max(0, first) :][:n]


def lives(
    folder: Path, *, n_steps: int, seed: int, opened: Callable[[Path], SqliteTurnStore] = SqliteTurnStore
) -> Iterator[tuple[LongLife, str]]:
    """Yield a life after each of its steps, once all that it removed is erased; and why it couldn't be, if not."""
    store = opened(folder)
    try:
        life = LongLife(store, seed=seed)
        for _ in range(n_steps):
            life.goes_on()
            yield life, Erasure(folder, store).finish(timeout_s=20)
    finally:
        store.close()
