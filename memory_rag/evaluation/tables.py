"""The tables of the pages, made from the results; a page keeps its prose and says where each table goes.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.asking import asking_table
from memory_rag.evaluation.fifty_tables import FIFTY_TABLES, fifty_tables
from memory_rag.evaluation.finding_secrets import secrets_table
from memory_rag.evaluation.kept_tables import kept_table, subjects_table
from memory_rag.evaluation.known_items import known_items_table
from memory_rag.evaluation.load_tables import load_table
from memory_rag.evaluation.markdown import interval, markdown_table, share
from memory_rag.evaluation.recall_tables import SETS, recall_tables
from memory_rag.evaluation.speed_counted_table import counted_table
from memory_rag.evaluation.speed_imports import import_table
from memory_rag.evaluation.speed_peer_tables import SPEED_PEER_TABLES, speed_peer_tables
from memory_rag.evaluation.speed_postgres_tables import SPEED_POSTGRES_TABLES, speed_postgres_tables
from memory_rag.evaluation.speed_tables import SPEED_TABLES, speed_tables

Results = Mapping[str, Mapping[str, Any]]
_DEFAULT: Final = "minilm"
_RECALL: Final = ("recall", *(f"recall-{name}" for name in SETS), "recall-measures", "recall-pools", "recall-pairs")
_MARKED: Final = re.compile(r"(<!-- table: (?P<name>\S+) -->\n)(?P<table>.*?)(<!-- end -->)", re.DOTALL)
_OPENS: Final = re.compile(r"<!-- table:")
_KINDS: Final = {
    "foreign": "asked of another conversation, names mapped",
    "removed": "evidence and its neighbours removed",
    "abstention": "BEAM's abstention questions",
}


def fill_pages(pages: Iterable[Path], *, results: Path) -> dict[Path, list[str]]:
    """Write every table into the pages that ask for it, and return each page's tables in order.

    Raises:
        MemoryRagError: a page that isn't there, asks for a table that there isn't, or has a marker without its end.
    """
    tables = tables_of(load_results(results))
    filled: dict[Path, list[str]] = {}
    for page in pages:
        try:
            text = page.read_text(encoding="utf-8")
        except OSError as error:
            raise MemoryRagError(
                f"the page {page} can't be read ({error.strerror}); name pages with --pages"
            ) from error
        filled[page] = [found["name"] for found in _MARKED.finditer(text)]
        page.write_text(filled_in(text, tables, page=str(page)), encoding="utf-8")
    return filled


def filled_in(text: str, tables: Mapping[str, str], *, page: str) -> str:
    """Return a page's text with its tables made anew.

    Raises:
        MemoryRagError: the page asks for a table that there isn't, or has a marker without its end.
    """
    n_open, marked = len(_OPENS.findall(text)), list(_MARKED.finditer(text))
    if n_open != len(marked) or any(_OPENS.search(found["table"]) for found in marked):
        raise MemoryRagError(
            f"{page} has {n_open} markers of tables, but not each stands alone on its line with its <!-- end --> "
            "before the next; write <!-- table: NAME -->, a new line, <!-- end -->"
        )
    for found in marked:
        if found["name"] not in tables:
            raise MemoryRagError(f"{page} asks for table {found['name']!r}; tables are: {', '.join(tables)}")
    return _MARKED.sub(lambda found: f"{found[1]}\n{tables[found['name']]}\n\n{found[4]}", text)


def load_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Return every result in a folder by its file's name without ``.json``.

    Raises:
        MemoryRagError: a file that isn't JSON.
    """
    results = {}
    for path in sorted(folder.glob("*.json")):
        try:
            results[path.stem] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise MemoryRagError(f"{path} is not a result: {error}; make it again with: make bench") from error
    return results


