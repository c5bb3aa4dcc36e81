"""Search: what is printed, as JSON and for a reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.interfaces.cli.searching import MODES
from memory_rag.memory import Memory
from memory_rag.retrieval.searcher import Mode
from tests.interfaces.command_line import CommandLine


@pytest.mark.usefixtures("talk")
class TestJson:
    def test_it_has_exactly_the_fields_that_are_promised(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "säsongen", "--mode", "keyword", "--json").json

        assert list(found) == ["query", "mode", "hits", "pending", "evidence", "notes"]
        assert (found["query"], found["mode"], found["pending"]) == ("säsongen", "keyword", 0)
        assert (found["evidence"], found["notes"]) == ("strong", [])
        [hit] = found["hits"]
        score = hit.pop("score")
        assert hit == {
            "rank": 1,
            "turn_id": "t1",
            "source_id": "n0",
            "conversation_id": "pricing",
            "session_id": "2026-04-10",
            "speaker": "Ebba",
            "role": "user",
            "said_at": "2026-04-10T08:00:00Z",
            "text": "Vi kör 49 euro för första säsongen, inte ett öre mindre.",
            "span": [0, 56],
            "signals": {"keyword": score},
            "findings": [],
        }

    def test_letters_are_letters_and_what_is_no_unicode_is_escaped(self, memory_rag: CommandLine, talk: Path) -> None:
        odd = "kayak för \ud800 två \x00"
        with Memory.open(talk, embedder="none") as memory:
            memory.add(odd)
        found = memory_rag("search", "kayak", "--mode", "keyword", "--json")

        assert "kayak för \\ud800 två \\u0000" in found.out
        assert found.json["hits"][0]["text"] == odd

    def test_nothing_found_is_an_empty_list(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "kayak", "--mode", "keyword", "--json")

        assert found.json["hits"] == []
        assert found.json["evidence"] == "none"

    def test_hits_come_in_the_order_of_their_ranks_and_no_more_than_k(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "euro", "--mode", "keyword", "-k", "2", "--json").json

        assert [hit["rank"] for hit in found["hits"]] == [1, 2]
        assert found["hits"][0]["score"] >= found["hits"][1]["score"]


@pytest.mark.usefixtures("talk")
class TestForAReader:
    def test_a_hit_tells_who_when_where_and_the_words(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "säsongen", "--mode", "keyword")

        assert found.lines == [
            "1  Ebba · 2026-04-10 08:00 UTC · t1 · pricing",
            "   Vi kör 49 euro för första säsongen, inte ett öre mindre.",
        ]
        assert (found.code, found.err) == (0, "")

    def test_times_are_shown_by_the_clock_of_the_zone(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "säsongen", "--mode", "keyword", "--timezone", "Europe/Stockholm")

        assert found.lines[0] == "1  Ebba · 2026-04-10 10:00 CEST · t1 · pricing"

    def test_nothing_found_says_so_and_is_no_failure(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "kayak", "--mode", "keyword")

        assert (found.code, found.out) == (0, "not found\n")

    def test_a_long_text_is_cut_where_the_words_stand_and_says_by_how_much(self, memory_rag: CommandLine) -> None:
        words = " ".join(f"word{number}" for number in range(1000))
        memory_rag("add", f"{words} kayak {words}")
        found = memory_rag("search", "kayak", "--mode", "keyword", "--memory", "main")

        assert "kayak" in found.out
        assert found.lines[1].startswith("   … ")
        assert found.lines[-1].endswith(" more characters; memory-rag show t6 --memory main)")
        assert len(found.lines) <= 9

    def test_explain_shows_signals_that_add_up_to_the_score(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "euro", "--mode", "keyword", "-k", "2", "--explain")
        table = found.out.split("\n\n")[-1].splitlines()

        assert [line.split() for line in table] == [
            ["#1", "#2"],
            ["keyword", *table[2].split()[1:]],
            ["score", *table[1].split()[1:]],
        ]

    def test_a_filter_that_nothing_matches_is_told(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "euro", "--mode", "keyword", "--conversation", "prices")

        assert found.out == "not found\n"
        assert found.err == "note: no conversation 'prices' in this memory; see: memory-rag stats\n"

    def test_without_an_embedder_hybrid_search_says_what_it_could_do(self, memory_rag: CommandLine) -> None:
        found = memory_rag("search", "euro")

        assert found.code == 0
        assert "note: found by keyword only: this memory has no embedder (embedder = none)\n" in found.err


@pytest.mark.usefixtures("talk")
class TestFilters:
    @pytest.mark.parametrize(
        ("narrowed", "turn_ids"),
        [
            (("--speaker", "ebba"), {"t1", "t3"}),
            (("--role", "assistant"), {"t2", "t4"}),
            (("--conversation", "pricing"), {"t1", "t2", "t3", "t4"}),
            (("--session", "2026-04-10"), {"t1", "t2", "t3", "t4"}),
            (("--since", "2026-04-10T08:02Z"), {"t3", "t4"}),
            (("--until", "2026-04-10T08:01:00Z"), {"t1", "t2"}),
            (("--until", "2026-04-10"), {"t1", "t2", "t3", "t4"}),
            (("--since", "2026-04-11"), set[str]()),
        ],
    )
    def test_narrow_the_hits(self, memory_rag: CommandLine, narrowed: tuple[str, ...], turn_ids: set[str]) -> None:
        found = memory_rag("search", "euro", "--mode", "keyword", *narrowed, "--json").json

        assert {hit["turn_id"] for hit in found["hits"]} == turn_ids

    def test_what_is_left_out_is_found_with_all(self, memory_rag: CommandLine) -> None:
        left_out = memory_rag("search", "remind", "--mode", "keyword", "--json").json["hits"]
        found = memory_rag("search", "remind", "--mode", "keyword", "--all", "--json").json["hits"]

        assert "t5" not in [hit["turn_id"] for hit in left_out]
        assert "t5" in [hit["turn_id"] for hit in found]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--mode", "magic"), "unknown mode 'magic'; a mode is one of: hybrid, keyword, dense"),
        (("-k", "0"), "-k"),
        (("--since", "yesterday"), "can't read 'yesterday' as a date or time"),
        (("--until", "2026-13"), "'2026-13' is no time of the calendar"),
        (("--role", "narrator"), "unknown role 'narrator'"),
        (("--depth", "3"), "No such option: --depth"),
    ],
)
def test_a_value_that_cannot_be_is_wrong_usage(memory_rag: CommandLine, words: tuple[str, ...], message: str) -> None:
    refused = memory_rag("search", "euro", *words)

    assert refused.code == 2
    assert refused.err.startswith("error: ")
    assert message in refused.err
    assert "see: memory-rag search --help\n" in refused.err


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("mode", [mode.value for mode in Mode if not mode.uses_vectors])
def test_every_mode_without_vectors_answers_without_an_embedder(memory_rag: CommandLine, mode: str) -> None:
    found = memory_rag("search", "Vi kör 49 euro", "--mode", mode, "-k", "1", "--json").json

    assert (found["mode"], [hit["turn_id"] for hit in found["hits"]]) == (mode, ["t1"])


def test_the_help_names_every_mode() -> None:
    assert set(MODES.replace("or to compare with: ", "").split(", ")) == {mode.value for mode in Mode}
