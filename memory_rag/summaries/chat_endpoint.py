"""One question to a chat model over HTTP: OpenAI's, or any server that speaks as OpenAI does, by the official SDK."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from memory_rag.embedding.openai import open_client
from memory_rag.embedding.retry import PassingFaultError, RetryPolicy, asked_wait_s
from memory_rag.errors import EmbedderError, ModelError

if TYPE_CHECKING:
    from openai import OpenAI

_NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})
_USAGE: Final[Mapping[str, Any]] = MappingProxyType({"stream_options": {"include_usage": True}})
_PASSING: Final = (408, 409, 429)
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
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._api_key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        if not self._api_key and self._base_url is None:
            raise ModelError(
                f"openai:{model} needs a key; set OPENAI_API_KEY, or name a server that needs none in OPENAI_BASE_URL"
            )
        self._timeout_s = timeout_s
        self._without_usage = False
        self._retry = retry or RetryPolicy(attempts=4)

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
        import openai

        try:
            return sorted(model.id for model in self._client.models.list())
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise ModelError(f"{self._server} doesn't tell its models: {self._without_key(str(error))}") from error

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
            answer = self._client.chat.completions.create(model=self.model, messages=given, stream=True, **options)
            ended, usage = "", None
            with answer:
                for part in answer:
                    usage = getattr(part, "usage", None) or usage
                    for choice in part.choices:
                        ended = choice.finish_reason or ended
                        if choice.delta is not None and choice.delta.content:
                            yield Piece(choice.delta.content)
        if not ended:
            raise PassingFaultError(f"{self._server} closed the connection before the answer was whole")
        yield Piece(
            "",
            ended=ended,
            n_read=getattr(usage, "prompt_tokens", None),
            n_written=getattr(usage, "completion_tokens", None),
        )

    def close(self) -> None:
        """Close the connections."""
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _client(self) -> OpenAI:
        return open_client(self._api_key, base_url=self._base_url, timeout_s=self._timeout_s)

    def _without_key(self, said: str) -> str:
        return (said.replace(self._api_key, "***") if self._api_key else said)[:300]

    @property
    def _server(self) -> str:
        return self._base_url or "OpenAI's API"

    def _ask_once(self, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]) -> ChatAnswer:
        given: Any = list(messages)
        with self._faults(options):
            answer = self._client.chat.completions.create(model=self.model, messages=given, stream=False, **options)
            return _read(answer)

    @contextmanager
    def _faults(self, options: Mapping[str, Any] = _NO_OPTIONS) -> Iterator[None]:
        """Turn the SDK's errors into ours."""
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            reason = f"{self._server} answered {error.status_code}: {self._without_key(error.message)}"
            if error.status_code in _REFUSING and (option := _named(options, error.message)):
                raise RefusedOptionError(reason, option=option) from error
            if (error.status_code in _PASSING or error.status_code >= 500) and error.code != "insufficient_quota":
                after_s = asked_wait_s(error.response.headers, now=self._retry.now())
                raise PassingFaultError(reason, after_s=after_s) from error
            raise ModelError(f"{reason}; check the model's name, {self.model!r}, the key and the address") from error
        except openai.APITimeoutError as error:
            raise PassingFaultError(f"{self._server} gave no answer within {self._timeout_s:g} s") from error
        except openai.APIConnectionError as error:
            raise PassingFaultError(f"{self._server} can't be reached: {error.__cause__ or error}") from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, IndexError) as error:
            raise ModelError(
                f"{self._server} gave an answer that isn't one of the chat completions API: {error}; check the "
                "address: it usually ends in /v1"
            ) from error


def _read(answer: Any) -> ChatAnswer:
    choice = answer.choices[0]
    usage = getattr(answer, "usage", None)
    return ChatAnswer(
        text=choice.message.content or "",
        is_whole=choice.finish_reason != "length",
        n_read=getattr(usage, "prompt_tokens", None),
        n_written=getattr(usage, "completion_tokens", None),
    )


def _named(options: Mapping[str, Any], message: str) -> str:
    """Return the option that a refusal names; the form of the answer if it speaks of schemas or formats."""
    lowered = message.lower()
    for option in options:
        if option in lowered:
            return option
    return "response_format" if "response_format" in options and ("schema" in lowered or "format" in lowered) else ""
