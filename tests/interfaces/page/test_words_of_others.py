"""Whatever was said, by whomever and wherever, it is shown and does nothing; however much it is, a page is short."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from memory_rag.interfaces.page.reading import PART
from memory_rag.memory import Memory
from memory_rag.turns import Role, Turn
from tests.interfaces.page.conftest import Shown, showing

EVIL: Final = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}{%x%}&amp;javascript:alert(1)"
PLACE: Final = f"../{EVIL}?a=1&b#c"
LINES: Final = "\n".join(f"Line {number} of the log of the kayak." for number in range(5000))
LONG: Final = "The mast. " * 12_000 + "The anchor lies at the end." + " The mast." * 50


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    home = tmp_path_factory.mktemp("evil")
    fill(home / "main")
    yield from showing(home)


def fill(folder: Path) -> None:
    start = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)
    with Memory.open(folder, embedder="none", language="en", summaries="off") as memory:
        texts = [EVIL, f"```html\n{EVIL}\n```", LINES, LONG, f"{EVIL} ebba@example.org", "x" * 5000, "مرحبا\u202eabc"]
        for number, text in enumerate([*texts, *(f"Turn number {number}." for number in range(120))]):
            memory.add(
                text,
                speaker=EVIL if number < 7 else "Ebba",
                conversation_id="log" if text in (LINES, LONG) else PLACE,
                session_id=f"s{number // 50}{EVIL}",
                said_at=start + timedelta(hours=number),
            )
        memory.correct("t1", text=f"{EVIL} again")
        memory.prompt.pins.add(EVIL)
        memory.prompt.decisions.add(EVIL, because=EVIL)
        memory.prompt.state.set("goal", EVIL)
        memory.summaries.summarise(PLACE, keep_recent=100)


AT: Final = quote(PLACE, safe="")
ASKED: Final = quote(EVIL, safe="")


@pytest.mark.parametrize(
    "view",
    [
        "/", f"/search?q={ASKED}", f"/search?q=kayak&speaker={ASKED}&conversation={AT}&since=2026",
        f"/compare?q={ASKED}", f"/quotes?q={ASKED}", "/quotes?q=alert", f"/turn?id=t1&q={ASKED}", f"/turn?id={ASKED}",
        "/turn?id=t2",
        f"/conversation?id={AT}", f"/conversation?id={AT}&session={quote('s0' + EVIL, safe='')}",
        f"/conversation?id={ASKED}", f"/summary?conversation={AT}", "/summary", "/about?look=1", "/correct?id=t1",
        f"/forget?conversation={AT}", "/forget?turn=t1", f"/forget?speaker={ASKED}", "/retention", "/import",
        f"/import?id={ASKED}", f"/memory/{ASKED}/", f"/forget?since={ASKED}", f"/search?q=a&until={ASKED}",
    ],
)  # fmt: skip
def test_html_in_names_titles_ids_and_words_is_text(evil: Shown, view: str) -> None:
    page = evil.get(view)

    assert page.status_code in (200, 400, 404)
    assert re.findall(r"<script(?! src=\"/static/page\.js\")", page.text) == []
    assert "<img src=x" not in page.text
    assert not re.search(r'(?:href|action|src)="(?!/|#)', page.text)
    # Every value stays within its quotes: no attribute begins in the middle of one.
    assert "onerror" not in re.sub(r'"[^"]*"|>[^<]*<', "", page.text)


def test_a_turn_of_five_thousand_lines_is_cut_in_lists_and_whole_by_parts_on_its_own_page(evil: Shown) -> None:
    listed = evil.get("/conversation?id=log").text
    assert "Line 59 of the log" in listed
    assert "Line 60 of the log" not in listed
    assert "more characters: show the whole turn" in listed

    parts = [evil.get(f"/turn?id=t3&around=0&part={part}").text for part in range(1, -(-len(LINES) // PART) + 1)]
    shown = "".join(re.findall(r'<div class="words" dir="auto">(.*?)</div>', page, re.DOTALL)[0] for page in parts)
    assert shown == LINES
    assert max(map(len, parts)) < 2 * PART


def test_a_hit_and_a_quote_at_the_end_of_a_long_turn_open_where_they_are(evil: Shown) -> None:
    found = evil.get("/search?q=anchor+lies+at+the+end").text
    assert re.findall("<mark>(.*?)</mark>", found)[:2] == ["anchor", "lies"]

    turn = evil.get("/turn?id=t4&q=anchor+lies+at+the+end").text
    assert "<mark>anchor</mark>" in turn
    assert "Part 4 of 4" in turn

    (link,) = re.findall(r'href="(/turn\?id=t4&amp;start=[^"#]*)', evil.get("/quotes?q=anchor+lies+at+the+end").text)
    assert "<mark>anchor lies at the end</mark>" in evil.get(link.replace("&amp;", "&")).text


def test_a_turn_says_why_it_is_a_hit(evil: Shown) -> None:
    page = evil.get("/turn?id=t4&q=anchor").text

    assert "Why this turn is hit 1 for “anchor”" in page
    assert "its words" in page
    assert "Not among the first 100 hits for “turn number”" in evil.get("/turn?id=t4&q=turn+number").text


def test_a_conversation_is_shown_fifty_turns_a_page_and_a_turn_links_to_its_own(evil: Shown) -> None:
    first = evil.get(f"/conversation?id={AT}").text
    assert first.count('<article class="turn') == 50
    assert "1–50 of 125" in first

    assert "101–125 of 125" in evil.get(f"/conversation?id={AT}&from=100").text
    assert "101–125 of 125" in evil.get(f"/conversation?id={AT}&from=99999").text
    (link,) = re.findall(r'<h1 class="long"><a href="([^"#]*)#turn-t120"', evil.get("/turn?id=t120").text)
    assert 'id="turn-t120"' in evil.get(link.replace("&amp;", "&")).text


def test_more_hits_and_other_views_keep_what_was_narrowed_down(evil: Shown) -> None:
    page = evil.get("/search?q=turn+number&speaker=Ebba&since=2026-04-11").text

    links = re.findall(r'href="(/(?:search|compare|quotes)\?q=[^"]*)"', page)
    assert len(links) == 3
    assert all("speaker=Ebba" in link and "since=2026-04-11" in link for link in links)


def test_what_search_says_of_itself_is_said_in_the_reader_s_language(evil: Shown) -> None:
    for where in ("", "&speaker=Nobody", "&conversation=nope", "&until=1999"):
        page = evil.get("/search?q=kayak" + where, headers={"accept-language": "sv"}).text
        assert '<p class="note"' in page
        assert 'class="note" lang="en"' not in page
        assert "inte inbäddade ännu" not in page

    wrong = evil.get("/search?q=kayak&since=sommar", headers={"accept-language": "sv"})
    assert wrong.status_code == 400
    assert "sommar går inte att tolka som en tid" in wrong.text
    assert 'lang="en"' not in wrong.text.replace('lang="en" aria', "")


def test_no_id_of_a_turn_takes_the_place_of_an_element_that_the_script_looks_for(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "main", embedder="none") as memory:
        for name in ("q", "results", "main"):
            said = Turn(name, "c", "s", 0, Role.USER, "Ebba", f"Said by {name}.")
            memory.add_many([said])
        kept = [turn.turn_id for turn in memory.turns()]
    for shown in showing(tmp_path):
        page = shown.get("/conversation?id=c").text
        for name in kept:
            assert f'<article class="turn user" id="turn-{name}"' in page
        ids = re.findall(r' id="([^"]*)"', page)
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("language", "words", "told"),
    [
        ("en", "My kayak is green and leaks at the bow", "You have “green”, it says “blue”."),
        ("sv", "My kayak is green and leaks at the bow", "Du har ”green”, där står ”blue”."),
        ("en", "My kayak is blue and old and leaks at the bow", "It doesn’t say “old and”."),
    ],
)
def test_a_near_quote_says_where_it_differs(only_shown: Shown, language: str, words: str, told: str) -> None:
    page = only_shown.get("/quotes", params={"q": words}, headers={"Accept-Language": language}).text

    assert told in html.unescape(page)
