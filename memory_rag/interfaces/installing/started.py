"""How another program starts memory-rag: with the whole path, since it knows neither our PATH nor our environment."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.server_url import has_secret, is_on_server, server_of
from memory_rag.settings import setting_names

_OF_THE_CLIENT: Final = frozenset(
    {"PGPASSFILE", "PGSERVICEFILE", "PGSSLMODE", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"}
)
"""What PostgreSQL's client reads of the environment, and is no secret."""


@dataclass(frozen=True, slots=True)
class Started:
    """The words that start memory-rag, those that name its memory, and the settings it has from the environment."""

    words: tuple[str, ...]
    memory: tuple[str, ...]
    environment: Mapping[str, str]

    def server(self) -> tuple[str, list[str]]:
        """Return the command of the MCP server and its arguments."""
        return self.words[0], [*self.words[1:], "mcp", *self.memory]

    def hook(self, *, platform: str = sys.platform) -> str:
        """Return the command line of the hook, as the system's shell reads it."""
        words = [*self.words, "hook", "claude-code", *self.memory]
        return subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words)


def started(options: Mapping[str, str], *, environment: Mapping[str, str], executable: Path) -> Started:
    """Return how memory-rag is started for a memory.

    ``options`` are those that were given (``memory``, ``home`` …); ``executable`` is the Python that runs. What the
    environment says of home and memory becomes an option; its other settings go along as they are, keys and tokens
    never; for a memory on a server also where PostgreSQL's client finds a password and a certificate.

    Raises:
        SettingsError: a password is in the URL of a server: other programs' settings are no place for it.
    """
    given = {
        "memory": environment.get("MEMORY_RAG_MEMORY"),
        "home": environment.get("MEMORY_RAG_HOME"),
        **{name: value for name, value in options.items() if value},
    }
    memory = given.pop("memory")
    on_server = memory is not None and is_on_server(memory)
    if memory and "/" in memory and not on_server:
        memory = str(Path(memory).expanduser().absolute())
    home = given.pop("home")
    if home:
        home = str(Path(home).expanduser().absolute())
    named = {"memory": memory, "home": home, **given}
    for url in (memory, environment.get("MEMORY_RAG_REPLICA")):
        if url and is_on_server(url) and has_secret(url):
            raise SettingsError(
                f"the URL of {server_of(url)} has a password in it, which would be written into another program's "
                "settings for all to read; put a line host:port:database:user:password into ~/.pgpass (chmod 600), and "
                "leave the password out of the URL"
            )
    script = executable.parent / "memory-rag"
    own = {f"MEMORY_RAG_{name.upper()}" for name in setting_names()} | {"MEMORY_RAG_MINILM_PATH"}
    own |= _OF_THE_CLIENT if on_server else set()
    return Started(
        words=(str(script),) if script.is_file() else (str(executable), "-m", "memory_rag"),
        memory=tuple(part for name, value in named.items() if value for part in (f"--{name}", value)),
        environment={
            name: value
            for name, value in sorted(environment.items())
            if name in own and value and name.removeprefix("MEMORY_RAG_").lower() not in options
        },
    )
