"""Every view as a person uses it, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.interfaces.page.conftest import Shown, problems

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

VIEWS = (
    "/",
    "/search?q=price+of+the+sourdough",
    "/search?q=zzqx",
    "/compare?q=kayak",
    "/quotes?q=the+price",
    "/quotes?q=never+said+this",
    "/turn?id=t3&q=kayak",
    "/conversation?id=boats%2F2026",
    "/summary",
    "/about?look=1",
    "/correct?id=t1",
    "/forget",
    "/forget?turn=t1",
    "/retention",
    "/benchmarks",
    "/turn?id=nothing",
)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_clean_for_screen_readers_light_and_dark_and_fits_a_phone(
    shown: Shown, page: Page, axe: str, view: str
) -> None:
    page.goto(shown.url + view)
    for summary in page.locator("details > summary").all():
        summary.click()
    assert problems(page, axe) == []

    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    assert problems(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_question_leads_to_its_turn_in_the_conversation_with_the_words_marked(shown: Shown, page: Page) -> None:
    page.goto(shown.url)
    page.get_by_role("searchbox").fill("price of the sourdough")
    page.get_by_role("searchbox").press("Enter")

    hit = page.locator(".hit").first
    assert hit.locator("mark").all_inner_texts() == ["price", "sourdough"]
    hit.get_by_text("Why this one").click()
    assert "its words" in hit.locator("table").inner_text()

    hit.locator("[data-hit]").click()
    target = page.locator(".turn.target")
    assert target.locator(".words").inner_text() == "I'm deciding now: the price of the sourdough is 62 kronor."
    assert target.locator("mark").all_inner_texts() == ["price", "sourdough"]
    assert page.locator(".turn").count() == 2


def test_search_is_live_and_keys_move_through_the_hits(shown: Shown, page: Page) -> None:
    page.goto(shown.url)
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    page.keyboard.type("kayak leaks bow")
    page.wait_for_selector(".hit")
    assert page.url == shown.url + "/"

    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/turn\?id=t3"))


def test_html_in_an_old_chat_is_shown_and_never_run(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/conversation?id=boats%2F2026")

    assert "<script>document.title = 'broken in'</script><b>Resin</b>" in page.locator(".talk").inner_text()
    assert page.locator(".talk script, .talk b").count() == 0
    assert "broken in" not in page.title()


def test_a_quote_is_shown_where_it_was_said_and_its_link_marks_it(shown: Shown, page: Page) -> None:
    page.goto(shown.url)
    page.get_by_role("link", name="Quotes").click()
    page.get_by_role("searchbox").fill("blue and leaks")
    page.get_by_role("button", name="Find").click()

    assert page.locator("blockquote mark").inner_text() == "blue and leaks"
    page.get_by_role("link", name="Link").click()
    assert page.locator(".turn.target mark").all_inner_texts() == ["blue and leaks"]


def test_a_turn_is_corrected_and_its_earlier_words_are_kept(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/turn?id=t3")
    page.get_by_role("link", name="Correct").click()
    field = page.get_by_label("Words", exact=True)
    assert field.input_value() == "My kayak is blue and leaks at the bow.\n\nCall me on 070-123 45 67."
    field.fill("My kayak is red and leaks at the bow.")
    page.get_by_role("button", name="Correct it").click()

    assert page.locator(".turn.target .words").inner_text() == "My kayak is red and leaks at the bow."
    assert page.get_by_text("1 earlier version").count() == 1
    assert shown.memory.get("t3").text == "My kayak is red and leaks at the bow."


def test_a_turn_is_forgotten_with_a_proof_after_it_was_shown(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/turn?id=t3")
    page.get_by_role("link", name="Forget this turn").click()
    assert "1 turn would go" in page.locator("main").inner_text()
    assert len(shown.memory) == 6

    page.get_by_role("button", name="Forget it").click()

    assert "Proved: nothing of it is left" in page.locator(".proof").inner_text()
    assert len(shown.memory) == 5


def test_a_whole_conversation_is_forgotten_from_its_page(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/conversation?id=boats%2F2026")
    page.get_by_role("link", name="forget it").click()
    assert "4 turns would go" in page.locator("main").inner_text()
    page.get_by_role("button", name="Forget 4 turns").click()

    assert "4 turns are gone." in page.locator("main").inner_text()
    assert [turn.turn_id for turn in shown.memory.turns()] == ["t1", "t2"]


def test_what_came_since_it_was_shown_is_shown_before_it_goes(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/forget?conversation=bread")
    shown.memory.add("One more about bread.", conversation_id="bread")
    page.get_by_role("button", name="Forget 2 turns").click()

    assert "Something changed since you looked" in page.locator("main").inner_text()
    assert "3 turns would go" in page.locator("main").inner_text()
    assert len(shown.memory) == 7


def test_pins_decisions_and_state_are_set_and_taken_off(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/about")
    page.get_by_label("Preference", exact=True).fill("Short answers, please.")
    page.locator("#pins").get_by_role("button", name="Add").click()
    page.get_by_label("Decision", exact=True).fill("Resin")
    page.get_by_label("Reason").fill("it sets")
    page.locator("#decisions").get_by_role("button", name="Add").click()
    page.get_by_label("Field").fill("goal.next")
    page.get_by_label("Value (empty removes it)").fill("paddle")
    page.get_by_role("button", name="Set").click()

    prompt = shown.memory.prompt
    assert [pin.text for pin in prompt.pins.all()] == ["Short answers, please."]
    assert [(one.text, one.because) for one in prompt.decisions.all()] == [("Resin", "it sets")]
    assert prompt.state.get() == {"goal": {"next": "paddle"}}

    page.get_by_role("button", name="Remove: Short answers, please.").click()
    assert prompt.pins.all() == []


def test_personal_data_is_found_and_shown_in_its_turn(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/about")
    page.get_by_role("link", name="Look through everything now").click()
    page.locator("#personal").get_by_role("link", name="t3").click()

    assert page.locator(".turn.target mark").all_inner_texts() == ["070-123 45 67"]


def test_a_rule_of_retention_is_set_and_says_what_goes(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/retention")
    page.get_by_label("Days (empty: for ever)").fill("30000")
    page.get_by_role("button", name="Set").click()

    assert [str(rule) for rule in shown.memory.retention.rules()] == ["everything: 30,000 days"]
    page.get_by_role("button", name="Remove: everything").click()
    assert shown.memory.retention.rules() == ()


def test_everything_is_exported(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/about")
    with page.expect_download() as begun:
        page.get_by_role("link", name="To read (Markdown)").click()

    assert begun.value.suggested_filename == "main.md"
    assert "62 kronor" in begun.value.path().read_text(encoding="utf-8")


def test_a_summary_shows_the_turns_of_each_line_and_what_it_lost(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/summary")

    assert page.locator("select[name=conversation]").input_value() == "boats/2026"
    assert page.locator(".summary li .id").count() > 0
    page.locator(".summary li .id").first.click()
    assert page.locator(".turn.target").count() == 1


def test_the_page_speaks_swedish_to_who_reads_swedish_and_remembers_a_choice(shown: Shown, browser: Browser) -> None:
    context = browser.new_context(locale="sv-SE")
    page = context.new_page()
    page.goto(shown.url)
    assert page.locator("h1").inner_text() == "Vad sades?"

    page.get_by_role("button", name="English").click()
    page.get_by_role("link", name="About me").click()
    assert page.locator("html").get_attribute("lang") == "en"
    context.close()


def test_everything_works_without_javascript(shown: Shown, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    page.goto(shown.url)
    page.get_by_role("searchbox").fill("kayak leaks")
    page.get_by_role("button", name="Search").click()
    page.locator("[data-hit]").first.click()
    page.get_by_role("link", name="Forget this turn").click()
    page.get_by_role("button", name="Forget it").click()

    assert "Proved: nothing of it is left" in page.locator("main").inner_text()
    context.close()
