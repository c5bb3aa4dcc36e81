"""An answer is heard whole, however its stream is cut and whichever server made it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_rag.interfaces.endpoint.heard import Heard


def stream(*deltas: dict[str, Any]) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks).encode()


def calls_heard(*deltas: dict[str, Any]) -> list[tuple[str, str, str]]:
    heard = Heard(is_stream=True)
    heard.feed(stream(*({"tool_calls": [delta]} for delta in deltas)))
    calls = heard.choices[0].message()["tool_calls"]
    return [(call.get("id", ""), call["function"]["name"], call["function"]["arguments"]) for call in calls]


def call(name: str | None, arguments: str, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}}


TWO = [("c1", "weather", '{"place":"Visby"}'), ("c2", "ferries", "{}")]


@pytest.mark.parametrize(
    "deltas",
    [
        [
            call("weather", "", index=0, id="c1"),
            call("ferries", "", index=1, id="c2"),
            call(None, '{"place":', index=0),
            call(None, "{}", index=1),
            call(None, '"Visby"}', index=0),
        ],
        [call("weather", '{"place":"Visby"}', index=0, id="c1"), call("ferries", "{}", index=0, id="c2")],
        [
            call("weather", '{"place":', index=0, id="c1"),
            call(None, '"Visby"}', index=0),
            call("ferries", "{", index=0, id="c2"),
            call(None, "}", index=0),
        ],
        [call("weather", '{"place":"Visby"}', id="c1"), call("ferries", "{}", id="c2")],
        [
            call("weather", '{"place":', id="c1"),
            call(None, '"Visby"}'),
            call("ferries", "{", id="c2"),
            call(None, "}", id="c2"),
        ],
    ],
    ids=["one amid the other", "one index for both", "one index, in pieces", "no index", "no index, in pieces"],
)
def test_two_calls_stay_two(deltas: list[dict[str, Any]]) -> None:
    assert calls_heard(*deltas) == TWO


def test_calls_without_ids_are_told_by_their_index_or_their_names() -> None:
    assert calls_heard(call("a", "{", index=0), call("b", "{}", index=1), call(None, "}", index=0)) == [
        ("", "a", "{}"),
        ("", "b", "{}"),
    ]
    assert calls_heard(call("a", "{}"), call("b", "{"), call(None, "}")) == [("", "a", "{}"), ("", "b", "{}")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_may_be_cut_anywhere(size: int) -> None:
    said = stream({"role": "assistant", "content": ""}, {"content": "Ål, "}, {"content": "tack 🐟"}, {"content": None})
    said += b": a comment\n\nevent: ping\ndata: [DONE]\n\n"
    heard = Heard(is_stream=True)
    for at in range(0, len(said), size):
        heard.feed(said[at : at + size])
    heard.end()

    assert ("".join(heard.choices[0].text), heard.is_done) == ("Ål, tack 🐟", True)
