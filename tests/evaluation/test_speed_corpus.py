"""Invented turns: the same for the same seed, and of the lengths that are claimed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from memory_rag.embedding.wordpiece import WordPiece
from memory_rag.evaluation.speed_corpus import Corpus, DrawnVectors, invented_word
from memory_rag.text.stopwords import STOP_WORDS

CORPUS = Corpus(seed=3)


def test_the_same_seed_gives_the_same_turns_wherever_one_starts() -> None:
    turns = list(CORPUS.turns(0, 830))

    assert list(Corpus(seed=3).turns(0, 830)) == turns
    assert list(CORPUS.turns(390, 830)) == turns[390:]
    assert next(Corpus(seed=4).turns(0, 1)).text != turns[0].text


def test_conversations_have_400_turns_in_sessions_of_25_by_two_who_alternate() -> None:
    turns = list(CORPUS.turns(0, 800))

    assert [turn.conversation_id for turn in turns] == ["talk-0"] * 400 + ["talk-1"] * 400
    assert len({(turn.conversation_id, turn.session_id) for turn in turns}) == 32
    assert [turn.ordinal for turn in turns] == [*range(400), *range(400)]
    assert all(a.speaker != b.speaker for a, b in pairwise(turns[:400]))
    assert len({turn.speaker for turn in turns[:400]}) == 2
    times = [turn.said_at for turn in turns if turn.said_at is not None]
    assert times == sorted(times)
    assert len(times) == 800


def test_turns_have_8_to_60_words_of_which_45_percent_are_function_words() -> None:
    words = [turn.text.strip(".?").split() for turn in CORPUS.turns(0, 2000)]

    lengths = [len(own) for own in words]
    assert (min(lengths), max(lengths)) == (8, 60)
    common = np.mean([word.lower() in STOP_WORDS["en"] for own in words for word in own])
    assert 0.44 < common < 0.46


def test_every_rank_has_its_own_word() -> None:
    words = [invented_word(rank) for rank in range(20_000)]

    assert len(set(words)) == 20_000
    assert all(word.isalpha() and word.islower() and 4 <= len(word) <= 8 for word in words)


def test_the_lengths_in_tokens_spread_as_locomos_do() -> None:
    count = WordPiece().count

    tokens = [count(text) for text in CORPUS.texts_of_tokens(600, count=count)]

    assert 29.5 < np.mean(tokens) < 33.5
    assert 26 <= np.median(tokens) <= 30
    assert 54 < np.percentile(tokens, 95) < 70


def test_questions_are_the_same_each_time_and_of_five_kinds() -> None:
    asked = CORPUS.questions(10, among=4000)

    assert asked == CORPUS.questions(10, among=4000)
    assert [text.split()[0] for text in asked[:4]] == ["What", "When", "Did", "Who"]
    assert " 2023?" in asked[3]
    assert len(set(asked)) == 10


def test_a_drawn_vector_has_length_1_and_depends_on_its_text_alone() -> None:
    drawn = DrawnVectors(fingerprint="any", dim=384)

    rows = drawn.embed_turns(["a", "b", "a"])

    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert (rows[0] == rows[2]).all()
    assert (rows[0] == drawn.embed_queries(["a"])[0]).all()
    assert abs(float(rows[0] @ rows[1])) < 0.3
    assert drawn.embed_turns([]).shape == (0, 384)
