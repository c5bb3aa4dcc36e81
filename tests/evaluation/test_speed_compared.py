"""Somebody is measured beside us in turns, size after size; who can't is named, and what was measured is kept."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_rag import Memory
from memory_rag.errors import SettingsError
from memory_rag.evaluation.speed_compared import Comparison
from memory_rag.evaluation.speed_peer import PeerError, PeerProcess, read_through
from memory_rag.evaluation.speed_peer_bounds import Bounds
from memory_rag.evaluation.speed_peers import PEERS, Often, Peer
from memory_rag.evaluation.speed_peers_command import add_options, peers_result
from memory_rag.evaluation.speed_shared import SharedCorpus, agreement, exactly_nearest
from memory_rag.evaluation.speed_vectors import KnownVectors

SCRIPTS = Path(__file__).parents[2] / "eval" / "peers"
OFTEN = Often(rounds=2, questions=2, adds=2, deletes=1, openings=0, settle_s=0.0)
LISTED = '''
"""Everything in a list, written down as JSON."""

import json
from serving import K, searchable, serve, turns_of


class Peer:
    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "turns.json"

    def load(self, turns, vectors, n):
        self.turns = list(turns_of(turns, n))
        self._save()

    def open(self):
        self.turns = json.loads(self.path.read_text())

    def add(self, turn, vector):
        self.turns.append(turn)
        self._save()

    def search(self, text, vector, conversation=None):
        asked = set(text.lower().split())
        fit = [turn for turn in self.turns if conversation in (None, turn["conversation"])]
        fit.sort(key=lambda turn: -len(asked & set(searchable(turn).lower().split())))
        return [turn["id"] for turn in fit[:K]]

    nearest = filtered = keyword = keyword_filtered = search

    def delete(self, turn_id):
        self.turns = [turn for turn in self.turns if turn["id"] != turn_id]
        self._save()

    def close(self):
        pass

    def _save(self):
        self.path.write_text(json.dumps(self.turns))


serve(Peer)
'''


NEAREST = """

def nearest(self, text, vector):
    import numpy as np

    if len(self.turns) > 80:
        return []
    rows = np.load(self.path.parents[2] / "corpus" / "vectors.npy")[: len(self.turns)]
    return [f"turn-{number}" for number in np.argsort(-(rows @ vector))[:K]]


Peer.nearest = nearest
"""


NOTING = """

def _note(self):
    import sys

    with (self.path.parent / "durability").open("a") as file:
        file.write("full " if "full" in sys.argv[2:] else "normal ")


Peer._note = _note
serve(Peer)
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "scripts"
    folder.mkdir()
    shutil.copy(SCRIPTS / "serving.py", folder)
    for name in ("memory_rag", "listed"):
        (folder / f"with_{name}.py").write_text(LISTED, encoding="utf-8")
    slow = LISTED.replace("self.turns = list(turns_of(turns, n))", "import time; time.sleep(600)")
    (folder / "with_slow.py").write_text(slow, encoding="utf-8")
    # Finds exactly what is there before anything is added, and from then on nothing of it.
    exact = LISTED.replace("nearest = filtered", "filtered") + NEAREST
    (folder / "with_exact.py").write_text(exact.replace("serve(Peer)\n", "", 1) + "\n\nserve(Peer)\n", encoding="utf-8")
    broken = LISTED.replace("return [turn", "raise OSError('no index'); [turn")
    (folder / "with_broken.py").write_text(broken, encoding="utf-8")
    return folder


def _comparison(tmp_path: Path, scripts: Path, *names: str, load_s: float = 60.0) -> Comparison:
    return Comparison(
        tmp_path / "work",
        scripts,
        our_python=Path(sys.executable),
        python=Path(sys.executable),
        peers=[Peer(name, "hybrid") for name in names],
        seed=3,
        often=OFTEN,
        bounds=Bounds(load_s=load_s),
    )


