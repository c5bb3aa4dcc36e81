"""A summary and its audit as a notebook shows them: every line with its turns, every loss with its turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_rag.html.cards import badge, card, quiet, share_bar, table, words
from memory_rag.html.markup import Html, joined
from memory_rag.summaries.summary import Kind

if TYPE_CHECKING:
    from memory_rag.summaries.audit import Audit
    from memory_rag.summaries.running import Audited
    from memory_rag.summaries.summary import Summary

_LOST_SHOWN: Final = 12


def summary_html(summary: Summary) -> Html:
    """Return a summary's lines in their order, each with its kind and its turns, and what it stands for."""
    title = f"{summary.n_words:,} words for {summary.n_turns:,} turns, {summary.first_turn_id} to "
    title += f"{summary.last_turn_id} of {summary.conversation_id}"
    topics = ", ".join(line.shown for line in summary.of_kind(Kind.TOPIC))
    lines = [line for kind in Kind if kind is not Kind.TOPIC for line in summary.of_kind(kind)]
    verbatim = "every line is word for word" if lines and all(line.verbatim for line in lines) else ""
    told = " · ".join(note for note in (f"made by {summary.made_by}", verbatim, summary.note) if note)
    about = words(f"About: {topics}") if topics else None
    rows = [[line.kind.value, words(line.shown), ", ".join(line.turn_ids)] for line in lines]
    return card(about, table(["kind", "line", "turns"], rows), quiet(told), title=title)


def audited_html(audited: Audited) -> Html:
    """Return a summary, and below it what it lost."""
    return joined([summary_html(audited.summary), audit_html(audited.audit)])


def audit_html(audit: Audit) -> Html:
    """Return how much of each kind is kept, drawn, and the first things that are lost."""
    rows = [
        [kind, share_bar(one.share), f"{one.kept:,} of {one.of:,}"]
        for kind, one in audit.kept.items()
        if one.share is not None
    ]
    lost = [[badge(one.kind, "unsure"), words(one.text), one.turn_id] for one in audit.lost[:_LOST_SHOWN]]
    more = len(audit.lost) - _LOST_SHOWN
    rest = quiet(f"and {more:,} more") if more > 0 else None
    gone = table(["lost", "", "turn"], lost) if lost else None
    title = f"{len(audit.lost):,} things are not in the summary" if audit.lost else "Nothing is lost"
    kept = table(["kind", "kept", ""], rows, numbers=1)
    return card(kept, gone, rest, title=title, tone="unsure" if lost else "good")
