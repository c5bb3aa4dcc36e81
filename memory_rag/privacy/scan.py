"""What secret and personal things a memory holds already: reported, never changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from memory_rag.privacy.finding import find
from memory_rag.privacy.json_values import is_json, literals_of, strings_in
from memory_rag.privacy.kinds import Action, Kind
from memory_rag.privacy.screening import Screening
from memory_rag.store.engine import Connections
from memory_rag.store.findings import replace_findings
from memory_rag.store.screening import IN_BLOCKS, IN_SOURCE, IN_TEXT, Finding
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Span, Turn, text_from_bytes

# What else holds words: what it is called, and how it is read (a name, then texts or JSON).
_BESIDE: Final = (
    ("earlier version", "SELECT turn_id, v.text FROM versions AS v JOIN turns USING (row) ORDER BY row, replaced_by"),
    ("pin", "SELECT 'p' || pin, text FROM pins ORDER BY pin"),
    ("decision", "SELECT 'd' || decision, text, because FROM decisions ORDER BY decision"),
    ("state", "SELECT name, value FROM state ORDER BY name"),
    ("title", "SELECT conversation_id, title FROM conversations ORDER BY conversation_id"),
    ("event", "SELECT event, details FROM events ORDER BY event"),
    ("returned blocks", "SELECT turn_id, content FROM returned_blocks JOIN turns USING (row) ORDER BY row"),
    (
        "summary",
        "SELECT conversation_id, text, reason FROM summary_lines JOIN summaries USING (summary) "
        "ORDER BY summary, place",
    ),
    (
        "talk",
        "SELECT conversation_id, text, reason FROM talk_lines JOIN talk_summaries USING (talk) ORDER BY talk, place",
    ),
)
_TOLD_EVERY: Final = 1000


@dataclass(frozen=True, slots=True)
class Held:
    """Something that is stored: its kind, in what it stands (``turn``, ``pin`` …), that one's name, and where in it.

    ``place`` is ``text``, ``blocks`` or ``source`` of a turn, and empty elsewhere; ``span`` is that in a turn's text.
    ``unwanted`` tells that the memory's rules would not let it in today.
    """

    kind: Kind
    what: str
    name: str
    place: str
    span: Span | None
    unwanted: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "in": self.what,
            "name": self.name,
            "place": self.place or None,
            "start": self.span and self.span.start,
            "end": self.span and self.span.end,
            "unwanted": self.unwanted,
        }


@dataclass(slots=True)
class Scan:
    """What was found, in stored order; ``redacted`` counts, by kind, what was taken out before it was stored."""

    n_turns: int = 0
    held: list[Held] = field(default_factory=list)
    redacted: Counter[str] = field(default_factory=Counter)
    tagged: int | None = None

    @property
    def unwanted(self) -> list[Held]:
        """What the memory's rules would not let in today."""
        return [one for one in self.held if one.unwanted]

    def counts(self) -> dict[Kind, tuple[int, int]]:
        """Return by kind how often it is held and in how many turns, the most frequent first."""
        times = Counter(one.kind for one in self.held)
        turns = {kind: len({one.name for one in self.held if (one.kind, one.what) == (kind, "turn")}) for kind in times}
        return {kind: (n, turns[kind]) for kind, n in times.most_common()}


def scan(
    store: TurnWriter,
    screening: Screening,
    *,
    tag: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Scan:
    """Read every text that is stored and return what is secret or personal in it.

    Nothing is changed, but with ``tag`` the spans of what is only tagged are written down beside the turns.
    """
    result = Scan(redacted=_redacted(store))
    total = len(store)
    tags: list[tuple[int, str, list[Finding]]] = []
    for row, turn in store.scan():
        result.n_turns += 1
        found = list(_in_turn(turn, screening))
        result.held += found
        spans = [one for one in found if one.place == IN_TEXT]
        if spans:
            tags.append((row, turn.sha256, [Finding(one.kind, Action.TAG, span=one.span) for one in spans]))
        if progress is not None and result.n_turns % _TOLD_EVERY == 0:
            progress("reading", result.n_turns, total)
    result.held += _beside(store.connections, screening)
    if tag:
        result.tagged = _tag(store, tags)
    return result


def _in_turn(turn: Turn, screening: Screening) -> Iterator[Held]:
    for one in find(turn.text):
        yield Held(one.kind, "turn", turn.turn_id, IN_TEXT, one.span, screening.keeps_out(one.kind))
    strings = [pair for block in turn.blocks for pair in ((block.caption, ""), *strings_in(block.data))]
    for _value, found in screening.found_in_strings(iter(strings)):
        yield Held(found.kind, "turn", turn.turn_id, IN_BLOCKS, None, unwanted=True)
    if turn.source is not None and turn.source.raw is not None:
        for _value, found in screening.found_in_raw(turn.source.raw):
            yield Held(found.kind, "turn", turn.turn_id, IN_SOURCE, None, unwanted=True)


def _beside(connections: Connections, screening: Screening) -> Iterator[Held]:
    for what, select in _BESIDE:
        with connections.reading() as connection:
            records = connection.execute(select).fetchall()
        for name, *texts in records:
            for text in map(text_from_bytes, texts):
                kinds = Counter[Kind]()
                if is_json(text):
                    strings = ((decoded, named) for _start, _end, decoded, named in literals_of(text))
                    kinds.update(found.kind for _value, found in screening.found_in_strings(strings))
                kinds |= Counter(found.kind for found in find(text))
                for kind in kinds.elements():
                    yield Held(kind, what, str(name), "", None, screening.keeps_out(kind))


def _redacted(store: TurnWriter) -> Counter[str]:
    return Counter({kind: n for (kind, action), n in store.findings.counts().items() if action == Action.REDACT})


def _tag(store: TurnWriter, tags: list[tuple[int, str, list[Finding]]]) -> int:
    """Write the tags of turns down in place of those they had, and return of how many turns.

    Not of those that another process removed or gave other words meanwhile: it has tagged what it stored.
    """
    n_tagged = 0
    with store.connections.writing() as connection:
        for row, digest, findings in tags:
            found = connection.execute("SELECT sha256 FROM turns WHERE row = ?", (row,)).fetchone()
            if found is not None and bytes(found[0]).hex() == digest:
                replace_findings(connection, row, findings, only_text=True, only=Action.TAG)
                n_tagged += 1
    return n_tagged


def as_json(result: Scan) -> dict[str, Any]:
    """Return a scan for a program."""
    return {
        "n_turns": result.n_turns,
        "kinds": {kind.value: {"held": n, "turns": n_turns} for kind, (n, n_turns) in result.counts().items()},
        "redacted": dict(sorted(result.redacted.items())),
        "unwanted": len(result.unwanted),
        "tagged": result.tagged,
        "held": [one.as_json() for one in result.held],
    }
