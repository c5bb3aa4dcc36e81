"""What a server says went wrong, as an error of ours that says what to do."""

from __future__ import annotations

from memory_rag.errors import DiskFullError, MemoryLockedError, MemoryRagError, StoreError, TurnError

_LOCK_NOT_AVAILABLE = "55P03"
_DEADLOCK = "40P01"
_TOO_LONG_FOR_AN_INDEX = "54000"
_DISK_FULL = "53100"
_TOO_MANY_CONNECTIONS = "53300"
_READ_ONLY = "25006"
_NO_PRIVILEGE = "42501"
_DAMAGED = ("XX001", "XX002")
"""What a table or an index holds can't be right."""


def is_damage(state: str | None) -> bool:
    """Tell whether a SQLSTATE says that what is stored, or an index of it, is damaged."""
    return state in _DAMAGED


def as_ours(text: str, *, state: str | None, place: str, is_lost: bool) -> MemoryRagError:
    """Return the error of ours for one with this SQLSTATE (None: the client's own), told in these words.

    ``is_lost`` says that the connection is gone.
    """
    text = " ".join(text.split())
    if state in (_LOCK_NOT_AVAILABLE, _DEADLOCK):
        return MemoryLockedError(f"{place} is locked by another process ({text}); wait for it, or raise busy_timeout_s")
    if state == _TOO_LONG_FOR_AN_INDEX:
        return TurnError(
            f"an id is too long for {place} ({text}); on PostgreSQL the owner and the ids of a turn's source, "
            "together, take at most about 2,600 bytes"
        )
    if state == _DISK_FULL:
        return DiskFullError(f"the disk that holds {place} is full ({text})")
    if state == _TOO_MANY_CONNECTIONS:
        return StoreError(f"{place} takes no more connections ({text}); raise max_connections, or close some")
    if state == _READ_ONLY:
        return StoreError(f"{place} can't be written ({text}); it is a replica, give the URL of the primary")
    if state == _NO_PRIVILEGE:
        return StoreError(
            f"{place} can't be read or written ({text}); the role in the URL needs a database that it owns, and sees "
            "no rows but its owner's"
        )
    if is_damage(state):
        return StoreError(
            f"{place} has damaged pages ({text}); of an index, which is looked at before anything else, or of a "
            "table: if this comes again, look into the server's log and its backups"
        )
    if is_lost:
        return StoreError(
            f"the connection to {place} was lost ({text}); whatever was acknowledged is stored, look for the rest and "
            "repeat it once the server is back"
        )
    return StoreError(f"{place}: {text}")


def unreachable(place: str, text: str) -> StoreError:
    """Return the error for a server that gives no connection."""
    return StoreError(
        f"{place} can't be reached ({' '.join(text.split())}); check the URL, the password and whether the server runs"
    )
