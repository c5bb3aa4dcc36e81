"""After any program of changes, the store, the keyword index and the dense index say what plain arithmetic says."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Block, Conversation, Role, Turn
from tests.end_to_end.arithmetic import ANALYZER, NAMES, bm25, cosines
from tests.end_to_end.hashed_words import HashedWords

FIRST_DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)

VOCABULARY = """kayak tax bread the a of is not 4711-ZX v2.4.10 Malmö mötet running runs ran boats boat why 49 euro
naïve café it's 日志 東京 API getUserName who"""
WORDS = st.sampled_from(VOCABULARY.split())
SHORT = st.lists(WORDS, max_size=6).map(" ".join)
LONG = st.lists(WORDS, min_size=13, max_size=60).map(" ".join)
TEXTS = SHORT | SHORT | LONG | st.sampled_from(["", "?", "\0", "\ud83d kayak", "Kayak? kayak.\nKAYAK"])
SPEAKERS = st.sampled_from(["user", "assistant", *NAMES])
ROLES = st.sampled_from([Role.USER, Role.ASSISTANT])
CONVERSATIONS = st.sampled_from(["c1", "c2"])
SESSIONS = st.sampled_from(["s1", "s2"])
TIMES = st.integers(0, 20).map(lambda hours: FIRST_DAY + timedelta(hours=7 * hours))
CAPTIONS = st.sampled_from([(), (), (Block("image", {"url": "x"}, "a red kayak"),)])
HANDLES = st.integers(0, 1)
QUESTIONS = (
    "kayak",
    "why is the kayak not 4711-ZX kayak",
    "running boats in Malmö 2.4 日志",
    "API getUserName v2.4.10 café",
)
FILTERS = (
    Within(),
    Within(unrecalled=True),
    Within(conversation="c1", session="s1"),
    Within(speaker="ada", role="user"),
    Within(since="2026-03-02", until="2026-03-04"),
)


MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A disk that doesn't wait: hundreds of small files are made durable here."""


def in_context(turn: Turn, within: Within) -> bool:
    """Say whether a turn is among those that scores are made from."""
    if within.since or within.until:
        if turn.said_at is None:
            return False
        day = turn.said_at.date().isoformat()
        if not (within.since or "") <= day <= (within.until or "9999"):
            return False
    return (
        (turn.recalled or within.unrecalled)
        and within.conversation in (None, turn.conversation_id)
        and within.session in (None, turn.session_id)
    )


def may_be_returned(turn: Turn, within: Within) -> bool:
    return within.speaker in (None, turn.speaker.casefold()) and within.role in (None, turn.role.value)


def quoted(words: str, turns: Sequence[Turn]) -> set[tuple[str, int]]:
    """Where these words stand as whole words."""
    pattern = re.compile(rf"(?<!\S){re.escape(words)}(?!\S)")
    return {(turn.turn_id, match.start()) for turn in turns for match in pattern.finditer(turn.text)}


# -- any program of changes


