"""What is forgotten is gone from everywhere, what tells of it goes with it, and nothing else does."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.embedding.embedder import Vectors
from memory_rag.errors import DiskFullError, ModelError, TurnError, UnknownTurnError
from memory_rag.memory import Memory
from memory_rag.prompt.events import EventKind
from memory_rag.prompt.returned_blocks import ReturnedBlocks
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.vector_blocks import ERASED
from memory_rag.retrieval.vectors import VectorFile
from memory_rag.store.correcting import Correction
from memory_rag.store.sqlite_eraser import SqliteEraser
from memory_rag.summaries.summary import Kind, Level, Line
from memory_rag.turns import Conversation, Role, Source, Turn
from tests.end_to_end.hashed_words import HashedWords
from tests.privacy.full_memory import CANARY, SECRET, bytes_of, every_cell, filled, opened, turn_id_of

TRACES = (CANARY, "Nordanstig", "Zebulonius", "marmalade", "öndagsmorgonen")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = filled(tmp_path / "memory")
    yield memory
    memory.close()


def test_a_forgotten_turn_is_gone_from_every_table_and_every_byte(memory: Memory) -> None:
    secret = turn_id_of(memory, SECRET)
    assert all(word.encode() in bytes_of(memory.folder) for word in TRACES)

    done = memory.forgetting.forget([secret], prove=True)

    assert done.is_done
    assert done.proof is not None
    assert done.proof.holds
    cells = every_cell(memory.folder)
    assert [word for word in TRACES if word.casefold() in cells.casefold()] == []
    assert [word for word in TRACES if word.casefold().encode() in bytes_of(memory.folder).lower()] == []


def test_a_disk_that_is_full_once_a_turn_is_removed_is_told_as_such_and_the_next_opening_goes_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = turn_id_of(memory, SECRET)

    def full(*_: object, **__: object) -> str:
        raise DiskFullError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteEraser, "overwrite", full)
        done = memory.forgetting.forget([secret])
    assert done.pending == "the disk is full; what is removed stays so, and the next opening goes on when there is room"
    with pytest.raises(UnknownTurnError):
        memory.get(secret)

    with opened(memory.folder):
        pass
    assert [word for word in TRACES if word.casefold().encode() in bytes_of(memory.folder).lower()] == []


def test_what_was_written_down_beside_goes_if_it_tells_of_the_turn_and_stays_if_not(memory: Memory) -> None:
    secret = turn_id_of(memory, SECRET)

    done = memory.forgetting.forget([secret])

    assert [pin.text for pin in memory.prompt.pins.all()] == ["Always answer in Swedish"]
    assert memory.prompt.decisions.all() == []
    assert memory.prompt.state.get() == {"where": {}, "goal": "water the garden"}
    assert memory.store.conversations() == [Conversation("talk", "")]
    assert {(one.kind, one.name) for one in done.removed.beside if one.kind != "event"} == {
        ("pin", "p2"),
        ("pin", "p3"),
        ("decision", "d1"),
        ("state", "where.name"),
        ("title", "talk"),
    }
    (told,) = memory.prompt.events.events(kind=EventKind.RETRIEVAL)
    assert dict(told.details) == {"hits": ["t1"]}


@pytest.mark.parametrize(("said", "pin", "goes"), [
    ("秘密基地計画書類は来週金曜日に提出します", "秘密基地計画書類を忘れない", True),
    ("田中太郎さんは病気です", "田中太郎さんに電話", True),
    ("我们今天去医院看了心脏科医生", "预约心脏科医生", True),
    ("ฉันเป็นโรคเบาหวานชนิดที่สอง", "ซื้อยาโรคเบาหวานชนิด", True),
    ("病気になっています", "犬を飼っています", False),
    ("我们今天去医院看了心脏科医生", "我们今天开会", False),
])  # fmt: skip
def test_letters_in_a_row_tell_where_no_space_parts_words(tmp_path: Path, said: str, pin: str, goes: bool) -> None:
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        memory.add("unrelated")
        turn = memory.add(said)
        memory.prompt.pins.add(pin)

        done = memory.forgetting.forget([turn.turn_id], prove=True)

        assert [one.text for one in memory.prompt.pins.all()] == ([] if goes else [pin])
        assert done.proof is not None
        assert done.proof.holds


def test_letters_in_a_row_that_somebody_else_said_tell_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none") as memory:
        memory.add("東京都庁で会いました")
        turn = memory.add("東京都庁の近くに住んでいます")
        memory.prompt.pins.add("東京都庁")

        memory.forget([turn.turn_id])

        assert [one.text for one in memory.prompt.pins.all()] == ["東京都庁"]


def test_a_dry_run_names_all_that_and_changes_no_byte(memory: Memory) -> None:
    secret = turn_id_of(memory, SECRET)
    before = every_cell(memory.folder)

    plan = memory.forgetting.plan([secret])

    assert every_cell(memory.folder) == before
    done = memory.forgetting.forget([secret])
    assert plan.removed == done.removed
    assert plan.removed.n_versions == 2


def test_the_source_of_a_reply_that_quotes_the_turn_goes_and_that_of_others_stays(memory: Memory) -> None:
    secret, reply = turn_id_of(memory, SECRET), turn_id_of(memory, "Yes, that one")

    done = memory.forgetting.forget([secret])

    assert done.removed.sources == (reply,)
    raw = {turn.turn_id: turn.source.raw for turn in memory.turns() if turn.source is not None}
    assert [turn_id for turn_id, source in raw.items() if source is None] == [reply]


def test_a_providers_summary_of_everything_before_goes_with_the_turn(memory: Memory) -> None:
    secret, reply = turn_id_of(memory, SECRET), turn_id_of(memory, "Yes, that one")

    assert memory.forgetting.forget([secret]).removed.n_answers == 1

    assert ReturnedBlocks(memory.store.connections).of([reply]) == {}


def test_a_conversation_that_is_forgotten_whole_leaves_not_even_its_name(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("kept here")
        for number in range(12):
            memory.add(
                f"about {number}",
                conversation_id="zqdivorce-lawyer",
                session_id="zqsession",
                source=Source("chat", f"zqmessage{number}"),
            )
        memory.store.note_export(
            source_name="chat", account="me", conversation_ids=["zqdivorce-lawyer"], latest=datetime.now(UTC)
        )
        memory.summaries.summarise("zqdivorce-lawyer", keep_recent=0)
        memory.prompt.events.record("summary", conversation_id="zqdivorce-lawyer")
        memory.indexes.save()

        done = memory.forgetting.forget(memory.forgetting.select(Within(conversation="zqdivorce-lawyer")), prove=True)

        assert done.is_done
        assert memory.summaries.stored("zqdivorce-lawyer") == []
    cells, written = every_cell(tmp_path / "memory"), bytes_of(tmp_path / "memory")
    # Whole words: two letters alone stand in a random key now and then.
    for name in ("zqdivorce", "zqsession", "zqmessage"):
        assert name not in cells
        assert name.encode() not in written


def test_a_summary_is_made_anew_of_what_remains_on_every_level(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        for number in range(230):
            words = (
                f"I decided that we meet Zebulonius on day {number}" if number == 50 else f"We decided {number} things"
            )
            memory.add(words, conversation_id="c")
        memory.summaries.summarise("c", keep_recent=0)
        (secret,) = (turn.turn_id for turn in memory.turns() if "Zebulonius" in turn.text)
        lifetime = memory.summaries.stored("c", level=Level.LIFETIME)
        assert any("Zebulonius" in one.text for one in [*memory.summaries.stored("c"), *lifetime])

        done = memory.forgetting.forget([secret], prove=True)

        assert done.summaries == ("c",)
        assert done.is_done
        after = [*memory.summaries.stored("c"), *memory.summaries.stored("c", level=Level.LIFETIME)]
        assert all(one.lines for one in after)
        assert [one.n_turns for one in memory.summaries.stored("c")] == [99, 100, 30]
        assert not any("Zebulonius" in one.text or secret in one.text.split() for one in after)
        assert memory.summaries.shelf.stale("c") == []


class Retells:
    """A summarizer that tells everything in words of its own, citing one turn only; at the second call it fails."""

    fingerprint = "retells"

    def __init__(self) -> None:
        self.n_calls = 0

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = 200
    ) -> tuple[Line, ...]:
        self.n_calls += 1
        if self.n_calls > 1:
            raise ModelError("no answer")
        return (Line(Kind.POINT, " / ".join(turn.text for turn in turns), (turns[0].turn_id,)),)


def test_where_no_summary_can_be_made_anew_the_lines_that_may_tell_of_it_are_dropped(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        for words in ("a garden", "Zebulonius was here", "a shed"):
            memory.add(words)
        memory.summaries._summarizer = Retells
        retells = Retells()
        memory.summaries._summarizer = lambda: retells
        memory.summaries.summarise("main", keep_recent=0)
        assert "Zebulonius" in memory.summaries.stored("main")[0].text

        done = memory.forgetting.forget(["t2"], prove=True)

        assert done.summaries == ()
        assert done.is_done
        assert [one.text for one in memory.summaries.stored("main")] == [""]


def test_turns_are_chosen_by_what_they_have_in_common_those_out_of_search_too(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        add = memory.add
        april, may = datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
        add("one", speaker="Åsa", said_at=april, session_id="a")
        add("two", speaker="Bo", said_at=april, session_id="a", role="assistant")
        add("tool traffic", speaker="åsa", said_at=may, session_id="b", recalled=False)
        add("four", speaker="Bo", said_at=may, conversation_id="d")

        select = memory.forgetting.select
        assert select(Within(speaker="åsa")) == ["t1", "t3"]
        assert select(Within(session="a")) == ["t1", "t2"]
        assert select(Within(until="2026-04")) == ["t1", "t2"]
        assert select(Within(since="2026-05", conversation="main")) == ["t3"]
        assert select(Within(role="assistant")) == ["t2"]
        assert select(Within(speaker="nobody")) == []


def test_a_turn_that_is_named_twice_or_unknown_forgets_nothing(memory: Memory) -> None:
    for names in (["t1", "t1"], ["t1", "t999"], ["t1", "\0"]):
        with pytest.raises(UnknownTurnError):
            memory.forgetting.forget(names)

    assert memory.get("t1").turn_id == "t1"


def test_one_text_is_no_list_of_turn_ids(memory: Memory) -> None:
    memory.add("one letter", turn_id="t")
    memory.add("and another", turn_id="1")

    for forget in (memory.forget, memory.forgetting.forget, memory.forgetting.plan):
        with pytest.raises(TurnError, match=r"given as a list, got the text 't1'; for one turn: \['t1'\]"):
            forget("t1")

    assert [memory.get(turn_id).turn_id for turn_id in ("t", "1", "t1")] == ["t", "1", "t1"]


def test_the_vectors_of_every_embedder_go_and_those_of_other_turns_stay(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with opened(tmp_path / "memory", name=name) as memory:
            if name == "one":
                memory.add_many(Turn("", "c", "s", -1, Role.USER, "Ada", f"word{number}") for number in range(9))
            memory.embed()
    with opened(tmp_path / "memory", name="one") as memory:
        memory.forget(["t4"])

        for name in ("one", "other"):
            rows = VectorFile(memory.folder / "vectors", fingerprint=f"{name}-256", dim=256).read_new()
            assert rows is not None
            assert rows.ids["row"].tolist() == [1, 2, 3, ERASED, 5, 6, 7, 8, 9]
            assert rows.vectors.any(axis=1).tolist() == [True] * 3 + [False] + [True] * 5
        assert memory.search("word8", mode="dense", k=1).turn_ids == ("t9",)


def test_a_vector_goes_too_beside_one_that_was_damaged_while_the_memory_was_open(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add_many(Turn("", "c", "s", -1, Role.USER, "Ada", f"word{number}") for number in range(6))
        memory.embed()
        (path,) = (memory.folder / "vectors").glob("*.f32")
        (goes,) = HashedWords(dim=256).embed_turns(["word4"])
        damaged = bytearray(path.read_bytes())
        damaged[:4] = b"\x00\x00\x80?"
        path.write_bytes(damaged)
        assert goes.tobytes() in damaged

        assert memory.forgetting.forget(["t5"], prove=True).is_done

        assert goes.tobytes() not in path.read_bytes()
        assert memory.search("word1", mode="dense", k=1).turn_ids == ("t2",)
        assert memory.doctor().is_well


def test_a_vector_that_a_killed_removal_left_is_nobodys_and_the_next_one_overwrites_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add_many(Turn("", "c", "s", -1, Role.USER, "Ada", f"word{number}") for number in range(4))
        memory.embed()
        (path,) = (memory.folder / "vectors").glob("*.f32")
        (left,) = HashedWords(dim=256).embed_turns(["word1"])
        with monkeypatch.context() as killed:
            killed.setattr("memory_rag.retrieval.vectors._overwrite", _stop)
            with pytest.raises(KeyboardInterrupt):
                memory.forget(["t2"])
        assert left.tobytes() in path.read_bytes()

        assert memory.search("word1", mode="dense", floor=False).turn_ids != ()
        assert memory.doctor().is_well or memory.forgetting.is_unfinished
    with opened(tmp_path / "memory") as memory:
        assert not memory.forgetting.is_unfinished
        assert left.tobytes() not in path.read_bytes()
        assert set(memory.search("word1", mode="dense", floor=False).turn_ids) == {"t1", "t3", "t4"}


def _stop(*_given: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_what_a_killed_embedding_left_at_the_ends_of_the_files_goes_too(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("one")
        memory.add("two")
        memory.embed()
        (rows,) = (memory.folder / "vectors").glob("*.f32")
        with rows.open("ab") as file:
            file.write(HashedWords(dim=256).embed_turns(["two"]).tobytes())
        (memory.folder / "vectors" / f".{rows.name}.new").write_bytes(b"left over")
        (memory.folder / "derived").mkdir(exist_ok=True)
        (memory.folder / "derived" / ".keyword.npz.tmp").write_bytes(b"left over")

        memory.forget(["t2"])

        assert rows.stat().st_size == 256 * 4
        left = sorted(path.name for path in memory.folder.rglob(".*"))
        assert left == [".lock"]


class ForgetsMeanwhile(HashedWords):
    """An embedder during whose work another memory forgets the turn that it works on."""

    other: Memory | None = None

    def embed_turns(self, texts: Sequence[str]) -> Vectors:
        other, self.other = self.other, None
        if other is not None:
            other.forget(["t2"])
        return super().embed_turns(texts)


def test_a_turn_that_is_forgotten_while_it_is_embedded_gets_no_vector(tmp_path: Path) -> None:
    embedder = ForgetsMeanwhile(dim=256)
    with (
        Memory.open(tmp_path / "m", embedder=embedder) as memory,
        Memory.open(tmp_path / "m", embedder="none") as other,
    ):
        memory.add("one")
        memory.add("two")
        embedder.other = other

        memory.embed()

        rows = VectorFile(memory.folder / "vectors", fingerprint=embedder.fingerprint, dim=256).read_new()
        assert rows is not None
        assert rows.ids["row"].tolist() == [1]
        assert np.isfinite(rows.vectors).all()


# -- correcting


def test_a_version_that_is_erased_is_gone_from_its_source_versions_and_blocks(memory: Memory) -> None:
    secret = turn_id_of(memory, SECRET)

    turn, done = memory.forgetting.correct(secret, Correction(text="My code is mine"), prove=True)

    assert done.is_done
    assert turn == memory.get(secret)
    assert (turn.text, turn.blocks, turn.source) == ("My code is mine", (), Source("chat", "secret", None))
    assert memory.store.earlier_versions(secret) == []
    cells = every_cell(memory.folder)
    assert [word for word in TRACES if word.casefold() in cells.casefold()] == []
    assert memory.search("my code is mine").turn_ids[0] == secret


def test_an_erased_speaker_is_gone_where_nobody_else_has_the_name(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("Hello there", speaker="Zebulonius")
        memory.embed()
        memory.indexes.save()

        turn = memory.correct("t1", speaker="Ada", keep_old=False)

        assert turn.speaker == "Ada"
        assert b"ebulonius" not in bytes_of(memory.folder)


def test_a_summary_follows_a_correction_whose_old_version_is_kept(memory: Memory) -> None:
    secret = turn_id_of(memory, SECRET)
    assert CANARY in memory.summaries.stored("talk")[0].text

    memory.correct(secret, text="I decided that my code is somewhere else")

    assert CANARY not in memory.summaries.stored("talk")[0].text
    assert memory.summaries.shelf.stale("talk") == []
    assert memory.store.earlier_versions(secret)[-1].text == SECRET


@pytest.mark.parametrize("keep_old", [True, False])
def test_a_quote_of_a_corrected_turn_says_when_it_was_corrected(memory: Memory, keep_old: bool) -> None:
    memory.add("The bridge opens at noon", turn_id="bridge")
    assert memory.quote("bridge opens at noon")[0].corrected_at is None

    before = datetime.now(UTC)
    memory.correct("bridge", text="The bridge opens at nine", keep_old=keep_old)

    (quote,) = memory.quote("bridge opens at nine")
    assert quote.corrected_at is not None
    assert before <= quote.corrected_at <= datetime.now(UTC)


# -- any words

LETTERS = "aeiourstln ÅÄÖåäöé\u0308ſßİ東京ので🙂0123456789-.'\"\\\n\x00\ud83d"
SAID = st.lists(st.text(alphabet=LETTERS, max_size=60), min_size=1, max_size=6)


@settings(max_examples=12)
@given(said=SAID, chosen=st.sets(st.integers(0, 5)), old=st.text(alphabet=LETTERS, max_size=30))
def test_whatever_was_said_can_be_forgotten_with_proof_and_the_rest_stays(
    said: list[str], chosen: set[int], old: str
) -> None:
    with tempfile.TemporaryDirectory() as place, opened(Path(place) / "memory") as memory:
        memory.add_many(
            Turn(
                f"t{n}", "c", "s", n, Role.USER, "Ada", text, source=Source("chat", f"n{n}", json.dumps({"text": text}))
            )
            for n, text in enumerate(said)
        )
        memory.correct("t0", text=old)
        memory.correct("t0", text=said[0])
        memory.embed()
        memory.indexes.save()
        memory.summaries.summarise("c", keep_recent=0)
        gone = [f"t{n}" for n in sorted(chosen) if n < len(said)]

        done = memory.forgetting.forget(gone, prove=True)

        assert done.is_done, done.proof and done.proof.lines()
        assert [turn.text for turn in memory.turns()] == [text for n, text in enumerate(said) if f"t{n}" not in gone]
        assert memory.store.check() == []


def test_the_state_loses_the_fields_and_items_that_tell_however_deep_they_lie(tmp_path: Path) -> None:
    said = "Call Anna-Karin on 0701740605, late"
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        memory.add(said, turn_id="x' OR 1=1 --", conversation_id="c%_")
        memory.prompt.state.merge(
            {
                "people": [{"name": "Anna-Karin"}, "Bo"],
                "0701740605": True,
                "deep": {"er": [said]},
                "note": "tea",
                "n": 4,
            }
        )

        assert memory.forgetting.forget(["x' OR 1=1 --"], prove=True).is_done

        assert memory.prompt.state.get() == {"people": [{}, "Bo"], "deep": {"er": []}, "note": "tea", "n": 4}
