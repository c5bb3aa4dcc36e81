"""Made vectors are the same each time and lie as a model's do; known ones are looked up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memory_rag.evaluation.speed_vectors import DIM, KnownVectors, MadeVectors

MADE = MadeVectors(seed=3)


def test_any_stretch_of_turns_has_the_same_vectors_wherever_one_starts() -> None:
    rows = MADE.turns(0, 5000)

    assert rows.shape == (5000, DIM)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (MADE.turns(4090, 4200) == rows[4090:4200]).all()
    assert MADE.turns(7, 7).shape == (0, DIM)
    assert not np.array_equal(MadeVectors(seed=4).turns(0, 1), rows[:1])


def test_they_spread_in_about_as_many_directions_as_minilms() -> None:
    spread = np.linalg.eigvalsh(np.cov(MADE.turns(0, 8192).T))

    assert 60 < spread.sum() ** 2 / (spread**2).sum() < 110


def test_a_question_is_near_the_turn_that_it_is_about() -> None:
    rows = MADE.turns(0, 5000)

    asked = np.array([MADE.question(number, rows=rows, about=number * 40) for number in range(50)])

    assert (np.argmax(asked @ rows.T, axis=1) == np.arange(50) * 40).mean() > 0.8
    assert (MADE.question(3, rows=rows, about=120) == asked[3]).all()


def test_a_known_text_has_its_vector_whatever_is_asked_with_it() -> None:
    embedder = KnownVectors(fingerprint="given")
    rows = MADE.turns(0, 300)
    embedder.know((f"text {number}" for number in range(300)), rows)
    embedder.give("new", MADE.turns(300, 301)[0])

    found = embedder.embed_turns(["text 7", "new", "text 299"])

    assert (found == np.array([rows[7], MADE.turns(300, 301)[0], rows[299]])).all()
    assert (embedder.embed_turns(["new"])[0] == found[1]).all()
    assert embedder.embed_turns([]).shape == (0, DIM)


def test_vectors_of_a_file_are_found_again_and_hold_no_memory_between(tmp_path: Path) -> None:
    rows = MADE.turns(0, 20_000)
    np.save(tmp_path / "rows.npy", rows)
    embedder = KnownVectors(fingerprint="given")
    texts = [f"text {number}" for number in range(len(rows))]
    embedder.know(texts, np.load(tmp_path / "rows.npy", mmap_mode="r"))

    before = _pages_of_files()
    found = embedder.embed_turns(texts[::2])

    assert (found == rows[::2]).all()
    assert _pages_of_files() - before < rows.nbytes // 4096 // 4
    assert (embedder.embed_turns(texts[5:6]) == rows[5:6]).all()


def _pages_of_files() -> int:
    status = Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("this system doesn't tell which pages are there")
    return int(status.read_text(encoding="ascii").split()[2])


def test_a_text_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError, match="never"):
        KnownVectors(fingerprint="given").embed_turns(["never"])


def test_every_question_has_the_vector_that_was_told_last() -> None:
    embedder = KnownVectors(fingerprint="given")
    embedder.asked = MADE.turns(5, 6)[0]

    assert (embedder.embed_queries(["a", "b"]) == np.array([embedder.asked] * 2)).all()
