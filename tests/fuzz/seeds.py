"""A small file of every import format, and texts as people and models write them; all of it invented."""

from __future__ import annotations

import json
from typing import Any, Final

_AT: Final = 1_780_000_000


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _lines(*values: Any) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _chatgpt_node(key: str, parent: str | None, children: list[str], message: Any) -> dict[str, Any]:
    return {"id": key, "parent": parent, "children": children, "message": message}


def _chatgpt_message(key: str, role: str, content: Any) -> dict[str, Any]:
    author: dict[str, Any] = {"role": role, "name": None, "metadata": {}}
    return {
        "id": key,
        "author": author,
        "create_time": _AT + 0.25,
        "content": content,
        "metadata": {"attachments": [{"id": "f", "name": "a.pdf"}]},
        "recipient": "all",
        "weight": 1.0,
    }


FILES: Final[dict[str, tuple[str, bytes]]] = {
    "anthropic": (
        "a.json",
        _json(
            {
                "model": "m",
                "system": "Be brief.",
                "messages": [
                    {"role": "user", "content": "Is the kayak red?"},
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "hm", "signature": "x"},
                            {"type": "tool_use", "id": "u1", "name": "look", "input": {"at": "kayak"}},
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "u1", "content": [{"type": "text", "text": "red"}]}
                        ],
                    },
                    {"role": "assistant", "content": [{"type": "text", "text": "Yes, it is red."}]},
                ],
            }
        ),
    ),
    "beam": (
        "chat.json",
        _json(
            [
                {
                    "batch_number": 1,
                    "time_anchor": "March-15-2026",
                    "turns": [
                        [
                            {"role": "user", "id": 0, "content": "Hej! ->-> 1,1", "time_anchor": "March-15-2026"},
                            {"role": "assistant", "id": 1, "content": "Hello."},
                        ]
                    ],
                }
            ]
        ),
    ),
    "chatgpt": (
        "conversations.json",
        _json(
            [
                {
                    "title": "Kajak",
                    "create_time": _AT,
                    "update_time": _AT + 9,
                    "conversation_id": "c1",
                    "current_node": "n3",
                    "mapping": {
                        "n0": _chatgpt_node("n0", None, ["n1"], None),
                        "n1": _chatgpt_node(
                            "n1",
                            "n0",
                            ["n2", "n3"],
                            _chatgpt_message("n1", "user", {"content_type": "text", "parts": ["Röd?"]}),
                        ),
                        "n2": _chatgpt_node(
                            "n2", "n1", [], _chatgpt_message("n2", "assistant", {"content_type": "code", "text": "x"})
                        ),
                        "n3": _chatgpt_node(
                            "n3",
                            "n1",
                            [],
                            _chatgpt_message(
                                "n3",
                                "assistant",
                                {"content_type": "multimodal_text", "parts": ["Ja.", {"asset_pointer": "file://x"}]},
                            ),
                        ),
                    },
                }
            ]
        ),
    ),
    "claude": (
        "conversations.json",
        _json(
            [
                {
                    "uuid": "c1",
                    "name": "Kayak",
                    "created_at": "2026-05-01T08:00:00Z",
                    "account": {"uuid": "a"},
                    "chat_messages": [
                        {
                            "uuid": "m1",
                            "text": "Is it red?",
                            "content": [{"type": "text", "text": "Is it red?"}],
                            "sender": "human",
                            "created_at": "2026-05-01T08:00:01.5Z",
                            "attachments": [{"file_name": "a.txt", "extracted_content": "words"}],
                            "files": [{"file_name": "b.png"}],
                            "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
                        },
                        {
                            "uuid": "m2",
                            "text": "",
                            "content": [
                                {"type": "tool_use", "name": "t", "input": {}},
                                {"type": "text", "text": "Yes"},
                            ],
                            "sender": "assistant",
                            "created_at": "2026-05-01T08:00:09Z",
                            "attachments": [],
                            "files": [],
                            "parent_message_uuid": "m1",
                        },
                    ],
                }
            ]
        ),
    ),
    "claude-code": (
        "s.jsonl",
        _lines(
            {"type": "summary", "summary": "Mending", "leafUuid": "u2"},
            {
                "type": "user",
                "uuid": "u1",
                "parentUuid": None,
                "sessionId": "s",
                "timestamp": "2026-05-01T08:00:00.000Z",
                "cwd": "/home/ebba",
                "message": {"role": "user", "content": "mend it"},
            },
            {
                "type": "assistant",
                "uuid": "u2",
                "parentUuid": "u1",
                "sessionId": "s",
                "timestamp": "2026-05-01T08:00:02.000Z",
                "message": {
                    "id": "x",
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "done"},
                        {"type": "tool_use", "id": "t", "name": "n", "input": {}},
                    ],
                },
            },
        ),
    ),
    "codex": (
        "rollout.jsonl",
        _lines(
            {"timestamp": "2026-05-01T08:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/x"}},
            {
                "timestamp": "2026-05-01T08:00:01Z",
                "type": "response_item",
                "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            },
            {
                "timestamp": "2026-05-01T08:00:02Z",
                "type": "response_item",
                "payload": {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
            },
        ),
    ),
    "discord": (
        "d.json",
        _json(
            {
                "guild": {"id": "1", "name": "G"},
                "channel": {"id": "2", "type": "GuildTextChat", "name": "boats", "category": "c"},
                "messages": [
                    {
                        "id": "10",
                        "type": "Default",
                        "timestamp": "2026-05-01T08:00:00.000+00:00",
                        "content": "Hej",
                        "author": {"id": "7", "name": "ebba", "nickname": "Ebba"},
                        "attachments": [{"fileName": "a.png"}],
                        "embeds": [{"title": "t", "description": "d"}],
                        "stickers": [],
                        "reactions": [],
                    }
                ],
                "messageCount": 1,
            }
        ),
    ),
    "locomo": (
        "l.json",
        _json(
            [
                {
                    "sample_id": "s1",
                    "conversation": {
                        "speaker_a": "Ada",
                        "speaker_b": "Bo",
                        "session_1_date_time": "1:56 pm on 8 May, 2026",
                        "session_1": [
                            {"speaker": "Ada", "dia_id": "D1:1", "text": "Hi"},
                            {
                                "speaker": "Bo",
                                "dia_id": "D1:2",
                                "text": "Ho",
                                "blip_caption": "a boat",
                                "img_url": ["u"],
                            },
                        ],
                    },
                    "qa": [],
                }
            ]
        ),
    ),
    "longmemeval": (
        "m.json",
        _json(
            [
                {
                    "question_id": "q",
                    "question_type": "single-session-user",
                    "question": "?",
                    "answer": "a",
                    "question_date": "2026/05/20 (Sat) 02:21",
                    "haystack_dates": ["2026/05/01 (Mon) 08:00"],
                    "haystack_session_ids": ["s1"],
                    "haystack_sessions": [[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]],
                    "answer_session_ids": ["s1"],
                }
            ]
        ),
    ),
    "memory-rag": (
        "e.jsonl",
        _lines(
            {"format": "memory_rag.turns", "version": 2, "numbers": {"turns": 1}},
            {"conversation": {"conversation_id": "c", "title": "T"}},
            {
                "turn": {
                    "row": 1,
                    "conversation_id": "c",
                    "session_id": "s",
                    "ordinal": 0,
                    "role": "user",
                    "speaker": "Ebba",
                    "text": "hej ö",
                    "turn_id": "t1",
                    "said_at": "2026-05-01T08:00:00+00:00",
                    "blocks": [{"kind": "image", "data": {}, "caption": "c"}],
                    "indexed": [0, 2],
                    "source": {"name": "n", "native_id": "1", "raw": "{}"},
                }
            },
            {"table": "pins", "row": {"pin": 1, "text": "p", "turn_id": None, "pinned_at": 1}},
            {"end": {"turns": 1, "rows": 1}},
        ),
    ),
    "openai": (
        "o.json",
        _json(
            {
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {
                        "role": "user",
                        "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}],
                    },
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                    },
                    {"role": "tool", "tool_call_id": "c", "content": "42"},
                ]
            }
        ),
    ),
    "openai-responses": (
        "r.json",
        _json(
            {
                "id": "resp_1",
                "object": "response",
                "created_at": _AT,
                "model": "m",
                "output": [
                    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
                    {
                        "type": "message",
                        "id": "msg",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "Yes", "annotations": []}],
                    },
                ],
            }
        ),
    ),
    "sharegpt": (
        "g.json",
        _json([{"id": "x", "conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]),
    ),
    "slack": (
        "2026-05-01.json",
        _json(
            [
                {
                    "type": "message",
                    "user": "U1",
                    "text": "Hej &amp; hå <@U2>",
                    "ts": f"{_AT}.000100",
                    "thread_ts": f"{_AT}.000100",
                    "user_profile": {"real_name": "Ebba"},
                    "files": [{"name": "a.png"}],
                    "attachments": [{"title": "t", "text": "x"}],
                    "edited": {"ts": "1"},
                }
            ]
        ),
    ),
    "telegram": (
        "result.json",
        _json(
            {
                "name": "Bo",
                "type": "personal_chat",
                "id": 5,
                "messages": [
                    {
                        "id": 1,
                        "type": "message",
                        "date": "2026-05-01T08:00:00",
                        "date_unixtime": str(_AT),
                        "from": "Bo",
                        "from_id": "user5",
                        "text": ["se ", {"type": "link", "text": "http://x"}],
                        "text_entities": [],
                        "file": "a.pdf",
                    },
                    {"id": 2, "type": "service", "date": "2026-05-01T08:00:00", "action": "pin_message"},
                ],
            }
        ),
    ),
    "transcript": (
        "t.md",
        "---\ntitle: Möte\n---\n# Möte\n\n**Ebba:** Är den röd?\n\n**Bo:** Ja.\nEn rad till.\n\nEbba: Bra!\n".encode(),
    ),
    "whatsapp": (
        "chat.txt",
        (
            "01/05/2026, 08:00 - Messages and calls are end-to-end encrypted.\n"
            "01/05/2026, 08:01 - Ebba: Är den röd?\noch en rad till\n"
            "01/05/2026, 08:02 - Bo: <Media omitted>\n13/05/2026, 09:02 - Bo: ja, \u200eröd\n"
        ).encode(),
    ),
}
"""The name of each format, and a file of it: its name and its bytes."""

TEXTS: Final = (
    'You said "the kayak is blue and leaks at the bow" on 3 May 2026, and later "not the bow".',
    "What did I actually say about 4711-ZX last Thursday at half past four, i förrgår eller den 17. mai?",
    "> quoted line\n> and another\n\nSom du sa: »Jag vill ha svaren på svenska« – alltid.",
    "```python\nprint('Noted: \"blue\"')\n```\n`inline \"code\"` don't, can't, rock 'n' roll, the users' own",
    "東京で会った。「はい」と言った。 مرحبا بالعالم שלום 👩‍👩‍👧‍👦 ﬀ ẞ ſ İ ı ǅ Ⅷ ½",
    "den 3/5, 2026-05-03T08:00Z, Q2 2026, våren 1998, 31.12.99, 24:00, year 10000, 30 februari, in 99999999999 years",
)
SETTINGS: Final = b'embedder = "none"\nlanguage = "en,sv"\nk = 10\ndurability = "full"\ntimezone = "Europe/Stockholm"\n'
