"""Each notebook runs from top to bottom, offline, and shows what its words promise."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from tests.model_server import ModelServer, model_server

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"

RISE = "the workshop goes up to 54 euro from 1 August"

Execute = Callable[..., "Executed"]


class Executed:
    """A notebook that was run, and what its cells showed."""

    def __init__(self, notebook: Any) -> None:
        self.outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]

    @property
    def html(self) -> list[str]:
        """What was shown, a text a value, in order; a value without HTML by its repr."""
        data = [output.data for output in self.outputs if output.output_type == "execute_result"]
        return [one.get("text/html", one["text/plain"]) for one in data]

    @property
    def printed(self) -> str:
        return "".join(output.text for output in self.outputs if output.output_type == "stream")

    @property
    def on_stderr(self) -> str:
        return "".join(output.text for output in self.outputs if output.get("name") == "stderr")


@pytest.fixture
def execute(tmp_path: Path) -> Execute:
    def run(name: str, **environment: str) -> Executed:
        [path] = FOLDER.glob(f"{name}*.ipynb")
        notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        # Sockets in a folder: a TCP port that was free when it was chosen may be taken when the kernel wants it. Their
        # paths are short, as the system wants them.
        with TemporaryDirectory(prefix="nb-") as sockets:
            config = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/k"}})
            client = NotebookClient(notebook, timeout=600, config=config, resources={"metadata": {"path": str(FOLDER)}})
            client.execute(env=_surroundings(tmp_path, environment))
        return Executed(notebook)

    return run


def _surroundings(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which nobody's own kernels, settings, data or keys count."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "MEMORY_RAG_"))}
    named = ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MEMORY_RAG_HOME")
    kept = {name: os.environ[name] for name in ("MEMORY_RAG_MINILM_PATH",) if name in os.environ}
    return {
        **own,
        **kept,
        **{name: str(home / name.lower()) for name in named},
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "default",
        **more,
    }


def test_1_a_memory_in_ten_minutes(execute: Execute) -> None:
    shown = execute("01")

    assert shown.on_stderr == ""
    imported, n_embedded, stats, price, *_rest = shown.html
    assert "326 read = 326 kept + 0 already there + 0 skipped" in imported
    assert n_embedded == "325"
    assert "326 turns in 29 conversations" in stats
    assert "the price of the sourdough is 62 kronor" in price
    whole = "\n".join(shown.html)
    for told in ("I don&#x27;t eat fish", "exact", "near", "verbatim", "not found", "rye is baked on Thursdays only"):
        assert told in whole
    assert sum("Not found: " in one for one in shown.html) == 3


def test_2_keyword_or_embedding(execute: Execute) -> None:
    shown = execute("02")

    assert shown.on_stderr == ""
    assert sum("<svg" in one for one in shown.html) == 5
    assert "20 questions, 29 conversations, 325 turns" in shown.html[4]
    assert "p, Holm" in "\n".join(shown.html)
    assert "keyword alone" in "\n".join(shown.html)


def test_3_recall_benchmarks_without_data(execute: Execute) -> None:
    shown = execute("03")

    assert shown.on_stderr == ""
    assert "needs data" in shown.html[0]
    assert "1,982 questions, 10 conversations, 5,882 turns" in shown.html[1]
    assert "Recall on chats" in "\n".join(shown.html)
    assert "100 queries with judgements" in shown.html[-1]
    assert " Q0 " in shown.printed


@pytest.mark.slow
def test_3_recall_benchmarks_take_locomo_where_it_is(execute: Execute, data_dir: Path) -> None:
    shown = execute("03", MEMORY_RAG_DATA=str(data_dir))

    assert "100 questions, 10 conversations, 5,882 turns" in "\n".join(shown.html)


def test_4_summary_and_verbatim(execute: Execute) -> None:
    shown = execute("04")

    assert shown.on_stderr == ""
    whole = "\n".join(shown.html)
    for told in ("words for 16 turns", "things are not in the summary", "dropped by the summary", "never said"):
        assert told in whole
    assert "65 felt greedy" in shown.html[-1]


def test_5_your_data(execute: Execute) -> None:
    shown = execute("05")

    assert shown.on_stderr == ""
    assert "[redacted: password]" in shown.printed
    assert "Rag7" not in "\n".join(shown.html)
    whole = "\n".join(shown.html)
    for told in (
        "said it until it was corrected",
        "Nothing of it is there any more",
        "forgotten earlier",
        "All is well",
    ):
        assert told in whole
    assert "Walnut loaf on Fridays only" in whole


def test_6_a_chat_without_a_model_shows_what_one_would_have_read(execute: Execute) -> None:
    shown = execute("06")

    assert shown.on_stderr == ""
    whole = "\n".join(shown.html)
    assert whole.count("so nobody was asked") == 2
    assert RISE in whole
    assert "its name is Gunvor" in shown.html[-1]


def test_6_a_chat_with_a_model_quotes_and_is_checked(execute: Execute) -> None:
    def says(request: dict[str, Any]) -> str:
        asked = str(request["messages"][-1]["content"])
        return f"You said “{RISE}”, and “it is always free”." if "price of the workshop" in asked else "I see."

    with model_server() as server:
        server.says = says
        shown = execute("06", OPENAI_BASE_URL=server.url)

    assert shown.on_stderr == ""
    whole = "\n".join(shown.html)
    assert "nobody was asked" not in whole
    assert "verbatim" in shown.html[2]
    assert "not found" in shown.html[2]
    assert _told(server)[0].count(RISE) == 1
    assert "its name is Gunvor" in _told(server)[-1]


def _told(server: ModelServer) -> list[str]:
    """Return what the model was given, a text a request; it is asked for nothing but answers here."""
    return ["\n".join(str(message["content"]) for message in request["messages"]) for request in server.requests]
