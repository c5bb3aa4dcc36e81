"""What was told of other turns in words of one's own, a model's or a person's, and tells of those that go as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from memory_rag.store.connections import Connection
from memory_rag.turns import text_from_bytes

_LINES: Final = "SELECT summary, place, text, reason FROM summary_lines WHERE NOT verbatim ORDER BY summary, place"
_FOCUSES: Final = "SELECT summary, focus FROM summaries WHERE focus != x'' ORDER BY summary"
_TALKS: Final = (
    "SELECT talk, conversation_id, text, reason FROM talk_lines JOIN talk_summaries USING (talk) WHERE NOT verbatim "
    "ORDER BY talk, place"
)


def retold_texts(connection: Connection) -> Iterator[str]:
    """Yield every line of a summary that isn't a turn's own words, and what summaries were asked to keep."""
    for _summary, _place, *texts in connection.execute(_LINES):
        yield from map(text_from_bytes, texts)
    for _summary, focus in connection.execute(_FOCUSES):
        yield text_from_bytes(focus)
    for _talk, _conversation_id, *texts in connection.execute(_TALKS):
        yield from map(text_from_bytes, texts)


def drop_retold(connection: Connection, tells: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
    """Take out of summaries of other turns what ``tells``; yield (kind, name, words) of each that goes.

    A line of a running summary goes alone, and the summary is made anew later. The summary of a talk goes whole, with
    its vectors.
    """
    for summary, place, *parts in connection.execute(_LINES).fetchall():
        text = " ".join(map(text_from_bytes, parts)).strip()
        if tells(text):
            for table in ("summary_lines", "summary_citations"):
                connection.execute(f"DELETE FROM {table} WHERE summary = ? AND place = ?", (summary, place))
            connection.execute("UPDATE summaries SET is_stale = 1 WHERE summary = ?", (summary,))
            yield "summary", str(summary), text
    for summary, focus in connection.execute(_FOCUSES).fetchall():
        text = text_from_bytes(focus)
        if tells(text):
            connection.execute("UPDATE summaries SET is_stale = 1, focus = x'' WHERE summary = ?", (summary,))
            yield "focus", str(summary), text
    gone = set[int]()
    for talk, conversation_id, *parts in connection.execute(_TALKS).fetchall():
        text = " ".join(map(text_from_bytes, parts)).strip()
        if talk not in gone and tells(text):
            gone.add(talk)
            connection.execute("DELETE FROM talk_summaries WHERE talk = ?", (talk,))
            yield "talk", str(conversation_id), text
