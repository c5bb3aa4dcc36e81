"""Whom a server lets in as, and what keeps one owner's turns from another's."""

from __future__ import annotations

from typing import Any, Final, Protocol

from memory_rag.errors import StoreError

_LEAST_VERSION: Final = 150000
_ROLE: Final = "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


class Connected(Protocol):
    """A connection, and what it knows of its server."""

    @property
    def info(self) -> Any: ...
    def execute(self, statement: str, /) -> Any: ...


def refuse_role(connection: Connected, *, server: str) -> None:
    """Fail if no policy holds for the role that we are there, or the server is too old for ours.

    Raises:
        StoreError: it is.
    """
    if connection.info.server_version < _LEAST_VERSION:
        raise StoreError(
            f"{server} is PostgreSQL {connection.info.server_version // 10000}; memory_rag needs 15 or later"
        )
    name, sees_all = connection.execute(_ROLE).fetchone() or ("", True)
    if sees_all:
        raise StoreError(
            f"the role {name!r} on {server} is a superuser or bypasses row-level security, so nothing would "
            "keep one owner's turns from another's; make a role of its own with: CREATE ROLE memory_rag LOGIN "
            "PASSWORD '…'; CREATE DATABASE memory_rag OWNER memory_rag, and name it in the URL"
        )
