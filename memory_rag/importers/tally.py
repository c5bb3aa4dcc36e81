"""What an importer says beside the turns: what it left out, and what it kept but stumbled over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skipped:
    """Messages that were found but not taken, counted by ``reason``: one cause has one wording."""

    reason: str
    where: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth a word about what was taken: a time that can't be understood, an id that came twice."""

    reason: str
    where: str
    count: int = 1
