"""A server that speaks as OpenAI's API does, by the official SDK: its client, and its faults as ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memory_rag.embedding.retry import PassingFaultError, RetryPolicy, asked_wait_s
from memory_rag.errors import MemoryRagError

if TYPE_CHECKING:
    from openai import OpenAI

_PASSING: Final = (408, 409, 429)
_SHOWN: Final = 300

Refusal = Callable[[int, str, str], MemoryRagError | None]
"""Looks at a status, at what the server said, and at our words for it; gives an error of its own, or None."""


class OpenAIApi:
    """A model behind one server: what is asked leaves this machine.

    The key is ``api_key`` or ``OPENAI_API_KEY``; a server other than OpenAI's, ``base_url`` or ``OPENAI_BASE_URL``, may
    need none. ``what`` names the API in messages (``embeddings``), ``error`` is the class of those that no further
    attempt would help.

    Raises:
        ``error``: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        what: str,
        error: type[MemoryRagError],
        api_key: str | None,
        base_url: str | None,
        timeout_s: float,
        retry: RetryPolicy,
    ) -> None:
        self.model = model
        self._what = what
        self._error = error
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._api_key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        if not self._api_key and self._base_url is None:
            raise error(
                f"openai:{model} needs a key; set OPENAI_API_KEY, or name a server that needs none in OPENAI_BASE_URL"
            )
        self._timeout_s = timeout_s
        self._retry = retry

    @property
    def server(self) -> str:
        return self._base_url or "OpenAI"

    @cached_property
    def client(self) -> OpenAI:
        """The SDK's client, also without a key, for servers that need none; trying again is left to a policy."""
        from openai import OpenAI

        return OpenAI(api_key=self._api_key or "none", base_url=self._base_url, timeout=self._timeout_s, max_retries=0)

    def close(self) -> None:
        """Close the connections; it can't be asked afterwards."""
        if "client" in self.__dict__:
            self.client.close()

    @contextmanager
    def faults(self, refusal: Refusal = lambda _status, _said, _reason: None) -> Iterator[None]:
        """Turn the SDK's errors into ours: one that may be over soon, or one of ``error`` with what to check."""
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            said = str(error.message)
            reason = f"{self.server} answered {error.status_code}: {self._without_key(said)}"
            if (refused := refusal(error.status_code, said, reason)) is not None:
                raise refused from error
            has_no_money = error.code == "insufficient_quota"
            if (error.status_code in _PASSING or error.status_code >= 500) and not has_no_money:
                after_s = asked_wait_s(error.response.headers, now=self._retry.now())
                raise PassingFaultError(reason, after_s=after_s) from error
            cure = "the account's plan and billing" if has_no_money else self._cure(error.status_code)
            raise self._error(f"{reason}; check {cure}") from error
        except openai.APITimeoutError as error:
            raise PassingFaultError(f"{self.server} gave no answer within {self._timeout_s:g} s") from error
        except openai.APIConnectionError as error:
            raise PassingFaultError(f"{self.server} can't be reached: {error.__cause__ or error}") from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, IndexError) as error:
            told = self._without_key(str(error))
            raise self._error(
                f"{self.server} gave an answer that isn't one of the {self._what} API: {told}; check the address: it "
                "usually ends in /v1"
            ) from error

    def _cure(self, status: int) -> str:
        return {
            401: "OPENAI_API_KEY",
            403: "what OPENAI_API_KEY may do",
            404: f"the model's name, {self.model!r}, and the address",
        }.get(status, f"the model's name, {self.model!r}, the key and the address")

    def _without_key(self, said: str) -> str:
        return (said.replace(self._api_key, "***") if self._api_key else said)[:_SHOWN]
