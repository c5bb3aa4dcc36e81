"""Stored turns as a provider's messages: every call followed by its answers, in whatever order they were stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_rag.prompt.message_parts import Json
from memory_rag.prompt.turn_parts import LONGEST_KEY, NO_RESULT, Spoken, ToolAnswer, spoken
from memory_rag.turns import Role, Turn

Contents = Mapping[str, Sequence[Json]]
"""By turn id: what the provider gave for a turn, to be sent back as it is."""


@dataclass(frozen=True, slots=True)
class TurnMessages:
    """Messages, and where they come from.

    ``turn_ids`` name the turn of each message; ``answer_turns`` the turn that holds the answer to a call, by the call's
    key. ``left_out`` counts what could not be told, by reason.
    """

    messages: list[Json]
    turn_ids: tuple[str, ...]
    answer_turns: Mapping[str, str]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Round:
    """What one turn says, with the answers to its calls right behind it."""

    said: Spoken
    answers: tuple[ToolAnswer, ...]


def openai_messages(turns: Sequence[Turn]) -> TurnMessages:
    """Return turns as chat messages of OpenAI's shape."""
    rounds, left_out = _rounds(turns, {})
    messages: list[Json] = []
    turn_ids: list[str] = []
    for one in rounds:
        said = one.said
        message: Json = {"role": said.role.value, "content": said.text or None}
        if said.calls:
            message["tool_calls"] = [
                {"id": call.key, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in said.calls
            ]
        messages.append(message)
        turn_ids.append(said.turn_id)
        for answer in one.answers:
            messages.append({"role": "tool", "tool_call_id": answer.key, "content": answer.text})
            turn_ids.append(answer.turn_id or said.turn_id)
    return TurnMessages(messages, tuple(turn_ids), _answer_turns(rounds), left_out)


def anthropic_messages(turns: Sequence[Turn], *, contents: Contents | None = None) -> TurnMessages:
    """Return turns as messages of Anthropic's shape, user and assistant in turn.

    The answers to one message's calls lie in one message of the user's, right behind it.
    """
    rounds, left_out = _rounds(turns, contents or {})
    messages: list[Json] = []
    turn_ids: list[str] = []
    for one in rounds:
        said = one.said
        if said.content is not None:
            blocks: list[Any] = [dict(block) for block in said.content]
        else:
            blocks = [{"type": "text", "text": said.text}] if said.text.strip() else []
            blocks += [
                {"type": "tool_use", "id": call.key, "name": call.name, "input": call.input} for call in said.calls
            ]
        parts = [(said.role.value, blocks, said.turn_id)]
        if one.answers:
            results = [_tool_result(answer) for answer in one.answers]
            parts.append(("user", results, one.answers[0].turn_id or said.turn_id))
        for role, content, turn_id in parts:
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] += content
            elif content:
                messages.append({"role": role, "content": content})
                turn_ids.append(turn_id)
    return TurnMessages(messages, tuple(turn_ids), _answer_turns(rounds), left_out)


def responses_items(turns: Sequence[Turn], *, contents: Contents | None = None) -> TurnMessages:
    """Return turns as items of OpenAI's Responses API."""
    rounds, left_out = _rounds(turns, contents or {})
    items: list[Json] = []
    turn_ids: list[str] = []
    for one in rounds:
        said = one.said
        if said.content is not None:
            own = [dict(item) for item in said.content]
        else:
            own = [{"type": "message", "role": said.role.value, "content": said.text}] if said.text else []
            own += [
                {"type": "function_call", "call_id": call.key, "name": call.name, "arguments": call.arguments}
                for call in said.calls
            ]
        items += own
        turn_ids += [said.turn_id] * len(own)
        for answer in one.answers:
            items.append({"type": "function_call_output", "call_id": answer.key, "output": answer.text})
            turn_ids.append(answer.turn_id or said.turn_id)
    return TurnMessages(items, tuple(turn_ids), _answer_turns(rounds), left_out)


def _rounds(turns: Sequence[Turn], contents: Contents) -> tuple[list[_Round], dict[str, int]]:
    """Return what was said in order, each call with its answer or a stand-in, and what is left out, by reason."""
    told = [spoken(turn, content=contents.get(turn.turn_id)) for turn in turns]
    answered, orphans = _matched(told)
    left_out = {"answers whose call is not in the window": orphans} if orphans else {}
    rounds: list[_Round] = []
    used: set[str] = set()
    for at, said in enumerate(told):
        if said.role is Role.SYSTEM:
            left_out["system messages of then"] = left_out.get("system messages of then", 0) + 1
            continue
        if said.role is Role.TOOL:
            if not said.answers:
                left_out["answers of no call"] = left_out.get("answers of no call", 0) + 1
            continue
        calls, answers = [], []
        for call in said.calls:
            # Some models number their calls anew in each message; no provider takes a key twice.
            key = call.given_key or _unused(call.key, used)
            used.add(key)
            found = answered.get((at, call.key), ToolAnswer(call.key, NO_RESULT, is_error=True))
            calls.append(replace(call, key=key))
            answers.append(replace(found, key=key))
        if said.text.strip() or calls or said.content:
            rounds.append(_Round(replace(said, calls=tuple(calls)), tuple(answers)))
        elif not said.answers:
            left_out["turns without words"] = left_out.get("turns without words", 0) + 1
    return rounds, left_out


def _matched(told: Sequence[Spoken]) -> tuple[dict[tuple[int, str], ToolAnswer], int]:
    """Return the answers by (where its call is, key), and how many answer nothing; the last answer to a call counts."""
    open_calls: dict[str, int] = {}
    answered: dict[tuple[int, str], ToolAnswer] = {}
    orphans = 0
    for at, said in enumerate(told):
        for call in said.calls:
            open_calls[call.key] = at
        for answer in said.answers:
            if answer.key in open_calls:
                answered[open_calls[answer.key], answer.key] = answer
            else:
                orphans += 1
    return answered, orphans


def _unused(key: str, used: set[str]) -> str:
    number, candidate = 1, key
    while candidate in used:
        number += 1
        again = f"_{number}"
        candidate = key[: LONGEST_KEY - len(again)] + again
    return candidate


def _tool_result(answer: ToolAnswer) -> Json:
    # An empty answer is one; the provider takes it without content only.
    result: Json = {"type": "tool_result", "tool_use_id": answer.key}
    if answer.text:
        result["content"] = answer.text
    if answer.is_error:
        result["is_error"] = True
    return result


def _answer_turns(rounds: Sequence[_Round]) -> dict[str, str]:
    return {answer.key: answer.turn_id for one in rounds for answer in one.answers if answer.turn_id}
