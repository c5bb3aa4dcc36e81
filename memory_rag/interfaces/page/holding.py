"""What is stored about a person: the state, pins, decisions, files, personal data, and how much of it there is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory_rag.interfaces.page.asked import Asked, Drawn
from memory_rag.inventory import n_bytes_of, readable_size

_SHOWN: Final = 200


def about(asked: Asked) -> Drawn:
    """Draw all that a memory holds beside the turns, and what was found in them."""
    memory = asked.memory
    scanned = None
    if asked.one("look") == "1":
        from memory_rag.privacy.scan import scan
        from memory_rag.privacy.screening import Screening

        found = scan(memory.store, Screening.of_settings(memory.settings))
        scanned = {
            "kinds": [(_kind(asked, kind.value), n, turns) for kind, (n, turns) in found.counts().items()],
            "held": [
                {"kind": _kind(asked, one.kind.value), "what": one.what, "name": one.name, "span": one.span}
                for one in found.held[:_SHOWN]
            ],
            "n_held": len(found.held),
        }
    counted = sorted(memory.store.findings.counts().items())
    values = {
        "n_turns": len(memory),
        "n_conversations": len(memory.store.conversations()),
        "place": memory.place,
        "size": readable_size(sum(n_bytes_of(memory.store).values())),
        "files": [
            (one.path, asked.texts.tell(f"file_{one.status.replace(' ', '_')}")) for one in memory.prompt.files.read()
        ],
        "state": [(name, _written(value)) for name, value in _fields(memory.prompt.state.get())],
        "pins": [(one, asked.day(one.pinned_at)) for one in memory.prompt.pins.all()],
        "decisions": [(one, asked.day(one.decided_at)) for one in memory.prompt.decisions.all()],
        "found": [
            (_kind(asked, kind), asked.texts.get(f"action_{action}", action), n) for (kind, action), n in counted
        ],
        "scanned": scanned,
        "off_record": memory.store.off_record_since,
        "title": asked.texts.tell("about"),
    }
    return Drawn("about", values)


def pin(asked: Asked) -> Drawn:
    """Pin a preference."""
    asked.memory.prompt.pins.add(asked.text("text"))
    return Drawn(to="/about#pins")


def unpin(asked: Asked) -> Drawn:
    """Take a pin off."""
    asked.memory.prompt.pins.remove(asked.one("id"))
    return Drawn(to="/about#pins")


def decide(asked: Asked) -> Drawn:
    """Write a decision down."""
    asked.memory.prompt.decisions.add(asked.text("text"), because=asked.text("because"))
    return Drawn(to="/about#decisions")


def undecide(asked: Asked) -> Drawn:
    """Take a decision out of the log."""
    asked.memory.prompt.decisions.remove(asked.one("id"))
    return Drawn(to="/about#decisions")


def unpin_file(asked: Asked) -> Drawn:
    """Read a file no more. One is pinned on the command line only: a page must not read what it likes."""
    asked.memory.prompt.files.unpin(asked.exact("path"))
    return Drawn(to="/about#files")


def set_state(asked: Asked) -> Drawn:
    """Set a field of the state; an empty value takes it away."""
    name, value = asked.one("name"), asked.text("value")
    if value.strip():
        asked.memory.prompt.state.set(name, _read(value))
    else:
        asked.memory.prompt.state.unset(name)
    return Drawn(to="/about#state")


def off_record(asked: Asked) -> Drawn:
    """Go off the record, or on it again."""
    if asked.one("off") == "1":
        asked.memory.off_record.on()
    else:
        asked.memory.off_record.off()
    return Drawn(to="/about")


def _kind(asked: Asked, kind: str) -> str:
    return asked.texts.get(f"kind_{kind}", kind)


def _fields(state: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the state's fields by the names under which they are set: ``goal.next`` and its value."""
    for key, value in state.items():
        # A field whose own name has a dot can't be named by a path: it is shown with what holds it.
        if isinstance(value, dict) and value and not any("." in name for name in (key, *value)):
            yield from _fields(value, f"{above}{key}.")
        else:
            yield above + key, value


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read(value: str) -> Any:
    """Return what was typed as JSON if it is, else as text."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


HOLDING: Final = (
    ("GET", "/about", about),
    ("POST", "/pin", pin),
    ("POST", "/unpin", unpin),
    ("POST", "/decide", decide),
    ("POST", "/undecide", undecide),
    ("POST", "/unpin-file", unpin_file),
    ("POST", "/state", set_state),
    ("POST", "/off-record", off_record),
)
