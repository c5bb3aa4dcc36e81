"""A memory that can't be written, or read, says so on its page, and the other views go on."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.memory import Memory
from tests.interfaces.page.conftest import hidden
from tests.interfaces.serving.served import serving


@pytest.fixture
def impatient(tmp_path: Path, filled: Path) -> Iterator[httpx2.Client]:
    """The page of a memory that waits for nobody."""
    shutil.copytree(filled, tmp_path / "main")

    def opened(create: bool) -> Memory:
        return Memory.open(tmp_path / "main", embedder="none", create=create, busy_timeout_s=0.05, lock_timeout_s=0.05)

    memories = Memories(LiveMemory(tmp_path / "main", opened), name="main", home=tmp_path)
    with serving(app_of(Service(memories, has_mcp=False))) as url, httpx2.Client(base_url=url, timeout=60) as client:
        yield client
    memories.close()


def test_while_another_program_writes_a_form_says_so_and_views_go_on(impatient: httpx2.Client, tmp_path: Path) -> None:
    form = hidden(impatient.get("/about").text) | {"text": "Be brief."}
    with closing(sqlite3.connect(tmp_path / "main" / "turns.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        answer = impatient.post("/pin", data=form, headers={"accept-language": "sv"})
        assert answer.status_code == 503
        assert "Ett annat program skriver i minnet" in answer.text
        for view in ("/", "/search?q=kayak", "/turn?id=t3&q=kayak", "/conversation?id=bread", "/about", "/summary"):
            assert impatient.get(view).status_code == 200
        other.execute("ROLLBACK")

    assert impatient.post("/pin", data=form).status_code == 303


@pytest.mark.parametrize("path", ["/turns/t1", "/conversations", "/memory/main/nowhere", "/a/b/c"])
def test_an_address_that_no_view_has_is_told_on_a_page_that_leads_back(impatient: httpx2.Client, path: str) -> None:
    answer = impatient.get(path, headers={"accept-language": "sv"})

    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "Det finns ingen sida på den här adressen." in answer.text
    assert 'href="/"' in answer.text


def test_a_file_of_words_that_is_none_is_told(impatient: httpx2.Client, tmp_path: Path) -> None:
    (tmp_path / "main" / "turns.sqlite").write_bytes(b"no database" * 100)

    for view in ("/", "/search?q=kayak", "/export/jsonl"):
        answer = impatient.get(view)
        assert answer.status_code == 400
        assert "turns.sqlite" in answer.text


def test_the_page_that_asks_for_the_token_is_dressed_tells_nothing_and_speaks_the_reader_s_language(
    tmp_path: Path, filled: Path
) -> None:
    shutil.copytree(filled, tmp_path / "secret-name")
    live = LiveMemory(tmp_path / "secret-name", lambda create: Memory.open(tmp_path / "secret-name", embedder="none"))
    memories = Memories(live, name="secret-name", home=tmp_path)
    app = app_of(Service(memories, has_mcp=False, token="a-token-of-some-length"))
    with serving(app) as url, httpx2.Client(base_url=url) as client:
        asked = client.get("/about", headers={"accept-language": "sv"})
        assert asked.status_code == 401
        assert "Serverns kod" in asked.text
        assert "secret-name" not in asked.text
        for address in re.findall(r'(?:src|href)="(/static/[^"]*)"', asked.text):
            assert client.get(address).status_code == 200
        wrong = client.post("/enter", data={"token": "no"}, headers={"accept-language": "sv"})
        assert "Det är inte rätt kod." in wrong.text
        for hidden_path in (
            "/static/../about",
            "/static/%2e%2e/about",
            "/static//about",
            "/export/jsonl",
            "/favicon.ico",
        ):
            assert client.get(hidden_path).status_code in (401, 404)
        assert client.post("/static/page.css").status_code == 401
    memories.close()
