"""The table of words remembered: how well a turn is found by words that it says, exact or half-remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory_rag.evaluation.markdown import markdown_table, share
from memory_rag.evaluation.wording import MISSING, POOLS, in_brackets

KNOWN_ITEMS: Final = {"words-locomo": "LoCoMo", "words-beam": "BEAM 100K"}
"""Results of ``bench run own`` by file name, and the history that the words are from."""
_KINDS: Final = ("exact words", "half-remembered")
_MEASURES: Final = ("recall@10", "ndcg@10")
_SHOWN: Final = ("hybrid", "keyword", "rrf", "dense", "rank-bm25", "overlap")


def known_items_table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a row a history, pool and retriever; ``results`` are those of ``KNOWN_ITEMS`` that there are."""
    rows, counts = [], []
    for name, history in KNOWN_ITEMS.items():
        if name not in results:
            continue
        data = results[name]["dataset"]
        counts.append(f"{history}: {data['n_queries']:,} questions of {data['n_turns']:,} turns")
        for pool, found in results[name]["pools"].items():
            for retriever in _SHOWN:
                one = found["retrievers"].get(retriever)
                if one is not None:
                    rows.append(
                        (f"{history}, {POOLS[pool]}: {retriever}", _cell(one["measures"], "recall@1"), *_cells(one))
                    )
    head = [f"{kind}, {measure}" for kind in _KINDS for measure in _MEASURES]
    table = markdown_table(("pool and retriever", "recall@1", *head), rows)
    return f"{table}\n\nMeans [95 % interval]. {'; '.join(counts)}."


def _cells(one: Mapping[str, Any]) -> list[str]:
    return [_cell(one["by_category"].get(kind, {}), measure) for kind in _KINDS for measure in _MEASURES]


def _cell(means: Mapping[str, Any], measure: str) -> str:
    found = means.get(measure)
    return MISSING if found is None else f"{share(found['mean'])} {in_brackets(found['low'], found['high'])}".strip()
