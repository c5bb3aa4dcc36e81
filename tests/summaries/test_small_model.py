"""A real small model behind the API: what it writes is of the right shape, or is refused and nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_rag.errors import ModelError
from memory_rag.memory import Memory
from memory_rag.summaries.chat_endpoint import ChatEndpoint
from memory_rag.summaries.model_written import ModelSummarizer
from memory_rag.summaries.summary import Line
from memory_rag.turns import Turn

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "small-model"
SAID = (
    ("Ebba", "We decided to charge 49 euro for the bread course, because the flour got dearer."),
    ("Assistant", "Noted: 49 euro. Shall I tell the four who have signed up?"),
    ("Ebba", "Yes, and I prefer mails to calls. The course is on 14 July in Malmo."),
    ("Assistant", "I will write to them today."),
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js, which runs the small model"),
    pytest.mark.skipif(
        not (FOLDER / "model.gguf").exists() or not (FOLDER / "node_modules").exists(),
        reason="needs the small model (330 MB): make small-model",
    ),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve the model until the tests of this file are done."""
    serve = ROOT / "tests" / "small_model" / "serve.mjs"
    command = ["node", str(serve), str(FOLDER), str(FOLDER / "model.gguf")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            assert port.isdigit(), "the small model's server didn't start"
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


@pytest.fixture
def endpoint(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    opened = ChatEndpoint("small", api_key="none", base_url=url, timeout_s=300)
    yield opened
    opened.close()


def test_the_model_answers_and_says_how_it_ended(endpoint: ChatEndpoint) -> None:
    answer = endpoint.ask(({"role": "user", "content": "The capital of Sweden is"},), options={"max_tokens": 8})

    assert answer.text.strip()
    assert isinstance(answer.is_whole, bool)


def test_its_summary_cites_turns_that_exist_or_is_refused(
    endpoint: ChatEndpoint, talk: Callable[..., list[Turn]]
) -> None:
    turns = talk(*SAID)
    lines: tuple[Line, ...] = ()
    refused = ""
    try:
        lines = ModelSummarizer(endpoint).extend((), turns, word_limit=200)
    except ModelError as error:
        refused = str(error)

    assert bool(lines) is not ("gave no summary that can be used" in refused)
    known = {turn.turn_id for turn in turns}
    assert all(line.turn_ids and set(line.turn_ids) <= known for line in lines)
    assert sum(line.n_words for line in lines) <= 200


def test_whatever_it_writes_no_decision_is_lost(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with Memory.open(tmp_path / "work", embedder="none", language="en", summarizer="openai:small") as memory:
        for speaker, text in SAID:
            memory.add(text, role="assistant" if speaker == "Assistant" else "user", speaker=speaker)
        made = memory.summaries.summarise("main", keep_recent=1)
        told = "\n".join(str(message["content"]) for message in memory.context("And?", retrieve="never").messages)

        assert "49 euro" in told
        assert made is bool(memory.summaries.stored("main"))
        for one in memory.summaries.audited("main"):
            assert one.audit.is_good_enough(memory.settings.summary_kept)
