"""The page over a small history: asked over HTTP, and before a real browser."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx2
import pytest

from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.memory import Memory
from tests.interfaces.serving.served import opened, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT: Final = Path(__file__).parents[3]
AXE: Final = ROOT / "build" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
SAID: Final = (
    ("Ebba", "user", "I'm deciding now: the price of the sourdough is 62 kronor."),
    ("Assistant", "assistant", "Noted: 62 kronor for the sourdough."),
    ("Ebba", "user", "My kayak is blue and leaks at the bow.\n\nCall me on 070-123 45 67."),
    ("Assistant", "assistant", "<script>document.title = 'broken in'</script><b>Resin</b> mends a bow."),
    ("Ebba", "user", "We decided to use resin, because it sets overnight."),
    ("Assistant", "assistant", "Then resin it is. The kayak will be dry by Sunday."),
)


@dataclass(frozen=True)
class Shown:
    """The page's URL, the memory behind it, the home folder, and a client without a browser's ways."""

    url: str
    memory: Memory
    home: Path
    client: httpx2.Client

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.get(path, **options)

    def post(self, path: str, fields: Mapping[str, Any], **options: Any) -> httpx2.Response:
        """Send a form as a browser does that has the page open."""
        return self.client.post(path, data={"mark": self.mark(), **fields}, **options)

    def mark(self) -> str:
        return hidden(self.get("/correct?id=t1").text)["mark"]


def hidden(page: str) -> dict[str, str]:
    """Return the hidden fields of a page's forms."""
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def fill(folder: Path) -> None:
    start = datetime(2026, 4, 10, 8, 0, tzinfo=UTC)
    with Memory.open(folder, embedder="none", language="en,sv", summaries="off") as memory:
        for number, (speaker, role, text) in enumerate(SAID):
            memory.add(
                text,
                speaker=speaker,
                role=role,
                conversation_id="boats/2026" if number > 1 else "bread",
                said_at=start + timedelta(days=number),
            )
        memory.summaries.summarise("boats/2026", keep_recent=1)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory of six turns; to be copied."""
    folder = tmp_path_factory.mktemp("filled") / "main"
    fill(folder)
    return folder


def showing(home: Path) -> Iterator[Shown]:
    live = opened(home, "main")
    memories = Memories(live, name="main", home=home, opened=lambda name: opened(home, name))
    with serving(app_of(Service(memories, has_mcp=False))) as url, httpx2.Client(base_url=url) as client:
        yield Shown(url, live.get(create=True), home, client)
    memories.close()


@pytest.fixture
def shown(tmp_path: Path, filled: Path) -> Iterator[Shown]:
    shutil.copytree(filled, tmp_path / "main")
    yield from showing(tmp_path)


@pytest.fixture(scope="session")
def only_shown(tmp_path_factory: pytest.TempPathFactory, filled: Path) -> Iterator[Shown]:
    """The same for tests that change nothing."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(filled, home / "main")
    with Memory.open(home / "work", embedder="none") as other:
        other.add("Only at work.", speaker="Ebba", conversation_id="jobs")
    yield from showing(home)


@pytest.fixture
def unfilled(tmp_path: Path) -> Iterator[Callable[[], Shown]]:
    """The page over a home folder that a test fills, once it says so."""
    started: list[Iterator[Shown]] = []

    def start() -> Shown:
        started.append(showing(tmp_path))
        return next(started[-1])

    yield start
    for one in started:
        assert next(one, None) is None


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A browser's page that lets nothing wrong go by in silence."""
    context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
    made = context.new_page()
    # A view is there when it is there; only a machine that stands still takes this long.
    made.set_default_timeout(60_000)
    wrong: list[str] = []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    yield made
    context.close()
    assert [one for one in wrong if "status of 40" not in one] == []


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("needs axe-core: make axe")
    return AXE.read_text(encoding="utf-8")


def problems(page: Page, axe: str, *, only_colours: bool = False) -> list[Any]:
    """Return what axe finds wrong with a page: the rule and the elements."""
    # Through the debugger, as the page's own policy lets no other script in.
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(axe)
    found = page.evaluate("rules => axe.run(rules)", {"runOnly": ["color-contrast"]} if only_colours else {})
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]]
