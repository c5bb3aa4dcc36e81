"""The people who speak in a memory, and how a question names them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from memory_rag.text.name_words import is_also_a_word
from memory_rag.text.pieces import is_unspaced

ROLE_NAMES: Final = frozenset(
    {"user", "assistant", "system", "tool", "human", "ai", "bot", "model", "chatgpt", "claude", "you", "me"}
)
"""Speakers that are parts in a conversation and not names."""

_PRONOUNS: Final = {
    "sv": ("de", "deras"),
    "nb": ("de", "deres"),
    "da": ("de", "deres"),
    "de": ("sie", "ihr"),
}
_MONTHS: Final = frozenset({"april", "may", "june", "august", "maj"})
_BEFORE_A_MONTH: Final = re.compile(
    r"\b(?:in|since|until|till|before|after|during|last|next|this|early|late|mid|by|from|of|\d+|"
    r"i|sedan|innan|före|efter|under|förra|nästa|den|siden|etter|før|neste)\s*-?\s*$",
    re.IGNORECASE,
)
_A_DAY: Final = re.compile(r"\s*\d")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:\n])[\s\"'“”‘’»«(\[¿¡-]*$")
_OWNS: Final = r"(?P<owns>['\u2019]s?(?!\w)|s(?!\w))?(?!\w)"


class Participants:
    """The people who speak in a memory, by the names that a question may use: the whole name, or the first.

    Case doesn't matter, but for a name that is also a word ("will", "hope", Swedish "liv") of the memory's languages:
    that is a person with a capital letter inside a sentence, or as an owner ("Will's"). A first name that several
    people share names all of them. Parts in a conversation ("user", "assistant") are no people.
    """

    def __init__(self, speakers: Iterable[str], *, languages: Sequence[str] = ("en",)) -> None:
        self._speakers_of: dict[str, list[str]] = {}
        spelled: set[str] = set()
        for speaker in speakers:
            name = unicodedata.normalize("NFC", speaker).strip()
            if name.casefold() in ROLE_NAMES:
                continue
            for called in dict.fromkeys([name, *name.split()[:1]]):
                folded = called.casefold()
                if folded not in ROLE_NAMES and any(character.isalpha() for character in called):
                    self._speakers_of.setdefault(folded, []).append(speaker)
                    spelled.add(called)
        self._words = {name for name in self._speakers_of if is_also_a_word(name, languages=languages)}
        self._pattern = _pattern_of(spelled)
        self._latest: tuple[str, list[re.Match[str]]] = ("", [])

    def named_in(self, text: str) -> tuple[str, ...]:
        """Return the speakers whom a text names, in its order, each once."""
        found = self._found(unicodedata.normalize("NFC", text))
        return tuple(dict.fromkeys(speaker for match in found for speaker in self._speakers_of[_name(match)]))

    def stripped(self, text: str, *, language: str) -> str:
        """Return a text (in NFC) with each participant's name replaced by "they" or "their" in its language."""
        subject, owner = _PRONOUNS.get(language, ("they", "their"))
        text = unicodedata.normalize("NFC", text)
        out, place = [], 0
        for match in self._found(text):
            out += [text[place : match.start()], owner if match["owns"] else subject]
            place = match.end()
        return "".join([*out, text[place:]])

    def _found(self, text: str) -> list[re.Match[str]]:
        if self._pattern is None:
            return []
        if self._latest[0] != text:
            # A question is mostly looked through twice: for who is named, and to be stripped.
            self._latest = text, [match for match in self._pattern.finditer(text) if self._is_meant(match, text)]
        return self._latest[1]

    def _is_meant(self, match: re.Match[str], text: str) -> bool:
        if _name(match) not in self._words:
            return True
        before, after = text[: match.start()], text[match.end() :]
        if not match[1][0].isupper():
            return False
        if _name(match) in _MONTHS and (_BEFORE_A_MONTH.search(before) or _A_DAY.match(after)):
            return False
        return bool(match["owns"]) or _SENTENCE_START.search(before) is None


def _name(match: re.Match[str]) -> str:
    return match[1].casefold()


def _pattern_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds any of the names, the longest first; group 1 is the name, ``owns`` a genitive's ending."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    if not longest_first:
        return None
    # In a script without spaces a particle follows a name at once; other names end where a word ends.
    alternatives = "|".join(
        re.escape(name) if is_unspaced(name) else rf"(?<!\w){re.escape(name)}(?={_OWNS.replace('?P<owns>', '?:')})"
        for name in longest_first
    )
    return re.compile(rf"({alternatives})(?:{_OWNS})?", re.IGNORECASE)
