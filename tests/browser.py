"""A Chromium that tests drive: one way to start it, and nothing left behind when it is closed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a Chromium of this machine, or the one that Playwright installed; skip the test if there is neither.

    While it is open, an event loop of Playwright's counts as running in this thread: a second one can't be opened,
    and no test can run a loop of its own. So it is closed before tests that don't drive it.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        pytest.skip("needs playwright, of the extra [dev]: pip install playwright")
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        except Error as error:
            pytest.skip(f"needs a Chromium: apt-get install chromium ({str(error).splitlines()[0]})")
        yield made
        made.close()