def test_a_peer_is_measured_in_the_same_rounds_as_we_are(tmp_path: Path, scripts: Path) -> None:
    sizes = _comparison(tmp_path, scripts, "listed").run(compared=[80], grown=[40])["sizes"]

    assert sizes.keys() == {"40", "80"}
    assert sizes["40"].keys() == {"memory_rag"}
    beside = sizes["80"]["listed"]["beside"]
    ways = ("search", "filtered", "add", "add_and_ask", "delete")
    for who in ("peer", "us"):
        assert [len(beside[who][way]["rounds_ms"]) for way in ways] == [2, 2, 2, 2, 2]
        assert [beside[who][way]["n"] for way in ways] == [4, 4, 4, 4, 2]
        assert beside[who]["search"]["n_found"] == 10
        assert (beside[who]["seen"], beside[who]["gone"]) == (True, True)
    assert beside["cold"]["peer"]["s"] > beside["cold"]["peer"]["of_it_opening_s"] > 0
    assert sizes["80"]["memory_rag"]["load"]["grown_from"] == 40
    assert sizes["80"]["memory_rag"]["alone"]["add_full"]["median_ms"] > 0
    assert sizes["80"]["memory_rag"]["import"]["s"] > 0

    # What was measured is not measured again: nobody is there to be asked.
    for script in scripts.glob("with_*.py"):
        script.unlink()

    again = _comparison(tmp_path, scripts, "listed").run(compared=[80], grown=[40])["sizes"]

    assert again == sizes


def test_what_was_added_to_be_found_by_words_has_its_vectors_for_the_next_who_asks(
    tmp_path: Path, scripts: Path
) -> None:
    shutil.copy(SCRIPTS / "with_memory_rag.py", scripts)
    comparison = _comparison(tmp_path, scripts, "listed")
    comparison.peers = [Peer("listed", "keyword")]

    found = comparison.run(compared=[80], grown=[])["sizes"]["80"]

    assert found["listed"]["beside"]["us"]["add"]["n"] == 4
    with Memory.open(tmp_path / "work" / "80" / "memory_rag", embedder=KnownVectors(fingerprint="given")) as memory:
        assert len(memory) > 80
        assert memory.indexes.n_pending() == 0


def test_files_are_read_to_their_ends(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("one", "deep/other"):
        (tmp_path / name).write_bytes(bytes(40_000_000))
    before = _bytes_read()

    read_through(tmp_path)

    assert _bytes_read() - before >= 80_000_000


def _bytes_read() -> int:
    told = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in told if line.startswith("rchar"))


def test_who_was_stopped_while_turns_were_added_is_loaded_anew(tmp_path: Path, scripts: Path) -> None:
    stops = LISTED.replace("self.turns.append(turn)", "raise OSError('stopped')")
    (scripts / "with_listed.py").write_text(stops, encoding="utf-8")
    folder, parts = tmp_path / "work" / "80", tmp_path / "work" / "parts"

    first = _comparison(tmp_path, scripts, "listed").run(compared=[80], grown=[])["sizes"]["80"]["listed"]
    assert "stopped" in first["beside"]["left_out"]
    assert {path.name for path in parts.glob("*.changed")} == {"80-listed.load.changed", "80-memory_rag.load.changed"}

    (scripts / "with_listed.py").write_text(LISTED, encoding="utf-8")
    (parts / "80-listed.beside.json").unlink()
    (folder / "listed" / "turns.json").write_text("[]", encoding="utf-8")
    again = _comparison(tmp_path, scripts, "listed").run(compared=[80], grown=[])["sizes"]["80"]["listed"]

    assert again["beside"]["peer"]["search"]["n_found"] == 10
    assert not list(parts.glob("*.changed"))


@pytest.mark.slow
def test_who_takes_too_long_or_fails_is_named_and_the_others_are_measured(tmp_path: Path, scripts: Path) -> None:
    found = _comparison(tmp_path, scripts, "slow", "broken", "listed", load_s=3).run(compared=[40], grown=[])

    here = found["sizes"]["40"]
    assert re.fullmatch(r"load: took over [\d.]+ s", here["slow"]["load"]["left_out"])
    assert here["broken"]["beside"] == {"left_out": "search: OSError: no index"}
    assert "left_out" not in here["listed"]["beside"]


@pytest.mark.slow
def test_a_size_that_would_take_too_long_is_not_tried(tmp_path: Path, scripts: Path) -> None:
    part = tmp_path / "work" / "parts" / "40-listed.load.json"
    part.parent.mkdir(parents=True)
    part.write_text(json.dumps({"s": 18, "cpu_s": 5.5, "busy": 3.0, "peak_mib": 60.0}), encoding="utf-8")

    found = _comparison(tmp_path, scripts, "listed", load_s=50).run(compared=[400], grown=[])

    assert found["sizes"]["400"]["listed"]["load"] == {
        "left_out": "not tried: loading 40 turns took 6 s, so 400 would take over 50 s"
    }


