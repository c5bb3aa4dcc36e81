"""A decision and its reason as one line."""

from __future__ import annotations

from typing import Final

_SENTENCE_ENDS: Final = (".", "!", "?", "…", "。", "！", "？")


def with_reason(text: str, because: str) -> str:
    """Return what was decided and why on one line: ``One price, because two confuse people``.

    Where the decision ends as a sentence does, its reason begins another: ``One price. Because: two confuse people.``
    """
    decided, reason = _line(text), _line(because)
    opening, _, rest = reason.partition(" ")
    reason = rest if rest and opening.casefold() == "because" else reason
    if decided.endswith(_SENTENCE_ENDS):
        return f"{decided} Because: {reason}"
    return f"{decided}, because {reason}"


def _line(text: str) -> str:
    return " ".join(text.split())
