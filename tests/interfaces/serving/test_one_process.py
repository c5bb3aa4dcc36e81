"""One process serves a chat client, an MCP client and the page; and an import becomes a proof of its own end."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import mcp
import openai
import pytest
from mcp.client.streamable_http import streamable_http_client

from memory_rag.evaluation.report_file import write_report
from memory_rag.interfaces.endpoint.upstream import Upstream
from memory_rag.interfaces.serving.app import Service, app_of
from memory_rag.interfaces.serving.memories import Memories
from tests.evaluation.made_report import made_report
from tests.interfaces.serving.served import PATIENCE_S, get, opened, post, serving
from tests.model_server import ModelServer, model_server

EXPORT = [
    {"role": "user", "content": "The price of the workshop is 54 euro from August."},
    {"role": "assistant", "content": "Noted: 54 euro from August."},
]


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[tuple[str, ModelServer, Memories]]:
    memories = Memories(opened(tmp_path, "main"), name="main", home=tmp_path)
    with model_server() as model:
        with serving(app_of(Service(memories, Upstream(model.url)))) as url:
            yield url, model, memories
        memories.close()


def form_of(page: str, action: str) -> dict[str, list[str]]:
    """Return the hidden fields of the form that posts to an address."""
    (form,) = re.findall(rf'<form action="{action}" method="post".*?</form>', page, re.DOTALL)
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form):
        fields.setdefault(name, []).append(html.unescape(value))
    return fields


def test_from_an_import_through_a_chat_and_a_quote_to_forgetting_and_its_proof(
    whole: tuple[str, ModelServer, Memories], tmp_path: Path
) -> None:
    url, model, memories = whole
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"id": "workshop", "messages": EXPORT}), encoding="utf-8")
    memory = memories.own.get(create=True)
    memory.import_path(file)
    file.unlink()

    model.will_say("You said 54 euro from August.")
    with openai.OpenAI(base_url=f"{url}/v1", api_key="sk", max_retries=0) as client:
        client.chat.completions.create(
            model="small", messages=[{"role": "user", "content": "What did I say about the price of the workshop?"}]
        )
    assert "54 euro from August" in model.requests[-1]["messages"][-1]["content"]

    async def quoted() -> Any:
        async with mcp.Client(streamable_http_client(f"{url}/mcp")) as session:
            return await session.call_tool("quote", {"text": "The price of the workshop is 54 euro"})

    found = asyncio.run(quoted()).structured_content
    turn_id = found["quotes"][0]["turn_id"]
    assert memory.get(turn_id).text == EXPORT[0]["content"]

    ids = [turn.turn_id for turn in memory.turns() if "54 euro" in turn.text]
    with httpx2.Client(base_url=url, timeout=PATIENCE_S) as browser:
        shown = browser.get("/forget", params={"turn": ids}).text
        done = browser.post("/forget", data=form_of(shown, "/forget"), headers={"Origin": url})

    assert "Proved: nothing of it is left" in done.text
    assert [turn.text for turn in memory.turns()] == ["What did I say about the price of the workshop?"]


def test_a_form_without_its_mark_changes_nothing(whole: tuple[str, ModelServer, Memories]) -> None:
    url, _model, memories = whole
    memories.own.get(create=True).add("Stays.")

    for path in ("/forget", "/pin", "/correct", "/retention", "/off-record", "/state", "/decide", "/summary"):
        answer = post(url + path, data={"turn": "t1", "id": "t1", "text": "x", "do": "apply", "off": "1"})
        assert answer.status_code == 403, path
    assert [turn.text for turn in memories.own.get().turns()] == ["Stays."]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({}, 200)],
)
def test_other_names_and_other_pages_are_refused_everywhere(
    whole: tuple[str, ModelServer, Memories], headers: dict[str, str], status: int
) -> None:
    url, _model, memories = whole
    memories.own.get(create=True).add("Hello.")

    assert get(url + "/", headers=headers).status_code == status
    assert get(url + "/v1/models", headers=headers).status_code == status
    assert get(url + "/export/jsonl", headers=headers).status_code == status


def test_a_page_may_run_nothing_but_our_own_script(whole: tuple[str, ModelServer, Memories]) -> None:
    url, _model, _memories = whole

    answer = get(url + "/")

    assert answer.headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'"
    )
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "Nothing is stored yet" in answer.text
    assert re.findall(r"<script>|style=|onclick", answer.text) == []


@pytest.mark.parametrize("name", ["../page.py", "%2e%2e%2fpage.py", "page.py", "..%5cpage.css", ""])
def test_no_other_file_is_served(whole: tuple[str, ModelServer, Memories], name: str) -> None:
    assert get(f"{whole[0]}/static/{name}").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/turn", "/turn?id=%00", "/turn?id=%ff%fe", "/conversation", "/conversation?id=x&from=-1", "/search?q=%00&k=0",
        "/search?q=" + "a" * 5000, "/search?since=nonsense&q=a", "/compare?q=%F0%9F%90%9D", "/quotes?q=%22%22",
        "/forget?turn=t1&turn=t1", "/forget?turn=nope", "/forget?since=nonsense", "/summary?conversation=nope&level=x",
        "/correct?id=nope", "/?from=999999999", "/?from=99999999999999999999", "/about?look=2", "/export/pickle",
        "/benchmarks/report?name=../x", "/search?q=a&conversation=%00", "/turn?id=t1&start=9&end=99999999",
    ],
)  # fmt: skip
def test_no_address_breaks_a_view(whole: tuple[str, ModelServer, Memories], path: str) -> None:
    url, _model, memories = whole
    memories.own.get(create=True).add("Hello there.")

    assert get(url + path).status_code in (200, 400, 404)


def test_the_language_goes_back_only_to_a_place_of_this_server(whole: tuple[str, ModelServer, Memories]) -> None:
    for where in ("//evil.example", "https://evil.example", "/\\evil.example"):
        answer = post(whole[0] + "/language", data={"language": "sv", "next": where})
        assert answer.headers["location"] == "/"


def test_with_a_token_programs_send_it_and_a_browser_gives_it_once(tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    memories = Memories(opened(tmp_path, "main"), name="main", home=tmp_path)
    memories.own.get(create=True).add("Hello.")
    with model_server() as model:
        app = app_of(Service(memories, Upstream(model.url, key="sk-server"), token=token))
        with serving(app) as url, httpx2.Client(base_url=url, timeout=PATIENCE_S) as browser:
            asked = browser.get("/about")
            wrong = browser.post("/enter", data={"token": "no", "next": "/about"})
            right = browser.post("/enter", data={"token": token, "next": "/about"})
            elsewhere = browser.post("/enter", data={"token": token, "next": "//evil.example"})
            after = browser.get("/about")
            refused = post(f"{url}/v1/chat/completions", json={})
            with openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0) as client:
                client.chat.completions.create(model="small", messages=[{"role": "user", "content": "Hi"}])
            forged = get(f"{url}/about", headers={"Cookie": "memory_rag_door=" + "0" * 64})
        memories.close()

    assert (asked.status_code, wrong.status_code, right.status_code, after.status_code) == (401, 403, 303, 200)
    assert "server’s token" in asked.text
    assert right.headers["location"] == "/about"
    assert urlsplit(elsewhere.headers.get("location", "/")).netloc == ""
    assert "HttpOnly" in right.headers["set-cookie"]
    assert "SameSite=Strict" in right.headers["set-cookie"]
    assert token not in right.headers["set-cookie"]
    assert refused.status_code == 401
    assert forged.status_code == 401
    assert model.keys == ["Bearer sk-server"]


def test_what_is_too_large_is_refused_whether_it_says_so_or_not(whole: tuple[str, ModelServer, Memories]) -> None:
    url, _model, memories = whole
    memories.own.get(create=True).add("Hello.")
    large = b"text=" + b"x" * (1024 * 1024 + 1)

    def in_chunks() -> Iterator[bytes]:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    assert post(url + "/pin", content=large).status_code == 413
    assert post(url + "/pin", content=in_chunks()).status_code == 413
    assert post(url + "/pin", content="a=b&" * 5000).status_code == 400
    assert get(url + "/search?" + "a=b&" * 5000).status_code == 400


def test_everything_can_be_taken_out_and_read_in_again(
    whole: tuple[str, ModelServer, Memories], tmp_path: Path
) -> None:
    url, _model, memories = whole
    memory = memories.own.get(create=True)
    for number in range(600):
        memory.store.add(
            replace(memory.add("x") if number == 0 else memory.get("t1"), turn_id="", text=f"Number {number}.")
        )

    lines = get(url + "/export/jsonl").text

    assert lines == "".join(memory.export())


def test_a_benchmark_report_is_shown_in_a_box_in_which_nothing_runs(tmp_path: Path) -> None:
    write_report(tmp_path / "mine" / "report.json", made_report())
    memories = Memories(opened(tmp_path, "main"), name="main", home=tmp_path)
    memories.own.get(create=True)
    with serving(app_of(Service(memories, has_mcp=False, reports=[tmp_path / "mine"]))) as url:
        listed = get(url + "/benchmarks").text
        shown = get(url + "/benchmarks/report?name=mine")
        chat = post(url + "/v1/chat/completions", json={"model": "m", "messages": []})
    memories.close()

    assert "/benchmarks/report?name=mine" in listed
    assert "Recall on" in shown.text
    assert shown.headers["content-security-policy"].endswith("sandbox")
    assert chat.status_code == 503
    assert "--upstream URL" in chat.text
