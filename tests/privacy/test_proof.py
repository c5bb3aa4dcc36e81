"""The proof fails wherever a word, a piece of text or a vector of the forgotten turn still lies, in whatever form."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.memory import Memory
from memory_rag.privacy.byte_search import SHORTEST, ByteSearch
from memory_rag.privacy.proof import Proof, prove
from memory_rag.privacy.retention import Scope
from memory_rag.privacy.sought import Sought
from memory_rag.turns import Role, Turn, text_bytes
from tests.end_to_end.hashed_words import HashedWords
from tests.privacy.full_memory import SECRET, filled, opened, turn_id_of

Planted = tuple[Path, Sought]


@pytest.fixture(scope="module")
def forgotten(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """A closed memory that has forgotten, and what is looked for in it."""
    folder = tmp_path_factory.mktemp("proof") / "memory"
    memory = filled(folder)
    secret = turn_id_of(memory, SECRET)
    sought = memory.forgetting.look_for([secret])
    memory.forget([secret])
    memory.close()
    return folder, sought


@pytest.fixture
def planted(forgotten: Planted, tmp_path: Path) -> Planted:
    """A copy of it, to plant something in."""
    folder, sought = forgotten
    shutil.copytree(folder, tmp_path / "memory")
    return tmp_path / "memory", sought


def proof_of(planted: Planted) -> Proof:
    folder, sought = planted
    with opened(folder) as memory:
        return memory.forgetting.prove(sought)


def test_the_proof_holds_where_nothing_was_planted_and_says_what_it_looked_for(planted: Planted) -> None:
    folder, sought = planted
    with opened(folder) as memory:
        proof = memory.forgetting.prove(sought)
        files = [path for path in folder.rglob("*") if path.is_file()]

        assert proof.holds
        assert (proof.n_looked_at, proof.n_bytes) == (len(files), sum(path.stat().st_size for path in files))
    kinds = {kind.partition(" in ")[0] for kind in proof.searched}
    assert kinds == {"text", "words", "stems", "float32 rows", "float16 rows", "float64 rows", "binary codes",
                     "hashes of the text"}  # fmt: skip
    encodings = {kind.partition(" in ")[2] for kind in proof.searched if kind.startswith("words")}
    assert encodings == {"UTF-8", "UTF-16 little-endian", "UTF-16 big-endian", "JSON with escapes"}
    assert proof.lines()[-1] == "nothing of it is there any more"


KINDS_OF_FILES = (
    "turns.sqlite",
    "vectors/hashed-words-256.f32",
    "vectors/hashed-words-256.ids",
    "vectors/.hashed-words-256.f32.new",
    "derived/manifest.json",
    "derived/.keyword.npz.tmp",
    "derived/codes.bin",
    ".lock",
    "backup/turns.sqlite",
    "notes.txt",
)


def test_a_word_in_any_kind_of_file_fails_the_proof(planted: Planted) -> None:
    folder, _sought = planted
    for name in KINDS_OF_FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("ab") as file:
            file.write(b"... Nordanstigsbron ...")

    proof = proof_of(planted)

    assert not proof.holds
    assert {trace.file for trace in proof.found} == set(KINDS_OF_FILES)
    assert any("notes.txt, byte 4: words 'nordanstigsbron' as UTF-8" in line for line in proof.lines())
    assert proof.lines()[-1] == "this proves nothing: see above"


WORD = "Söndagsmorgonen"
ENCODED: dict[str, bytes] = {
    "UTF-8": WORD.encode(),
    "in capitals": WORD.upper().encode(),
    "decomposed": "So\u0308ndagsmorgonen".encode(),
    "UTF-16 little-endian": WORD.encode("utf-16-le"),
    "UTF-16 big-endian": WORD.upper().encode("utf-16-be"),
    "JSON with escapes": json.dumps(WORD).encode(),
    "JSON with capital escapes": b"S\\u00F6ndagsmorgonen",
    "case-folded": WORD.casefold().encode(),
    "an English stem": b"\xffmarmalad\xff",
    "a Swedish stem": b"\xff" + "söndagsmorgon".encode() + b"\xff",
    "a piece of the text": text_bytes(SECRET)[30:90],
    "a piece cut by a page": text_bytes(SECRET)[20:60] + b"\x00\x00\x01\x02" + text_bytes(SECRET)[60:],
    "a number": b"zqcanary7731",
}


def test_a_word_in_any_encoding_fails_the_proof(planted: Planted) -> None:
    for number, data in enumerate(ENCODED.values()):
        (planted[0] / "derived" / str(number)).write_bytes(b"\x00\x01" * 1000 + data + b"\x00" * 5000)

    found = {trace.file for trace in proof_of(planted).found}

    assert [how for number, how in enumerate(ENCODED) if f"derived/{number}" not in found] == []


def vector() -> np.ndarray:
    embedder = HashedWords(dim=256)
    (first, *_rest) = embedder.passages(SECRET)
    rows: np.ndarray = embedder.embed_turns([first.of(SECRET)])[0]
    return rows


VECTORS: dict[str, Callable[[np.ndarray], bytes]] = {
    "float32": lambda row: row.astype("<f4").tobytes(),
    "float16": lambda row: row.astype("<f2").tobytes(),
    "float64": lambda row: row.astype("<f8").tobytes(),
    "sign bits": lambda row: np.packbits(row > 0).tobytes(),
    "sign bits, low first": lambda row: np.packbits(row > 0, bitorder="little").tobytes(),
}


def test_a_vector_in_any_form_fails_the_proof(planted: Planted) -> None:
    for number, form in enumerate(VECTORS.values()):
        (planted[0] / "derived" / str(number)).write_bytes(b"\x00" * 999 + form(vector()))

    found = {trace.file for trace in proof_of(planted).found}

    assert [how for number, how in enumerate(VECTORS) if f"derived/{number}" not in found] == []


HALVES: dict[str, Callable[[np.ndarray], bytes]] = {
    "the first of float32": lambda row: row.astype("<f4")[:192].tobytes(),
    "the second of float32": lambda row: row.astype("<f4")[192:].tobytes(),
    "the first of float16": lambda row: row.astype("<f2")[:192].tobytes(),
}


@pytest.mark.parametrize("how", HALVES)
def test_half_a_vector_is_enough(tmp_path: Path, how: str) -> None:
    vectors = np.random.default_rng(1).normal(size=(9, 384)).astype(np.float32)
    sought = Sought((), [(vectors[:1], vectors[1:])])
    needles = list(sought.byte_needles(frozenset()))
    (tmp_path / "others").write_bytes(vectors[1:].tobytes() + vectors[1:].astype("<f2").tobytes())
    assert prove(tmp_path, [], needles).holds

    (tmp_path / "planted").write_bytes(b"\x00" * 99 + HALVES[how](vectors[0]))

    assert [trace.file for trace in prove(tmp_path, [], needles).found] == ["planted"]


def test_a_one_bit_code_less_the_mean_of_all_fails_the_proof(planted: Planted) -> None:
    folder, sought = planted
    gone, stay = sought.vectors[0]
    centred = gone[0] - np.concatenate([gone, stay]).mean(axis=0)
    (folder / "derived" / "rabitq.bin").write_bytes(np.packbits(centred > 0, bitorder="little").tobytes())

    assert [trace.kind for trace in proof_of(planted).found] == ["binary codes"]


TABLES = {
    "pins": "INSERT INTO pins (text, pinned_at) VALUES (CAST(? AS BLOB), 0)",
    "facts": "INSERT INTO facts VALUES ('export of chat me', '{\"conversations\": [\"' || ? || '\"]}')",
    "events": "INSERT INTO events (kind, happened_at, details) VALUES ('warning', 0, "
    "CAST('{\"reason\": \"' || ? || '\"}' AS BLOB))",
    "summary_lines": "UPDATE summary_lines SET text = CAST(? AS BLOB)",
    "summaries": "UPDATE summaries SET focus = CAST(? AS BLOB)",
}


def test_a_word_in_any_other_table_fails_the_proof(planted: Planted) -> None:
    folder, sought = planted
    words = ["nordanstigsbron", "zqcanary7731", "zebulonius", "marmalade", "söndagsmorgonen"]
    with opened(folder) as memory:
        with memory.store.connections.writing() as connection:
            for word, statement in zip(words, TABLES.values(), strict=True):
                assert connection.execute(statement, (word,)).rowcount > 0

        found = {trace.words for trace in memory.forgetting.prove(sought).found}

    assert [table for word, table in zip(words, TABLES, strict=True) if word not in found] == []


def test_a_removal_whose_bytes_were_not_overwritten_fails_the_proof(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        for number in range(50):
            memory.add(f"number {number} of the garden")
        memory.add("zqcanary7731 and Nordanstigsbron", turn_id="secret")
        memory.embed()
        memory.indexes.save()
        sought = memory.forgetting.look_for(["secret"])
        memory.store.remove(["secret"])

        found = {trace.file for trace in memory.forgetting.prove(sought).found}
        assert found >= {"turns.sqlite-wal", "derived/keyword.npz", "vectors/hashed-words-256.f32"}

        assert memory.forgetting.is_unfinished
        assert memory.forgetting.finish() == ""
        assert memory.forgetting.prove(sought).holds


def test_a_word_that_stays_as_a_name_of_its_own_is_told_by_the_proof(planted: Planted) -> None:
    folder, sought = planted
    with opened(folder) as memory:
        memory.retention.set(Scope.CONVERSATION, "nordanstigsbron", days=30)
        memory.prompt.events.record("answer", model="zebulonius-4")

        proof = memory.forgetting.prove(sought)

    assert proof.holds
    assert proof.named == ("zebulonius (a model)", "nordanstigsbron (a rule of retention)")
    assert "  nor for nordanstigsbron (a rule of retention), which stays as a name of its own" in proof.lines()
    assert proof.as_json()["named"] == list(proof.named)


def test_the_name_of_a_folder_is_looked_at_too(planted: Planted) -> None:
    (planted[0] / "Nordanstigsbron").mkdir()

    assert [trace.file for trace in proof_of(planted).found] == ["Nordanstigsbron"]


def test_a_compressed_file_fails_the_proof_whatever_is_in_it(planted: Planted) -> None:
    folder, _sought = planted
    (folder / "notes.gz").write_bytes(gzip.compress(b"nothing"))
    np.savez_compressed(folder / "derived" / "codes.npz", codes=np.arange(9))

    proof = proof_of(planted)

    assert proof.found == ()
    assert proof.unreadable == ("derived/codes.npz: it is compressed (zip)", "notes.gz: it is compressed (gzip)")
    assert not proof.holds


def test_a_file_that_can_not_be_read_fails_the_proof(planted: Planted) -> None:
    (planted[0] / "loop").symlink_to("loop")

    proof = proof_of(planted)

    assert [what.partition(":")[0] for what in proof.unreadable] == ["loop"]
    assert not proof.holds


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
def test_what_is_no_file_fails_the_proof_and_is_not_waited_for(planted: Planted) -> None:
    os.mkfifo(planted[0] / "pipe")

    proof = proof_of(planted)

    assert proof.unreadable == ("pipe: it is no file",)
    assert not proof.holds


def test_the_name_of_a_file_is_looked_at_too(planted: Planted) -> None:
    (planted[0] / "Nordanstigsbron.txt").touch()

    assert not proof_of(planted).holds


def test_words_that_others_said_too_are_not_looked_for_and_the_proof_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add("The conversation about strawberries", turn_id="kept")
        memory.add("Strawberries: a conversation", turn_id="gone")

        proof = memory.forgetting.forget(["gone"], prove=True).proof

    assert proof is not None
    assert proof.holds
    assert proof.left_out > 0
    assert not any(kind.startswith("words") for kind in proof.searched)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\0",
        "ja",
        "🙂",
        "\ud83d",
        "東京は夜の七時に会いましょう",
        "a" * 9000,
        "x\ny" * 3000,
        "İstanbul'da buluşalım ſtraße",
    ],
)
def test_any_text_can_be_forgotten_with_proof(tmp_path: Path, text: str) -> None:
    with opened(tmp_path / "memory") as memory:
        memory.add_many(
            [Turn("kept", "c", "s", 0, Role.USER, "Ada", "kept"), Turn("gone", "c", "s", 1, Role.USER, "Ada", text)]
        )
        memory.embed()
        memory.indexes.save()

        assert memory.forgetting.forget(["gone"], prove=True).is_done


SMALL = st.binary(min_size=0, max_size=60).map(lambda data: bytes(byte % 3 + 97 for byte in data))


@given(data=SMALL, wanted=st.lists(SMALL.filter(lambda one: len(one) >= SHORTEST), max_size=6))
def test_a_search_for_many_finds_what_looking_for_each_does(data: bytes, wanted: list[bytes]) -> None:
    found = set(ByteSearch(wanted).found_in(data))

    assert found == {
        (number, at) for number, one in enumerate(wanted) for at in range(len(data)) if data.startswith(one, at)
    }


def test_what_lies_across_two_windows_of_a_large_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "large"
    word = b"nordanstigsbron"
    with path.open("wb") as file:
        file.truncate(4 * 2**20 - 5)
        file.seek(0, 2)
        file.write(word)
        file.truncate(9 * 2**20)

    with path.open("rb") as file:
        assert ByteSearch([word, b"somewhere else"]).found_in_file(file) == {0: 4 * 2**20 - 5}


def test_a_planted_word_in_the_log_of_an_open_memory_is_found(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory, Memory.open(tmp_path / "memory", embedder="none") as other:
        memory.add("Nordanstigsbron", turn_id="gone")
        sought = memory.forgetting.look_for(["gone"])
        memory.forget(["gone"])
        other.prompt.pins.add("Nordanstigsbron")

        assert {trace.file for trace in memory.forgetting.prove(sought).found} == {"turns.sqlite-wal"}
