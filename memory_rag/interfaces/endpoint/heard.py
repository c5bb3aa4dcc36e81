"""What an answer says, heard while its bytes go by: a stream of server-sent events, or one JSON body."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.importers.messages import as_list, as_object
from memory_rag.importers.openai_content import text_of

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of one answer that are listened to; what comes after goes by unheard, and the answer is stored as cut off."""


@dataclass(slots=True)
class Choice:
    """One of an answer's alternatives, as it came so far."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    function_call: dict[str, Any] = field(default_factory=dict)
    finished: str = ""
    newest_at: dict[int, int] = field(default_factory=dict)
    """By the index that a stream gives calls: the newest of them among ``calls``."""

    def message(self) -> dict[str, Any]:
        """Return it as a message of an assistant, as a client sends it back."""
        said: dict[str, Any] = {"role": "assistant", "content": "".join(self.text) or None}
        if self.refusal:
            said["refusal"] = "".join(self.refusal)
        if self.calls:
            said["tool_calls"] = [self.calls[index] for index in sorted(self.calls)]
        if self.function_call:
            said["function_call"] = self.function_call
        return said

    @property
    def is_empty(self) -> bool:
        return not ("".join(self.text).strip() or self.refusal or self.calls or self.function_call)


class Heard:
    """Listens to the bytes of one answer; never changes or holds back any."""

    def __init__(self, *, is_stream: bool) -> None:
        self._is_stream = is_stream
        self._left = b""
        self._body: list[bytes] = []
        self._n_bytes = 0
        self._is_deaf = self._has_ended = False
        self.choices: dict[int, Choice] = {}
        self.model = ""
        self.usage: dict[str, Any] = {}
        self.is_done = False
        """Whether the answer came to its end."""
        self.failed = ""
        """What the upstream said in the middle of a stream when it failed."""

    def feed(self, data: bytes) -> None:
        """Hear some more bytes, broken anywhere."""
        self._n_bytes += len(data)
        if self._n_bytes > LARGEST:
            self._is_deaf, self._left, self._body = True, b"", []
            return
        if not self._is_stream:
            self._body.append(data)
            return
        # A character may be broken over two pieces, a line end never is one byte of another character.
        *lines, self._left = (self._left + data).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._event(line[5:].strip())

    def end(self) -> None:
        """Hear that nothing more comes; once is enough."""
        if self._is_deaf or self._has_ended:
            return
        self._has_ended = True
        if not self._is_stream:
            self._whole(b"".join(self._body))
        elif self._left.startswith(b"data:"):
            self._event(self._left[5:].strip())
        if self.choices and all(choice.finished for choice in self.choices.values()):
            self.is_done = True

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self.is_done = True
            return
        chunk = _object(data)
        self._about(chunk)
        failure = chunk.get("error")
        if failure:
            self.failed = str(as_object(failure).get("message") or failure)[:500]
        for given in as_list(chunk.get("choices")):
            choice = self._choice(given)
            delta = as_object(as_object(given).get("delta"))
            for piece in _pieces(delta):
                _take(choice.text, piece)
            _take(choice.refusal, delta.get("refusal"))
            _take(choice.thinking, delta.get("reasoning_content") or delta.get("reasoning"))
            for call in as_list(delta.get("tool_calls")):
                _merge_call(choice, as_object(call))
            _merge_function(choice.function_call, as_object(delta.get("function_call")))

    def _whole(self, body: bytes) -> None:
        answer = _object(body)
        self._about(answer)
        for given in as_list(answer.get("choices")):
            choice = self._choice(given)
            message = as_object(as_object(given).get("message"))
            _take(choice.text, text_of({"content": message.get("content")}))
            _take(choice.refusal, message.get("refusal"))
            _take(choice.thinking, message.get("reasoning_content") or message.get("reasoning"))
            choice.calls = dict(enumerate(map(as_object, as_list(message.get("tool_calls")))))
            choice.function_call = as_object(message.get("function_call"))
            self.is_done = True

    def _about(self, given: dict[str, Any]) -> None:
        if isinstance(given.get("model"), str):
            self.model = given["model"]
        if isinstance(given.get("usage"), dict):
            self.usage = given["usage"]

    def _choice(self, given: Any) -> Choice:
        fields = as_object(given)
        index = fields.get("index")
        choice = self.choices.setdefault(index if isinstance(index, int) else 0, Choice())
        if isinstance(fields.get("finish_reason"), str):
            choice.finished = fields["finish_reason"]
        return choice


def _object(data: bytes) -> dict[str, Any]:
    try:
        return as_object(json.loads(data))
    except (ValueError, RecursionError):
        return {}


def _pieces(delta: dict[str, Any]) -> list[str]:
    """Return the words of a delta; some models stream them as parts, with thinking parts among them."""
    content = delta.get("content")
    return [text_of({"content": [part]}) for part in (content if isinstance(content, list) else [content])]


def _take(pieces: list[str], value: Any) -> None:
    if isinstance(value, str) and value:
        pieces.append(value)


def _merge_call(choice: Choice, delta: dict[str, Any]) -> None:
    place = _place_of(choice, delta)
    if isinstance(delta.get("index"), int):
        choice.newest_at[delta["index"]] = place
    call = choice.calls.setdefault(place, {})
    for key, value in delta.items():
        if key == "function":
            _merge_function(call.setdefault("function", {}), as_object(value))
        elif key != "index" and value is not None:
            call[key] = value


def _place_of(choice: Choice, delta: dict[str, Any]) -> int:
    """Return which call a delta goes on with, or that of a new one.

    Some servers give several calls the same index, and each an id of its own; others give no index.
    """
    calls, given, index = choice.calls, delta.get("id"), delta.get("index")
    if given:
        same = next((place for place, call in calls.items() if call.get("id") == given), None)
        if same is not None:
            return same
    elif isinstance(index, int):
        return choice.newest_at.get(index, index)
    elif calls and not as_object(delta.get("function")).get("name"):
        return max(calls)
    if isinstance(index, int) and not calls.get(index, {}).get("id"):
        return index
    return max(calls, default=-1) + 1


def _merge_function(function: dict[str, Any], delta: dict[str, Any]) -> None:
    for key, value in delta.items():
        if key == "arguments" and isinstance(value, str):
            function[key] = str(function.get(key) or "") + value
        elif value is not None:
            function[key] = value
