"""TREC run and qrels files, out and in, with ids that may hold anything."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from memory_rag.errors import ImportFormatError

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

_MARK: Final = "%:"
_PLAIN: Final = re.compile(r"[!-~]+")


def escaped(identifier: str) -> str:
    """Return an id as one field of a TREC line: never empty, no white space.

    Ids of printable ASCII stay as they are; any other is written as ``%:`` and its bytes in ``%XX`` where they need it.
    The mark tells ours from the ids of other tools, which may be parts of URLs with ``%20`` of their own.
    """
    if _PLAIN.fullmatch(identifier) and not identifier.startswith(_MARK):
        return identifier
    return _MARK + quote(identifier, safe="/:", errors="surrogatepass")


def unescaped(field: str) -> str:
    """Return the id that :func:`escaped` wrote; a field that another tool wrote is what it says."""
    if not field.startswith(_MARK):
        return field
    try:
        return unquote(field.removeprefix(_MARK), errors="surrogatepass")
    except UnicodeDecodeError:
        return field


def run_lines(rankings: Mapping[str, Sequence[str]], *, tag: str) -> Iterator[str]:
    """Yield a run as TREC lines ``query Q0 turn rank score tag``, a text a query, best hits first.

    The scores are made from the ranks, strictly falling whole numbers: tools break ties differently and read scores as
    float32, so only such scores keep our order everywhere.
    """
    fields = _Fields()
    end = escaped(tag)
    ends: dict[int, list[str]] = {}
    for query, ranked in rankings.items():
        start, n = f"{fields[query]} Q0 ", len(ranked)
        if n not in ends:
            ends[n] = [f" {rank} {n - rank + 1} {end}\n" for rank in range(1, n + 1)]
        pieces = [start] * (3 * n)
        pieces[1::3] = map(fields.__getitem__, ranked)
        pieces[2::3] = ends[n]
        yield "".join(pieces)


class _Fields(dict[str, str]):
    """Ids as fields, each escaped once: a turn is ranked for many queries."""

    def __missing__(self, identifier: str) -> str:
        field = self[identifier] = escaped(identifier)
        return field


def read_run(path: Path) -> Run:
    """Return a run file's scores, query to turn to score.

    Raises:
        ImportFormatError: a line hasn't six fields, its score is no finite number, or it names a turn twice.
    """
    run: Run = {}
    for number, fields in _lines(path, n_fields=6, form="query Q0 turn rank score tag"):
        query, _q0, turn, _rank, score, _tag = fields
        of_query = run.setdefault(unescaped(query), {})
        if unescaped(turn) in of_query:
            raise ImportFormatError(f"{path}, line {number}: turn {turn!r} is ranked twice for query {query!r}")
        of_query[unescaped(turn)] = _number(score, path, number)
    return run


def ranked_ids(scores: Mapping[str, float]) -> list[str]:
    """Return a query's turns in trec_eval's order: by score, ties by id, both descending, whatever ranks were given.

    trec_eval reads scores as float32, so scores that only a double tells apart are ties to it, and here.
    """
    as_read = dict(zip(scores, array("f", scores.values()), strict=True))
    return sorted(sorted(scores, reverse=True), key=lambda found: -as_read[found])


def qrels_lines(qrels: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield judgements as TREC lines ``query 0 turn grade``."""
    for query, graded in qrels.items():
        for turn, grade in graded.items():
            yield f"{escaped(query)} 0 {escaped(turn)} {grade}\n"


def read_qrels(path: Path) -> Qrels:
    """Return a qrels file's judgements, query to turn to grade.

    Raises:
        ImportFormatError: a line hasn't four fields, its grade is no whole number, or it grades a turn otherwise than
            an earlier line.
    """
    qrels: Qrels = {}
    for number, (query, _zero, turn, grade) in _lines(path, n_fields=4, form="query 0 turn grade"):
        if not re.fullmatch(r"-?[0-9]{1,9}", grade):
            raise ImportFormatError(f"{path}, line {number}: grade {grade!r} is no whole number")
        given = qrels.setdefault(unescaped(query), {}).setdefault(unescaped(turn), int(grade))
        if given != int(grade):
            raise ImportFormatError(
                f"{path}, line {number}: turn {turn!r} has grade {grade} for query {query!r}, but {given} before"
            )
    return qrels


def _lines(path: Path, *, n_fields: int, form: str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFormatError(f"{path} can't be read as text: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        fields = re.split(r"[ \t\r]+", line.strip(" \t\r"))
        if fields == [""]:
            continue
        if len(fields) != n_fields:
            raise ImportFormatError(
                f"{path}, line {number}: {len(fields)} fields, but a line is '{form}'; an id with white space is "
                "written as in %:trip%207"
            )
        yield number, fields


def _number(text: str, path: Path, number: int) -> float:
    try:
        # Python alone reads 1_000 and the digits of other scripts as numbers.
        value = float(text) if text.isascii() and "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if value != value or value in (float("inf"), float("-inf")):
        raise ImportFormatError(f"{path}, line {number}: score {text!r} is no finite number")
    return value
