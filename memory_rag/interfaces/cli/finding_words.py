"""What was found in turns, as the command line tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from memory_rag.store.screening import Finding

_DONE: Final = {"tag": "tagged", "redact": "redacted before it was stored", "refuse": "refused"}
_TO_BE_DONE: Final = {"tag": "to be tagged", "redact": "to be redacted", "refuse": "to be refused"}


def findings_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return what was found in a turn: kind, what was done, where, and the span in the text as it is stored."""
    return [
        {
            "kind": one.kind,
            "action": one.action,
            "place": one.place,
            "start": one.span and one.span.start,
            "end": one.span and one.span.end,
        }
        for one in findings
    ]


def findings_line(findings: Sequence[Finding]) -> str:
    """Return ``redacted before it was stored: password; tagged: email, 2 × phone``; empty if nothing was found."""
    parts = []
    for action in ("redact", "tag"):
        counts = Counter(
            one.kind if one.place == "text" else f"{one.kind} in its {one.place}"
            for one in findings
            if one.action == action
        )
        if counts:
            parts.append(f"{_DONE[action]}: {kinds_listed(counts)}")
    return "; ".join(parts)


def found_words(found: Mapping[str, Mapping[str, int]], *, dry_run: bool = False) -> str:
    """Return the counts of an import: ``3 × password (redacted before it was stored), 12 × email (tagged)``.

    Of a dry run they say what would be done: ``3 × password (to be redacted)``.
    """
    done = _TO_BE_DONE if dry_run else _DONE
    return ", ".join(
        f"{count:,} × {kind} ({done.get(action, action)})"
        for kind, counts in sorted(found.items())
        for action, count in sorted(counts.items())
    )


def kinds_listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} × {kind}" if count > 1 else kind for kind, count in sorted(counts.items()))
