"""Our own set, which is in the package: nine invented conversations of a person and a model, with 203 questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.evaluation.datasets.evidence_ids import WITHOUT_EVIDENCE, TurnsByNativeId
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.imported import talks_in
from memory_rag.importers.turn_lines import TurnLinesImporter

SHIPPED: Final = Path(__file__).parents[1] / "data"
"""The folder that is in the package; its README.md says how the set was made and what counts as evidence."""


def load(path: Path = SHIPPED, *, unit: Unit = "turn") -> Benchmark:
    """Return the set of a folder with ``chats.jsonl`` (our own export) and ``questions.jsonl``; the shipped one.

    A turn's id is ``<conversation>/<native id>``, a query's ``<conversation>/q<line>``. Results of tools are no
    documents, since search leaves them out. A question without evidence is unanswerable, and kept.

    Raises:
        ImportFormatError: a file is missing, or isn't as said.
    """
    files, dropped = FilesRead(path), Dropped()
    talks = talks_in(files.source(path / "chats.jsonl"), importer=TurnLinesImporter(), dropped=dropped)
    turns = [turn for talk in talks for turn in talk.turns if turn.recalled]
    for talk in talks:
        for turn in talk.turns:
            if not turn.recalled:
                dropped.add("turn that search leaves out", turn.turn_id)
    known = {talk.conversation_id: TurnsByNativeId.of(turn for turn in talk.turns if turn.recalled) for talk in talks}
    judged = list(_judged(files, path / "questions.jsonl", known, dropped=dropped))
    answerable = sum(bool(found.grades) for found in judged)
    denominators = {"with evidence": answerable, "unanswerable": len(judged) - answerable}
    return benchmark_of(Reading("chats", files.sha256, turns, judged, dropped, denominators), unit=unit)


def _judged(files: FilesRead, path: Path, known: dict[str, TurnsByNativeId], *, dropped: Dropped) -> Iterator[Judged]:
    for number, fields in files.json_lines(path):
        query, about, evidence = (fields.get(name) for name in ("query", "conversation_id", "evidence"))
        if not isinstance(query, str) or about not in known or not isinstance(evidence, list):
            raise ImportFormatError(
                f"{path}, line {number}: a question needs a 'query', the 'conversation_id' of one of the chats, and a "
                "list 'evidence'"
            )
        query_id = f"{about}/q{number}"
        grades = known[about].evidence(map(str, evidence), where=query_id, dropped=dropped)
        if evidence and not grades:
            dropped.add(WITHOUT_EVIDENCE, query_id)
        else:
            yield Judged(Query(query_id, query, about, str(fields.get("category", ""))), grades)
