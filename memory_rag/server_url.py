"""The URL of a server, as far as it may be told: who shows it, prints it or writes it down leaves the secrets out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

SCHEMES: Final = ("postgresql://", "postgres://")
_TOLD: Final = re.compile(
    "host(addr)?|port|dbname|user|passfile|service(file)?|options|(fallback_)?application_name|client_encoding|"
    "connect_timeout|channel_binding|require(_auth|peer)|target_session_attrs|load_balance_hosts|replication|"
    "keepalives(_idle|_interval|_count)?|tcp_user_timeout|gss(encmode|lib|delegation)|krbsrvname|"
    "ssl(mode|negotiation|compression|cert|key|certmode|rootcert|crl|crldir|sni)|(ssl_)?m(in|ax)_protocol_version"
)
"""What libpq knows beside passwords; any other word may be a part of one."""
_USER: Final = re.compile(r"[^@/]*@")
"""What libpq takes for the user and the password."""
_UNREADABLE: Final = "postgresql://…"


def is_on_server(name_or_path: str | Path) -> bool:
    """Tell whether this names a memory on a PostgreSQL server, by its URL."""
    return isinstance(name_or_path, str) and name_or_path.startswith(SCHEMES)


def is_unclear(url: str) -> bool:
    """Tell whether it can't be told which part of a URL is the password: a slash or an @ in it isn't escaped."""
    return is_on_server(url) and _parts(url).shown == _UNREADABLE


def server_of(url: str) -> str:
    """Return which database of which server a URL names, without whoever enters it.

    Of one in which it can't be told what is the password, nothing is.
    """
    return _parts(url).shown


def memory_of(url: str, *, owner: str) -> str:
    """Return where one owner's memory is, as messages name it."""
    return f"{server_of(url)}, owner {owner!r}"


def without_secrets(url: str) -> str:
    """Return a URL that may be printed and gets in where the password is kept elsewhere, in ``~/.pgpass`` say."""
    parts = _parts(url)
    if parts.shown == _UNREADABLE:
        return _UNREADABLE
    query = f"?{'&'.join(f'{name}={value}' for name, value in parts.kept)}" if parts.kept else ""
    return f"postgresql://{f'{parts.user}@' if parts.user else ''}{parts.hosts}{parts.path}{query}"


def has_secret(url: str) -> bool:
    """Tell whether a URL has a password in it, or may have one."""
    parts = _parts(url)
    return parts.has_secret or parts.shown == _UNREADABLE


@dataclass(frozen=True, slots=True)
class _Parts:
    """A URL's parts as they stand in it; ``path`` begins with a slash, ``kept`` is the query without secrets."""

    user: str
    hosts: str
    path: str
    kept: tuple[tuple[str, str], ...]
    has_secret: bool
    shown: str


def _parts(url: str) -> _Parts:
    if not is_on_server(url):
        return _Parts("", "", "", (), True, _UNREADABLE)
    rest = url.partition("://")[2]
    credentials = match[0] if (match := _USER.match(rest)) else ""
    user, _, password = credentials.removesuffix("@").partition(":")
    where, _, query = rest[len(credentials) :].partition("?")
    hosts, slash, database = where.partition("/")
    pairs = [(unquote(name), value) for name, _, value in (pair.partition("=") for pair in query.split("&") if pair)]
    secret = bool(password) or any(not _TOLD.fullmatch(name) for name, _ in pairs)
    kept = tuple((name, value) for name, value in pairs if _TOLD.fullmatch(name))
    if "@" in where or "#" in where or re.search(r":(?!\d+(,|$))", re.sub(r"\[[^]]*]", "", hosts)):
        # A password with a slash in it: part of it would be taken for a host, a port or a database.
        return _Parts("", "", "", (), True, _UNREADABLE)
    told = {name: unquote(value) for name, value in kept}
    host = told.get("host", unquote(hosts))
    port = f":{told['port']}" if "port" in told else ""
    shown = f"postgresql://{host}{port}/{told.get('dbname', unquote(database))}"
    return _Parts(user, hosts, slash + database, kept, secret, shown)
