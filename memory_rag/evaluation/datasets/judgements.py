"""Queries and judgements from files, joined: what each query's relevant turns are, and what doesn't fit together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Dropped, Query
from memory_rag.evaluation.datasets.assembly import Judged
from memory_rag.evaluation.datasets.evidence_ids import WITHOUT_EVIDENCE
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.runs import Qrels, unescaped

_GRADE: Final = re.compile(r"-?[0-9]{1,9}")


def read_judgements(files: FilesRead, path: Path, *, dropped: Dropped) -> Qrels:
    """Return a file's judgements, query to document to grade.

    A line is TREC's ``query 0 document grade``, its ids escaped as ours are, or BEIR's ``query document grade`` with
    tabs, the first of which may be a heading. Of a pair that is judged again, the higher grade counts.

    Raises:
        ImportFormatError: a line is neither.
    """
    qrels: Qrels = {}
    for number, line in files.lines(path):
        fields = line.split("\t")
        if len(fields) == 3:
            query, document, grade = fields
            if number == 1 and not re.search(r"\d", grade):
                continue
        else:
            fields = line.split()
            if len(fields) != 4:
                raise ImportFormatError(
                    f"{path}, line {number}: {len(fields)} fields; a judgement is 'query 0 document grade', or query, "
                    "document and grade with tabs between them"
                )
            query, document, grade = unescaped(fields[0]), unescaped(fields[2]), fields[3]
        if not _GRADE.fullmatch(grade):
            raise ImportFormatError(f"{path}, line {number}: grade {grade!r} is no whole number")
        of_query = qrels.setdefault(query, {})
        if document in of_query:
            dropped.add("judgement given again", f"{query}: {document}")
        of_query[document] = max(int(grade), of_query.get(document, int(grade)))
    return qrels


def read_queries(files: FilesRead, path: Path, *, conversation_id: str) -> Iterator[Query]:
    """Yield a file's queries: JSON Lines with ``id`` (or ``_id``, ``query_id``) and ``text`` (or ``query``), and maybe
    ``conversation_id`` and ``category``; or lines of an id, a tab and the text.

    Raises:
        ImportFormatError: a line is neither.
    """
    for number, line in files.lines(path):
        if not line.lstrip().startswith("{"):
            query_id, tab, text = line.partition("\t")
            if not tab or not query_id or not text.strip():
                raise ImportFormatError(
                    f"{path}, line {number}: no JSON object, and no id, tab and text: {line[:40]!r}"
                )
            yield Query(query_id, text, conversation_id)
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ImportFormatError(f"{path}, line {number}: broken JSON: {error}") from error
        found = next((fields[key] for key in ("id", "_id", "query_id") if fields.get(key) is not None), None)
        asked = next((fields[key] for key in ("text", "query") if isinstance(fields.get(key), str)), None)
        if found is None or asked is None:
            raise ImportFormatError(f"{path}, line {number}: a query needs an 'id' and a 'text'")
        about = fields.get("conversation_id")
        yield Query(
            str(found), asked, conversation_id if about is None else str(about), str(fields.get("category") or "")
        )


def judged_queries(
    queries: Iterator[Query], qrels: Mapping[str, Mapping[str, int]], *, known: Set[str], dropped: Dropped
) -> Sequence[Judged]:
    """Return the queries that are judged, in order, with the grades above 0 of known documents.

    A query whose judgements are all 0 is kept: nothing answers it. One that isn't judged, or whose relevant documents
    are all unknown, is left out and counted.
    """
    asked: set[str] = set()
    kept: list[Judged] = []
    for query in queries:
        query_id = query.query_id
        if query_id in asked:
            dropped.add("query whose id came before", query_id)
            continue
        asked.add(query_id)
        if query_id not in qrels:
            dropped.add("query without judgements", query_id)
            continue
        relevant = {document: grade for document, grade in qrels[query_id].items() if grade > 0}
        for document in relevant:
            if document not in known:
                dropped.add("judged id of no document", f"{query_id}: {document}")
        grades = {document: grade for document, grade in relevant.items() if document in known}
        if relevant and not grades:
            dropped.add(WITHOUT_EVIDENCE, query_id)
        else:
            kept.append(Judged(query, grades))
    for query_id in qrels:
        if query_id not in asked:
            dropped.add("judgements of no query", query_id)
    return kept
