"""LoCoMo: ten long talks of two people, with questions on them (Maharana et al., ACL 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.evaluation.datasets.evidence_ids import WITHOUT_EVIDENCE, TurnsByNativeId, category_named, dialogue_ids
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.imported import Talk, talks_in
from memory_rag.importers.locomo import LocomoImporter
from memory_rag.importers.messages import as_object

CATEGORIES: Final = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 open-domain",
    4: "4 single-hop",
    5: "5 adversarial",
}
"""The names are disputed; by the counts of the release these are the likely ones, and the number stands beside."""


def load(path: Path, *, unit: Unit = "turn") -> Benchmark:
    """Return LoCoMo (``locomo10.json``), its dirty evidence ids mended where they can be.

    A turn's id is ``<conversation>/<dia_id>``, a query's ``<conversation>/q<place>``. Questions whose evidence names no
    turn are left out and counted: that nothing answers them is not what the data set says.

    Raises:
        ImportFormatError: the file isn't LoCoMo's.
    """
    files, dropped = FilesRead(path), Dropped()
    source = files.source(path)
    talks = talks_in(source, importer=LocomoImporter(), dropped=dropped)
    samples = _samples(source.read_json(), path)
    if len(talks) != len(samples):
        raise ImportFormatError(f"{path}: {len(samples)} conversations with questions, but {len(talks)} with turns")
    asked: list[Judged] = []
    n_questions = 0
    for talk, sample in zip(talks, samples, strict=True):
        n_questions += len(sample["qa"])
        asked += _judged(talk, sample["qa"], dropped=dropped)
    without_last = sum(judged.query.category != CATEGORIES[5] for judged in asked)
    reading = Reading(
        "locomo",
        files.sha256,
        [turn for talk in talks for turn in talk.turns],
        asked,
        dropped,
        {
            "questions in the file": n_questions,
            "with evidence": len(asked),
            "with evidence, categories 1 to 4": without_last,
        },
    )
    return benchmark_of(reading, unit=unit)


def _samples(document: Any, path: Path) -> list[dict[str, Any]]:
    samples = document if isinstance(document, list) else [document]
    for sample in samples:
        if not isinstance(sample, dict) or not isinstance(sample.get("qa"), list) or not sample.get("conversation"):
            raise ImportFormatError(f"{path} is not LoCoMo: each of its items needs a 'conversation' and a list 'qa'")
    return samples


def _judged(talk: Talk, questions: list[Any], *, dropped: Dropped) -> Iterator[Judged]:
    known = TurnsByNativeId.of(talk.turns)
    for place, question in enumerate(questions, start=1):
        query_id = f"{talk.conversation_id}/q{place}"
        fields = as_object(question)
        text, category = fields.get("question"), fields.get("category")
        if not isinstance(text, str) or not isinstance(category, str | int):
            raise ImportFormatError(f"{query_id} of LoCoMo has no 'question' or no 'category'")
        ids = dialogue_ids(fields.get("evidence"), where=query_id, dropped=dropped)
        grades = known.evidence(ids, where=query_id, dropped=dropped)
        if not grades:
            dropped.add(WITHOUT_EVIDENCE, query_id)
            continue
        yield Judged(Query(query_id, text, talk.conversation_id, category_named(category, CATEGORIES)), grades)