class Changes(RuleBasedStateMachine):
    """One memory, open twice, and a plain dictionary of what was said."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(dir=MEMORY_DISK))
        self.folder = self.place / "memory"
        self.said: dict[int, Turn] = {}
        self.forgotten: list[str] = []
        self.n_rows = 0
        self.memories = [self.opened(), self.opened()]
        self.asked = 0

    def opened(self) -> Memory:
        return Memory.open(self.folder, embedder=HashedWords(), language="en")

    def teardown(self) -> None:
        for memory in self.memories:
            memory.close()
        shutil.rmtree(self.place)

    def turns(self) -> list[Turn]:
        return [self.said[row] for row in sorted(self.said)]

    def keep(self, turn: Turn) -> None:
        self.n_rows += 1
        self.said[self.n_rows] = turn

    # what may happen

    @rule(
        handle=HANDLES, text=TEXTS, role=ROLES, speaker=SPEAKERS, conversation=CONVERSATIONS, session=SESSIONS, at=TIMES
    )
    def add(
        self, handle: int, text: str, role: Role, speaker: str, conversation: str, session: str, at: datetime
    ) -> None:
        turn = self.memories[handle].add(
            text, role=role, speaker=speaker, conversation_id=conversation, session_id=session, said_at=at
        )
        self.keep(turn)

    @rule(
        handle=HANDLES,
        turns=st.lists(
            st.tuples(TEXTS, ROLES, SPEAKERS, CONVERSATIONS, SESSIONS, st.none() | TIMES, CAPTIONS), max_size=6
        ),
        recalled=st.booleans(),
    )
    def add_many(
        self,
        handle: int,
        turns: list[tuple[str, Role, str, str, str, datetime | None, tuple[Block, ...]]],
        recalled: bool,
    ) -> None:
        items: list[Turn | Conversation] = [
            Turn("", conversation, session, -1, role, speaker, text, said_at=at, blocks=blocks, recalled=recalled)
            for text, role, speaker, conversation, session, at, blocks in turns
        ]
        memory = self.memories[handle]
        for turn_id in memory.add_many(items).turn_ids:
            self.keep(memory.get(turn_id))

    @precondition(lambda self: self.forgotten)
    @rule(handle=HANDLES, text=TEXTS)
    def add_under_the_id_of_a_forgotten_turn(self, handle: int, text: str) -> None:
        name = self.forgotten.pop()
        self.keep(self.memories[handle].add(text, turn_id=name, said_at=FIRST_DAY, session_id="s1"))

    @precondition(lambda self: self.said)
    @rule(
        handle=HANDLES,
        data=st.data(),
        text=st.none() | TEXTS,
        speaker=st.none() | SPEAKERS,
        at=st.none() | TIMES,
        keep_old=st.booleans(),
    )
    def correct(
        self,
        handle: int,
        data: st.DataObject,
        text: str | None,
        speaker: str | None,
        at: datetime | None,
        keep_old: bool,
    ) -> None:
        row = data.draw(st.sampled_from(sorted(self.said)))
        old = self.said[row]
        given = {"text": text, "speaker": speaker, "said_at": at}
        self.said[row] = replace(old, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]

        self.memories[handle].correct(old.turn_id, text=text, speaker=speaker, said_at=at, keep_old=keep_old)

    @precondition(lambda self: self.said)
    @rule(handle=HANDLES, data=st.data())
    def forget(self, handle: int, data: st.DataObject) -> None:
        rows = data.draw(st.lists(st.sampled_from(sorted(self.said)), min_size=1, max_size=6, unique=True))
        names = [self.said.pop(row).turn_id for row in rows]
        assert self.memories[handle].forget(names) == len(names)
        self.forgotten += names

    @rule(handle=HANDLES)
    def reopen(self, handle: int) -> None:
        self.memories[handle].close()
        self.memories[handle] = self.opened()

    @rule(handle=HANDLES)
    def save(self, handle: int) -> None:
        self.memories[handle].indexes.catch_up()
        self.memories[handle].indexes.save()

    @rule(handle=HANDLES)
    def save_without_catching_up(self, handle: int) -> None:
        self.memories[handle].indexes.save()

    @rule(handle=HANDLES)
    def embed(self, handle: int) -> None:
        self.memories[handle].embed()

    @rule(handle=HANDLES)
    def compact(self, handle: int) -> None:
        self.memories[handle].indexes.compact()

    @rule(handle=HANDLES)
    def reindex(self, handle: int) -> None:
        self.memories[handle].reindex(prune=True)

    @rule(part=st.sampled_from(["derived", "vectors"]))
    def delete_what_is_derived(self, part: str) -> None:
        shutil.rmtree(self.folder / part, ignore_errors=True)

    @rule(end=st.sampled_from([".ids", ".f32"]))
    def delete_half_of_the_vectors(self, end: str) -> None:
        for path in self.folder.glob(f"vectors/*{end}"):
            path.unlink()

    # what must hold

    @invariant()
    def the_store_holds_what_was_said(self) -> None:
        for memory in self.memories:
            assert list(memory.turns()) == self.turns()
            assert len(memory) == len(self.said)

    @invariant()
    def every_way_to_find_a_turn_agrees_with_arithmetic(self) -> None:
        # One question, filter and handle a step; all of them come round.
        self.asked += 1
        question = QUESTIONS[self.asked % len(QUESTIONS)]
        within = FILTERS[self.asked % len(FILTERS)]
        memory = self.memories[self.asked % 2]
        context = [turn for turn in self.turns() if in_context(turn, within)]
        by_id = {turn.turn_id: turn for turn in context if may_be_returned(turn, within)}
        for mode, brute, tolerance in (("keyword", bm25, 1e-9), ("dense", cosines, 1e-6)):
            expected = {name: score for name, score in brute(question, context).items() if name in by_id}
            found = memory.search(question, k=1000, mode=mode, within=within, floor=False)
            assert {hit.turn.turn_id: hit.score for hit in found} == pytest.approx(expected, abs=tolerance, rel=0)
            assert [hit.turn for hit in found] == [by_id[name] for name in found.turn_ids]
            order = [(-hit.score, hit.turn.turn_id) for hit in found]
            assert order == sorted(order)
            assert found.pending == 0 or within.unrecalled
        for hit in memory.search(question, k=5, within=within, floor=False):
            assert hit.turn == by_id[hit.turn.turn_id]

    @precondition(lambda self: self.said)
    @rule(data=st.data(), handle=HANDLES)
    def quote(self, data: st.DataObject, handle: int) -> None:
        turns = [turn for turn in self.turns() if len(turn.text.split(" ")) >= 4]
        if not turns:
            return
        words = data.draw(st.sampled_from(turns)).text.split(" ")
        start = data.draw(st.integers(0, len(words) - 4))
        asked = " ".join(words[start : start + 4])
        if not ANALYZER.query_terms(asked):
            return

        found = self.memories[handle].quote(asked, limit=10_000)

        exact = {(one.turn_id, one.start) for one in found if one.status == "exact"}
        expected = quoted(asked, self.turns())
        # Several places that overlap count once, from the left.
        assert exact <= expected
        assert {name for name, _ in exact} == {name for name, _ in expected}
        assert all(one.text == asked for one in found if one.status == "exact")


def run(changes: type[RuleBasedStateMachine], *, n_examples: int, n_steps: int) -> None:
    run_state_machine_as_test(
        changes,
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=n_steps,
            suppress_health_check=list(HealthCheck),
            deadline=None,
        ),
    )


def test_store_and_indexes_agree_after_any_program_of_changes() -> None:
    run(Changes, n_examples=40, n_steps=30)


@pytest.mark.slow
def test_store_and_indexes_agree_after_many_long_programs_of_changes() -> None:
    run(Changes, n_examples=300, n_steps=80)
