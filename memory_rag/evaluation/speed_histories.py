"""Invented conversations as other programs would have kept them: a file or folder of each format that is imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_OID, uuid5

from memory_rag.evaluation.speed_corpus import SESSION_TURNS, Corpus
from memory_rag.importers.turn_lines import export_lines
from memory_rag.turns import Turn

Talk = tuple[str, Sequence[Turn]]
"""A conversation's id and its turns, the first speaker's and the second's in turns."""


def write_history(name: str, folder: Path, *, corpus: Corpus, n_turns: int) -> Path:
    """Write the corpus's first turns as the format of this name keeps them, with the fields that real files have.

    Formats of one conversation a file are folders. Who speaks first is the person, who speaks second the model.

    Raises:
        KeyError: no history is written in this format.
    """
    folder.mkdir(parents=True, exist_ok=True)
    turns = corpus.turns(0, n_turns)
    talks = [(talk, list(found)) for talk, found in groupby(turns, key=lambda turn: turn.conversation_id)]
    WRITERS[name](folder, talks)
    return folder


def _chatgpt(folder: Path, talks: Iterable[Talk]) -> None:
    _write_json(folder / "conversations.json", [_chatgpt_talk(talk, turns) for talk, turns in talks])


def _chatgpt_talk(talk: str, turns: Sequence[Turn]) -> dict[str, Any]:
    nodes = [_id(talk, place) for place in range(-1, len(turns))]
    mapping: dict[str, Any] = {nodes[0]: {"id": nodes[0], "message": None, "parent": None, "children": nodes[1:2]}}
    for place, turn in enumerate(turns, 1):
        message = {
            "id": nodes[place],
            "author": {"role": _role(turn), "name": None, "metadata": {}},
            "create_time": _said(turn).timestamp() + 0.123456,
            "update_time": None,
            "content": {"content_type": "text", "parts": [turn.text]},
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": {"model_slug": "some-model", "parent_id": nodes[place - 1], "request_id": _id(talk, "r")},
            "recipient": "all",
            "channel": None,
        }
        children = nodes[place + 1 : place + 2]
        mapping[nodes[place]] = {
            "id": nodes[place],
            "message": message,
            "parent": nodes[place - 1],
            "children": children,
        }
    about = {"title": talk, "create_time": _said(turns[0]).timestamp(), "conversation_id": _id(talk), "id": _id(talk)}
    return about | {"mapping": mapping, "current_node": nodes[-1], "default_model_slug": "some-model"}


def _claude(folder: Path, talks: Iterable[Talk]) -> None:
    exported = []
    for talk, turns in talks:
        messages = [
            {
                "uuid": _id(talk, place),
                "text": turn.text,
                "content": [
                    {
                        "start_timestamp": _iso(turn),
                        "stop_timestamp": _iso(turn),
                        "type": "text",
                        "text": turn.text,
                        "citations": [],
                    }
                ],
                "sender": "human" if place % 2 == 0 else "assistant",
                "created_at": _iso(turn),
                "updated_at": _iso(turn),
                "attachments": [],
                "files": [],
            }
            for place, turn in enumerate(turns)
        ]
        exported.append({"uuid": _id(talk), "name": talk, "account": {"uuid": _id("me")}, "chat_messages": messages})
    _write_json(folder / "conversations.json", exported)


