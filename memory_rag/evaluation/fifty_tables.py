"""The tables of the fifty conversations: which one a question is about, among fifty and among five."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory_rag.evaluation.markdown import markdown_table

FIFTY_TABLES: Final = ("fifty", "fifty-weak-spot")
_LANGUAGES: Final = {"sv": "Swedish", "nb": "Norwegian"}
_KINDS: Final = {"same_words": "same words", "paraphrase": "paraphrase"}
_POOLS: Final = {"of_fifty": "of fifty", "of_five": "of five"}


def fifty_tables(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of a ``fifty`` result by name."""
    return {"fifty": _places(found["result"]), "fifty-weak-spot": _weak_spot(found["result"])}


def _each(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Yield (embedder, language, way, what was found)."""
    for embedder, languages in result.items():
        for language in _LANGUAGES:
            for way, own in languages.get(language, {}).items():
                yield embedder, language, way, own


def _places(result: Mapping[str, Any]) -> str:
    rows = []
    for embedder, language, way, own in _each(result):
        cells = [
            f"{own[kind][pool]['first']} · {own[kind][pool]['in_three']} · {own[kind][pool]['empty']}"
            for kind in _KINDS
            for pool in _POOLS
        ]
        rows.append((f"`{embedder}`", _LANGUAGES[language], way, *cells))
    head = [f"{kind}, {pool}" for kind in _KINDS.values() for pool in _POOLS.values()]
    table = markdown_table(("embedder", "language", "found by", *head), rows, n_words=3)
    return (
        f"{table}\n\nOf 50 questions: the right conversation first · among the first three · answered by nothing, "
        "where the floor is on. All places are without the floor."
    )


def _weak_spot(result: Mapping[str, Any]) -> str:
    rows = [
        (f"`{embedder}`", own["weak_spot"]["question"], way, *(_told(own["weak_spot"][pool]) for pool in _POOLS))
        for embedder, _language, way, own in _each(result)
        if "weak_spot" in own
    ]
    head = ("embedder", "question", "found by", *(f"place {pool}" for pool in _POOLS.values()))
    return markdown_table(head, rows, n_words=3)


def _told(place: int | None) -> str:
    return "not found" if place is None else str(place)
