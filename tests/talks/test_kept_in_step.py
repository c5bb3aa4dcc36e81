"""What is known of talks after any changes is what a memory that is opened anew knows of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.names import Names
from memory_rag.talks.keys import KeysOfTalks
from memory_rag.talks.talk import TalkId, Unit
from tests.retrieval.given_vectors import GivenVectors
from tests.talks.conftest import START, Clock

QUESTION = "What did I say of the kale and the hall?"
WORDS = ("kale", "hall", "landlord", "butterflies", "net", "rule", "Thursday")
TALKS = st.tuples(st.sampled_from(["garden", "flat"]), st.sampled_from(["s1", "s2"]))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), TALKS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)),
        st.tuples(st.just("write"), TALKS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=2)),
        st.tuples(st.just("write of all"), TALKS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=2)),
        st.tuples(st.sampled_from(["remove", "forget", "correct", "summarise"]), TALKS, st.just(["net"])),
    ),
    min_size=1,
    max_size=14,
)


def opened(folder: Path) -> Memory:
    vectors = {word: [float(n), 1.0] for n, word in enumerate(WORDS)} | {QUESTION: [0.6, 0.8]}
    return Memory.open(folder, embedder=GivenVectors(vectors), language="en", clock=Clock())


def step(memory: Memory, kind: str, talk: tuple[str, str], words: list[str], n: int) -> None:
    conversation, session = talk
    turns = [one for one in memory.turns(conversation_id=conversation) if one.session_id == session]
    if kind == "add":
        memory.add(" ".join(words), conversation_id=conversation, session_id=session, said_at=START)
    elif not turns:
        return
    elif kind == "write":
        memory.talks.write(conversation, " ".join(words), session_id=session)
    elif kind == "write of all":
        memory.talks.write(conversation, " ".join(words))
    elif kind == "remove":
        memory.talks.remove(conversation, session_id=session)
    elif kind == "forget":
        memory.forget([turns[n % len(turns)].turn_id])
    elif kind == "correct":
        memory.correct(turns[n % len(turns)].turn_id, text=" ".join(words))
    else:
        memory.talks.summarise(conversation)


def found(memory: Memory) -> list[Any]:
    # Else the first search would embed in passing what the second one then knows.
    memory.embed()
    memory.talks.embed()
    told: list[Any] = []
    for unit in ("session", "conversation"):
        for within in (Within(), Within(conversation="flat")):
            ranking = memory.talks.search(QUESTION, unit=unit, within=within, floor=False)
            told.append((ranking.evidence, ranking.untold, ranking.notes))
            told += [
                (hit.talk, round(hit.score, 5), {k: round(v, 5) for k, v in hit.signals.items()}) for hit in ranking
            ]
    return told


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_talks_are_found_as_in_a_memory_that_is_opened_anew(
    steps: list[tuple[str, tuple[str, str], list[str]]],
) -> None:
    with tempfile.TemporaryDirectory() as name, opened(Path(name)) as memory:
        for n, (kind, talk, words) in enumerate(steps):
            step(memory, kind, talk, words, n)
            here = found(memory)
            with opened(Path(name)) as anew:
                assert found(anew) == here, f"after {kind}"


def test_the_talk_of_a_key_is_known_once_a_table_has_it() -> None:
    keys, names = KeysOfTalks(), Names(["b"])
    keys.add(TalkId("a"))
    keys.add(TalkId("b", "s"))
    assert keys.codes(Unit.CONVERSATION, names).tolist() == [-1, 0]
    assert keys.codes(Unit.SESSION, Names(["a", TalkId("b", "s").key])).tolist() == [-1, 1]

    names.code("c")
    names.code("a")
    keys.add(TalkId("c"))
    keys.add(TalkId("d"))
    assert keys.codes(Unit.CONVERSATION, names).tolist() == [2, 0, 1, -1]

    again = keys.codes(Unit.CONVERSATION, Names(["d", "a"])).tolist()
    assert again == [1, -1, -1, 0], "another table, as after a compaction"
