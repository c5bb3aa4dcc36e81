"""A program on a terminal of its own: what a person would type, and what they would see."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x01|\x02")


class PseudoTerminal:
    """Types into a program and reads what it shows, 80 columns wide."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._here = here
        self._seen = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memory_rag", *words],
            stdin=there,
            stdout=there,
            stderr=there,
            env=dict(environment),
            close_fds=True,
            preexec_fn=_take_terminal,
        )
        os.close(there)

    @property
    def shown(self) -> str:
        """All that was shown so far, without styles."""
        self._read(0.0)
        return _STYLES.sub("", self._seen).replace("\r\n", "\n")

    def types(self, text: str) -> None:
        """Type a text and the enter key."""
        os.write(self._here, text.encode() + b"\n")

    def presses(self, key: str) -> None:
        """Press a key with Ctrl, as a person would: once the program has had time to wait for it."""
        # Python's line editor doesn't hear a signal that comes between its prompt and the start of its waiting.
        self._sleeps()
        os.write(self._here, bytes([ord(key.upper()) - 64]))

    def waits_for(self, text: str, *, timeout_s: float = 20.0) -> str:
        """Wait until a text is shown, after all that was waited for before, and return what came up to its end."""
        end = time.monotonic() + timeout_s
        while True:
            shown = self.shown
            at = shown.find(text, self._at)
            if at >= 0:
                came = shown[self._at : at + len(text)]
                self._at = at + len(text)
                return came
            if time.monotonic() > end or (self.process.poll() is not None and not self._read(0.2)):
                raise AssertionError(f"{text!r} was not shown; after what was waited for came: {shown[self._at :]!r}")
            self._read(0.05)

    def ends(self, *, timeout_s: float = 20.0) -> int:
        """Wait until the program has ended, and return its code."""
        end = time.monotonic() + timeout_s
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.05)
        self._read(0.05)
        return self.process.wait(1)

    def kill(self) -> None:
        """End the program as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self._here)

    _at = 0

    def _sleeps(self, *, timeout_s: float = 20.0) -> None:
        """Wait until the program's main thread waits for something."""
        state = Path(f"/proc/{self.process.pid}/stat")
        end = time.monotonic() + timeout_s
        while time.monotonic() < end and state.exists():
            if state.read_text("utf-8", "replace").rpartition(")")[2].split()[0] == "S":
                return
            time.sleep(0.005)

    def _read(self, timeout_s: float) -> bool:
        came = False
        while select.select([self._here], [], [], timeout_s)[0]:
            try:
                data = os.read(self._here, 65536)
            except OSError:
                return came
            if not data:
                return came
            self._seen += data.decode("utf-8", "replace")
            came, timeout_s = True, 0.0
        return came


@contextmanager
def on_a_terminal(*words: str, environment: Mapping[str, str]) -> Iterator[PseudoTerminal]:
    """Run ``memory-rag`` on a terminal until the end of the block."""
    terminal = PseudoTerminal(words, environment)
    try:
        yield terminal
    finally:
        terminal.close()


def _take_terminal() -> None:
    """Make the terminal the program's own, so that Ctrl-C reaches it, and hear Ctrl-C."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
