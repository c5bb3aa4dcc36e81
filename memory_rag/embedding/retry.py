"""Trying again: how often, how long between, and when the other side says so."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from memory_rag.errors import EmbedderError, SettingsError

Answer = TypeVar("Answer")


def _now() -> datetime:
    return datetime.now(UTC)


class PassingFaultError(EmbedderError):
    """A request failed in a way that may be over soon; ``after_s`` is the wait that the server asks for."""

    def __init__(self, reason: str, *, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``attempts`` attempts with waits that double from ``first_wait_s`` to ``longest_wait_s`` seconds.

    A wait is taken at random from its upper half, so that clients that failed together don't come back
    together; ``seed`` makes that repeatable. A server's Retry-After is waited out in full; one over
    ``longest_wait_s`` ends the attempts.
    """

    attempts: int = 6
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    seed: int | None = None
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = _now

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 <= self.first_wait_s <= self.longest_wait_s:
            raise SettingsError(
                "retries need attempts >= 1 and 0 <= first_wait_s <= longest_wait_s, got attempts "
                f"{self.attempts}, first_wait_s {self.first_wait_s} and longest_wait_s {self.longest_wait_s}"
            )

    def run(self, ask: Callable[[], Answer]) -> Answer:
        """Return what ``ask`` returns, asking again after each :class:`PassingFaultError`.

        Raises:
            EmbedderError: the last attempt failed too, or the server asks for a wait that is too long.
        """
        chance = random.Random(self.seed)
        waited_s = 0.0
        attempt = 1
        while True:
            try:
                return ask()
            except PassingFaultError as fault:
                wait_s = min(self.first_wait_s * 2 ** (attempt - 1), self.longest_wait_s) * chance.uniform(0.5, 1)
                wait_s = max(wait_s, fault.after_s or 0.0)
                if attempt == self.attempts or wait_s > self.longest_wait_s:
                    raise EmbedderError(self._given_up(fault, attempt=attempt, waited_s=waited_s)) from fault
            self.sleep(wait_s)
            waited_s += wait_s
            attempt += 1

    def _given_up(self, fault: PassingFaultError, *, attempt: int, waited_s: float) -> str:
        if attempt < self.attempts:
            return f"{fault}; the server asks to wait {fault.after_s:.0f} s, try again then"
        tried = "once" if attempt == 1 else f"{attempt} times within {waited_s:.0f} s"
        return f"{fault}; tried {tried}, try again later"


def asked_wait_s(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds that a response's ``retry-after-ms`` or ``retry-after`` asks to wait, or None."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            seconds = _seconds_until(value, now=now)
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def _seconds_until(http_date: str, *, now: datetime) -> float:
    try:
        return (parsedate_to_datetime(http_date).astimezone(UTC) - now).total_seconds()
    except ValueError:
        return math.nan
