"""LongMemEval, version 1: 500 questions, each on a person's own history with a model (Wu et al., ICLR 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memory_rag.errors import ImportFormatError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.evaluation.datasets.evidence_ids import WITHOUT_EVIDENCE
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.haystack import History, Said, history_of
from memory_rag.importers.json_stream import objects_of_array
from memory_rag.turns import Role, Turn

ALL_ROLES: Final = ("user", "assistant")


def load(path: Path, *, unit: Unit = "turn", roles: Sequence[str] = ALL_ROLES) -> Benchmark:
    """Return LongMemEval's oracle, S or M file, read question by question.

    Each question has a conversation of its own, ``history-007``, with its sessions in the order of their dates. Turns
    and sessions have new ids, ``history-007/s012/t03``: the file's begin with ``answer_`` where the evidence is. A text
    that several histories hold is in memory once.

    Relevant are the turns marked ``has_answer``, or the sessions listed as evidence. ``roles=["user"]`` is the authors'
    retrieval experiment: only what the user said is there to be found, and only sessions in which the user gave
    evidence are relevant. Questions on abstention (``…_abs``) are kept without judgements; others without evidence are
    left out and counted. Three denominators are in use: 500 questions; 470, without abstention
    (``print_retrieval_metrics``); 419, with evidence of the user's (``run_retrieval``).

    Raises:
        ImportFormatError: the file isn't LongMemEval's, or a role is neither user nor assistant.
    """
    if not roles or not set(roles) <= set(ALL_ROLES):
        raise ImportFormatError(f"unknown roles {list(roles)}; give one or both of: {', '.join(ALL_ROLES)}")
    files, found = FilesRead(path), _Found(unit, frozenset(map(Role, roles)))
    texts: dict[str, str] = {}
    with files.opened(path) as file:
        for number, item in enumerate(objects_of_array(file.read, label=str(path)), start=1):
            found.add(history_of(item, number, texts=texts, dropped=found.dropped, label=str(path)))
    if not found.n_questions:
        raise ImportFormatError(f"{path} holds no question")
    denominators = {
        "all questions": found.n_questions,
        "without abstention (print_retrieval_metrics)": found.n_answerable,
        "with evidence of the user's (run_retrieval)": found.n_of_user,
    }
    reading = Reading("longmemeval", files.sha256, found.turns, found.judged, found.dropped, denominators)
    return benchmark_of(reading, unit=unit)


@dataclass(slots=True)
class _Found:
    """What was read so far, of the roles that are wanted."""

    unit: Unit
    roles: frozenset[Role]
    turns: list[Turn] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    dropped: Dropped = field(default_factory=Dropped)
    n_questions: int = 0
    n_answerable: int = 0
    n_of_user: int = 0

    def add(self, history: History) -> None:
        kept = [said for said in history.said if said.turn.role in self.roles]
        if len(kept) < len(history.said):
            listed = ", ".join(sorted(self.roles))
            reason = f"turn of another role than {listed}"
            self.dropped.add(reason, history.question_id, count=len(history.said) - len(kept))
        self.turns += (said.turn for said in kept)
        self.n_questions += 1
        query = Query(
            history.question_id, history.question, history.conversation_id, history.question_type, history.asked_at
        )
        if not history.is_answerable:
            self.judged.append(Judged(query, {}))
            return
        self.n_answerable += 1
        self.n_of_user += any(said.is_answer and said.turn.role is Role.USER for said in history.said)
        grades = {said.turn.turn_id: 1 for said in kept if self._is_relevant(said, history)}
        if grades:
            self.judged.append(Judged(query, grades))
        else:
            self.dropped.add(WITHOUT_EVIDENCE, history.question_id)

    def _is_relevant(self, said: Said, history: History) -> bool:
        """Whether a turn makes its document relevant."""
        if self.unit == "turn" or len(self.roles) == 1:
            return said.is_answer
        return said.session in history.evidence
