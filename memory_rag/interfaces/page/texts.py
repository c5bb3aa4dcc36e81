"""What the page says, in each of its languages: one file a language, the same keys in all."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

SOURCE: Final = "en"


@dataclass(frozen=True, slots=True)
class Texts:
    """The catalogue of one language."""

    language: str
    catalogue: Mapping[str, str]

    def tell(self, key: str, n: int | None = None, /, **values: Any) -> str:
        """Return a text with its values filled in; ``n`` chooses between ``key`` and ``key_one``."""
        if n is not None:
            values["n"] = self.number(n)
            key = f"{key}_one" if n == 1 and f"{key}_one" in self.catalogue else key
        text = self.catalogue[key]
        return text.format(**values) if values else text

    def number(self, n: int) -> str:
        """Return a whole number as this language writes it."""
        return f"{n:,}".replace(",", self.catalogue["thousands"])

    def get(self, key: str, default: str) -> str:
        return self.catalogue.get(key, default)


@cache
def languages() -> dict[str, str]:
    """Return the languages that there are, each with its own name, the source first."""
    found = sorted(
        file.name[:-5] for file in files(__package__).joinpath("texts").iterdir() if file.name[-5:] == ".toml"
    )
    found.sort(key=lambda code: code != SOURCE)
    return {code: texts_in(code).catalogue["language"] for code in found}


@cache
def texts_in(language: str) -> Texts:
    """Return a language's texts."""
    read = tomllib.loads(files(__package__).joinpath("texts", f"{language}.toml").read_text(encoding="utf-8"))
    return Texts(language, read)


def chosen(cookie: str, accepted: str) -> Texts:
    """Return the texts in the language that was chosen, else the first that a browser asks for and we have."""
    known = languages()
    if cookie in known:
        return texts_in(cookie)
    for part in accepted.split(","):
        code = part.partition(";")[0].strip().lower().partition("-")[0]
        if code in known:
            return texts_in(code)
    return texts_in(SOURCE)
