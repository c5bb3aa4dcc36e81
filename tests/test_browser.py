"""The browser of the tests is closed before a test that drives none: such a test may run an event loop."""

from __future__ import annotations

import asyncio

import pytest

from tests.browser import chromium

pytestmark = pytest.mark.slow


def test_a_closed_browser_leaves_room_for_an_event_loop_and_for_another_browser() -> None:
    for number in range(2):
        with chromium() as browser:
            page = browser.new_page()
            page.set_content(f"<p>{number}</p>")
            assert page.locator("p").inner_text() == str(number)

        assert asyncio.run(asyncio.sleep(0, number)) == number
