"""What was told of other turns, in summaries and in answers as a provider gave them, and tells of those that go too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from memory_rag.store.engine import Connection
from memory_rag.turns import text_from_bytes

_LINES: Final = "SELECT summary, place, text, reason FROM summary_lines WHERE verbatim = 0 ORDER BY summary, place"
_FOCUSES: Final = "SELECT summary, focus FROM summaries WHERE length(focus) > 0 ORDER BY summary"
_TALKS: Final = (
    "SELECT talk, conversation_id, text, reason FROM talk_lines JOIN talk_summaries USING (talk) WHERE verbatim = 0 "
    "ORDER BY talk, place"
)
_ANSWERS: Final = "SELECT turn_id, row, content FROM returned_blocks JOIN turns USING (row) ORDER BY row"


def retold_texts(connection: Connection) -> Iterator[str]:
    """Yield every line of a summary that isn't a turn's own words, what summaries were asked to keep, and the answers
    that are kept for a provider."""
    for _summary, _place, *texts in connection.execute(_LINES):
        yield from map(text_from_bytes, texts)
    for _summary, focus in connection.execute(_FOCUSES):
        yield text_from_bytes(focus)
    for _talk, _conversation_id, *texts in connection.execute(_TALKS):
        yield from map(text_from_bytes, texts)
    for _turn_id, _row, content in connection.execute(_ANSWERS):
        yield unescaped(text_from_bytes(content))


def drop_retold(connection: Connection, tells: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
    """Take out of summaries of other turns what ``tells``; yield (kind, name, words) of each that goes.

    A line of a running summary goes alone, and the summary is made anew later. The summary of a talk goes whole, with
    its vectors; so does an answer as its provider gave it, of which the turn stays.
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
            connection.execute("UPDATE summaries SET is_stale = 1, focus = ? WHERE summary = ?", (b"", summary))
            yield "focus", str(summary), text
    gone = set[int]()
    for talk, conversation_id, *parts in connection.execute(_TALKS).fetchall():
        text = " ".join(map(text_from_bytes, parts)).strip()
        if talk not in gone and tells(text):
            gone.add(talk)
            connection.execute("DELETE FROM talk_summaries WHERE talk = ?", (talk,))
            yield "talk", str(conversation_id), text
    for turn_id, row, content in connection.execute(_ANSWERS).fetchall():
        text = unescaped(text_from_bytes(content))
        if tells(text):
            connection.execute("DELETE FROM returned_blocks WHERE row = ?", (row,))
            yield "answer", str(turn_id), text


def unescaped(text: str) -> str:
    """Return JSON text with its escapes read (``\\u00f6`` as ``ö``); other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text
