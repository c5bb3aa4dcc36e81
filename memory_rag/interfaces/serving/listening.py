"""Where a server listens, whom it answers, and its run until it is stopped."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from memory_rag.errors import SettingsError
from memory_rag.interfaces.serving.guard import LOOPBACK

_LEAST_TOKEN: Final = 16
_PATIENCE_S: Final = 3
"""How long requests that are being answered are waited for when the server is stopped."""
_WAITING: Final = 512


@dataclass(frozen=True, slots=True)
class Address:
    """Where the HTTP server listens, and whom it answers.

    ``port`` 0 takes a free one. ``hosts`` are names that it goes by beside the loopback ones, ``origins`` other pages
    that may ask.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < _LEAST_TOKEN:
            raise SettingsError(
                f"the token has {len(self.token)} characters, at least {_LEAST_TOKEN} are needed; make one with: "
                "openssl rand -hex 24"
            )
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and " " not in self.token):
            raise SettingsError(
                "the token holds characters that no header carries; use letters a to z, digits and marks, without space"
            )
        if self.is_loopback:
            return
        if self.token is None:
            raise SettingsError(
                f"host {self.host!r} can be reached from other machines, so a token is needed; put one of at least "
                f"{_LEAST_TOKEN} characters into MEMORY_RAG_TOKEN, or name a file that holds it with --token-file"
            )
        if self._is_any and not self.hosts:
            raise SettingsError(
                f"host {self.host!r} is every address of this machine; say by which name clients reach it with "
                "--allow-host NAME"
            )

    @property
    def is_loopback(self) -> bool:
        """Tell whether only this machine reaches it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def _is_any(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which the server may be asked."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        return (*(LOOPBACK if self.is_loopback else () if self._is_any else (own,)), *self.hosts)


def serve_app(app: Any, address: Address, *, told: Callable[[str], None], patience_s: int = _PATIENCE_S) -> None:
    """Serve an ASGI app until the process is stopped; ``told`` is given the URL of its root, without a slash.

    Requests that are under way then have ``patience_s`` seconds to end.

    Raises:
        SettingsError: the address can't be listened at.
    """
    import anyio
    import uvicorn

    from memory_rag.interfaces.serving.patience import PatientProtocol

    listener = listener_at(address)
    host, port = listener.getsockname()[:2]
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        # Anybody can write the headers of a proxy, and would have each request counted as another's.
        proxy_headers=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=patience_s,
    )
    told(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    try:
        anyio.run(partial(uvicorn.Server(config).serve, sockets=[listener]))
    finally:
        listener.close()


def listener_at(address: Address) -> socket.socket:
    """Return a socket that takes connections at an address."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _name, place = found[0]
        with ExitStack() as undone:
            listener = undone.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            # Whoever asks once the URL is told waits in line, and isn't refused while the server starts.
            listener.listen(_WAITING)
            undone.pop_all()
    except OSError as error:
        raise SettingsError(
            f"can't listen at {address.host}, port {address.port} ({error.strerror}); name another with --host or "
            "--port, or a free one with --port 0"
        ) from error
    return listener