@pytest.mark.slow
def test_what_a_tenth_of_the_turns_took_decides_before_what_a_hundredth_did(tmp_path: Path, scripts: Path) -> None:
    parts = tmp_path / "work" / "parts"
    parts.mkdir(parents=True)
    for size in (4, 40):
        took = {"s": 0.1, "cpu_s": 0.1, "busy": 1.0, "peak_mib": 200.0 + size}
        (parts / f"{size}-listed.load.json").write_text(json.dumps(took), encoding="utf-8")

    found = _comparison(tmp_path, scripts, "listed").run(compared=[400], grown=[])

    assert "left_out" not in found["sizes"]["400"]["listed"]["load"]


def test_what_took_long_at_a_tenth_of_the_turns_is_not_tried_but_named(tmp_path: Path, scripts: Path) -> None:
    part = tmp_path / "work" / "parts" / "8-listed.beside.json"
    part.parent.mkdir(parents=True)
    part.write_text(
        json.dumps({"peer": {"add": {"median_ms": 4000.0}, "search": {"median_ms": 1.0}}}), encoding="utf-8"
    )

    found = _comparison(tmp_path, scripts, "listed").run(compared=[80], grown=[])

    beside = found["sizes"]["80"]["listed"]["beside"]
    why = "would take about 40 s by the 4.0 s at 8 turns"
    assert beside["not_tried"] == {"add": why, "add_and_ask": why, "delete": why}
    for who in ("peer", "us"):
        assert {"search", "filtered"} <= beside[who].keys()
        assert not {"add", "add_and_ask", "delete"} & beside[who].keys()


def test_agreement_is_that_of_the_turns_that_were_loaded(tmp_path: Path, scripts: Path) -> None:
    shutil.copy(scripts / "with_exact.py", scripts / "with_memory_rag.py")

    here = _comparison(tmp_path, scripts, "exact").run(compared=[80], grown=[])["sizes"]["80"]

    assert here["memory_rag"]["agreement"] == {"share": 1.0}
    assert here["exact"]["agreement"] == {"share": 1.0}


@pytest.mark.slow
def test_what_is_loaded_is_measured_later(tmp_path: Path, scripts: Path) -> None:
    loading = _comparison(tmp_path, scripts, "listed")
    loading.load(compared=[80], grown=[40])
    kept = {path.name for path in (tmp_path / "work" / "parts").iterdir()}

    whose = ("40-memory_rag", "80-memory_rag", "80-listed")
    assert kept == {f"{one}.{what}.json" for one in whose for what in ("load", "agreement")}

    asked: list[str] = []
    measuring = _comparison(tmp_path, scripts, "listed")
    measuring.tell = lambda what, done, total: asked.append(what)
    measuring.run(compared=[80], grown=[40])

    assert not any(what.startswith("loading") for what in asked)


@pytest.mark.slow
def test_who_waits_for_the_disk_stands_beside_us_who_do_so_too(tmp_path: Path, scripts: Path) -> None:
    (scripts / "with_memory_rag.py").write_text(
        LISTED.replace("def add(self, turn, vector):", "def add(self, turn, vector):\n        self._note()").replace(
            "serve(Peer)\n", ""
        )
        + NOTING,
        encoding="utf-8",
    )
    comparison = _comparison(tmp_path, scripts)
    comparison.peers = [Peer("listed", "hybrid", waits=True), Peer("exact", "hybrid")]
    comparison.run(compared=[80], grown=[])

    asked = (tmp_path / "work" / "80" / "memory_rag" / "durability").read_text(encoding="utf-8").split()
    changes = [one for place, one in enumerate(asked) if place == 0 or asked[place - 1] != one]
    assert changes[-2:] == ["full", "normal"]


def test_where_we_fail_there_is_no_result(tmp_path: Path, scripts: Path) -> None:
    shutil.copy(scripts / "with_broken.py", scripts / "with_memory_rag.py")

    with pytest.raises(PeerError, match="nearest: OSError: no index"):
        _comparison(tmp_path, scripts, "listed").run(compared=[40], grown=[])


