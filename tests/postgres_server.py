"""A real PostgreSQL for tests: the server that MEMORY_RAG_TEST_PG names, or one that is started from a wheel."""

from __future__ import annotations

import atexit
import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

ROLE = "memory_rag_test"
PASSWORD = "only for tests"
STARTS_WITHIN_S = 180


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server, and how its superuser and a role without privileges get into its databases."""

    superuser: str
    """The URL by which a superuser gets in."""
    made: list[str] = field(default_factory=list)
    """The databases made here; a server that is named may have those of other test runs too."""

    def url(self, database: str) -> str:
        """Return the URL by which a role that owns a database, and sees only what a policy shows, gets in."""
        from psycopg.conninfo import conninfo_to_dict

        given = {name: str(value) for name, value in conninfo_to_dict(self.superuser).items() if value is not None}
        beside = {name: value for name, value in given.items() if name not in ("dbname", "user", "password")}
        return f"postgresql://{ROLE}:{quote(PASSWORD)}@/{database}?{urlencode(beside)}"

    def new_database(self) -> str:
        """Make an empty database with its extensions, and return the role's URL of it."""
        name = f"memory_rag_test_{uuid.uuid4().hex[:12]}"
        self.as_superuser(f'CREATE DATABASE "{name}" OWNER "{ROLE}"')
        self.made.append(name)
        for (extension,) in self.as_superuser(
            "SELECT name FROM pg_available_extensions WHERE name IN ('vector', 'pg_textsearch')"
        ):
            self.as_superuser(f'CREATE EXTENSION "{extension}"', database=name)
        return self.url(name)

    def as_superuser(self, statement: str, *, database: str | None = None) -> list[tuple[Any, ...]]:
        """Run a statement that no policy holds back, and return its rows."""
        import psycopg

        given = {} if database is None else {"dbname": database}
        with psycopg.connect(self.superuser, autocommit=True, **given) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server with a role for the tests, and what they made in it dropped at the end; skips the test without one."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("needs psycopg: install the extra 'postgres'")
    named = os.environ.get("MEMORY_RAG_TEST_PG")
    if named is None and importlib.util.find_spec("pgserver") is None:
        pytest.skip(
            "needs a PostgreSQL server: pip install -r tests/requirements.txt, or name a superuser's URL in "
            "MEMORY_RAG_TEST_PG"
        )
    if named is not None:
        yield from _with_role(PostgresServer(named))
        return
    # Not pytest's folder: as root the server runs as another user, who can't get in there.
    place = Path(tempfile.mkdtemp(prefix="memory-rag-pg-"))
    try:
        with pytest.MonkeyPatch.context() as environment, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            environment.setenv("XDG_RUNTIME_DIR", str(place))
            started = _started(place / "data")
        try:
            server = PostgresServer(started.get_uri())
            server.as_superuser("ALTER SYSTEM SET fsync = off")
            server.as_superuser("SELECT pg_reload_conf()")
            yield from _with_role(server)
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                started.cleanup()
            # At the end of the process it would make its folder anew, to say in it that it is gone.
            atexit.unregister(started._cleanup)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _started(data: Path) -> Any:
    """Start a server that is stopped when this process ends, however slow the machine is.

    The wheel gives its own start ten seconds, and as root makes a user for it: two at once would both try.
    """
    from pgserver.postgres_server import PostgresServer as Started

    data.mkdir()
    deadline = time.monotonic() + STARTS_WITHIN_S
    with (Path(tempfile.gettempdir()) / "memory-rag-pg.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while True:
            try:
                return Started(data, cleanup_mode="stop")
            except (subprocess.TimeoutExpired, AssertionError):
                # It starts all the same, and is found by the next try; until it is ready, that asserts so.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)


def make_role(server: PostgresServer) -> None:
    """Make the role that the tests get in as, if it isn't there."""
    server.as_superuser(
        f"DO $$ BEGIN CREATE ROLE \"{ROLE}\" LOGIN PASSWORD '{PASSWORD}'; "
        "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )


def _with_role(server: PostgresServer) -> Iterator[PostgresServer]:
    make_role(server)
    try:
        yield server
    finally:
        for name in server.made:
            server.as_superuser(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
