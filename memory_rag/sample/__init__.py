"""A made-up summer of one person and a model, to try a memory on before trusting it with one's own words.

Ebba runs a small bakery, moves house, learns derivatives and writes a program for receipts; she, the bakery,
its suppliers and every number are invented. ``history.jsonl`` is in the project's own export format.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memory_rag.turns import Turn

Kind = Literal["exact", "half-remembered", "paraphrase", "temporal", "identifier", "not-found"]


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question as Ebba would ask it, with the turns that answer it.

    ``evidence`` holds native ids of turns in the history, in the order they were said; it is empty when the
    history has no answer, and only then is ``kind`` ``not-found``. ``language`` is that of the question: the
    evidence of a Swedish question may be English.
    """

    query: str
    evidence: tuple[str, ...]
    language: Literal["en", "sv"]
    kind: Kind


def history_path() -> Path:
    """Return the file with the history: 326 turns in 29 conversations, June to August 2026, JSON lines."""
    return Path(__file__).with_name("history.jsonl")


def questions() -> tuple[SampleQuestion, ...]:
    """Return the 24 questions to ask of the history, grouped by kind."""
    entries = json.loads(Path(__file__).with_name("questions.json").read_text(encoding="utf-8"))
    return tuple(
        SampleQuestion(
            query=entry["query"],
            evidence=tuple(entry["evidence"]),
            language=entry["language"],
            kind=entry["kind"],
        )
        for entry in entries
    )


def questions_about(turns: Iterable[Turn]) -> dict[str, list[str]]:
    """Return the questions that have an answer among these turns, each with the ids of the turns that answer it.

    The turns are those of a memory that the history was imported into; :func:`memory_rag.run_benchmark` asks such
    questions.
    """
    ids = {turn.source.native_id: turn.turn_id for turn in turns if turn.source and turn.source.name == "sample"}
    found = {one.query: [ids[native] for native in one.evidence if native in ids] for one in questions()}
    return {query: turn_ids for query, turn_ids in found.items() if turn_ids}
