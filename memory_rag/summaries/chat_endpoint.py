"""One question to a chat model over HTTP: OpenAI's, or any server that speaks as OpenAI does, by the official SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from memory_rag.embedding.openai_api import OpenAIApi
from memory_rag.embedding.retry import PassingFaultError, RetryPolicy
from memory_rag.errors import EmbedderError, ModelError

_USAGE: Final[Mapping[str, Any]] = MappingProxyType({"stream_options": {"include_usage": True}})
_REFUSING: Final = (400, 404, 415, 422, 501)


class RefusedOptionError(ModelError):
    """The server doesn't take an option of the request; ``option`` is its name."""

    def __init__(self, reason: str, *, option: str) -> None:
        super().__init__(reason)
        self.option = option


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model said, whether it came to its end, and the tokens that were counted (None where they weren't)."""

    text: str
    is_whole: bool
    n_read: int | None = None
    n_written: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a streamed answer; the last has no text, and says why it ended (``stop``, ``length`` …)."""

    text: str
    ended: str = ""
    n_read: int | None = None
    n_written: int | None = None


class ChatEndpoint:
    """A chat model behind ``/chat/completions``: what is asked leaves this machine.

    The key is ``api_key`` or ``OPENAI_API_KEY``; a server other than OpenAI's, ``base_url`` or ``OPENAI_BASE_URL``, may
    need none.

    Raises:
        ModelError: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 120.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.model = model
        self._without_usage = False
        self._retry = retry or RetryPolicy(attempts=4)
        self._api = OpenAIApi(
            model, what="chat completions", error=ModelError, api_key=api_key, base_url=base_url, timeout_s=timeout_s,
            retry=self._retry,
        )  # fmt: skip

    def ask(self, messages: Sequence[Mapping[str, str]], *, options: Mapping[str, Any]) -> ChatAnswer:
        """Return the model's answer; asks again after a fault that may be over soon.

        Raises:
            RefusedOptionError: the server doesn't take one of the options.
            ModelError: it can't be reached, refuses, or gave no answer.
        """
        try:
            return self._retry.run(lambda: self._ask_once(messages, options))
        except EmbedderError as error:
            raise ModelError(str(error)) from error

    def stream(self, messages: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
        """Yield the model's answer as it comes; the last piece has no text, but why it ended and what was counted.

        Asked again is only as long as nothing came: what was shown can't be taken back.

        Raises:
            ModelError: it can't be reached, refuses, or broke off.
        """
        try:
            pieces = self._retry.run(lambda: self._opened_stream(messages))
        except EmbedderError as error:
            raise ModelError(str(error)) from error
        try:
            yield from pieces
        except EmbedderError as error:
            raise ModelError(f"{error}; the answer broke off") from error

    def models(self) -> list[str]:
        """Return the models that the server offers, by name.

        Raises:
            ModelError: it can't be asked.
        """
        try:
            with self._api.faults():
                return sorted(model.id for model in self._api.client.models.list())
        except (EmbedderError, ModelError) as error:
            raise ModelError(f"no models are told: {error}") from error

    def _opened_stream(self, messages: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
        """Return the pieces of an answer whose first has come."""
        while True:
            pieces = self._pieces(messages, {} if self._without_usage else _USAGE)
            try:
                return chain([next(pieces)], pieces)
            except RefusedOptionError:
                # An older server; it is asked once and never again.
                self._without_usage = True

    def _pieces(self, messages: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> Iterator[Piece]:
        given: Any = list(messages)
        with self._faults(options):
            answer = self._api.client.chat.completions.create(model=self.model, messages=given, stream=True, **options)
            ended, usage = "", None
            with answer:
                for part in answer:
                    usage = getattr(part, "usage", None) or usage
                    for choice in part.choices:
                        ended = choice.finish_reason or ended
                        said = "" if choice.delta is None else _said(choice.delta.content)
                        if said:
                            yield Piece(said)
        if not ended:
            raise PassingFaultError(f"{self._api.server} closed the connection before the answer was whole")
        yield Piece(
            "",
            ended=ended,
            n_read=getattr(usage, "prompt_tokens", None),
            n_written=getattr(usage, "completion_tokens", None),
        )

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def _ask_once(self, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]) -> ChatAnswer:
        given: Any = list(messages)
        with self._faults(options):
            answer = self._api.client.chat.completions.create(model=self.model, messages=given, stream=False, **options)
            return _read(answer)

    def _faults(self, options: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Return what turns the SDK's errors into ours; a refusal that names one of the options says which."""

        def refusal(status: int, said: str, reason: str) -> RefusedOptionError | None:
            option = _named(options, said) if status in _REFUSING else ""
            return RefusedOptionError(reason, option=option) if option else None

        return self._api.faults(refusal)


def _read(answer: Any) -> ChatAnswer:
    choice = answer.choices[0]
    usage = getattr(answer, "usage", None)
    return ChatAnswer(
        text=_said(choice.message.content),
        is_whole=choice.finish_reason != "length",
        n_read=getattr(usage, "prompt_tokens", None),
        n_written=getattr(usage, "completion_tokens", None),
    )


def _said(content: Any) -> str:
    """Return the words of a message; some servers give them in parts, with thinking among them."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _named(options: Mapping[str, Any], message: str) -> str:
    """Return the option that a refusal names; the form of the answer if it speaks of schemas or formats."""
    lowered = message.lower()
    for option in options:
        if option in lowered:
            return option
    return "response_format" if "response_format" in options and ("schema" in lowered or "format" in lowered) else ""