def _claude_code(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        _write_lines(folder / "-home-ada-work" / f"{_id(talk)}.jsonl", _claude_code_lines(talk, turns))


def _claude_code_lines(talk: str, turns: Sequence[Turn]) -> Iterator[Any]:
    for place, turn in enumerate(turns):
        role = _role(turn)
        said: dict[str, Any] = {"role": role, "content": turn.text}
        if role == "assistant":
            content = [{"type": "text", "text": turn.text}]
            said = {"id": f"msg_{place}", "type": "message", "role": role, "model": "some-model", "content": content}
            said |= {"stop_reason": None, "usage": {"input_tokens": 4, "output_tokens": 27, "service_tier": "standard"}}
        yield {
            "parentUuid": _id(talk, place - 1) if place else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ada/work",
            "sessionId": _id(talk),
            "version": "1.0.60",
            "gitBranch": "main",
            "type": role,
            "message": said,
            "uuid": _id(talk, place),
            "timestamp": _iso(turn),
        }


def _codex(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        lines: list[Any] = [_codex_line(turns[0], "session_meta", {"id": _id(talk), "cwd": "/home/ada/work"})]
        for turn in turns:
            kind = "input_text" if _role(turn) == "user" else "output_text"
            item = {"type": "message", "role": _role(turn), "content": [{"type": kind, "text": turn.text}]}
            lines.append(_codex_line(turn, "response_item", item))
        _write_lines(folder / "2026" / "01" / "05" / f"rollout-{_id(talk)}.jsonl", lines)


def _codex_line(turn: Turn, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": _iso(turn), "type": kind, "payload": payload}


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    return [{"role": _role(turn), "content": turn.text} for turn in turns]


def _anthropic(folder: Path, talks: Iterable[Talk]) -> None:
    system = "Be brief and friendly."
    _write_lines(
        folder / "log.jsonl", ({"id": talk, "system": system, "messages": _messages(turns)} for talk, turns in talks)
    )


def _openai(folder: Path, talks: Iterable[Talk]) -> None:
    _write_lines(folder / "log.jsonl", ({"messages": _messages(turns)} for _, turns in talks))


def _openai_responses(folder: Path, talks: Iterable[Talk]) -> None:
    def items(talk: str, turns: Sequence[Turn]) -> Iterator[Any]:
        for place, turn in enumerate(turns):
            kind = "input_text" if _role(turn) == "user" else "output_text"
            content = [{"type": kind, "text": turn.text}]
            yield {"id": f"msg_{_id(talk, place)}", "type": "message", "role": _role(turn), "content": content}

    _write_lines(
        folder / "log.jsonl", ({"conversation_id": talk, "items": list(items(talk, turns))} for talk, turns in talks)
    )


def _sharegpt(folder: Path, talks: Iterable[Talk]) -> None:
    names = {"user": "human", "assistant": "gpt"}
    _write_json(
        folder / "sharegpt.json",
        [
            {"id": talk, "conversations": [{"from": names[_role(turn)], "value": turn.text} for turn in turns]}
            for talk, turns in talks
        ],
    )


def _locomo(folder: Path, talks: Iterable[Talk]) -> None:
    samples = []
    for talk, turns in talks:
        spoken: dict[str, Any] = {"speaker_a": turns[0].speaker, "speaker_b": turns[1].speaker}
        for number, session in enumerate(_sessions(turns), 1):
            said = _said(session[0])
            spoken[f"session_{number}_date_time"] = (
                f"{said:%I:%M} {said:%p} on {said.day} {said:%B}, {said.year}".lower()
            )
            spoken[f"session_{number}"] = [
                {"speaker": turn.speaker, "dia_id": f"D{number}:{place}", "text": turn.text}
                for place, turn in enumerate(session, 1)
            ]
        samples.append({"sample_id": talk, "conversation": spoken})
    _write_json(folder / "locomo.json", samples)


def _longmemeval(folder: Path, talks: Iterable[Talk]) -> None:
    questions = [
        {
            "question_id": talk,
            "question": "?",
            "haystack_dates": [f"{_said(session[0]):%Y/%m/%d (%a) %H:%M}" for session in _sessions(turns)],
            "haystack_sessions": [_messages(session) for session in _sessions(turns)],
        }
        for talk, turns in talks
    ]
    _write_json(folder / "longmemeval.json", questions)


def _beam(folder: Path, talks: Iterable[Talk]) -> None:
    for at, (_, turns) in enumerate(talks, 1):
        batches = []
        for number, session in enumerate(_sessions(turns), 1):
            first = session[0]
            messages = [
                {
                    "role": _role(turn),
                    "id": turn.ordinal,
                    "content": turn.text,
                    "time_anchor": f"{_said(first):%B-%d-%Y}",
                }
                for turn in session
            ]
            batches.append({"batch_number": number, "turns": [messages]})
        _write_json(folder / "100K" / str(at) / "chat.json", batches)


def _discord(folder: Path, talks: Iterable[Talk]) -> None:
    for at, (talk, turns) in enumerate(talks, 1):
        messages: list[dict[str, Any]] = [
            {
                "id": str(1_100_000_000_000_000_000 + turn.ordinal),
                "type": "Default",
                "timestamp": _said(turn).isoformat(),
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
        _write_json(
            folder / f"{talk}.json", {"guild": {"id": "1", "name": "G"}, "channel": channel, "messages": messages}
        )


def _slack(folder: Path, talks: Iterable[Talk]) -> None:
    _write_json(folder / "users.json", [])
    for talk, turns in talks:
        for day, said in groupby(turns, key=lambda turn: _said(turn).date()):
            messages = [
                {
                    "client_msg_id": _id(talk, turn.ordinal),
                    "type": "message",
                    "text": turn.text,
                    "user": turn.speaker,
                    "ts": f"{_said(turn).timestamp():.0f}.{turn.ordinal:06}",
                    "user_profile": {"real_name": turn.speaker, "display_name": turn.speaker},
                }
                for turn in said
            ]
            _write_json(folder / talk / f"{day}.json", messages)


def _telegram(folder: Path, talks: Iterable[Talk]) -> None:
    chats = []
    for at, (talk, turns) in enumerate(talks, 1):
        messages = [
            {
                "id": turn.ordinal,
                "type": "message",
                "date": f"{_said(turn):%Y-%m-%dT%H:%M:%S}",
                "date_unixtime": f"{_said(turn).timestamp():.0f}",
                "from": turn.speaker,
                "from_id": f"user{turn.speaker}",
                "text": turn.text,
                "text_entities": [{"type": "plain", "text": turn.text}],
            }
            for turn in turns
        ]
        chats.append({"name": talk, "type": "personal_chat", "id": at, "messages": messages})
    _write_json(folder / "result.json", {"about": "", "chats": {"about": "", "list": chats}})


def _whatsapp(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        lines = (f"{_said(turn):%d.%m.%Y, %H:%M} - {turn.speaker}: {turn.text}\n" for turn in turns)
        (folder / f"WhatsApp Chat with {talk}.txt").write_text("".join(lines), encoding="utf-8")


def _transcript(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        text = "".join(f"### {_role(turn).title()}\n\n{turn.text}\n\n" for turn in turns)
        (folder / f"{talk}.md").write_text(text, encoding="utf-8")


def _memory_rag(folder: Path, talks: Iterable[Talk]) -> None:
    turns = (turn for _, found in talks for turn in found)
    (folder / "export.jsonl").write_text("".join(export_lines([], turns)), encoding="utf-8")


WRITERS: Final[dict[str, Callable[[Path, Iterable[Talk]], None]]] = {
    "anthropic": _anthropic,
    "beam": _beam,
    "chatgpt": _chatgpt,
    "claude": _claude,
    "claude-code": _claude_code,
    "codex": _codex,
    "discord": _discord,
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "memory-rag": _memory_rag,
    "openai": _openai,
    "openai-responses": _openai_responses,
    "sharegpt": _sharegpt,
    "slack": _slack,
    "telegram": _telegram,
    "transcript": _transcript,
    "whatsapp": _whatsapp,
}


def _sessions(turns: Sequence[Turn]) -> list[Sequence[Turn]]:
    return [turns[start : start + SESSION_TURNS] for start in range(0, len(turns), SESSION_TURNS)]


def _role(turn: Turn) -> str:
    return "assistant" if turn.ordinal % 2 else "user"


def _said(turn: Turn) -> datetime:
    if turn.said_at is None:
        raise ValueError(f"turn {turn.ordinal} of {turn.conversation_id} has no time")
    return turn.said_at


def _iso(turn: Turn) -> str:
    return f"{_said(turn):%Y-%m-%dT%H:%M:%S}.123Z"


def _id(*of: object) -> str:
    return str(uuid5(NAMESPACE_OID, "/".join(map(str, of))))


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _write_lines(path: Path, values: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values), encoding="utf-8")
