"""``memory-rag search``: the turns that answer a question, best first."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memory_rag.interfaces.cli.finding_words import findings_json, findings_line
from memory_rag.interfaces.cli.narrowing import EVERYWHERE, All, Narrowing
from memory_rag.interfaces.cli.option_groups import with_options
from memory_rag.interfaces.cli.output import Json, is_colourful, note, print_json, say
from memory_rag.interfaces.cli.place import Place, usable
from memory_rag.interfaces.cli.terminal import Ink, padded, screen_width
from memory_rag.interfaces.cli.turn_shape import passage_lines, place_json, place_line, spoken_in
from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.retrieval.filters import Within
    from memory_rag.retrieval.ranking import Hit, Ranking
    from memory_rag.store.screening import Finding

_HITS_A_TABLE = 7
MODES: Final = "hybrid, keyword, dense, or to compare with: rrf, overlap, okapi, rank-bm25"


def _mode(value: str) -> str:
    from memory_rag.retrieval.searcher import Mode

    return usable(Mode.parse, value).value


def _unit(value: str) -> str:
    from memory_rag.talks.talk import Unit

    return usable(Unit.parse, value).value


Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question, or words.", show_default=False)]
K = Annotated[int, typer.Option("-k", "--k", min=1, metavar="N", help="How many turns at most.")]


@with_options(Narrowing)
def search(
    place: Place,
    query: Query,
    k: K = 10,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            callback=_mode,
            help=MODES,
        ),
    ] = "hybrid",
    unit: Annotated[
        str,
        typer.Option("--unit", metavar="UNIT", callback=_unit, help="turn, or all of a session or conversation."),
    ] = "turn",
    narrowing: Narrowing = EVERYWHERE,
    unrecalled: All = False,
    no_floor: Annotated[
        bool, typer.Option("--no-floor", help="Show unlikely hits too, instead of 'not found'.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the weighted signals that add up to each score.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the turns that answer a question, best first.

    Or, by --unit, the sessions or conversations that it is about.

    "not found" is an answer too: when nothing here is likely to answer it, no turn is shown.
    """
    narrowed = narrowing.within(unrecalled=unrecalled)
    if unit != "turn":
        if mode != "hybrid":
            raise typer.BadParameter(f"--mode {mode} ranks turns; --unit {unit} has no modes")
        _search_talks(place, query, k=k, unit=unit, narrowed=narrowed, floor=not no_floor, as_json=as_json)
        return
    with place.open() as memory:
        ranking = memory.search(query, k=k, mode=mode, within=narrowed, floor=not no_floor)
        if as_json:
            print_json(ranking_json(ranking, memory.store.findings.of(ranking.turn_ids)))
            return
        print_ranking(ranking, memory, place=place)
        if explain and ranking.hits:
            _print_signals(ranking)
    tell_of(ranking)
    if not (ranking.hits or ranking.notes or no_floor) and ranking.mode == "hybrid":
        note("nothing here is likely to answer this; see what comes nearest with --no-floor")


def _search_talks(place: Place, query: str, *, k: int, unit: str, narrowed: Within, floor: bool, as_json: bool) -> None:
    from memory_rag.interfaces.cli.talk_shape import print_talks, talks_json

    with place.open() as memory:
        ranking = memory.talks.search(query, unit=unit, k=k, within=narrowed, floor=floor)
        if as_json:
            print_json(talks_json(ranking))
            return
        print_talks(ranking, memory.zone, place=place, ink=Ink(is_colourful(sys.stdout)))
    if ranking.evidence == "weak" and ranking.hits:
        note(f"weak evidence: the question may be about none of these {unit}s")
    for text in ranking.notes:
        note(text)
    if ranking.untold and ranking.hits:
        many = f"1 {unit} has" if ranking.untold == 1 else f"{ranking.untold:,} {unit}s have"
        note(f"{many} no summary yet; make them with: {place.command('summary', '--make')}")
    if not ranking.hits and floor:
        note(f"no {unit} here is likely to be about this; see what comes nearest with --no-floor")


