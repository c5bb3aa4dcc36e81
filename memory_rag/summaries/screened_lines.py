"""The lines of a summary as they may be stored: a model's words pass the screen too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memory_rag.errors import RefusedError
from memory_rag.store.screening import Screen
from memory_rag.summaries.summary import Line


def screened_lines(lines: Iterable[Line], screen: Screen) -> tuple[Line, ...]:
    """Return lines without the secrets that are not to be stored; one that a rule keeps out as a whole is dropped.

    A verbatim line is a stored turn's own words: what is stored already is only reported, by ``memory-rag scan``.
    """
    kept = []
    for line in lines:
        if line.verbatim:
            kept.append(line)
            continue
        try:
            text = screen.text(line.text, what="a line of a summary")
            reason = screen.text(line.reason, what="the reason in a line of a summary")
        except RefusedError:
            continue
        kept.append(line if (text, reason) == (line.text, line.reason) else replace(line, text=text, reason=reason))
    return tuple(kept)
