"""Faults of other search tools (cases G01 to G08, G24), and more of each kind, through the public interface."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memory_rag.errors import EmbedderError
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.fusion import reciprocal_rank_fusion
from memory_rag.store.backup import backup, restore
from memory_rag.turns import Role, Turn
from tests.retrieval.given_vectors import GivenVectors

MODES = ("keyword", "dense", "hybrid", "rrf", "overlap", "okapi", "rank-bm25")
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
Open = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Open memories that are closed after the test: turns by id, speakers by turn id, an embedder."""
    memories: list[Memory] = []

    def open_memory(
        texts: Mapping[str, str],
        *,
        embedder: GivenVectors | None = None,
        speakers: Mapping[str, str] | None = None,
        language: str = "en",
    ) -> Memory:
        memory = Memory.open(
            tmp_path / f"memory{len(memories)}", embedder=embedder or "none", language=language, clock=lambda: NOON
        )
        memories.append(memory)
        for turn_id, text in texts.items():
            memory.add(text, turn_id=turn_id, speaker=(speakers or {}).get(turn_id))
        return memory

    yield open_memory
    for memory in memories:
        memory.close()


def keyword(memory: Memory, query: str) -> list[str]:
    return list(memory.search(query, mode="keyword").turn_ids)


BAKERY = {
    "t1": "Miller's Bread and Sofia's Tea open at nine",
    "t2": "The bakery is shut today",
    "t3": "NOT NULL constraint failed on import",
}


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("Miller's Bread and Sofia's Tea", ["t1"]),
        ("Miller’s bread AND Sofia’s tea", ["t1"]),
        ("NOT NULL", ["t3"]),
        ('"unclosed', []),
        ("tea OR", ["t1"]),
        ("NEAR(tea bread, 3)", ["t1"]),
        ("shut*", ["t2"]),
        ("text:shut", ["t2"]),
        ("bread^2 -tea +nine", ["t1"]),
        ("(bakery", ["t2"]),
        ("import'); DROP TABLE turns; --", ["t3"]),
        *((query, []) for query in ("?!", "--", "*", ")(", '"', '" "', "\u00a0", "", "_", "\0", "\ud800", "%", "\\")),
    ],
)
def test_a_question_is_words_and_never_a_query_language(opened: Open, query: str, hits: list[str]) -> None:
    """G01: ordinary words and punctuation aren't read as operators, and punctuation alone finds nothing."""
    memory = opened(BAKERY)

    assert keyword(memory, query) == hits
    assert set(memory.search(query, floor=False).turn_ids) >= set(hits)


@pytest.mark.parametrize("query", ["?!", "--", '"', "\u00a0", ""])
@pytest.mark.parametrize("mode", MODES)
def test_punctuation_alone_finds_nothing_in_any_mode(opened: Open, query: str, mode: str) -> None:
    """G01."""
    memory = opened(BAKERY, embedder=GivenVectors({}))

    assert memory.search(query, mode=mode, floor=False).hits == ()


VERSIONS = {"t1": "Upgrade to 2.4.10 failed", "t2": "Upgrade to 10.4.2 worked; items 2, 4 and 10 are done"}


def test_a_version_is_not_a_bag_of_digits(opened: Open) -> None:
    """G02: 2.4.10 is found as a whole, and by 2.4, which it begins with; 2.4.1 is another version."""
    memory = opened(VERSIONS)

    assert keyword(memory, "2.4.10") == ["t1"]
    assert keyword(memory, "2.4.1") == []
    assert keyword(memory, "2.4") == ["t1"]
    assert keyword(memory, "v2.4.10") == ["t1"]
    assert keyword(memory, "v2.4.1") == []


