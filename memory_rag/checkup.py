"""What the checks of a memory found, whichever engine keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from memory_rag.errors import StoreError
from memory_rag.html.cards import Tone, badge, card, quiet, row
from memory_rag.html.markup import tag

State = Literal["ok", "warn", "fail"]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``remedy`` says what to do, if anything."""

    name: str
    state: State
    message: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        return {"name": self.name, "state": self.state, "message": self.message, "remedy": self.remedy}


Check = Callable[[], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Checkup:
    """What all checks of the memory at a place found, in their order."""

    place: str
    findings: tuple[Finding, ...]

    @property
    def is_well(self) -> bool:
        """False if any check failed; a warning is no failure."""
        return all(finding.state != "fail" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return what ``doctor --json`` prints."""
        return {
            "place": self.place,
            "is_well": self.is_well,
            "findings": [finding.as_json() for finding in self.findings],
        }

    def _repr_html_(self) -> str:
        tones: dict[State, Tone] = {"ok": "good", "warn": "unsure", "fail": "bad"}
        rows = [
            row(badge(one.state, tones[one.state]), tag("b", one.name), f" {one.message}", quiet(one.remedy))
            for one in self.findings
        ]
        title = "All is well" if self.is_well else "Something is wrong"
        return card(*rows, quiet(self.place), title=title, tone="good" if self.is_well else "bad")


def made(name: str, check: Check) -> Iterator[Finding]:
    """Yield what a check finds; one that can't be made has failed, and the others are made all the same."""
    try:
        yield from check()
    except StoreError as error:
        yield Finding(name, "fail", f"can't be checked: {error}")
    except OSError as error:
        yield Finding(name, "fail", f"can't be checked: {error}")
