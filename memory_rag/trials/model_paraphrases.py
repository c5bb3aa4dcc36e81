"""Paraphrases that a chat model writes, kept until the run that they were written for is finished."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import MemoryRagError, SettingsError
from memory_rag.evaluation.datasets.paraphrases import INSTRUCTION, Paraphraser, messages_for, question_in
from memory_rag.summaries.chat_endpoint import ChatEndpoint, RefusedOptionError
from memory_rag.turns import text_bytes

SPEC: Final = "openai:<model>"


class ModelParaphraser:
    """A chat model, ``openai:<model>``: the beginnings of turns leave this machine, for ``OPENAI_BASE_URL``."""

    def __init__(self, endpoint: ChatEndpoint) -> None:
        self._endpoint = endpoint
        self._options: dict[str, Any] = {"temperature": 0}

    @classmethod
    def named(cls, spec: str) -> ModelParaphraser:
        """Return the paraphraser that a spec such as ``openai:small`` names.

        Raises:
            SettingsError: it names none.
            ModelError: there is no key.
        """
        kind, _, model = spec.strip().partition(":")
        if kind != "openai" or not model.strip():
            raise SettingsError(f"unknown paraphraser {spec!r}; one is named as {SPEC}")
        return cls(ChatEndpoint(model.strip()))

    @property
    def name(self) -> str:
        return f"openai:{self._endpoint.model}"

    def question_for(self, passage: str) -> str:
        try:
            answer = self._endpoint.ask(messages_for(passage), options=self._options)
        except RefusedOptionError:
            # Some models have one temperature only.
            self._options = {}
            answer = self._endpoint.ask(messages_for(passage), options=self._options)
        return question_in(answer.text) if answer.is_whole else ""

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


class KeptParaphrases:
    """A paraphraser that asks another one once for each passage, and keeps what it said in a folder until it is told
    to forget it.

    What a model wrote, it may not write again, and each answer costs: a run that is stopped goes on with the questions
    that it had. They are made of a memory's words, so they don't stay once the run is finished.
    """

    def __init__(self, asked: Paraphraser, folder: Path, *, told: Callable[[int], None] = lambda _n: None) -> None:
        self._asked = asked
        self._told = told
        by = hashlib.sha256(f"{asked.name}\0{INSTRUCTION}".encode()).hexdigest()[:16]
        self._path = folder / f"paraphrases-{by}.jsonl"
        self._known = self._read()
        self._n = 0

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._known)

    @property
    def name(self) -> str:
        return self._asked.name

    def question_for(self, passage: str) -> str:
        key = hashlib.sha256(text_bytes(passage)).hexdigest()
        if key not in self._known:
            self._known[key] = self._asked.question_for(passage)
            self._keep(key)
        self._n += 1
        self._told(self._n)
        return self._known[key]

    def forget(self) -> None:
        """Remove what is kept."""
        self._path.unlink(missing_ok=True)
        self._known.clear()

    def _read(self) -> dict[str, str]:
        if not self._path.is_file():
            return {}
        data = self._path.read_bytes()
        # The line that a killed process was writing is none.
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        return dict(json.loads(line) for line in lines if line.strip())

    def _keep(self, key: str) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                data = file.read()
                file.seek(data.rfind(b"\n") + 1)
                file.write(json.dumps([key, self._known[key]]).encode("ascii") + b"\n")
                file.truncate()
        except OSError as error:
            raise MemoryRagError(
                f"{self._path} can't be written ({error.strerror}); name another folder with --work"
            ) from error