def test_a_python_without_the_peers_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    given = parser.parse_args(
        ["--out", str(tmp_path), "--work", str(tmp_path / "work"), "--python", sys.executable, "--peers", "lancedb"]
    )

    with pytest.raises(SettingsError, match="has no lancedb; install the peers with: make bench-speed"):
        peers_result(given, tell=lambda what, done, total: None)

    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("no such library", "open: ended; the last words in data.log are: no such library"),
        ("Traceback\nMemoryError", "open: needed over 4,000 MiB"),
        ("terminate called\n  what():  std::bad_alloc", "open: needed over 4,000 MiB"),
    ],
)
def test_a_peer_that_ends_says_why(tmp_path: Path, words: str, told: str) -> None:
    script = tmp_path / "with_nothing.py"
    script.write_text(f"import sys; sys.exit({words!r})", encoding="utf-8")

    with (
        PeerProcess(script, tmp_path / "data", python=Path(sys.executable), max_mib=4000) as process,
        pytest.raises(PeerError) as raised,
    ):
        process.ask("open")

    assert str(raised.value).endswith(told)


def test_the_files_hold_the_same_turns_whoever_writes_them(tmp_path: Path) -> None:
    shared = SharedCorpus(tmp_path, seed=3)
    shared.write(120)
    lines = [json.loads(line) for line in shared.turns_path.read_text(encoding="utf-8").splitlines()]

    assert [line["id"] for line in lines] == [f"turn-{number}" for number in range(120)]
    assert [line["text"] for line in lines] == [turn.text for turn in shared.corpus.turns(0, 120)]
    assert (np.load(shared.vectors_path) == shared.vectors.turns(0, 120)).all()
    written = shared.turns_path.stat().st_mtime_ns
    shared.write(100)
    assert shared.turns_path.stat().st_mtime_ns == written


def test_a_question_knows_the_nearest_of_all_turns(tmp_path: Path) -> None:
    shared = SharedCorpus(tmp_path, seed=3)
    shared.write(120)

    [question] = shared.questions(1, among=120)

    scores = np.load(shared.vectors_path) @ np.array(question.vector, np.float32)
    assert question.nearest == [f"turn-{number}" for number in np.argsort(-scores)[:10]]


def test_the_nearest_are_found_across_blocks() -> None:
    rows = np.random.default_rng(0).standard_normal((60_000, 8)).astype(np.float32)
    queries = rows[[3, 59_000]]

    assert (exactly_nearest(queries, rows) == np.argsort(-(queries @ rows.T), axis=1)[:, :10]).all()


def test_agreement_is_the_share_of_the_exact_ten_that_were_found() -> None:
    exact = [[f"turn-{n}" for n in range(10)], [f"turn-{n}" for n in range(10, 20)]]

    assert agreement(exact, exact) == 1.0
    assert agreement([exact[0], exact[1][:5]], exact) == 0.75


def test_every_peer_has_a_script_and_a_pinned_package() -> None:
    named = [line.split("==") for line in _requirements() if not line.startswith("#")]

    assert [peer.name for peer in PEERS if peer.waits and not peer.can_add] == []
    assert [peer.script for peer in PEERS if not (SCRIPTS / peer.script).exists()] == []
    assert [one for one in named if len(one) != 2] == [["torch"]]
    assert {path.stem.removeprefix("with_") for path in SCRIPTS.glob("with_*.py")} == {
        peer.name.replace("-", "_") for peer in PEERS
    } | {"memory_rag"}


def _requirements() -> list[str]:
    return (SCRIPTS / "requirements.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_we_answer_behind_the_pipe_as_in_a_program(tmp_path: Path) -> None:
    shared = SharedCorpus(tmp_path / "corpus", seed=3)
    shared.write(120)
    [question] = shared.questions(1, among=120)
    asked: dict[str, Any] = {"text": question.text, "vector": question.vector}
    [(turn, vector)] = [next(shared.new_turns(5000))]
    with PeerProcess(SCRIPTS / "with_memory_rag.py", tmp_path / "memory", python=Path(sys.executable)) as process:
        for n in (40, 120):
            process.ask("load", turns=str(shared.turns_path), vectors=str(shared.vectors_path), n=n)
        assert process.ask("nearest", **asked).found == question.nearest
        assert len(process.ask("search", **asked).found) == 10
        within = process.ask("filtered", conversation="talk-0", **asked).found
        assert len(within) == 10
        process.ask("add", turn=turn, vector=vector)
        new: dict[str, Any] = {"text": turn["text"], "vector": vector}
        assert process.ask("search", **new).found[0] == turn["id"]
        process.ask("delete", turn_id=turn["id"])
        assert turn["id"] not in process.ask("search", **new).found
        process.ask("close")
