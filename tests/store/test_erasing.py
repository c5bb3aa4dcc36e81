"""What is still to be overwritten is noted until it is done, and what is noted meanwhile is not taken for done."""

from __future__ import annotations

from pathlib import Path

from memory_rag.memory import Memory
from memory_rag.store.correcting import Correction
from memory_rag.store.erasing import Erasing
from tests.end_to_end.hashed_words import HashedWords


def test_a_turn_that_is_corrected_again_while_another_process_finishes_stays_noted(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder=HashedWords(), language="en") as memory:
        memory.add("zqone")
        memory.store.correct("t1", text="zqtwo", keep_old=False)
        finishing = Erasing(memory.store.connections)
        first = finishing.unfinished()
        # The other process has erased its files of the first words; now the second ones are to go as well.
        finishing.note_files_done(first.since)
        memory.embed()
        memory.store.correct("t1", text="zqthree", keep_old=False)

        finishing.note_files_done(first.since)
        finishing.done(first.since)

        left = finishing.unfinished()
        assert set(left.since) == {1}
        assert left.files_waiting == left.since
        assert memory.forgetting.finish() == ""
        assert not finishing.unfinished()


def test_what_was_done_for_the_rows_that_were_noted_is_noted_no_more(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none", language="en") as memory:
        memory.add("zqone")
        memory.forgetting.correct("t1", Correction(text="zqtwo"))

        assert not Erasing(memory.store.connections).unfinished()
