"""Fenced code in a turn's words, which a reader sees as such; no character is added or left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory_rag.html.pieces import Piece

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*(?:\n|\Z)", re.MULTILINE)


@dataclass(slots=True)
class Run:
    """Pieces that stand together: fenced code, with its fences, or other words."""

    is_code: bool
    pieces: list[Piece] = field(default_factory=list)


def runs_of(pieces: Sequence[Piece]) -> list[Run]:
    """Return the pieces of a text by whether they are code, in order; a piece on a border is cut in two."""
    runs: list[Run] = []
    spans = list(_spans("".join(piece.text for piece in pieces)))
    at = number = 0
    for piece in pieces:
        end = at + len(piece.text)
        while at < end:
            while number < len(spans) and spans[number][1] <= at:
                number += 1
            begin, stop = spans[number] if number < len(spans) else (end, end)
            until = min(end, stop if begin <= at else begin)
            if not runs or runs[-1].is_code != (begin <= at < stop) or at == begin:
                runs.append(Run(begin <= at < stop))
            left = end - at
            text = piece.text[len(piece.text) - left : len(piece.text) - left + until - at]
            runs[-1].pieces.append(Piece(text, piece.is_marked))
            at = until
    return runs


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where fenced code begins and ends, its last line end included; a fence that isn't closed opens nothing."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif _closes(fence, opened):
            yield opened.start(), fence.end()
            opened = None


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    bare = fence[0].strip() == fence[1]
    return bare and fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1])
