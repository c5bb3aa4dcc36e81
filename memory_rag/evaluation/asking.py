"""How well it is told whether somebody asks for what was said before, on labelled utterances."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.markdown import markdown_table

HALVES: Final = {"test": "held out", "second": "held out, second set", "dev": "looked at"}
_LANGUAGES: Final = {"en": "English", "sv": "Swedish", "nb": "Norwegian"}
_ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody says, in which language and part of the sets, and whether it asks for what was said before."""

    text: str
    language: str
    half: str
    asks: bool


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labelled utterances and the SHA-256 of their files, one after the other."""

    utterances: tuple[Utterance, ...]
    sha256: str

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Self:
        """Return the utterances of files of JSON lines with text, language, split and retrieve.

        Raises:
            MemoryRagError: a file can't be read, or a line isn't of this kind.
        """
        said: list[Utterance] = []
        read = sha256()
        for path in paths:
            try:
                data = path.read_bytes()
                rows = [json.loads(line) for line in data.decode().splitlines()]
                said += [Utterance(row["text"], row["language"], row["split"], row["retrieve"]) for row in rows]
            except OSError as error:
                raise MemoryRagError(
                    f"{path} can't be read ({error.strerror}); name the files with --labels"
                ) from error
            except (ValueError, KeyError, TypeError) as error:
                raise MemoryRagError(f"{path} has a line that is no labelled utterance: {error!r}") from error
            read.update(data)
        return cls(tuple(said), read.hexdigest())


def asking_trial(utterances: Sequence[Utterance], *, need_of: Callable[[str], str]) -> dict[str, Any]:
    """Count, by part and language, what is told of utterances that ask and of others; ``need_of`` says what of each.

    A count is keyed by what was told: ``asked``, ``unclear`` or ``none``.
    """
    counted: dict[str, Any] = {}
    for one in utterances:
        told = need_of(one.text)
        for language in (one.language, _ALL):
            of_language = counted.setdefault(one.half, {}).setdefault(language, {"asking": {}, "other": {}})
            of_label = of_language["asking" if one.asks else "other"]
            of_label[told] = of_label.get(told, 0) + 1
    return counted


def asking_table(result: Mapping[str, Any], *, cell: Callable[[float, int], str]) -> str:
    """Return the table of a trial, a row for each half and language; ``cell`` writes a share of so many."""
    rows = []
    for half, name in HALVES.items():
        for language in (*_LANGUAGES, _ALL) if half in result else ():
            asking, other = result[half][language]["asking"], result[half][language]["other"]
            n_asking, n_other = sum(asking.values()), sum(other.values())
            right, wrong = asking.get("asked", 0), other.get("asked", 0)
            shares = [
                (right, right + wrong),
                (right, n_asking),
                (right + n_other - wrong, n_asking + n_other),
                (asking.get("none", 0), n_asking),
                (other.get("none", 0), n_other),
            ]
            label = _LANGUAGES.get(language, "all")
            cells = [cell(part / of, of) if of else "-" for part, of in shares]
            rows.append((f"{label}, {name}", f"{n_asking + n_other}", *cells))
    head = (
        "utterances",
        "n",
        "precision",
        "recall",
        "accuracy",
        "asking, not searched for",
        "others, not searched for",
    )
    return markdown_table(head, rows)