def tables_of(results: Results) -> dict[str, str]:
    """Return all tables by name; one whose result is missing says how to make it."""
    summaries = {name: results[f"recall-{name}"] for name in SETS if f"recall-{name}" in results}
    tables = {name: _missing(name) for name in _RECALL}
    tables |= recall_tables(summaries) if summaries else {}
    tables |= {
        "not-found": _made(_not_found, results, "not-found"),
        "ask-details": _made(_asking, results, "ask-details"),
        "known-items": _made(known_items_table, results, "words-"),
        "summaries-kept": _made(kept_table, results, "summaries"),
        "new-subjects": _made(subjects_table, results, "subjects"),
        "imports": _made(import_table, results, "imports"),
        "load": _made(lambda found: load_table(found["load"]), results, "load"),
        "secrets": _made(lambda found: secrets_table(found["secrets"]["result"]), results, "secrets"),
        "made-with": _made(_made_with, results, ""),
    }
    tables |= fifty_tables(results["fifty"]) if "fifty" in results else {one: _missing(one) for one in FIFTY_TABLES}
    tables["speed-counted"] = (
        counted_table(results["speed-counted"]) if "speed-counted" in results else _missing("speed-counted")
    )
    tables |= (
        speed_postgres_tables(results["speed-postgres"])
        if "speed-postgres" in results
        else dict.fromkeys(SPEED_POSTGRES_TABLES, _missing("speed-postgres", command="bench-postgres"))
    )
    tables |= (
        speed_peer_tables(results["speed-peers"], results.get("speed"))
        if "speed-peers" in results
        else dict.fromkeys(SPEED_PEER_TABLES, _missing("speed-peers", command="bench-speed"))
    )
    tables |= speed_tables(results["speed"]) if "speed" in results else dict.fromkeys(SPEED_TABLES, _missing("speed"))
    return tables


def _made(make: Callable[[Results], str], results: Results, prefix: str) -> str:
    found = {name: result for name, result in results.items() if name.startswith(prefix)}
    return make(found) if found else _missing(prefix.rstrip("-"))


def _missing(what: str, *, command: str = "bench") -> str:
    return f"Not measured yet{': ' + what if what else ''}. Measure it with `make {command}`."


def _not_found(results: Results) -> str:
    rows, costs = [], []
    for found in results.values():
        result = found["result"]
        own = result["own"]
        label = _labelled(found)
        for kind, what in _KINDS.items():
            if kind not in result:
                continue
            of_kind = result[kind]
            cells = [_wilson(of_kind[key], of_kind["n"]) for key in ("rightly_empty", "marked_weak_or_empty")]
            area = _hanley_mcneil(of_kind["auroc"], own["n"], of_kind["n"])
            rows.append((f"{label}: {what}", f"{of_kind['n']:,}", *cells, area))
        cells = [_wilson(own[key], own["n"]) for key in ("wrongly_empty", "marked_weak_or_empty")]
        costs.append((label, f"{own['n']:,}", *cells, share(own["recall_without_floor"]), share(own["recall_lost"])))
    unanswered = markdown_table(("questions without an answer", "n", "rightly empty", "empty or weak", "AUROC"), rows)
    answered = markdown_table(
        ("questions with an answer", "n", "wrongly empty", "empty or weak", "recall@10 without a floor", "lost by it"),
        costs,
    )
    return f"{unanswered}\n\n{answered}\n\n[95 % interval]. The two lines were set on these sets: in-sample."


def _asking(results: Results) -> str:
    return asking_table(results["ask-details"]["result"], cell=_wilson)


def _made_with(results: Results) -> str:
    rows = []
    for name, found in results.items():
        made, data = found["provenance"], found.get("dataset", {})
        engines = ", ".join(f"{engine} {version}" for engine, version in sorted(made["versions"].items()))
        rows.append(
            (
                f"`{name}.json`",
                made["commit"],
                made["made_at"],
                data["sha256"][:12] if data else "-",
                made["machine"]["processor"],
                f"Python {made['python']}, {engines}",
            )
        )
    return markdown_table(("result", "commit", "made at", "data, sha256", "processor", "versions"), rows, n_words=6)


def _labelled(found: Mapping[str, Any]) -> str:
    name = SETS[found["dataset"]["name"]]
    return name if _embedder(found) == _DEFAULT else f"{name}, {_embedder(found)}"


def _embedder(found: Mapping[str, Any]) -> str:
    """Return the short name of the embedder that a result was made with: what stands before its first - or :."""
    return re.split(r"[-:]", found["provenance"]["settings"]["embedder"] or "none", maxsplit=1)[0]


def _wilson(part: float, n: int) -> str:
    """Return a share of n with its 95 % interval (Wilson, 1927)."""
    z = 1.96
    middle = (part + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(part * (1 - part) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return interval({"mean": part, "low": max(0.0, middle - half), "high": min(1.0, middle + half)})


def _hanley_mcneil(area: float, n: int, m: int) -> str:
    """Return an area under the ROC curve with its 95 % interval (Hanley and McNeil, 1982, equation 1)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (n - 1) * (q1 - area**2) + (m - 1) * (q2 - area**2)) / (n * m)
    half = 1.96 * math.sqrt(variance)
    return interval({"mean": area, "low": max(0.0, area - half), "high": min(1.0, area + half)})
