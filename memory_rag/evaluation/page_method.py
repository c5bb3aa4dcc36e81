"""How the numbers of a report's page came about: measures and tests, what was not measured, data and settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_rag.evaluation.report_shape import Report
from memory_rag.evaluation.wording import POOLS, counted, definitions_of, tests_of
from memory_rag.html.markup import Html, joined, tag


def measures_section(reports: Sequence[Report]) -> Html:
    """Return every measure's definition, and how differences were tested."""
    explained = {**definitions_of(reports), **tests_of(reports)}
    listed = (joined([tag("dt", name), tag("dd", text)]) for name, text in explained.items())
    return tag("section", tag("h2", "Measures"), tag("dl", *listed), id="measures")


def not_measured_section(reports: Sequence[Report]) -> Html:
    """Return what a reader might look for and the report doesn't have, and what the loader dropped."""
    said: dict[str, list[str]] = {}
    for one in reports:
        for text in one["not_measured"]:
            said.setdefault(text, []).append(POOLS[one["pool"]])
    pools = {one["pool"] for one in reports}
    is_one = reports[0]["dataset"]["n_conversations"] == 1
    absent = [f"the {words} as the pool" for pool, words in POOLS.items() if pool not in pools and not is_one]
    lines = [text if len(where) == len(reports) else f"{text} ({', '.join(where)})" for text, where in said.items()]
    growth = "how recall changes with the number of conversations in the memory"
    if not any("pool_sizes" in one for one in reports) and growth not in lines:
        lines.append(growth)
    always = ["answers: whether a model answers rightly with what was found"]
    dropped = reports[0]["dataset"]["dropped"]
    lost = [f"{counted(found['count'], 'time')} dropped by the loader: {found['reason']}" for found in dropped]
    return tag(
        "section",
        tag("h2", "Not measured"),
        tag("ul", *(tag("li", text) for text in (*absent, *lines, *always, *lost)), class_="listed"),
        id="not-measured",
    )


def provenance_section(report: Report) -> Html:
    """Return with what the numbers were made: data, settings, versions, machine, where weights come from."""
    data = report["dataset"]
    entries = {
        "data": f"{data['name']}, SHA-256 {data['sha256']}",
        "scored": json.dumps(report["settings"], ensure_ascii=False),
        **dict(_flat(report["provenance"])),
    }
    for name, one in report["retrievers"].items():
        if one["weights"] is not None:
            seen = ", ".join(sha[:12] for sha in one["weights"]["fitted_on"]) or "nothing"
            entries[f"weights of {name}"] = f"{one['weights']['source']}; fitted on {seen}"
    return tag(
        "section",
        tag("h2", "Provenance"),
        tag("dl", *(joined([tag("dt", name), tag("dd", tag("code", text))]) for name, text in entries.items())),
        id="provenance",
    )


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, entry in value.items():
        if isinstance(entry, Mapping):
            yield from _flat(entry, f"{before}{key} ")
        else:
            yield f"{before}{key}", entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
