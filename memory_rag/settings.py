"""Every setting, its default and its unit.

A setting is taken from the first of: the argument, the environment (``MEMORY_RAG_<NAME>``), ``memory-rag.toml`` in the
home folder, the default below.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from memory_rag.errors import SettingsError

CONFIG_NAME = "memory-rag.toml"
ALL_RESIDENT = 2**62
"""As ``resident``: more turns than any memory has."""
_LEAST = {
    "k": 1,
    "depth": 1,
    "pending_limit": 0,
    "threads": 0,
    "summary_turns": 1,
    "summary_tokens": 1,
    "keep_recent": 0,
    "partitions": 0,
    "resident": 0,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a memory behaves. Frozen: a memory keeps the settings it was opened with."""

    embedder: str = "minilm"
    """``minilm``, ``e5``, ``sentence-transformers:<name or path>``, ``openai:<model>`` or ``none`` (keyword only)."""
    language: str = "auto"
    """The analyzer's language as a code (``en``, ``sv`` …); ``auto`` guesses it at the first import."""
    timezone: str = "UTC"
    """The zone in which dates without a zone are read, as an IANA name."""
    durability: str = "normal"
    """``normal``: safe against a killed process; ``full``: against a power cut too (one fsync an add)."""
    busy_timeout_s: float = 30.0
    """How long a write waits for another process's write, in seconds."""
    lock_timeout_s: float = 10.0
    """How long writing derived files waits for another process that writes them, in seconds."""
    k: int = 10
    """Hits returned by a search."""
    depth: int = 50
    """Candidates taken from each side before ranking."""
    pending_limit: int = 64
    """Turns that a search embeds on its way at most; what is over stays keyword-only until the next ``embed``."""
    threads: int = 0
    """Threads for embedding and FAISS; 0 means one a core."""
    tokenizer: str = ""
    """The ``tokenizer.json`` of the model that prompts are for; empty means that tokens are estimated, erring high."""
    summaries: str = "chats"
    """``chats``: after an answer in the chat, through ``serve`` or into the MCP server, and at the end of a session of
    Claude Code, its conversation is summarised in the background if that is due; ``auto``: after every turn that is
    added; ``off``: only when it is asked for. Imports are never summarised by themselves."""
    state_from_summary: str = "propose"
    """What a summary's facts, decisions and to-dos do to the task's state: ``propose`` keeps them for you to take,
    ``auto`` sets them, ``off`` leaves it alone."""
    summarizer: str = "extractive"
    """Who writes the running summary: ``extractive`` (offline) or ``openai:<model>`` (OPENAI_BASE_URL)."""
    summary_turns: int = 20
    """Turns without a summary from which on the older of them are summarised."""
    summary_tokens: int = 8_000
    """Estimated tokens of turns without a summary from which on the older of them are summarised."""
    summary_drift: float = 0.95
    """How far the talk has to move for a new subject, as one minus a cosine; 0, or no embedder, never looks."""
    summary_kept: float = 0.5
    """The share of decisions and preferences that a summary has to keep to be installed, 0 to 1."""
    keep_recent: int = 8
    """The newest turns of a conversation, which are never summarised."""
    secrets: str = ""
    """What is done with secrets and personal data before a turn is stored: ``tag``, ``redact`` or ``refuse`` for
    passwords and keys, or by kind: ``phone=redact,card=refuse``. Empty: these are redacted, the rest is tagged."""
    never_store: tuple[str, ...] = ()
    """Turns with one of these are not stored: words, ``/patterns/``, ``kind:card``. In the environment one a line."""
    owner: str = "main"
    """Whose memory, where several people's lie in one database on a PostgreSQL server."""
    replica: str = field(default="", repr=False)
    """The URL of a server that follows the one with the memory: what only needs vectors and words is read there."""
    resident: int = 20_000
    """Turns of a memory on a server up to which it is held in the process whole; of a larger one the server names the
    turns that a question may be about. 0 lets it name them always."""
    partitions: int = 0
    """Into how many parts the tables of a new database are split, by owner; 0 leaves them whole."""
    weights: str = ""
    """A file of weights for ``hybrid``, as ``memory-rag bench tune`` writes it; empty means the shipped ones."""

    def __post_init__(self) -> None:
        choices = {
            "durability": ("normal", "full"),
            "summaries": ("off", "chats", "auto"),
            "state_from_summary": ("off", "propose", "auto"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise SettingsError(
                    f"{name} is one of: {', '.join(allowed)}; got {getattr(self, name)!r}",
                )
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise SettingsError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.summarizer != "extractive" and not self.summarizer.removeprefix("openai:"):
            raise SettingsError("summarizer openai: needs a model; write openai:<model>")
        if self.summarizer != "extractive" and not self.summarizer.startswith("openai:"):
            raise SettingsError(
                f"unknown summarizer {self.summarizer!r}; a summarizer is one of: extractive, openai:<model>"
            )
        if not 0 <= self.summary_kept <= 1:
            raise SettingsError(f"summary_kept is a share, 0 to 1, got {self.summary_kept}")
        if not 0 <= self.summary_drift <= 2:
            raise SettingsError(f"summary_drift is 0 (never) to 2, got {self.summary_drift}")
        for name in ("busy_timeout_s", "lock_timeout_s"):
            if not 0 <= getattr(self, name) < 86_400:
                raise SettingsError(f"{name} is between 0 and 86400 seconds, got {getattr(self, name)}")

    @classmethod
    def load(
        cls,
        *,
        environment: Mapping[str, str] | None = None,
        config: Path | None = None,
        **arguments: Any,
    ) -> Self:
        """Return the settings that hold for these arguments, this environment and this TOML file.

        An argument that is None counts as not given.

        Raises:
            SettingsError: a name that isn't a setting, or a value of the wrong kind or out of range.
        """
        settings = cls()
        for where, values in _given(environment, config, arguments):
            settings = settings.with_values(values, where=where)
        return settings

    def with_values(self, values: Mapping[str, object], *, where: str) -> Self:
        """Return these settings with some replaced; ``where`` is named in an error."""
        known = {spec.name: type(getattr(self, spec.name)) for spec in fields(self)}
        changed: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise SettingsError(f"unknown setting {name!r} in {where}; settings are: {', '.join(known)}")
            try:
                changed[name] = _several(value) if known[name] is tuple else known[name](value)
            except (TypeError, ValueError):
                raise SettingsError(f"{name} in {where} must be a {known[name].__name__}, got {value!r}") from None
        return replace(self, **changed) if changed else self


class Settled(NamedTuple):
    """A setting's value, and where it was given: ``default``, a file, ``the environment`` or ``the arguments``."""

    value: Any
    origin: str


def settled(
    *, environment: Mapping[str, str] | None = None, config: Path | None = None, **arguments: Any
) -> dict[str, Settled]:
    """Return what :meth:`Settings.load` would, setting by setting, with the origin of each.

    Raises:
        SettingsError: as there.
    """
    loaded = Settings.load(environment=environment, config=config, **arguments)
    origins = {name: where for where, values in _given(environment, config, arguments) for name in values}
    return {name: Settled(getattr(loaded, name), origins.get(name, "default")) for name in setting_names()}


def _given(
    environment: Mapping[str, str] | None, config: Path | None, arguments: Mapping[str, object]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield where settings are given and what is given there; the later counts before the earlier."""
    environment = os.environ if environment is None else environment
    if config is not None:
        yield str(config), _table_in(config)
    variables = {name: environment.get(f"MEMORY_RAG_{name.upper()}") for name in setting_names()}
    yield "the environment", {name: value for name, value in variables.items() if value}
    yield "the arguments", {name: value for name, value in arguments.items() if value is not None}


def _several(value: object) -> tuple[str, ...]:
    """Return texts as a setting holds them: those of a list, or the lines of one text."""
    several = value.splitlines() if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, str) for one in several):
        raise TypeError("not texts")
    return tuple(one for one in several if one.strip())


def _table_in(config: Path) -> Mapping[str, object]:
    """Return what a TOML file says; nothing if it isn't there."""
    try:
        return tomllib.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{config} is not a TOML file: {error}") from error
    except OSError as error:
        raise SettingsError(
            f"{config} can't be read ({error.strerror}); settings and memories with a name need a home folder that "
            "you may read, name another with --home or MEMORY_RAG_HOME"
        ) from error


def setting_names() -> tuple[str, ...]:
    """Return the names of all settings, in the order of the class."""
    return tuple(spec.name for spec in fields(Settings))


def home_folder(given: str | Path | None = None) -> Path:
    """Return where memories named without a slash live: the argument, ``MEMORY_RAG_HOME``, or the user data folder."""
    if given:
        return Path(given).expanduser()
    if named := os.environ.get("MEMORY_RAG_HOME"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("memory-rag", appauthor=False))


def memory_folder(name_or_path: str | Path, *, home: str | Path | None = None) -> Path:
    """Return a memory's folder: a name lies under the home folder, anything with a slash (or a Path) is a path.

    Raises:
        SettingsError: a name that can't name a folder.
    """
    if isinstance(name_or_path, Path):
        return name_or_path
    scheme, is_url, _ = name_or_path.partition("://")
    if is_url and scheme.isalnum():
        raise SettingsError(
            f"{scheme}:// begins no memory's URL; a server's begins with postgresql://, and a folder is named by a path"
        )
    if "/" in name_or_path or os.sep in name_or_path:
        return Path(name_or_path).expanduser()
    if name_or_path in ("", ".", "..") or "\0" in name_or_path:
        raise SettingsError(f"{name_or_path!r} can't name a memory; give a name such as 'main', or a path with a slash")
    return home_folder(home) / name_or_path
