"""Whether two reports measure the same thing, and how their retrievers differ if they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_rag.errors import QueryError
from memory_rag.evaluation.answer import marked
from memory_rag.evaluation.differences import comparisons_of
from memory_rag.evaluation.report_shape import Comparison, Report


def differences_between(a: Report, b: Report) -> list[str]:
    """Return in words what two reports do not have in common of data, unit, pool, settings and questions."""
    return list(_differences(a, b))


def comparable(a: Report, b: Report, *, force: bool = False) -> list[str]:
    """Return what differs between two reports, which is nothing unless ``force`` lets it through.

    Raises:
        QueryError: something differs, without ``force``; or they share no question at all.
    """
    found = differences_between(a, b)
    if found and not force:
        raise QueryError(
            f"these reports don't measure the same thing: {'; '.join(found)}. Run both alike, or compare them all the "
            "same with --force"
        )
    if not set(a["queries"]) & set(b["queries"]):
        raise QueryError(
            "these reports have no question in common, so there is nothing to pair; run both on one data set"
        )
    return found


def compare_reports(
    a: Report, b: Report, *, measures: Sequence[str], names: Sequence[str] = ("a", "b"), force: bool = False
) -> list[Comparison]:
    """Compare each retriever that both reports have with itself, on the questions that both have.

    The sides are told apart by ``names``: ``hybrid (a)`` and ``hybrid (b)``; an in-sample one has its sign.

    Raises:
        QueryError: the reports aren't comparable, share no retriever, or lack a measure.
    """
    comparable(a, b, force=force)
    shared = [name for name in a["retrievers"] if name in b["retrievers"] and not a["retrievers"][name]["bound"]]
    if not shared:
        raise QueryError(f"no retriever is in both: {', '.join(a['retrievers'])} / {', '.join(b['retrievers'])}")
    rows_of_b = {query: row for row, query in enumerate(b["queries"])}
    rows = [(row, rows_of_b[query]) for row, query in enumerate(a["queries"]) if query in rows_of_b]
    per_query: dict[str, dict[str, list[float]]] = {}
    for name in shared:
        for side, report, place in ((names[0], a, 0), (names[1], b, 1)):
            values = report["per_query"][name]
            missing = [measure for measure in measures if measure not in values]
            if missing:
                raise QueryError(f"report {side!r} has no {missing[0]} for {name!r}; it has: {', '.join(values)}")
            per_query[_on(side, report, name)] = {m: [values[m][pair[place]] for pair in rows] for m in measures}
    return comparisons_of(
        per_query,
        pairs=[(_on(names[0], a, name), _on(names[1], b, name)) for name in shared],
        measures=measures,
        conversations=[a["conversations"][row] for row, _ in rows],
        seed=a["settings"]["seed"],
    )


def _on(side: str, report: Report, name: str) -> str:
    return f"{marked(report, name)} ({side})"


def _differences(a: Report, b: Report) -> Iterator[str]:
    yield from _unlike("data set", a["dataset"]["name"], b["dataset"]["name"])
    yield from _unlike("data (sha256)", a["dataset"]["sha256"][:12], b["dataset"]["sha256"][:12])
    yield from _unlike("unit", a["dataset"]["unit"], b["dataset"]["unit"])
    yield from _unlike("pool", a["pool"], b["pool"])
    yield from _unlike("depth", a["settings"]["depth"], b["settings"]["depth"])
    yield from _unlike("measure", a["settings"]["measure"], b["settings"]["measure"])
    yield from _unlike("token counter", a["settings"]["token_counter"], b["settings"]["token_counter"])
    yield from _unlike("seed", a["settings"]["seed"], b["settings"]["seed"])
    ours, theirs = set(a["queries"]), set(b["queries"])
    if ours != theirs:
        yield f"questions: {len(ours):,} and {len(theirs):,}, {len(ours & theirs):,} in both"
    elif "questions_sha256" in a["dataset"] and "questions_sha256" in b["dataset"]:
        yield from _unlike(
            "words of the questions (sha256)",
            a["dataset"]["questions_sha256"][:12],
            b["dataset"]["questions_sha256"][:12],
        )


def _unlike(what: str, a: object, b: object) -> Iterator[str]:
    if a != b:
        yield f"{what}: {a} and {b}"
