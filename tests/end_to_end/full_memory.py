"""A memory with something in every table: invented words, every kind of change, and nothing left to chance."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_rag.memory import Memory
from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn
from tests.end_to_end.hashed_words import HashedWords

ODD = "Ö är en ö. \ud83d lone, \ud83d\ude00 apart, 😀 whole, NUL \0, \u2028 a line, ~ ~~ \r\n and \t 東京"


def steps(start: datetime = datetime(2026, 5, 1, 8, tzinfo=UTC)) -> Callable[[], datetime]:
    """A clock that goes on by a minute each time it is looked at."""
    minutes = iter(range(1_000_000))
    return lambda: start + timedelta(minutes=next(minutes))


def opened(folder: Path | str, **given: Any) -> Memory:
    return Memory.open(folder, **{"embedder": HashedWords(), "clock": steps(), "language": "en,sv", **given})


def filled(folder: Path, place: Path) -> None:
    """Make the memory in a folder; what it imports is written to another."""
    with opened(folder) as memory:
        memory.add("The kayak is red and leaks at the bow.", speaker="Ebba")
        memory.add("Noted: red kayak, leaks at the bow.", role="assistant")
        memory.add(ODD, speaker="Åsa \udc80", conversation_id="odd")
        memory.add_many(
            [
                Conversation("odd", "Udda \ud83d ting"),
                Turn(
                    turn_id="shown",
                    conversation_id="odd",
                    session_id="odd/1",
                    ordinal=17,
                    role=Role.TOOL,
                    speaker="camera",
                    text="a picture of the jetty [end]",
                    said_at=None,
                    said_at_text="last Thursday, about four",
                    blocks=(Block("image", {"url": "jetty.png", "z": 1, "a": [1.5, None, "\ud83d"]}, "the jetty"),),
                    source=Source("elsewhere", "n1", '{"raw": "as read, ö"}'),
                    recalled=False,
                    indexed=Span(0, 22),
                ),
            ]
        )
        memory.store.append(talk("one", "two", "three", "four"), newer=True, whole=True)
        memory.store.append(talk("one", "two, edited", "", "four"), newer=True, whole=True)
        memory.store.note_export(
            source_name="elsewhere",
            account="ebba",
            conversation_ids=["talk"],
            latest=datetime(2026, 5, 1, tzinfo=UTC),
        )
        memory.correct("t1", text="The kayak is blue and leaks at the bow.", speaker="Ebba N")
        memory.correct("t1", said_at=datetime(2026, 5, 1, 7, tzinfo=UTC))
        gone = memory.add("This one is forgotten: zebra crossing.")
        memory.forget([gone.turn_id])
        memory.store.append([replace(talk("five, which is forgotten")[0], conversation_id="gone")])
        memory.forget([turn.turn_id for turn in memory.turns(conversation_id="gone")])
        memory.prompt.pins.add("always answer in Swedish", turn_id="t1")
        memory.prompt.state.merge({"task": "mend the bow", "n": [1, 2.5, None, True]})
        memory.prompt.decisions.add("use resin", because="it sets in the cold")
        pinned = place / "rules.md"
        pinned.write_text("No blame.\n", encoding="utf-8")
        memory.prompt.files.pin(pinned)
        memory.prompt.blocks.keep("t2", [{"type": "text", "text": "Noted: ö"}], provider="anthropic")
        memory.context("is the kayak red?")
        memory.summaries.summarise("main", keep_recent=0)
        memory.embed()
        memory.indexes.save()


def talk(*texts: str) -> list[Turn]:
    """Return a conversation as its source has it now; an empty text is a message that is gone."""
    return [
        Turn(
            turn_id="",
            conversation_id="talk",
            session_id="talk/1",
            ordinal=at,
            role=Role.USER if at % 2 == 0 else Role.ASSISTANT,
            speaker="Bo",
            text=text,
            said_at=datetime(2026, 4, 1, 12, at, tzinfo=UTC),
            source=Source("elsewhere", f"m{at}", json.dumps({"id": at, "text": text})),
        )
        for at, text in enumerate(texts)
        if text
    ]
