"""The endpoint that answers: the one module that knows the HTTP client (the extra ``server``)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import httpx2

from memory_rag.errors import ModelError, SettingsError

_CONNECT_S: Final = 10.0
SILENCE_S: Final = 600.0
"""A large model thinks for minutes."""
_MOST_CONNECTIONS: Final = 400
KEPT_S: Final = 60.0
"""How long a connection waits for the next request: people read for longer than httpx's 5 s, and a new one to a service
on the net costs its handshakes, some 100 ms. One that the upstream has closed meanwhile isn't used."""
# RFC 9110, 7.6.1, and what belongs to one hop alone.
_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade content-length host".split()
)
_NOT_SENT: Final = _HOP | frozenset(b"accept-encoding cookie origin referer forwarded x-forwarded-for".split())
_NOT_RETURNED: Final = _HOP | frozenset(b"content-encoding set-cookie server date".split())
_OURS: Final = b"x-memory"
_UNLESS_GIVEN: Final = ((b"accept", b"*/*"), (b"user-agent", f"python-httpx2/{httpx2.__version__}".encode()))

Headers = list[tuple[bytes, bytes]]


class NoAnswerError(ModelError):
    """The upstream gave no answer: it can't be reached, or was silent for too long (``is_late``)."""

    def __init__(self, message: str, *, is_late: bool = False) -> None:
        super().__init__(message)
        self.is_late = is_late


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer whose body is still to come."""

    status: int
    headers: Headers
    response: httpx2.Response

    @property
    def kind(self) -> str:
        return str(self.response.headers.get("content-type", "")).partition(";")[0].strip().lower()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises:
            NoAnswerError: it broke off.
        """
        try:
            async for piece in self.response.aiter_bytes():
                yield piece
        except httpx2.HTTPError as error:
            raise NoAnswerError(_said_of(error)) from error

    async def close(self) -> None:
        await self.response.aclose()


class Upstream:
    """An OpenAI-compatible API, by the URL under which ``chat/completions`` lies.

    With ``key`` that is what it is asked with; without, the client's own ``Authorization`` goes through. For
    ``silence_s`` it may say nothing; for ``kept_s`` a connection is kept for the next request.
    """

    def __init__(
        self, url: str, *, key: str | None = None, silence_s: float = SILENCE_S, kept_s: float = KEPT_S
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(f"--upstream {url!r} is no http or https URL; such as: http://127.0.0.1:11434/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise SettingsError(
                "--upstream holds a scheme, a host and a path only; put the key into MEMORY_RAG_UPSTREAM_KEY"
            )
        self.url = url.rstrip("/")
        self._key = key
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(silence_s, connect=_CONNECT_S),
            limits=httpx2.Limits(
                max_connections=_MOST_CONNECTIONS, max_keepalive_connections=50, keepalive_expiry=kept_s
            ),
            follow_redirects=False,
        )

    async def ask(
        self,
        method: str,
        path: str,
        *,
        headers: Iterable[tuple[bytes, bytes]],
        body: bytes = b"",
        sends_key: bool = True,
    ) -> Reply:
        """Send a request on, and return the answer as soon as its headers are there.

        Raises:
            NoAnswerError: there is none.
        """
        # Not the client's own way to make one, which puts its headers, cookies and address together each time, .1 ms.
        request = httpx2.Request(
            method,
            _address(f"{self.url}/{path}"),
            headers=self._sent(headers, sends_key=sends_key, length=len(body)),
            content=body or None,
        )
        try:
            response = await self._client.send(request, stream=True)
        except httpx2.TimeoutException as error:
            raise NoAnswerError(f"{self._name} didn't answer in time ({_said_of(error)})", is_late=True) from error
        except httpx2.HTTPError as error:
            raise NoAnswerError(f"{self._name} can't be reached ({_said_of(error)}); is it running?") from error
        returned = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in _NOT_RETURNED]
        return Reply(response.status_code, returned, response)

    async def close(self) -> None:
        await self._client.aclose()

    @property
    def _name(self) -> str:
        return f"the upstream {urlsplit(self.url).netloc}"

    def _sent(self, headers: Iterable[tuple[bytes, bytes]], *, sends_key: bool, length: int) -> Headers:
        sent = [(b"accept-encoding", b"identity"), (b"connection", b"keep-alive")]
        if length:
            sent.append((b"content-length", str(length).encode()))
        for name, value in headers:
            name = name.lower()
            if name in _NOT_SENT or name.startswith(_OURS):
                continue
            if name == b"authorization" and (self._key is not None or not sends_key):
                continue
            sent.append((name, value))
        if self._key is not None:
            sent.append((b"authorization", f"Bearer {self._key}".encode()))
        given = {name for name, _value in sent}
        return [*sent, *(one for one in _UNLESS_GIVEN if one[0] not in given)]


@lru_cache(maxsize=16)
def _address(url: str) -> httpx2.URL:
    return httpx2.URL(url)


def _said_of(error: Exception) -> str:
    return str(error) or type(error).__name__
