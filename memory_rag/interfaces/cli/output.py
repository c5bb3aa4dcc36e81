"""Where words go: data to stdout, notes and errors to stderr; JSON is UTF-8 whatever the terminal speaks."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from contextlib import suppress
from typing import Annotated, Any, TextIO

import typer

from memory_rag.interfaces.cli.terminal import shown

Json = Annotated[bool, typer.Option("--json", help="Print JSON.", show_default=False)]
_SURROGATE = re.compile("[\ud800-\udfff]")


def say(text: str = "") -> None:
    """Print a line of what was asked for."""
    sys.stdout.write(_encodable(text, sys.stdout) + "\n")


def print_json(value: Any) -> None:
    """Print a value as JSON on one line a record: letters as they are, lone surrogates and NUL as escapes."""
    write_json(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_json(text: str) -> None:
    """Write JSON to stdout as UTF-8, whatever the terminal's encoding is: a file of it can be read again."""
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8"))
    else:
        sys.stdout.write(text)


def tell(text: str) -> None:
    """Print a line for the person at the terminal, on stderr, after what was printed before it."""
    with suppress(OSError):
        sys.stdout.flush()
    sys.stderr.write(_encodable(shown(text), sys.stderr) + "\n")


def note(text: str) -> None:
    """Print something that bears on what was printed, on stderr."""
    tell(f"note: {text}")


def error(text: str) -> None:
    """Print why a command failed, on stderr."""
    tell(f"error: {text}")


def asked(question: str) -> bool | None:
    """Ask on stderr, and return whether the answer is yes; None if nobody is there to answer."""
    flush()
    sys.stderr.write(f"{_encodable(question, sys.stderr)} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        tell("")
        return None
    return answer.strip().casefold() in ("y", "yes")


def open_streams() -> None:
    """Give stdout and stderr somewhere to write to where a caller has closed them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())


def close_stdout() -> None:
    """Let nothing more be written where nothing can be, not even by Python when it leaves."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def flush() -> None:
    """Write out what is buffered, so that a reader that has gone is noticed here."""
    sys.stdout.flush()
    sys.stderr.flush()


def is_colourful(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that may be given colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
