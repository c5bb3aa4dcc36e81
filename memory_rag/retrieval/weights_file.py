"""Weights for the ranker in a TOML file, as ``bench tune`` writes them and a memory reads them."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_rag.errors import SettingsError
from memory_rag.retrieval.ranker import ConversationRanker
from memory_rag.retrieval.signals import WEIGHTS, signals


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """Weights by signal, and the SHA-256 of each data set that they were fitted on."""

    weights: Mapping[str, float]
    fitted_on: Sequence[str] = ()

    def text(self, *, comment: Sequence[str] = ()) -> str:
        """Return the file's text, with some lines of comment before it."""
        lines = [f"# {line}" for line in comment]
        lines.append(f"fitted_on = {json.dumps(list(self.fitted_on))}")
        lines += ["", "[weights]", *(f"{name} = {round(weight, 4)!r}" for name, weight in self.weights.items())]
        return "\n".join(lines) + "\n"


def read_weights(path: Path) -> WeightsFile:
    """Return the weights that a file holds; a signal that it doesn't name isn't used.

    Raises:
        SettingsError: it can't be read, names no weights or an unknown signal, or a weight is no finite number.
    """
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} can't be read as a file of weights: {error}") from error
    weights, fitted_on = value.get("weights"), value.get("fitted_on", [])
    if not isinstance(weights, dict) or not any(weights.values()):
        raise SettingsError(f"{path} has no table [weights]; make such a file with: memory-rag bench tune")
    if not isinstance(fitted_on, list) or not all(isinstance(digest, str) for digest in fitted_on):
        raise SettingsError(f"{path}: fitted_on is a list of SHA-256 digests, got {fitted_on!r}")
    return WeightsFile({name: _weight(name, given, path) for name, given in weights.items()}, fitted_on)


def ranker_by(path: str) -> ConversationRanker | None:
    """Return what ranks by the weights in a file; None for an empty path, which means the shipped ones.

    Raises:
        SettingsError: as :func:`read_weights`.
    """
    return ConversationRanker(signals(read_weights(Path(path).expanduser()).weights)) if path else None


def _weight(name: str, given: Any, path: Path) -> float:
    if name not in WEIGHTS:
        raise SettingsError(f"{path}: unknown signal {name!r}; signals are: {', '.join(WEIGHTS)}")
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise SettingsError(f"{path}: the weight of {name} is a number, got {given!r}")
    return float(given)
