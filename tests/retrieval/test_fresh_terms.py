"""What is new in a turn, against a plain reading of its conversation."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.retrieval.fresh_terms import FreshTerms
from memory_rag.retrieval.postings import Postings
from memory_rag.retrieval.turn_table import TurnTable
from tests.retrieval.talks import turn


@dataclass(frozen=True, slots=True)
class Said:
    """What a plain reading needs to know of a turn."""

    conversation: str
    ordinal: int
    row: int
    words: frozenset[str]
    recalled: bool


class Index:
    """A table and its postings, taken in turn by turn."""

    def __init__(self, *, terms_kept: int = 1000) -> None:
        self.table, self.postings = TurnTable(), Postings()
        self.fresh = FreshTerms(self.table, self.postings, terms_kept=terms_kept)
        self.said: dict[int, Said] = {}

    def say(self, said: Said) -> None:
        self.end(said.row)
        words = sorted(said.words)
        entry = self.table.append(
            said.row,
            turn(" ".join(words), conversation_id=said.conversation, ordinal=said.ordinal, recalled=said.recalled),
            seq=len(self.table) + 1,
        )
        self.fresh.take_in(entry, words)
        self.postings.add(entry, [list(words)])
        self.said[said.row] = said

    def end(self, row: int) -> None:
        entry = self.table.entry_of(row)
        if entry is not None:
            self.fresh.leave_out(entry)
            self.table.end(row)
            del self.said[row]

    def counted(self) -> dict[int, int]:
        self.fresh.settle()
        return {row: int(self.table.fresh[self.table.entry_of(row)]) for row in self.said}

    def plain(self) -> dict[int, int]:
        counts = dict.fromkeys(self.said, 0)
        heard: dict[str, set[str]] = {}
        for one in sorted(self.said.values(), key=lambda said: (said.ordinal, said.row)):
            if one.recalled:
                known = heard.setdefault(one.conversation, set())
                counts[one.row] = len(one.words - known)
                known |= one.words
        return counts


SAID = st.builds(
    Said,
    st.sampled_from("cd"),
    st.integers(0, 9),
    st.integers(0, 12),
    st.frozensets(st.sampled_from("abcdefg")),
    st.sampled_from([True, True, True, False]),
)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(SAID, st.sampled_from(["say", "say", "say", "end", "seal", "settle"])), max_size=30),
    st.sampled_from([0, 8, 1000]),
)
def test_counts_are_those_of_the_conversation_as_it_stands_after_any_changes(
    steps: list[tuple[Said, str]], terms_kept: int
) -> None:
    index = Index(terms_kept=terms_kept)
    for said, what in steps:
        if what == "say":
            index.say(said)
        elif what == "end":
            index.end(said.row)
        elif what == "seal":
            index.postings.seal()
        else:
            index.fresh.settle()

    assert index.counted() == index.plain()


def test_many_conversations_that_are_told_by_turns_are_counted_alike() -> None:
    index = Index()
    for n in range(1000):
        index.say(Said(f"c{n % 100}", n, n, frozenset({f"w{n % 7}", f"w{n % 11}", f"w{n}"}), True))

    assert index.counted() == index.plain()
