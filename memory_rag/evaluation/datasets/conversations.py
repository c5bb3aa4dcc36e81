"""What a benchmark knows of its conversations: who talks, in what order, and which documents can't be told apart."""

from __future__ import annotations

from collections.abc import Mapping

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.turns import Turn


def people_of(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the speakers of each conversation, in the order in which they first speak."""
    people: dict[str, dict[str, None]] = {}
    for turn in benchmark.turns():
        people.setdefault(turn.conversation_id, {})[turn.speaker] = None
    return {conversation: tuple(speakers) for conversation, speakers in people.items()}


def spoken_order(benchmark: Benchmark) -> dict[str, tuple[Turn, ...]]:
    """Return the turns of each conversation in spoken order."""
    spoken: dict[str, list[Turn]] = {}
    for turn in benchmark.turns():
        spoken.setdefault(turn.conversation_id, []).append(turn)
    return {conversation: tuple(sorted(turns, key=lambda turn: turn.ordinal)) for conversation, turns in spoken.items()}


def twins_of_evidence(benchmark: Benchmark) -> Mapping[str, frozenset[str]]:
    """Return, for each query, documents of other conversations that hold the very words of one that is relevant.

    LongMemEval's histories share sessions, evidence included. When everything lies in one memory, nothing tells such a
    document from the one that is judged, so it can neither be right nor wrong; leave it out of that query's candidates.
    Queries without any are not listed.
    """
    wanted = {doc_id for graded in benchmark.qrels.values() for doc_id in graded}
    texts = {
        document.doc_id: tuple(turn.text for turn in document.turns)
        for document in benchmark.documents
        if document.doc_id in wanted
    }
    alike: dict[tuple[str, ...], list[tuple[str, str]]] = {text: [] for text in texts.values()}
    for document in benchmark.documents:
        listed = alike.get(tuple(turn.text for turn in document.turns))
        if listed is not None:
            listed.append((document.doc_id, document.conversation_id))
    twins: dict[str, frozenset[str]] = {}
    for query in benchmark.answerable():
        graded = benchmark.qrels[query.query_id]
        found = frozenset(
            other
            for doc_id in graded
            for other, conversation in alike[texts[doc_id]]
            if conversation != query.conversation_id and other not in graded
        )
        if found and query.conversation_id:
            twins[query.query_id] = found
    return twins
