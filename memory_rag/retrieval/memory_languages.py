"""In which languages a memory's turns are: as set, as remembered, or as they tell."""

from __future__ import annotations

from typing import Final

from memory_rag.store.turn_writer import TurnWriter
from memory_rag.text.language import languages_present, parse_language
from memory_rag.turns import printable

_FACT: Final = "languages"
_SETTLED_FROM: Final = 50
"""Turns from which on a guess is remembered and not made again."""
_GUESSED_FROM: Final = 500


class MemoryLanguages:
    """The languages of one store's turns; ``setting`` holds codes, comma-separated, or ``auto``."""

    def __init__(self, store: TurnWriter, *, setting: str) -> None:
        self._store = store
        self._setting = setting
        self._seen: str | None = None
        """What was remembered when it was last looked at whether the languages changed."""

    def __call__(self) -> tuple[str, ...]:
        """Return the languages, the dominant one first."""
        if self._setting != "auto":
            return tuple(dict.fromkeys(parse_language(name) for name in self._setting.split(",")))
        remembered = self._store.fact(_FACT)
        return tuple(remembered.split(",")) if remembered else self._guessed()

    def remember(self, language: str) -> None:
        """Remember the languages (codes, comma-separated); takes effect with the next keyword index.

        Raises:
            SettingsError: a code that is no language's.
        """
        names = [parse_language(name) for name in language.split(",")]
        self._store.set_fact(_FACT, ",".join(dict.fromkeys(names)))

    def settle(self) -> None:
        """Remember the guess, once there is enough to guess from."""
        if self._setting != "auto" or self._store.fact(_FACT) is not None:
            return
        if len(self._store) >= _SETTLED_FROM:
            self._store.set_fact(_FACT, ",".join(self._guessed()))

    def may_have_changed(self, *, n_changes: int) -> bool:
        """Tell whether another process may have settled or changed them, or something was said to guess from."""
        if self._setting != "auto":
            return False
        before, self._seen = self._seen, self._store.fact(_FACT)
        return self._seen != before or (self._seen is None and n_changes > 0)

    def _guessed(self) -> tuple[str, ...]:
        texts = []
        for _row, turn in self._store.scan():
            if turn.recalled:
                texts.append(printable(turn.searchable))
            if len(texts) == _GUESSED_FROM:
                break
        return languages_present(texts) or ("en",)
