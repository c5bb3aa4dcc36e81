"""The page says everything by itself, and nothing that it shows can break it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from memory_rag.evaluation.answer import answer_of
from memory_rag.evaluation.charts import page_charts
from memory_rag.evaluation.page import report_page
from memory_rag.evaluation.pools import POOLS
from memory_rag.evaluation.report_file import over_pools, with_pool_sizes
from memory_rag.evaluation.report_shape import PoolSize, Report
from memory_rag.evaluation.wording import kept_together
from memory_rag.html.markup import Html, joined, tag
from tests.evaluation.made_report import HOSTILE, made_benchmark, made_report, made_runs, one_conversation

EMPTY = {"meta", "br", "path", "use", "rect", "circle", "line"}


class Reader(HTMLParser):
    """Reads a page as a browser does: its elements, their attributes, the text; elements must close in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.text.append(data)

    def count(self, name: str) -> int:
        return sum(found == name for found, _ in self.elements)

    @property
    def words(self) -> str:
        return " ".join("\n".join(self.text).split())


@pytest.fixture(scope="module")
def reports() -> tuple[Report, Report]:
    points: list[PoolSize] = [
        {"n_conversations": n, "n_turns": 20 * n, "mean": 0.5, "low": 0.4, "high": 0.6, "n": 30} for n in (1, 6)
    ]
    sizes = {"hybrid": points, "keyword": points}
    return made_report(), with_pool_sizes(made_report(pool="memory"), sizes)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {query.query_id: query.text for query in made_benchmark().queries}


@pytest.fixture(scope="module")
def page(reports: tuple[Report, Report], texts: dict[str, str]) -> str:
    charts = {report["pool"]: page_charts(report) for report in reports}
    return report_page(over_pools(*reports), charts=charts, texts=texts)


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    read = Reader(page)

    assert page.startswith("<!doctype html>")
    assert not {"script", "link", "img", "iframe", "object", "embed"} & {name for name, _ in read.elements}
    for name, attributes in read.elements:
        for key, value in attributes.items():
            assert not key.startswith("on"), (name, key)
            if key in ("href", "src", "xlink:href", "action"):
                assert value is not None
                assert value.startswith("#"), (name, key, value)
    assert "@import" not in page
    assert re.findall(r"url\((?!#)", page) == []


def test_the_page_answers_before_anything_else(page: str, reports: tuple[Report, Report]) -> None:
    words = Reader(page).words

    for report in reports:
        assert " ".join(kept_together(answer_of(report).headline).split()) in words
    assert words.index("Within the question's own conversation") < words.index("Whole memory costs".lower())
    assert "30 questions" in words
    assert "6 conversations" in words


def test_the_page_has_every_part(page: str, reports: tuple[Report, Report]) -> None:
    words = Reader(page).words

    for report in reports:
        for text in report["not_measured"]:
            assert text.partition(":")[0] in words
        for definition in report["definitions"].values():
            assert definition in words
    for said in (
        "By category, recall@5",
        "Only keyword finds it",
        "Only dense finds it",
        "Every pair, success@5",
        "By role of the evidence",
        "By conversation",
        "1 time dropped by the loader: evidence id of no turn",
        "abc123",
        "5" * 64,
        "Questions without any hit count as 0: keyword 1.",
    ):
        assert said in words, said
    assert Reader(page).count("figure") == 9


def test_the_in_sample_row_is_marked_in_every_table_that_has_it(page: str) -> None:
    body = page.partition("<body>")[2]

    tables = re.findall(r"<table>.*?</table>", body, re.DOTALL)
    with_it = [table for table in tables if "hybrid" in table]
    assert len(with_it) >= 10
    assert [table for table in with_it if "†" not in table] == []


def test_what_a_question_or_a_name_holds_is_shown_and_never_run(page: str, texts: dict[str, str]) -> None:
    assert HOSTILE in texts.values()
    assert "<script" not in page
    assert "<b>facts" not in page
    assert "<i>made" not in page
    words = Reader(page).words
    assert "<script>alert('x')</script> & \"quotes\" \ufffd $5" in words
    assert "1 <b>facts</b>" in words
    page.encode("utf-8")


def test_a_hostile_retriever_and_benchmark_are_shown_and_never_run() -> None:
    benchmark = made_benchmark(name=HOSTILE)
    report = made_report(benchmark=benchmark, runs=made_runs(benchmark, good={HOSTILE: 0.6, "dense": 0.1}))

    page = report_page(report, charts={"conversation": page_charts(report)})

    Reader(page)
    assert "<script" not in page
    page.encode("utf-8")


def test_one_pool_alone_says_that_the_other_is_missing(reports: tuple[Report, Report]) -> None:
    words = Reader(report_page(reports[0])).words

    assert "the whole memory as the pool" in words
    assert "What the whole memory costs" not in words
    assert "No charts were drawn" in words


def test_a_memory_of_one_conversation_has_one_pool_and_says_how_its_questions_were_made() -> None:
    pools = [made_report(pool=pool, benchmark=one_conversation()) for pool in POOLS]

    words = Reader(report_page(over_pools(*pools))).words

    assert "Candidates are all turns: the memory is this one conversation." in words
    assert "5 questions 1 conversation 20 turns" in words
    assert "Whole memory" not in words
    assert "the whole memory as the pool" not in words
    assert "How these questions were made 1 <b>facts</b> by a <i>rule</i>" in words
    assert "Rules favour those who know them." in words


def test_without_texts_questions_are_shown_by_their_ids(reports: tuple[Report, Report]) -> None:
    page = report_page(reports[0])

    assert "What was said" not in page
    assert re.search(r"<code>c\d/q\d</code>", page)


def test_the_page_follows_the_systems_light_or_dark(page: str) -> None:
    style = page.partition("<style>")[2].partition("</style>")[0]

    assert "@media (prefers-color-scheme: dark)" in style
    used, given = set(re.findall(r"var\(--(\w+)\)", page)), set(re.findall(r"--(\w+):", page))
    assert used <= given
    assert 'name="viewport"' in page


def test_links_on_the_page_lead_somewhere(page: str) -> None:
    read = Reader(page)

    ids = [attributes["id"] for _, attributes in read.elements if attributes.get("id")]
    targets = {str(attributes["href"])[1:] for name, attributes in read.elements if name == "a"}
    assert targets <= set(ids)
    assert len(ids) == len(set(ids))


def test_the_same_report_gives_the_same_page(page: str, reports: tuple[Report, Report], texts: dict[str, str]) -> None:
    charts = {report["pool"]: page_charts(report) for report in reports}

    assert report_page(over_pools(*reports), charts=charts, texts=texts) == page


def test_a_tag_escapes_what_is_no_markup() -> None:
    assert tag("p", "a < b & c", tag("b", '"'), None) == "<p>a &lt; b &amp; c<b>&quot;</b></p>"
    assert tag("a", "x", href='"><script>', class_="k", aria_label=None, open=True, tabindex=0) == (
        '<a href="&quot;&gt;&lt;script&gt;" class="k" open tabindex="0">x</a>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert joined(["<", Html("<br>")]) == "&lt;<br>"
    assert isinstance(joined([]), Html)