def test_numbers_are_found_as_people_write_them(opened: Open) -> None:
    """G02, its kind: thousands, clock times, decimals, addresses, part numbers, names with versions."""
    memory = opened(
        {
            "thousand": "It cost 1,000 crowns",
            "clock": "Tåget går 10.30",
            "decimal": "Väger 3,5 kilo",
            "address": "The printer is 192.168.0.7:631",
            "part": "Order part 4711-ZX again",
            "python": "We need python3.11",
            "spaced": "Fakturan är på 12 480 kronor",
            "european": "Das kostet 1.234,50 Euro",
            "swiss": "Er zahlte 7'300 Franken",
            "isbn": "Look up 978-91-7000-123-4",
            "glued": "用iPhone15拍照, und das für 49kr",
            "arabic": "الطابق ٣٦ في المبنى",
        }
    )

    assert keyword(memory, "1000") == ["thousand"]
    assert keyword(memory, "10:30") == ["clock"]
    assert keyword(memory, "3.5") == ["decimal"]
    assert keyword(memory, "192.168.0.7") == ["address"]
    assert keyword(memory, "192.168.0.71") == []
    assert keyword(memory, "4711-zx") == ["part"]
    assert keyword(memory, "4711") == ["part"]
    assert keyword(memory, "Python 3.11") == ["python"]
    assert keyword(memory, "12480") == keyword(memory, "12,480") == keyword(memory, "12\u00a0480") == ["spaced"]
    assert keyword(memory, "12 480 kronor")[0] == "spaced"
    assert keyword(memory, "1234,50") == keyword(memory, "1,234.50") == ["european"]
    assert keyword(memory, "7300") == ["swiss"]
    assert keyword(memory, "9789170001234") == ["isbn"]
    assert keyword(memory, "iphone") == keyword(memory, "iPhone 15") == keyword(memory, "49") == ["glued"]
    assert keyword(memory, "36") == ["arabic"]


def test_decomposed_letters_do_not_cut_words(opened: Open) -> None:
    """G03: a text that was written decomposed is found by the composed word, and stays as it was written."""
    written = "Vi ses pa\u030a mo\u0308tet i Malmo\u0308"
    memory = opened({"t1": written}, language="sv")

    assert keyword(memory, "m\u00f6tet") == ["t1"]
    assert keyword(memory, "mo\u0308tet") == ["t1"]
    assert keyword(memory, "mo") == []
    assert memory.get("t1").text == written
    assert len(memory.get("t1").text) == 26


@pytest.mark.parametrize(
    ("text", "word", "part"),
    [
        ("मैं हिन्दी में लिखता हूँ", "हिन्दी", "ह"),
        ("Ó fẹ́ kọ́ ọ̀rọ̀ tuntun", "kọ́", "kọ"),
        ("una parola con so\u00adft hyphen", "soft", "so"),
        ("zero\u200bwidth", "zerowidth", "zero"),
        ("İstanbul'a gidiyoruz", "istanbul", "stanbul"),
    ],
)
def test_marks_and_unseen_characters_do_not_cut_words(opened: Open, text: str, word: str, part: str) -> None:
    """G03, its kind: letters whose marks have no composed form, and characters that aren't seen."""
    memory = opened({"t1": text})

    assert keyword(memory, word) == ["t1"]
    assert keyword(memory, part) == []


def test_latin_words_beside_chinese_are_found_and_pairs_too(opened: Open) -> None:
    """G04."""
    memory = opened({"t1": "步骤3:重启api-gw后日志清零", "t2": "今日的同志都到了"})

    assert keyword(memory, "日志") == ["t1"]
    assert keyword(memory, "api") == ["t1"]
    assert keyword(memory, "gw") == ["t1"]
    assert keyword(memory, "清零") == ["t1"]
    assert set(keyword(memory, "志")) == {"t1", "t2"}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("昨日は東京タワーに行きました", "東京"),
        ("人々が集まった", "人々"),
        ("ｶﾞｲﾄﾞを読む", "ガイド"),
        ("한국어로 말해요", "한국어"),
        ("ฉันไปตลาดเมื่อวาน", "ตลาด"),
        ("ខ្ញុំទៅផ្សារ", "ផ្សារ"),
        ("iPhone15を買った", "iphone15"),
        ("価格は１，０００円", "1000"),
    ],
)
def test_words_of_scripts_without_spaces_are_found_inside_a_sentence(opened: Open, text: str, query: str) -> None:
    """G04, its kind."""
    assert keyword(opened({"t1": text, "t2": "something else"}), query) == ["t1"]


