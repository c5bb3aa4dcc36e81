"""What a memory's owner wishes never to be stored: words, patterns, kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from memory_rag.errors import SettingsError
from memory_rag.privacy.kinds import Kind, kinds_of
from memory_rag.text.folding import fold

_KIND: Final = "kind:"
_FIRST_WITHOUT_SPACES: Final = "\u2e80"
"""From this character on most scripts write no spaces between words."""


@dataclass(frozen=True, slots=True)
class Never:
    """The rules that keep a turn out as a whole, each with the words in which it was given."""

    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    words: tuple[tuple[str, re.Pattern[str]], ...] = ()
    kinds: frozenset[Kind] = frozenset()

    @classmethod
    def parse(cls, rules: Iterable[str]) -> Self:
        """Read rules: ``kind:card``, ``/a pattern/``, or words, which count whole, in any case, however typed.

        Raises:
            SettingsError: an unknown kind, or a pattern that is none.
        """
        words: list[tuple[str, re.Pattern[str]]] = []
        patterns: list[tuple[str, re.Pattern[str]]] = []
        kinds: set[Kind] = set()
        for rule in filter(None, (rule.strip() for rule in rules)):
            if rule.startswith(_KIND):
                kinds.update(kinds_of(rule.removeprefix(_KIND).strip()))
            elif len(rule) > 2 and rule.startswith("/") and rule.endswith("/"):
                patterns.append((rule, _pattern(rule)))
            else:
                words.append((rule, _whole(fold(rule).text.strip())))
        return cls(tuple(patterns), tuple(words), frozenset(kinds))

    def __bool__(self) -> bool:
        return bool(self.patterns or self.words or self.kinds)

    def rule_for(self, texts: Iterable[str]) -> str:
        """Return the first rule of words or patterns that one of these texts falls under; empty if none does."""
        if not self.patterns and not self.words:
            return ""
        for text in texts:
            folded = fold(text).text if self.words else ""
            for rule, pattern in self.words:
                if pattern.search(folded):
                    return rule
            for rule, pattern in self.patterns:
                if pattern.search(text):
                    return rule
        return ""


def _whole(words: str) -> re.Pattern[str]:
    before = r"(?<!\w)" if words[:1] < _FIRST_WITHOUT_SPACES else ""
    after = r"(?!\w)" if words[-1:] < _FIRST_WITHOUT_SPACES else ""
    return re.compile(before + re.escape(words) + after)


def _pattern(rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule[1:-1])
    except re.error as error:
        raise SettingsError(
            f"never_store has {rule!r}, which is no pattern ({error}); write /a pattern/, kind:card, or words"
        ) from error