def ranking_json(ranking: Ranking, found: Mapping[str, Sequence[Finding]] = MappingProxyType({})) -> dict[str, Any]:
    """Return what ``search --json`` prints."""
    return {
        "query": ranking.query,
        "mode": str(ranking.mode),
        "hits": [{**_hit_json(hit), "findings": findings_json(found.get(hit.turn.turn_id, ()))} for hit in ranking],
        "pending": ranking.pending,
        "evidence": ranking.evidence,
        "notes": list(ranking.notes),
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": hit.score,
        **place_json(hit.turn),
        "text": hit.turn.text,
        "span": [hit.span.start, hit.span.end],
        "signals": dict(hit.signals),
    }


def print_ranking(ranking: Ranking, memory: Memory, *, place: Place) -> None:
    """Print the hits for a reader: rank, who, when, where, and the passage with the question's words marked."""
    if not ranking.hits:
        say("not found")
        return
    ink = Ink(is_colourful(sys.stdout))
    margin = len(str(len(ranking))) + 2
    width = screen_width() - margin
    zone = memory.zone
    found = memory.store.findings.of(ranking.turn_ids)
    names = spoken_in((hit.turn.conversation_id for hit in ranking), memory.talks.shelf.titles)
    for hit in ranking:
        rank = padded(str(hit.rank), margin - 2, right=True)
        where = names[hit.turn.conversation_id]
        say(f"{ink.bold(rank)}  {place_line(hit.turn, zone, where=where, width=width, ink=ink)}")
        span, marks = _passage(hit, ranking.query, memory)
        lines, left_out = passage_lines(hit.turn.text, span, marks=marks, width=width, ink=ink)
        for line in lines or [ink.dim("(no text)")]:
            say(" " * margin + line)
        if findings := found.get(hit.turn.turn_id):
            say(" " * margin + ink.dim(findings_line(findings)))
        if left_out and lines:
            more = f"… ({left_out:,} more characters; {place.command('show', hit.turn.turn_id)})"
            say(" " * margin + ink.dim(more))
        if hit.rank < len(ranking):
            say()


def tell_of(ranking: Ranking) -> None:
    """Say on stderr what bears on a ranking."""
    if ranking.evidence == "weak":
        note("weak evidence: these turns may not answer the question")
    for text in ranking.notes:
        note(text)


def _passage(hit: Hit, query: str, memory: Memory) -> tuple[Span, list[Span]]:
    """Return the span of a hit to show, and where in the turn's text the question's words stand in it."""
    from memory_rag.retrieval.passage_span import keyword_span

    analyzer = memory.indexes.keyword.analyzer
    terms = set(analyzer.query_terms(query))
    base = hit.span.start
    inner = keyword_span(hit.span.of(hit.turn.text), terms, analyzer=analyzer)
    span = Span(base + inner.start, base + inner.end)
    marks = [
        Span(span.start + start, span.start + end)
        for start, end, _term in analyzer.located_terms(span.of(hit.turn.text), wanted=terms)
    ]
    return span, list(dict.fromkeys(marks))


def _print_signals(ranking: Ranking) -> None:
    """Print a table of weighted signals, a column a hit; each column adds up to the hit's score."""
    names = list(dict.fromkeys(name for hit in ranking for name in hit.signals))
    names.sort(key=lambda name: (-max(abs(hit.signals.get(name, 0.0)) for hit in ranking), name))
    room = max(map(len, [*names, "score"])) + 1
    for first in range(0, len(ranking), _HITS_A_TABLE):
        hits = ranking.hits[first : first + _HITS_A_TABLE]
        rows = [("", *(f"#{hit.rank}" for hit in hits))]
        for name in names:
            values = [hit.signals.get(name, 0.0) for hit in hits]
            if any(values):
                rows.append((name, *(f"{value:.3f}" if value else "·" for value in values)))
        rows.append(("score", *(f"{hit.score:.3f}" for hit in hits)))
        say()
        for name, *cells in rows:
            say(padded(name, room) + "".join(padded(cell, 8, right=True) for cell in cells))