def test_a_filter_is_applied_before_the_best_are_taken(opened: Open) -> None:
    """G05: twelve nearer turns of somebody else don't hide four of the person asked for."""
    texts = {f"b{number:02}": f"near {number}" for number in range(12)} | {f"a{n}": f"far {n}" for n in range(1, 5)}
    vectors = {text: (1.0, 0.0) if turn_id.startswith("b") else (0.6, 0.8) for turn_id, text in texts.items()}
    speakers = {turn_id: turn_id[0].upper() for turn_id in texts}
    memory = opened(texts, embedder=GivenVectors({**vectors, "what": (1.0, 0.0)}), speakers=speakers)

    ranking = memory.search("what", k=4, mode="dense", within=Within(speaker="A"))

    assert ranking.turn_ids == ("a1", "a2", "a3", "a4")
    assert [hit.score for hit in ranking] == pytest.approx([0.6] * 4, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_a_filter_hides_nobody_in_any_mode(opened: Open, mode: str) -> None:
    """G05, its kind: 3,000 better turns of others leave the filtered person's only turn found."""
    near = {"the one kayak": (0.6, 0.8), "kayak": (1.0, 0.0)}
    memory = opened({}, embedder=GivenVectors(near, elsewhere=(1.0, 0.0)))
    memory.add_many(
        Turn(f"b{n}", "talk", "day", n, Role.USER, "B", "kayak kayak kayak", said_at=NOON) for n in range(3000)
    )
    memory.add("the one kayak", turn_id="mine", speaker="A")
    memory.embed()

    ranking = memory.search("kayak", k=5, mode=mode, within=Within(speaker="a"), floor=False)

    assert ranking.turn_ids == ("mine",)


def test_cosine_is_not_the_raw_product_and_never_above_one(opened: Open) -> None:
    """G06: vectors of any length count by their direction, and the embedder's arrays stay as they are."""
    embedder = GivenVectors({"one": (0.2, 0.0), "two": (0.6, 0.9), "what": (1.0, 0.0)}, raw=True)
    memory = opened({"v1": "one", "v2": "two"}, embedder=embedder)

    ranking = memory.search("what", mode="dense")

    assert ranking.turn_ids == ("v1", "v2")
    assert [hit.score for hit in ranking] == pytest.approx([1.0, 0.55470], abs=1e-5)
    assert embedder.vectors["one"].tolist() == pytest.approx([0.2, 0.0])


def test_no_cosine_is_above_one(opened: Open) -> None:
    """G06: float32 makes a little more than 1 of many vectors' product with themselves."""
    random = np.random.default_rng(6)
    vectors = {f"w{n}": random.normal(size=384).tolist() for n in range(200)}
    memory = opened({f"t{n}": f"w{n}" for n in range(200)}, embedder=GivenVectors(vectors, dim=384))
    memory.embed()

    best = [memory.search(f"w{n}", mode="dense", k=1)[0] for n in range(200)]

    assert [hit.turn.text for hit in best] == [f"w{n}" for n in range(200)]
    assert all(1 - 1e-6 < hit.score <= 1.0 for hit in best)


@pytest.mark.parametrize("broken", [(0.0, 0.0), (float("nan"), 1.0), (float("inf"), 0.0)])
def test_a_vector_without_direction_is_refused_by_its_turns_name(opened: Open, broken: tuple[float, float]) -> None:
    """G06: nothing is searched with it, and keyword search goes on."""
    memory = opened({"good": "a kayak", "bad": "a canoe"}, embedder=GivenVectors({"a canoe": broken}, raw=True))

    with pytest.raises(EmbedderError, match="'bad'"):
        memory.embed()
    ranking = memory.search("canoe", floor=False)

    assert ranking.turn_ids[0] == "bad"
    assert "searched by keyword only" in ranking.notes[0]
    assert "'bad'" in ranking.notes[0]


def test_fusion_sees_ranks_and_never_the_sign_of_a_score() -> None:
    """G07: keyword a, b; vectors c, a, b."""
    fused = reciprocal_rank_fusion([["a", "b"], ["c", "a", "b"]], k=10)

    assert [found for found, _ in fused] == ["a", "b", "c"]
    assert [score for _, score in fused] == pytest.approx([0.0325225, 0.0320020, 0.0163934], abs=5e-8)


def test_fused_ties_are_in_the_order_of_their_ids() -> None:
    """G08: whichever list comes first, and with a limit too."""
    lists = [["a", "b", "c"], ["b", "a", "d"]]

    fused = reciprocal_rank_fusion(lists, k=10)

    assert [found for found, _ in fused] == ["a", "b", "c", "d"]
    assert [score for _, score in fused] == pytest.approx([0.0325225, 0.0325225, 0.0158730, 0.0158730], abs=5e-8)
    assert reciprocal_rank_fusion(lists[::-1], k=10) == fused
    assert reciprocal_rank_fusion(lists, k=3) == fused[:3]


SEEDED = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from memory_rag.memory import Memory
from memory_rag.retrieval.fusion import reciprocal_rank_fusion
from tests.retrieval.given_vectors import GivenVectors

vectors = {f"kayak {n % 3}": (1.0, 0.0) for n in range(40)}
memory = Memory.open(Path(sys.argv[1]), embedder=GivenVectors(vectors), language="en",
                     clock=lambda: datetime(2026, 5, 4, tzinfo=UTC))
if not len(memory):
    for n in range(40):
        memory.add(f"kayak {n % 3}", turn_id=f"t{n * 7 % 40:02}", speaker="XY"[n % 2])
modes = "keyword dense hybrid rrf overlap okapi rank-bm25".split()
found = {mode: [(hit.turn.turn_id, hit.score) for hit in memory.search("kayak trip", mode=mode, k=7, floor=False)]
         for mode in modes}
found["fused"] = reciprocal_rank_fusion([["a", "b", "c"], ["b", "a", "d"]], k=3)
memory.close()
print(json.dumps(found))
"""


def test_rankings_are_the_same_under_every_hash_seed(tmp_path: Path) -> None:
    """G08: PYTHONHASHSEED 0 to 9, ties everywhere, the memory opened anew each time."""
    answers = [
        subprocess.run(
            [sys.executable, "-c", SEEDED, str(tmp_path / "memory")],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(10)
    ]

    assert set(answers) == {answers[0]}
    found = json.loads(answers[0])
    assert [turn_id for turn_id, _ in found["keyword"]] == [f"t{n:02}" for n in range(7)]
    assert [turn_id for turn_id, _ in found["fused"]] == ["a", "b", "c"]


AXES = {"kayak": (1.0, 0.0, 0.0), "tax": (0.0, 1.0, 0.0), "bread": (0.0, 0.0, 1.0)}


def test_vectors_follow_their_turns_through_vacuum_compaction_and_backup(opened: Open, tmp_path: Path) -> None:
    """G24: row numbers that a database gives anew never lead to another turn's vector."""
    memory = opened({"a": "kayak", "b": "tax", "c": "bread"}, embedder=GivenVectors(AXES, dim=3))
    memory.embed()

    def nearest(searched: Memory) -> list[str]:
        return [searched.search(query, mode="dense", k=1).turn_ids[0] for query in ("tax", "bread")]

    assert nearest(memory) == ["b", "c"]
    memory.forget(["a"])
    assert nearest(memory) == ["b", "c"]

    memory.close()
    with sqlite3.connect(memory.folder / "turns.sqlite") as database:
        database.execute("VACUUM")
    database.close()
    again = Memory.open(memory.folder, embedder=GivenVectors(AXES, dim=3), language="en")
    assert nearest(again) == ["b", "c"]
    again.add("canoe", turn_id="d")
    again.forget(["b"])
    assert again.search("tax", mode="dense").turn_ids == ("c", "d")
    again.close()

    backup(memory.folder, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "restored")
    restored = Memory.open(tmp_path / "restored", embedder=GivenVectors(AXES, dim=3), language="en")
    assert restored.search("bread", mode="dense", k=1).turn_ids == ("c",)
    restored.close()


def test_a_reused_id_does_not_inherit_the_old_turns_vector(opened: Open) -> None:
    """G21's kind: the new text of a reused id answers only for itself, also before it is embedded."""
    embedder = GivenVectors({"kayak trip": (1.0, 0.0), "canoe shop": (0.6, 0.8), "question": (1.0, 0.0)})
    memory = opened({"k1": "kayak trip", "k2": "canoe shop"}, embedder=embedder)
    memory.embed()
    memory.forget(["k1"])
    memory.add("tax form", turn_id="k1")

    offline = Memory.open(memory.folder, embedder=embedder, language="en", pending_limit=0)
    ranking = offline.search("question", mode="dense")
    offline.close()

    assert ranking.turn_ids == ("k2",)
    assert ranking[0].score == pytest.approx(0.6, abs=1e-6)
    assert ranking.pending == 1
