"""What a summary lost, each with the turn that has it, and how much it kept of what must hold."""

from __future__ import annotations

from collections.abc import Callable

from memory_rag.summaries.audit import Kept, audit
from memory_rag.summaries.extractive import ExtractiveSummarizer
from memory_rag.summaries.summary import Kind, Line
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn

Talk = Callable[..., list[Turn]]

SAID = (
    ("Ebba", "We decided to charge 49 euro because the jars cost more. I prefer trains."),
    ("Assistant", "Noted. The code is 4711-ZX and it lies in shop/prices.toml for you."),
    ("Ebba", "So Mats Berg brings 40 jars on 10 April 2026, as he said."),
    ("Ebba", "We decided to charge 49 euro because the jars cost more."),
)


def test_everything_that_is_gone_is_named_with_its_turn(talk: Talk, analyzer: Analyzer) -> None:
    found = audit((), talk(*SAID), analyzer=analyzer)

    assert [(one.kind, one.text, one.turn_id) for one in found.lost] == [
        ("number", "49", "t1"),
        ("decision", "We decided to charge 49 euro because the jars cost more.", "t1"),
        ("preference", "I prefer trains.", "t1"),
        ("identifier", "4711-ZX", "t2"),
        ("path", "shop/prices.toml", "t2"),
        ("name", "Mats Berg", "t3"),
        ("number", "40", "t3"),
        ("date", "10 April 2026", "t3"),
    ]
    assert found.must_hold == Kept(0, 2)
    assert not found.is_good_enough(0.5)


def test_a_decision_is_kept_by_a_line_that_cites_its_turn_in_about_its_words(talk: Talk, analyzer: Analyzer) -> None:
    line = Line(Kind.DECISION, "they charge 49 euro", ("t1",), reason="the jars cost more")

    told = audit([line], talk(*SAID), analyzer=analyzer)
    elsewhere = audit([Line(Kind.DECISION, line.text, ("t2",), reason=line.reason)], talk(*SAID), analyzer=analyzer)

    assert (told.kept["decision"], elsewhere.kept["decision"]) == (Kept(1, 1), Kept(0, 1))
    assert told.kept["number"] == elsewhere.kept["number"] == Kept(1, 2)
    assert told.is_good_enough(0.5)
    assert not told.is_good_enough(0.51)


def test_the_name_of_who_speaks_is_not_lost(talk: Talk, analyzer: Analyzer) -> None:
    turns = talk(("Ebba", "So I met Mats."), ("Mats", "And I met Ebba."))

    assert audit((), turns, analyzer=analyzer).lost == ()


def test_nothing_to_keep_is_good_enough(talk: Talk, analyzer: Analyzer) -> None:
    found = audit((), talk(("Ebba", "The weather was fine.")), analyzer=analyzer)

    assert found.must_hold.share is None
    assert found.is_good_enough(1.0)


def test_swedish_and_norwegian_decisions_and_preferences_are_audited(talk: Talk, analyzer: Analyzer) -> None:
    turns = talk(("Ebba", "Vi kör 49 euro för första säsongen."), ("Ingrid", "Jeg foretrekker tog til Bergen."))

    assert audit((), turns, analyzer=analyzer).must_hold == Kept(0, 2)
    assert audit(ExtractiveSummarizer(analyzer).extend((), turns), turns, analyzer=analyzer).must_hold == Kept(2, 2)


def test_as_json_it_has_shares_and_what_is_lost(talk: Talk, analyzer: Analyzer) -> None:
    found = audit((), talk(("Ebba", "I prefer trains.")), analyzer=analyzer).as_json()

    assert found["kept"]["preference"] == {"kept": 0, "of": 1, "share": 0.0}
    assert found["kept"]["name"] == {"kept": 0, "of": 0, "share": None}
    assert found["lost"] == [{"kind": "preference", "text": "I prefer trains.", "turn": "t1"}]
