"""Fifty conversations in one memory, and five at a time in memories of their own, each asked in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from memory_rag.embedding.embedder import Embedder
from memory_rag.evaluation.datasets.fifty import Fifty, Talk, TalkQuestion
from memory_rag.evaluation.talk_places import Found, places
from memory_rag.memory import Memory
from memory_rag.trials.known_texts import KnownTexts
from memory_rag.turns import Role, Turn

Progress = Callable[[str, int, int], None]
WAYS: Final = ("turns", "talks", "talks, extractive summaries", "talks, subject words")
"""By the conversation of the best turn; by conversations without a summary, with an extractive one, with subjects."""
_FIRST_DAY: Final = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)
_ASKED_AT: Final = datetime(2026, 6, 1, 18, 0, tzinfo=UTC)


def fifty_trial(fifty: Fifty, *, embedder: Embedder, progress: Progress | None = None) -> dict[str, Any]:
    """Return what :func:`memory_rag.evaluation.talk_places.places` makes of every way, with one embedder."""
    known = KnownTexts(embedder)
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(f"{embedder.fingerprint.partition(':')[0]}, {fifty.language}", done, 2 * len(fifty.questions))

    fives: dict[tuple[str, ...], dict[str, dict[str, Found]]] = {}
    with memory_of(fifty.talks.values(), language=fifty.language, embedder=known) as memory:
        of_fifty = asked_each_way(memory, list(fifty.talks.values()), fifty.questions, told=tell)
    for question in fifty.questions:
        five = question.among_five
        if five not in fives:
            talks = [fifty.talks[talk_id] for talk_id in five]
            own = [one for one in fifty.questions if one.among_five == five]
            with memory_of(talks, language=fifty.language, embedder=known) as memory:
                fives[five] = asked_each_way(memory, talks, own, told=tell)
    return places(
        fifty,
        among_fifty=lambda question: of_fifty[question.question_id],
        among_five=lambda question: fives[question.among_five][question.question_id],
    )


@contextmanager
def memory_of(talks: Iterable[Talk], *, language: str, embedder: Embedder) -> Iterator[Memory]:
    """Give a memory of these conversations, one an evening, everything embedded; it is gone at the end."""
    with (
        TemporaryDirectory() as scratch,
        Memory.open(Path(scratch) / "talks", embedder=embedder, language=language, clock=lambda: _ASKED_AT) as memory,
    ):
        memory.add_many(turns_of(talks))
        memory.embed()
        memory.talks.embed()
        yield memory


def asked_each_way(
    memory: Memory, talks: Sequence[Talk], questions: Sequence[TalkQuestion], *, told: Callable[[], None] = lambda: None
) -> dict[str, dict[str, Found]]:
    """Return by question and way what a memory of these talks finds; it has its talks' subject words at the end."""
    found: dict[str, dict[str, Found]] = {question.question_id: {} for question in questions}
    for question in questions:
        found[question.question_id]["turns"] = _by_turns(memory, question.text)
    for way in WAYS[1:]:
        if way == "talks, extractive summaries":
            memory.talks.summarise()
        elif way == "talks, subject words":
            for talk in talks:
                memory.talks.write(talk.talk_id, subjects=talk.subject_words)
            memory.talks.embed()
        for question in questions:
            found[question.question_id][way] = _by_talks(memory, question.text, n=len(talks))
    for _ in questions:
        told()
    return found


def _by_turns(memory: Memory, question: str) -> Found:
    ranking = memory.search(question, k=len(memory), floor=False)
    order = dict.fromkeys(hit.turn.conversation_id for hit in ranking)
    return Found(list(order), is_empty=not memory.search(question))


def _by_talks(memory: Memory, question: str, *, n: int) -> Found:
    ranking = memory.talks.search(question, k=n, floor=False)
    return Found(list(ranking.conversation_ids), is_empty=not memory.talks.search(question, k=1))


def turns_of(talks: Iterable[Talk]) -> Iterator[Turn]:
    """Yield the turns of conversations, one conversation an evening."""
    for day, talk in enumerate(talks):
        for at, (role, text) in enumerate(talk.turns):
            said_at = _FIRST_DAY + timedelta(days=day, minutes=at)
            name = said_at.date().isoformat()
            yield Turn(f"{talk.talk_id}-{at}", talk.talk_id, name, at, Role.parse(role), role, text, said_at=said_at)
