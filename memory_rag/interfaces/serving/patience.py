"""How long a client may take to say what it wants: one that sends a byte a minute can't keep a place for itself."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 20.0
"""From a connection's first byte of a request, or from its start, to the end of the request's headers."""


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection on which no request's headers come to their end in time."""

    head_s: float = HEAD_S
    _leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Begin to wait if no request is being answered; more bytes of the same headers win no time."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._leaving is None:
            self._leaving = self.loop.call_later(self.head_s, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
