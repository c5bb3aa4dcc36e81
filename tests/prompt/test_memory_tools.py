"""The tools by which a model asks a memory itself: how providers are told of them, and what a call may say."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import QueryError
from memory_rag.prompt.memory_tools import GET_TURN, QUOTE, SEARCH, TOOLS, for_anthropic, for_openai, for_responses


def test_every_provider_is_told_of_the_same_tools() -> None:
    chat, responses, anthropic = for_openai(), for_responses(), for_anthropic()

    assert [one["function"]["name"] for one in chat] == ["search_memory", "get_turn", "quote"]
    assert [one["type"] for one in chat] == ["function"] * 3
    for of_chat, of_responses, of_anthropic in zip(chat, responses, anthropic, strict=True):
        function = of_chat["function"]
        assert of_responses == {"type": "function", **function, "strict": False}
        assert of_anthropic == {
            "name": function["name"],
            "description": function["description"],
            "input_schema": function["parameters"],
        }


def test_a_schema_says_what_is_needed_and_allows_nothing_else() -> None:
    for tool in TOOLS.values():
        schema = tool.schema
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(each["description"] for each in schema["properties"].values())
        json.dumps(schema)


def test_what_a_provider_is_given_is_its_own() -> None:
    for_openai()[0]["function"]["parameters"]["properties"]["query"]["type"] = "number"

    assert for_openai()[0]["function"]["parameters"]["properties"]["query"]["type"] == "string"


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ({"query": "rye"}, {"query": "rye"}),
        ('{"query": "rye", "k": 3}', {"query": "rye", "k": 3}),
        ({"query": "rye", "k": 3.0}, {"query": "rye", "k": 3}),
        ({"query": "rye", "k": " 3 "}, {"query": "rye", "k": 3}),
        ({"query": "rye", "speaker": None, "k": None}, {"query": "rye"}),
        ({"query": "rye", "role": "user"}, {"query": "rye", "role": "user"}),
    ],
)
def test_what_a_model_means_is_read(arguments: Any, read: dict[str, Any]) -> None:
    assert SEARCH.checked(arguments) == read


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"query": ', 'the arguments of search_memory are no JSON; give an object such as {"query": "…"}'),
        ("[" * 100_000, "are no JSON"),
        ("[]", "the arguments of search_memory are no object, got []"),
        (None, "are no object, got None"),
        ("", "search_memory needs 'query': what to look for, as a question or as words"),
        ({}, "search_memory needs 'query'"),
        ({"query": None}, "search_memory needs 'query'"),
        ({"query": 7}, "query of search_memory must be a text, got 7"),
        ({"query": ["a"]}, "query of search_memory must be a text, got ['a']"),
        ({"query": "  "}, "query of search_memory has 1 to 10,000 characters, got 0"),
        ({"query": "x" * 10_001}, "has 1 to 10,000 characters, got 10,001"),
        ({"query": "a", "k": 0}, "k of search_memory is 1 to 20, got 0"),
        ({"query": "a", "k": 21}, "k of search_memory is 1 to 20, got 21"),
        ({"query": "a", "k": "many"}, "k of search_memory must be a whole number, got 'many'"),
        ({"query": "a", "k": True}, "k of search_memory must be a whole number, got True"),
        ({"query": "a", "k": 2.5}, "k of search_memory must be a whole number, got 2.5"),
        ({"query": "a", "k": float("inf")}, "k of search_memory must be a whole number, got inf"),
        ({"query": "a", "role": "me"}, "role of search_memory is one of: user, assistant, system, tool; got 'me'"),
        ({"q": "a"}, "search_memory has no parameter 'q'; it has: query, k, speaker, role, since, until, conversation"),
    ],
)
def test_a_bad_call_is_told_what_is_wrong_and_what_is_allowed(arguments: Any, told: str) -> None:
    with pytest.raises(QueryError) as error:
        SEARCH.checked(arguments)

    assert told in str(error.value)
    assert len(str(error.value)) < 400


def test_a_place_in_a_turn_has_no_upper_bound() -> None:
    assert GET_TURN.checked({"turn_id": "t1", "start": 10**9}) == {"turn_id": "t1", "start": 10**9}
    with pytest.raises(QueryError, match="start of get_turn is 0 or more, got -1"):
        GET_TURN.checked({"turn_id": "t1", "start": -1})


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["text", "limit", "query"]), inner),
    max_leaves=8,
)


@given(ANY_JSON | ANY_JSON.map(json.dumps) | st.text())
def test_whatever_a_model_says_is_read_or_refused_in_words(arguments: Any) -> None:
    for tool in (SEARCH, GET_TURN, QUOTE):
        with suppress(QueryError):
            assert set(tool.required) <= set(tool.checked(arguments))
