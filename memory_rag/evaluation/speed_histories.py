"""Invented conversations as other programs would have kept them: a file or folder of each format that is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from memory_rag.evaluation.history_files import (
    Talk,
    iso,
    made_id,
    role_of,
    sessions_of,
    time_of,
    write_json,
    write_lines,
)
from memory_rag.evaluation.speed_chats import discord, locomo, slack, telegram, transcript, whatsapp
from memory_rag.evaluation.speed_corpus import Corpus
from memory_rag.importers.turn_lines import export_lines
from memory_rag.turns import Turn


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
    write_json(folder / "conversations.json", [_chatgpt_talk(talk, turns) for talk, turns in talks])


def _chatgpt_talk(talk: str, turns: Sequence[Turn]) -> dict[str, Any]:
    nodes = [made_id(talk, place) for place in range(-1, len(turns))]
    mapping: dict[str, Any] = {nodes[0]: {"id": nodes[0], "message": None, "parent": None, "children": nodes[1:2]}}
    for place, turn in enumerate(turns, 1):
        message = {
            "id": nodes[place],
            "author": {"role": role_of(turn), "name": None, "metadata": {}},
            "create_time": time_of(turn).timestamp() + 0.123456,
            "update_time": None,
            "content": {"content_type": "text", "parts": [turn.text]},
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": {"model_slug": "some-model", "parent_id": nodes[place - 1], "request_id": made_id(talk, "r")},
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
    about = {
        "title": talk,
        "create_time": time_of(turns[0]).timestamp(),
        "conversation_id": made_id(talk),
        "id": made_id(talk),
    }
    return about | {"mapping": mapping, "current_node": nodes[-1], "default_model_slug": "some-model"}


def _claude(folder: Path, talks: Iterable[Talk]) -> None:
    exported = []
    for talk, turns in talks:
        messages = [
            {
                "uuid": made_id(talk, place),
                "text": turn.text,
                "content": [
                    {
                        "start_timestamp": iso(turn),
                        "stop_timestamp": iso(turn),
                        "type": "text",
                        "text": turn.text,
                        "citations": [],
                    }
                ],
                "sender": "human" if place % 2 == 0 else "assistant",
                "created_at": iso(turn),
                "updated_at": iso(turn),
                "attachments": [],
                "files": [],
            }
            for place, turn in enumerate(turns)
        ]
        exported.append(
            {"uuid": made_id(talk), "name": talk, "account": {"uuid": made_id("me")}, "chat_messages": messages}
        )
    write_json(folder / "conversations.json", exported)


def _claude_code(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        write_lines(folder / "-home-ada-work" / f"{made_id(talk)}.jsonl", _claude_code_lines(talk, turns))


def _claude_code_lines(talk: str, turns: Sequence[Turn]) -> Iterator[Any]:
    for place, turn in enumerate(turns):
        role = role_of(turn)
        said: dict[str, Any] = {"role": role, "content": turn.text}
        if role == "assistant":
            content = [{"type": "text", "text": turn.text}]
            said = {"id": f"msg_{place}", "type": "message", "role": role, "model": "some-model", "content": content}
            said |= {"stop_reason": None, "usage": {"input_tokens": 4, "output_tokens": 27, "service_tier": "standard"}}
        yield {
            "parentUuid": made_id(talk, place - 1) if place else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ada/work",
            "sessionId": made_id(talk),
            "version": "1.0.60",
            "gitBranch": "main",
            "type": role,
            "message": said,
            "uuid": made_id(talk, place),
            "timestamp": iso(turn),
        }


def _codex(folder: Path, talks: Iterable[Talk]) -> None:
    for talk, turns in talks:
        lines: list[Any] = [_codex_line(turns[0], "session_meta", {"id": made_id(talk), "cwd": "/home/ada/work"})]
        for turn in turns:
            kind = "input_text" if role_of(turn) == "user" else "output_text"
            item = {"type": "message", "role": role_of(turn), "content": [{"type": kind, "text": turn.text}]}
            lines.append(_codex_line(turn, "response_item", item))
        write_lines(folder / "2026" / "01" / "05" / f"rollout-{made_id(talk)}.jsonl", lines)


def _codex_line(turn: Turn, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": iso(turn), "type": kind, "payload": payload}


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    return [{"role": role_of(turn), "content": turn.text} for turn in turns]


def _anthropic(folder: Path, talks: Iterable[Talk]) -> None:
    system = "Be brief and friendly."
    write_lines(
        folder / "log.jsonl", ({"id": talk, "system": system, "messages": _messages(turns)} for talk, turns in talks)
    )


def _openai(folder: Path, talks: Iterable[Talk]) -> None:
    write_lines(folder / "log.jsonl", ({"messages": _messages(turns)} for _, turns in talks))


def _openai_responses(folder: Path, talks: Iterable[Talk]) -> None:
    def items(talk: str, turns: Sequence[Turn]) -> Iterator[Any]:
        for place, turn in enumerate(turns):
            kind = "input_text" if role_of(turn) == "user" else "output_text"
            content = [{"type": kind, "text": turn.text}]
            yield {"id": f"msg_{made_id(talk, place)}", "type": "message", "role": role_of(turn), "content": content}

    write_lines(
        folder / "log.jsonl", ({"conversation_id": talk, "items": list(items(talk, turns))} for talk, turns in talks)
    )


def _sharegpt(folder: Path, talks: Iterable[Talk]) -> None:
    names = {"user": "human", "assistant": "gpt"}
    write_json(
        folder / "sharegpt.json",
        [
            {"id": talk, "conversations": [{"from": names[role_of(turn)], "value": turn.text} for turn in turns]}
            for talk, turns in talks
        ],
    )


def _longmemeval(folder: Path, talks: Iterable[Talk]) -> None:
    questions = [
        {
            "question_id": talk,
            "question": "?",
            "haystack_dates": [f"{time_of(session[0]):%Y/%m/%d (%a) %H:%M}" for session in sessions_of(turns)],
            "haystack_sessions": [_messages(session) for session in sessions_of(turns)],
        }
        for talk, turns in talks
    ]
    write_json(folder / "longmemeval.json", questions)


def _beam(folder: Path, talks: Iterable[Talk]) -> None:
    for at, (_, turns) in enumerate(talks, 1):
        batches = []
        for number, session in enumerate(sessions_of(turns), 1):
            first = session[0]
            messages = [
                {
                    "role": role_of(turn),
                    "id": turn.ordinal,
                    "content": turn.text,
                    "time_anchor": f"{time_of(first):%B-%d-%Y}",
                }
                for turn in session
            ]
            batches.append({"batch_number": number, "turns": [messages]})
        write_json(folder / "100K" / str(at) / "chat.json", batches)


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
    "discord": discord,
    "locomo": locomo,
    "longmemeval": _longmemeval,
    "memory-rag": _memory_rag,
    "openai": _openai,
    "openai-responses": _openai_responses,
    "sharegpt": _sharegpt,
    "slack": slack,
    "telegram": telegram,
    "transcript": transcript,
    "whatsapp": whatsapp,
}
