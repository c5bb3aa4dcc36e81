"""What was retold elsewhere of a forgotten turn goes too: in talks' summaries, in a wish, in another talk's source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from memory_rag.turns import Role, Source, Turn
from tests.privacy.full_memory import bytes_of, opened

SAID = "we met Zebulonius at Nordanstigsbron, and talked until late"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory") as memory:
        memory.add(SAID, turn_id="secret", conversation_id="a", session_id="a1")
        memory.add("then we had tea", turn_id="tea", conversation_id="b", session_id="b1")
        yield memory


@pytest.mark.parametrize("beside", [True, False])
def test_another_talks_summary_that_has_a_name_of_it_goes_with_its_vectors(memory: Memory, *, beside: bool) -> None:
    memory.talks.write("b", "tea, with Zebulonius", session_id="b1")
    memory.talks.embed()

    done = memory.forgetting.forget(["secret"], prove=True, beside=beside)

    assert [(one.kind, one.name, one.why) for one in done.removed.beside] == [
        ("talk", "b", "only the turn says zebulonius")
    ]
    assert done.is_done
    assert memory.talks.of("b", session_id="b1") is None
    assert b"ebulonius" not in bytes_of(memory.folder)


def test_another_talks_summary_that_says_nothing_of_it_stays(memory: Memory) -> None:
    memory.talks.write("b", "tea, and nothing else", session_id="b1")

    assert memory.forgetting.forget(["secret"]).removed.beside == ()
    assert memory.talks.of("b", session_id="b1") is not None


def test_what_another_summary_was_asked_to_keep_goes_and_it_is_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add(SAID, turn_id="secret")
        for number in range(130):
            memory.add(f"day {number} of the garden")
        memory.summaries.summarise("main", keep_recent=31)
        memory.summaries.summarise("main", keep_recent=0, focus="everything on Zebulonius")

        done = memory.forgetting.forget(["secret"], prove=True)

        assert [(one.kind, one.text) for one in done.removed.beside] == [("focus", "everything on Zebulonius")]
        assert done.is_done
        assert done.summaries == ("main",)
        assert memory.summaries.shelf.stale("main") == []


def test_the_source_of_another_conversation_that_quotes_it_goes_and_one_that_shares_a_phrase_stays(
    memory: Memory,
) -> None:
    quoting = {"n1": {"reply_to": SAID}, "n2": {"note": "and talked until late"}, "n3": {"reply_to": SAID.upper()}}
    memory.add_many(
        Turn("", "b", "b1", -1, Role.USER, "Ada", "yes", source=Source("chat", name, json.dumps(raw)))
        for name, raw in quoting.items()
    )

    done = memory.forgetting.forget(["secret"], prove=True)

    assert done.is_done
    left = {turn.source.native_id for turn in memory.turns() if turn.source is not None and turn.source.raw is not None}
    assert left == {"n2"}
    assert len(done.removed.sources) == 2


def test_what_a_provider_gave_for_an_earlier_answer_goes_if_it_has_a_name_of_it(memory: Memory) -> None:
    memory.prompt.blocks.keep(
        "tea", [{"type": "thinking", "thinking": "Is it about Zebulonius?"}], provider="anthropic"
    )

    done = memory.forgetting.forget(["secret"], prove=True)

    assert [(one.kind, one.name) for one in done.removed.beside] == [("answer", "tea")]
    assert done.is_done
    assert memory.prompt.blocks.of(["tea"]) == {}


def test_the_sources_of_all_else_that_a_speaker_said_stay(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add_many(
            Turn("", "c", "s", number, Role.USER, "Caroline", text, source=Source("chat", f"n{number}", raw_of(text)))
            for number, text in enumerate(("we met on the bridge at noon", "and then we had tea", "it rained"))
        )

        assert memory.forgetting.forget(["t1"]).removed.sources == ()
        assert all(turn.source is not None and turn.source.raw is not None for turn in memory.turns())


def test_a_source_that_names_who_only_spoke_in_the_forgotten_turn_goes(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("hello there", speaker="Zebulonius", conversation_id="c")
        answer = json.dumps({"content": "hello", "reply_to": "Zebulonius"})
        memory.add_many([Turn("", "c", "s", 1, Role.USER, "Ada", "hello", source=Source("chat", "n1", answer))])

        assert memory.forgetting.forget(["t1"]).removed.sources == ("t2",)


def raw_of(text: str) -> str:
    return json.dumps({"speaker": "Caroline", "content": text})


def test_a_turn_that_moved_to_another_session_leaves_nothing_in_what_was_made_of_the_first(tmp_path: Path) -> None:
    def as_told(session_id: str, version: int) -> list[Turn]:
        texts = ("I decided that we go by bus at noon", "I decided that tea is best")
        return [
            Turn(
                f"t{number}",
                "c",
                session_id if number == 0 else "first",
                number,
                Role.USER,
                "Ada",
                text,
                source=Source("chat", f"n{number}", json.dumps({"version": version})),
            )
            for number, text in enumerate(texts)
        ]

    with opened(tmp_path / "memory") as memory:
        memory.store.append(as_told("first", 1), newer=True)
        memory.talks.summarise()
        memory.store.append(as_told("second", 2), newer=True)
        assert memory.get("t0").session_id == "second"

        assert memory.forgetting.forget(["t0"], prove=True).is_done

    assert b"go by bus" not in bytes_of(tmp_path / "memory")
