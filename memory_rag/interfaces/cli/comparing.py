"""``memory-rag compare``: one question asked by keyword, by meaning, and by both."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from memory_rag.interfaces.cli.narrowing import EVERYWHERE, All, Narrowing
from memory_rag.interfaces.cli.option_groups import with_options
from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.searching import K, Query
from memory_rag.interfaces.cli.terminal import Ink, fitted, padded, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import place_json

if TYPE_CHECKING:
    from memory_rag.retrieval.comparison import ComparedTurn, Comparison

_SIDE_BY_SIDE_FROM = 100
_WIDEST = 160
_GAP = 2
_NARROW = 30
"""Columns beside the ranks below which a turn's words stand in a line of their own."""
_SIGNS = "↑↓ moved by hybrid, new: added by it, out: dropped by it, ·: not listed"


@with_options(Narrowing)
def compare(
    place: Place,
    query: Query,
    k: K = 5,
    narrowing: Narrowing = EVERYWHERE,
    unrecalled: All = False,
    as_json: Json = False,
) -> None:
    """Search by keyword, by meaning and by both, side by side."""
    with place.open() as memory:
        comparison = memory.compare(query, k=k, within=narrowing.within(unrecalled=unrecalled))
    if as_json:
        print_json(_as_json(comparison))
    else:
        print_comparison(comparison)
    for text in dict.fromkeys(text for ranking in comparison.rankings.values() for text in ranking.notes):
        note(text)


def _as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "query": comparison.query,
        "rankings": {
            mode: [
                {
                    "rank": hit.rank,
                    "turn_id": hit.turn.turn_id,
                    "source_id": hit.turn.source.native_id if hit.turn.source else None,
                    "score": hit.score,
                }
                for hit in ranking
            ]
            for mode, ranking in comparison.rankings.items()
        },
        "turns": [
            {**place_json(found.turn), "text": found.turn.text, "ranks": dict(found.ranks)}
            for found in comparison.turns
        ],
    }


def print_comparison(comparison: Comparison) -> None:
    """Print the rankings side by side where the terminal is wide enough, else as one table of ranks."""
    if not comparison.turns:
        say("not found")
        return
    ink, width = Ink(is_colourful(sys.stdout)), screen_width(widest=_WIDEST)
    for line in comparison_lines(comparison, width=width, ink=ink):
        say(line.rstrip())
    for span in wrapped(_SIGNS, width):
        say(ink.dim(span.of(_SIGNS)))


def comparison_lines(comparison: Comparison, *, width: int, ink: Ink) -> Iterator[str]:
    """Yield the lines that show a comparison: from 100 columns on a column a mode, below a line a turn."""
    if width >= _SIDE_BY_SIDE_FROM:
        yield from _columns(comparison, width, ink)
    else:
        yield from _ranks(comparison, width, ink)


def _columns(comparison: Comparison, width: int, ink: Ink) -> Iterator[str]:
    """Yield a column a mode, two lines a hit: its rank, turn and speaker, then how it begins."""
    *others, last = comparison.rankings
    room = (width - _GAP * len(others)) // len(comparison.rankings)
    found = {one.turn.turn_id: one for one in comparison.turns}
    columns: list[list[str]] = []
    for mode, ranking in comparison.rankings.items():
        moved = "  ".join(padded(other, 7, right=True) for other in others) if mode == last else ""
        cells = [
            ink.bold(padded(mode, room - len(moved))) + ink.dim(moved),
            ink.dim("─" * room),
        ]
        for hit in ranking:
            one = found[hit.turn.turn_id]
            moves = "  ".join(padded(_move(one, other, last), 7, right=True) for other in others)
            moves = moves if mode == last else ""
            head = fitted(f"{hit.turn.turn_id} {shown(hit.turn.speaker)}", room - 4 - len(moves))
            said = fitted(shown(hit.turn.text), room - 4)
            cells.append(f"{hit.rank:>2}  " + ink.bold(padded(head, room - 4 - len(moves))) + moves)
            cells.append(padded("    " + said, room))
        columns.append(cells)
    for row in zip_longest(*columns, fillvalue=" " * room):
        yield (" " * _GAP).join(row)


def _ranks(comparison: Comparison, width: int, ink: Ink) -> Iterator[str]:
    """Yield a line a turn: its rank in each mode, and how it begins; those that hybrid leaves out come last."""
    *others, last = comparison.rankings
    head = padded(last, 6, right=True) + "".join(padded(f"   {other}", 11) for other in others)
    yield ink.bold(head + "  turn")
    for found in comparison.turns:
        line = padded(str(found.ranks.get(last, "·")), 6, right=True)
        for other in others:
            rank = padded(str(found.ranks.get(other, "·")), 6, right=True)
            line += f"{rank} {padded(_move(found, other, last), 4)}"
        who, said = f"{found.turn.turn_id} {shown(found.turn.speaker)}", shown(found.turn.text)
        room = width - len(head) - 2
        if room < _NARROW:
            yield f"{line}  {fitted(who, room)}"
            yield f"  {fitted(said, width - 2)}"
        else:
            yield f"{line}  {fitted(f'{who}: {said}', room)}"


def _move(found: ComparedTurn, other: str, last: str) -> str:
    """Return how the last mode moved a turn against another: ``↑3``, ``↓2``, ``=``, ``new``, ``out``."""
    if last not in found.ranks:
        return "out" if other in found.ranks else ""
    places = found.move(other, last)
    if places is None:
        return "new"
    return "=" if places == 0 else f"{'↑' if places > 0 else '↓'}{abs(places)}"
