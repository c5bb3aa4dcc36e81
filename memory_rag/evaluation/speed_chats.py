"""Invented conversations as the programs in which people write to each other keep them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from memory_rag.evaluation.history_files import Talk, made_id, role_of, sessions_of, time_of, write_json


def locomo(folder: Path, talks: Iterable[Talk]) -> None:
    samples = []
    for talk, turns in talks:
        spoken: dict[str, Any] = {"speaker_a": turns[0].speaker, "speaker_b": turns[1].speaker}
        for number, session in enumerate(sessions_of(turns), 1):
            said = time_of(session[0])
            spoken[f"session_{number}_date_time"] = (
                f"{said:%I:%M} {said:%p} on {said.day} {said:%B}, {said.year}".lower()
            )
            spoken[f"session_{number}"] = [
                {"speaker": turn.speaker, "dia_id": f"D{number}:{place}", "text": turn.text}
                for place, turn in enumerate(session, 1)
            ]
        samples.append({"sample_id": talk, "conversation": spoken})
    write_json(folder / "locomo.json", samples)


def discord(folder: Path, talks: Iterable[Talk]) -> None:
    for at, (talk, turns) in enumerate(talks, 1):
        messages: list[dict[str, Any]] = [
            {
                "id": str(1_100_000_000_000_000_000 + turn.ordinal),
                "type": "Default",
                "timestamp": time_of(turn).isoformat(),
                "timestampEdited": None,
                "isPinned": False,
                "content": turn.text,
                "author": {"id": turn.speaker, "name": turn.speaker, "nickname": turn.speaker, "isBot": False},
                "attachments": [],
                "embeds": [],
                "stickers": [],
                "reactions": [],
                "mentions": [],
            }
            for turn in turns
        ]
        channel = {"id": str(900_000_000_000_000_000 + at), "type": "GuildTextChat", "name": talk}
        write_json(
            folder / f"{talk}.json", {"guild": {"id": "1", "name": "G"}, "channel": channel, "messages": messages}
        )


def slack(folder: Path, talks: Iterable[Talk]) -> None:
    write_json(folder / "users.json", [])
    for talk, turns in talks:
        for day, said in groupby(turns, key=lambda turn: time_of(turn).date()):
            messages = [
                {
                    "client_msg_id": made_id(talk, turn.ordinal),
                    "type": "message",
                    "text": turn.text,
                    "user": turn.speaker,
                    "ts": f"{time_of(turn).timestamp():.0f}.{turn.ordinal:06}",
                    "user_profile": {"real_name": turn.speaker, "display_name": turn.speaker},
                }
                for turn in said
            ]
            write_json(folder / talk / f"{day}.json", messages)


def telegram(folder: Path, talks: Iterable[Talk]) -> None:
    chats = []
    for at, (talk, turns) in enumerate(talks, 1):
        messages = [
            {
                "id": turn.ordinal,
                "type": "message",
                "date": f"{time_of(turn):%Y-%m-%dT%H:%M:%S}",
                "date_unixtime": f"{time_of(turn).timestamp():.0f}",
                "from": turn.speaker,
                "from_id": f"user{turn.speaker}",
                "text": turn.text,
                "text_entities": [{"type": "plain", "text": turn.text}],
            }
            for turn in turns
        ]
        chats.append({"name": talk, "type": "personal_chat", "id": at, "messages": messages})
    write_json(folder / "result.json", {"about": "", "chats": {"about": "", "list": chats}})


def whatsapp(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        lines = (f"{time_of(turn):%d.%m.%Y, %H:%M} - {turn.speaker}: {turn.text}\n" for turn in turns)
        (folder / f"WhatsApp Chat with {talk}.txt").write_text("".join(lines), encoding="utf-8")


def transcript(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        text = "".join(f"### {role_of(turn).title()}\n\n{turn.text}\n\n" for turn in turns)
        (folder / f"{talk}.md").write_text(text, encoding="utf-8")
