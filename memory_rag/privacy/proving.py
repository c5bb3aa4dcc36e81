"""From turns that are to be forgotten to the proof that they are: what to look for is taken down first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_rag.privacy.known_words import names_given, said_by_others, words_of_the_house, written_beside
from memory_rag.privacy.own_words import words_in
from memory_rag.privacy.proof import Proof
from memory_rag.privacy.remains import Remains
from memory_rag.privacy.sought import STEMS, WORDS, Sought, not_said_by
from memory_rag.retrieval.indexes import Indexes
from memory_rag.store.engine import Connection
from memory_rag.store.turn_writer import TurnWriter


class Proving:
    """Proofs over one memory."""

    def __init__(self, store: TurnWriter, indexes: Indexes, remains: Remains) -> None:
        self._remains = remains
        self._store = store
        self._indexes = indexes

    def sought(self, said: Sequence[str], contents: Mapping[int, int | None]) -> Sought:
        """Take down what a proof has to look for: texts, and the vectors of rows whose words are not ``contents``."""
        return Sought(tuple(text for text in said if text.strip()), list(self._remains.vectors(contents)))

    def prove(self, sought: Sought) -> Proof:
        """Look at all of the memory for what was taken down, but for words that others said too.

        Raises:
            StoreError: the store can't be read.
        """
        self._indexes.catch_up()
        analyzer = self._indexes.keyword.analyzer
        with self._store.connections.reading() as connection:
            wanted = sought.candidates(analyzer)
            n_candidates = len(wanted)
            wanted = not_said_by(said_by_others(connection), wanted)
            wanted = not_said_by(words_of_the_house(connection), wanted)
            wanted = not_said_by(self._remains.words(connection), wanted)
            wanted = not_said_by([analyzer.fingerprint], wanted)
            given = list(names_given(connection))
            named = _named(given, wanted)
            wanted = not_said_by([text for _what, text in given], wanted)
            wanted = _not_written_beside(connection, wanted)
            wanted = [one for one in wanted if one[0] != STEMS or not self._is_stem_of_another(one[1])]
            hashes = frozenset(bytes(digest) for (digest,) in connection.execute("SELECT sha256 FROM turns"))
        return self._remains.prove(
            list(sought.text_needles(wanted)),
            list(sought.byte_needles(hashes)),
            left_out=n_candidates - len(wanted),
            named=named,
        )

    def _is_stem_of_another(self, stem: str) -> bool:
        """Whether a stored turn really has a term; the index alone is not believed."""
        keyword = self._indexes.keyword
        for row in self._indexes.rows_with(stem):
            turn = self._store.turns_at([row]).get(row)
            if turn is not None and stem in keyword.terms_of(turn):
                return True
        return False


def _named(given: Sequence[tuple[str, str]], wanted: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return each word that is looked for and stands in a name that stays, with what is so named."""
    words = {text for kind, text in wanted if kind == WORDS}
    return tuple(dict.fromkeys(f"{word} ({what})" for what, text in given for word in sorted(words_in(text) & words)))


def _not_written_beside(connection: Connection, wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out what stands in pins, decisions, state and titles, but for whole words: of these none may stay."""
    beside = list(written_beside(connection))
    whole = set[str]().union(*map(words_in, beside))
    words = [one for one in wanted if one[0] == WORDS]
    others = [one for one in wanted if one[0] != WORDS]
    stay = set(not_said_by(beside, others))
    stay |= set(not_said_by(beside, words)) | {one for one in words if one[1] in whole}
    return [one for one in wanted if one in stay]
