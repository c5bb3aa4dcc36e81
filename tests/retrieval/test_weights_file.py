from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.errors import SettingsError
from memory_rag.memory import Memory
from memory_rag.retrieval.signals import WEIGHTS
from memory_rag.retrieval.weights_file import WeightsFile, read_weights


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "weights.toml"
    weights = {name: 0.00001 * 10**place for place, name in enumerate(WEIGHTS) if place < 8} | {"length": -1.5}
    path.write_text(WeightsFile(weights, ["a" * 64]).text(comment=("Fitted by hand",)), encoding="utf-8")

    found = read_weights(path)

    assert found.weights == pytest.approx(weights, abs=1e-4)
    assert list(found.fitted_on) == ["a" * 64]
    assert path.read_text(encoding="utf-8").startswith("# Fitted by hand\nfitted_on = ")


def test_a_memory_ranks_by_the_weights_that_its_setting_names(tmp_path: Path) -> None:
    path = tmp_path / "weights.toml"
    path.write_text("[weights]\nkeyword = 1\nlength = 0\n", encoding="utf-8")
    with Memory.open(tmp_path / "m", embedder="none", weights=str(path)) as memory:
        memory.add("The kayak is red.")
        [hit] = memory.search("Is the kayak red?", floor=False)

    assert dict(hit.signals) == {"keyword": 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[weights]\nkeywords = 1\n", "unknown signal 'keywords'; signals are: keyword, dense"),
        ("[weights]\nkeyword = 'much'\n", "the weight of keyword is a number, got 'much'"),
        ("[weights]\nkeyword = inf\n", "the weight of keyword is a number, got inf"),
        ("fitted_on = []\n", "has no table .weights.; make such a file with: memory-rag bench tune"),
        ("[weights]\nkeyword = 0\n", "has no table .weights."),
        ("fitted_on = 'x'\n[weights]\nkeyword = 1\n", "fitted_on is a list of SHA-256 digests, got 'x'"),
        ("weights", "can't be read as a file of weights"),
    ],
)
def test_a_file_that_is_no_weights_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weights.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(SettingsError, match=message):
        read_weights(path)


def test_a_memory_with_a_missing_file_of_weights_says_so(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder="none", weights=str(tmp_path / "no.toml")) as memory:
        memory.add("The kayak is red.")
        with pytest.raises(SettingsError, match=r"no\.toml can't be read as a file of weights"):
            memory.search("kayak")
