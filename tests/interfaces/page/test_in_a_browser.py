"""Every view as a person uses it, in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_rag.memory import Memory
from tests.interfaces.page.conftest import Shown, problems

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

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
    "/import",
    "/memories",
    "/benchmarks",
    "/turn?id=nothing",
)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_clean_for_screen_readers_light_and_dark_and_fits_a_phone_in_both_languages(
    only_shown: Shown, page: Page, axe: str, view: str
) -> None:
    page.goto(only_shown.url + view)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert problems(page, axe) == []

    cookie = {"name": "memory_rag_language", "value": "sv", "url": only_shown.url}
    page.context.add_cookies([cookie])  # type: ignore[list-item]
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    assert page.locator("html").get_attribute("lang") == "sv"
    assert problems(page, axe, only_colours=True) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if page.locator("nav [aria-current]").count():
        assert page.locator("nav [aria-current]").first.evaluate(
            "one => one.getBoundingClientRect().left >= 0 && one.getBoundingClientRect().right <= innerWidth"
        )


def send(page: Page, button: Locator) -> None:
    """Press what leads to another page, and wait for that page."""
    with page.expect_navigation():
        button.click()


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
    page.locator(".hit mark", has_text="bow").first.wait_for()
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
    send(page, page.get_by_role("button", name="Correct it"))

    assert page.locator(".turn.target .words").inner_text() == "My kayak is red and leaks at the bow."
    assert page.get_by_text("1 earlier version").count() == 1
    assert shown.memory.get("t3").text == "My kayak is red and leaks at the bow."


def test_a_turn_is_forgotten_with_a_proof_after_it_was_shown(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/turn?id=t3")
    page.get_by_role("link", name="Forget this turn").click()
    assert "1 turn would go" in page.locator("main").inner_text()
    assert len(shown.memory) == 6

    send(page, page.get_by_role("button", name="Forget it"))

    assert "Proved: nothing of it is left" in page.locator(".proof").inner_text()
    assert len(shown.memory) == 5


def test_a_whole_conversation_is_forgotten_from_its_page(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/conversation?id=boats%2F2026")
    page.get_by_role("link", name="Forget it").click()
    assert "4 turns would go" in page.locator("main").inner_text()
    send(page, page.get_by_role("button", name="Forget 4 turns"))

    assert "4 turns are gone." in page.locator("main").inner_text()
    assert [turn.turn_id for turn in shown.memory.turns()] == ["t1", "t2"]


def test_what_came_since_it_was_shown_is_shown_before_it_goes(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/forget?conversation=bread")
    shown.memory.add("One more about bread.", conversation_id="bread")
    send(page, page.get_by_role("button", name="Forget 2 turns"))

    assert "Something changed since you looked" in page.locator("main").inner_text()
    assert "3 turns would go" in page.locator("main").inner_text()
    assert len(shown.memory) == 7


def test_pins_decisions_and_state_are_set_and_taken_off(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/about")
    page.get_by_label("Preference", exact=True).fill("Short answers, please.")
    send(page, page.locator("#pins").get_by_role("button", name="Add"))
    page.get_by_label("Decision", exact=True).fill("Resin")
    page.get_by_label("Reason").fill("it sets")
    send(page, page.locator("#decisions").get_by_role("button", name="Add"))
    page.get_by_label("Field").fill("goal.next")
    page.get_by_label("Value").fill("paddle")
    send(page, page.get_by_role("button", name="Set"))

    prompt = shown.memory.prompt
    assert [pin.text for pin in prompt.pins.all()] == ["Short answers, please."]
    assert [(one.text, one.because) for one in prompt.decisions.all()] == [("Resin", "it sets")]
    assert prompt.state.get() == {"goal": {"next": "paddle"}}

    send(page, page.get_by_role("button", name="Remove: Short answers, please."))
    send(page, page.get_by_role("button", name="Remove: goal.next"))
    assert prompt.pins.all() == []
    assert prompt.state.get() in ({}, {"goal": {}})


def test_personal_data_is_found_and_shown_in_its_turn(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/about")
    page.get_by_role("link", name="Look through everything now").click()
    page.locator("#personal").get_by_role("link", name="t3").click()

    assert page.locator(".turn.target mark").all_inner_texts() == ["070-123 45 67"]


def test_a_rule_of_retention_is_set_and_says_what_goes(shown: Shown, page: Page) -> None:
    page.goto(shown.url + "/retention")
    page.get_by_label("Days (empty: for ever)").fill("30000")
    send(page, page.get_by_role("button", name="Set"))

    assert [str(rule) for rule in shown.memory.retention.rules()] == ["everything: 30,000 days"]
    send(page, page.get_by_role("button", name="Remove: everything"))
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

    send(page, page.get_by_role("button", name="English"))
    page.get_by_role("link", name="About me").click()
    assert page.locator("html").get_attribute("lang") == "en"
    context.close()


def test_a_quote_is_copied_byte_for_byte(only_shown: Shown, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(only_shown.url + "/quotes?q=KAYAK+is+blue")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "kayak is blue"

    page.goto(only_shown.url + "/turn?id=t3")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == only_shown.memory.get("t3").text


def test_files_are_uploaded_looked_at_and_stored(shown: Shown, page: Page, axe: str, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "The mast is of spruce. Write to ebba@example.org."}]
    (tmp_path / "chat.json").write_text(json.dumps({"id": "mast", "messages": messages}), encoding="utf-8")
    (tmp_path / "photo.bin").write_bytes(b"no words")
    page.goto(shown.url)
    page.get_by_role("link", name="Import").click()
    page.get_by_label("Files").set_input_files([tmp_path / "chat.json", tmp_path / "photo.bin"])
    send(page, page.get_by_role("button", name="Look first"))

    page.get_by_text("1 turn would be stored").wait_for()
    assert problems(page, axe) == []
    assert len(shown.memory) == 6
    send(page, page.get_by_role("button", name="Store it", exact=True))

    page.get_by_text("1 turn is stored").wait_for()
    send(page, page.get_by_role("link", name="Search in it"))
    page.get_by_role("searchbox").fill("spruce")
    page.get_by_role("searchbox").press("Enter")
    assert page.locator(".hit .words").first.inner_text() == messages[0]["content"]


def test_a_file_that_is_too_large_is_told_before_it_is_sent(only_shown: Shown, page: Page, tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text("12345")
    page.goto(only_shown.url + "/import")
    field = page.get_by_label("Files")
    field.evaluate("one => { one.dataset.largest = 4 }")
    field.set_input_files(tmp_path / "large.json")

    assert "too large to upload" in str(field.evaluate("one => one.validationMessage"))
    field.set_input_files([])
    assert "too large" not in str(field.evaluate("one => one.validationMessage"))


def test_another_memory_is_chosen_and_two_tabs_stay_apart(shown: Shown, page: Page) -> None:
    with Memory.open(shown.home / "work", embedder="none") as work:
        work.add("Only at work.", speaker="Ebba")
    page.goto(shown.url)
    page.get_by_role("link", name="Other memories").click()
    page.get_by_role("link", name="work").click()
    assert "1 turn, word for word." in page.locator("main").inner_text()
    other = page.context.new_page()
    other.goto(shown.url + "/about")

    page.get_by_role("link", name="About me").click()
    page.get_by_label("Preference", exact=True).fill("At work only.")
    send(page, page.locator("#pins").get_by_role("button", name="Add"))

    assert page.locator("#pins li").count() == 1
    other.reload()
    assert other.locator("#pins li").count() == 0


def test_everything_works_without_javascript(shown: Shown, browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text('{"id": "mast", "messages": [{"role": "user", "content": "Of spruce."}]}')
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(60_000)

    def asked(view: str, words: str, button: str) -> str:
        page.goto(shown.url + view)
        page.get_by_role("searchbox").fill(words)
        send(page, page.get_by_role("button", name=button, exact=True))
        return page.locator("main").inner_text()

    assert "Why this one" in asked("/", "kayak leaks", "Search")
    assert "Each turn’s place" in asked("/compare", "kayak leaks", "Compare")
    assert "Said in 1 place." in asked("/quotes", "blue and leaks", "Find")
    send(page, page.get_by_role("link", name="Link to it"))
    assert page.locator(".target mark").inner_text() == "blue and leaks"

    send(page, page.get_by_role("link", name="Correct"))
    page.get_by_label("Words", exact=True).fill("My kayak is red.")
    page.get_by_label("Erase the old version").check()
    send(page, page.get_by_role("button", name="Correct it"))
    assert "Proved: nothing of it is left" in page.locator("main").inner_text()

    page.goto(shown.url + "/summary")
    page.get_by_label("Keep above all").fill("the resin")
    send(page, page.get_by_role("button", name="Summarise now"))
    assert page.locator(".summary aside").count() == 1 or "nothing to summarise" in page.locator("main").inner_text()

    page.goto(shown.url + "/import")
    page.get_by_label("Files").set_input_files(tmp_path / "chat.json")
    send(page, page.get_by_role("button", name="Look first"))
    while page.get_by_role("link", name="Look again").count():
        send(page, page.get_by_role("link", name="Look again"))
    send(page, page.get_by_role("button", name="Store it", exact=True))
    assert shown.memory.get("t7").text == "Of spruce."

    page.goto(shown.url + "/turn?id=t7")
    send(page, page.get_by_role("link", name="Forget this turn"))
    send(page, page.get_by_role("button", name="Forget it"))
    assert "Proved: nothing of it is left" in page.locator("main").inner_text()
    context.close()
