"""Discord by DiscordChatExporter: snowflakes, empty messages whose words are elsewhere, parts of one channel."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.turns import Conversation

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]

BIG = 1234567890123456789


def message(native_id: int, content: str = "hej", **more: Any) -> dict[str, Any]:
    author = {"id": "9", "name": "bo", "discriminator": "0000", "nickname": "Bosse", "isBot": False}
    said = {
        "id": str(native_id),
        "type": "Default",
        "timestamp": "2026-05-06T07:08:09.123+02:00",
        "timestampEdited": None,
    }
    return {**said, "content": content, "author": author, "attachments": [], "embeds": [], "stickers": [], **more}


def channel(*messages: Any, **more: Any) -> dict[str, Any]:
    about = {"guild": {"id": "1", "name": "Odlarna"}, "channel": {"id": "77", "type": "GuildTextChat", "name": "frö"}}
    return {**about, "dateRange": {}, "messages": list(messages), "messageCount": len(messages), **more}


def test_a_message_has_its_id_its_offset_and_the_name_in_the_guild(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("frö.json", channel(message(BIG))))
    (turn,) = found.turns
    assert (turn.source.native_id, turn.ordinal, turn.speaker) == (str(BIG), BIG, "Bosse")
    assert turn.said_at == datetime(2026, 5, 6, 5, 8, 9, 123_000, tzinfo=UTC)
    assert (turn.conversation_id, turn.session_id) == ("discord-77", "discord-77/2026-05-06")
    assert found.conversations == [Conversation("discord-77", "Odlarna #frö")]
    assert json.loads(turn.source.raw)["id"] == str(BIG)


def test_words_in_an_embed_a_file_or_a_sticker_are_found_though_the_text_is_empty(
    made: Made, import_all: ImportAll
) -> None:
    found = import_all(
        made(
            "a.json",
            channel(
                message(
                    1,
                    "",
                    embeds=[{"title": "Bygge", "description": "gick bra", "fields": [{"name": "tid", "value": "3 s"}]}],
                ),
                message(
                    2, "", attachments=[{"id": "5", "url": "https://x", "fileName": "katt.png", "fileSizeBytes": 7}]
                ),
                message(3, "", stickers=[{"id": "6", "name": "vinka"}]),
                message(4, "", forwardedMessage={"content": "från annat håll"}),
            ),
        )
    )
    assert [(turn.blocks[0].kind, turn.blocks[0].caption, turn.recalled) for turn in found.turns] == [
        ("embed", "Bygge gick bra tid 3 s", True),
        ("image", "katt.png", True),
        ("sticker", "vinka", True),
        ("forwarded", "från annat håll", True),
    ]


def test_a_reply_is_a_message_and_what_the_server_says_is_counted(made: Made, import_all: ImportAll) -> None:
    reference = {"messageId": "1", "channelId": "77", "guildId": "1"}
    found = import_all(
        made(
            "a.json",
            channel(
                message(1),
                message(2, "svar", type="Reply", reference=reference),
                message(3, "har fäst", type="ChannelPinnedMessage"),
                message(4, "", type="ThreadStarterMessage", reference=reference),
            ),
        )
    )
    assert found.texts == ["hej", "svar"]
    assert found.skipped == {"no message but 'ChannelPinnedMessage'": 1, "no message but 'ThreadStarterMessage'": 1}


def test_the_parts_of_an_export_are_one_conversation(made: Made, import_all: ImportAll, tmp_path: Path) -> None:
    made("x/frö [part 1].json", channel(message(1, "ett"), message(2, "två")))
    made("x/frö [part 2].json", channel(message(3, "tre")))
    found = import_all(tmp_path / "x")
    assert [(turn.conversation_id, turn.ordinal, turn.text) for turn in found.turns] == [
        ("discord-77", 1, "ett"),
        ("discord-77", 2, "två"),
        ("discord-77", 3, "tre"),
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.text(min_size=1), min_size=1, max_size=6))
def test_what_was_said_comes_back_code_point_by_code_point(made: Made, import_all: ImportAll, said: list[str]) -> None:
    found = import_all(made("a.json", channel(*(message(BIG + at, text) for at, text in enumerate(said)))))
    assert found.texts == said
