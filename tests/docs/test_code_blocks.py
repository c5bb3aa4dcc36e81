"""Every code block of the documentation is run, compared or parsed, so that none is a promise nobody keeps."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from memory_rag.settings import Settings
from tests.docs.console import Typed, typed
from tests.docs.shell_lines import Line
from tests.docs.world import World

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_FENCE: Final = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```", re.DOTALL | re.MULTILINE)
# What is looked at elsewhere: python by test_readme.py, an importer's package by test_importers_page.py, sql by
# postgres/test_its_page.py.
ELSEWHERE: Final = {"python", "sql"}
# Pictures of letters, prints of the examples beside them, lines of files.
SHOWN: Final = {"text"}
# They ask a server, a model or another package, or go on until they are stopped; their options are read.
READ_ONLY: Final = (
    "memory-rag serve",
    "memory-rag mcp",
    "memory-rag chat",
    "memory-rag install claude-code ",
    "memory-rag bench run locomo",
    "memory-rag bench run chats",
    "memory-rag bench run own --n 200",
    "memory-rag bench compare",
    "memory-rag bench report",
    "memory-rag bench tune",
    "memory-rag doctor --rescue",
)
# They take seconds, and test_help_pages.py runs both.
LONG: Final = ("memory-rag summary --make", "memory-rag summary --focus")
# Drawing charts takes seconds, too.
DRAWS: Final = "--out"
# It asks a server; tests/postgres runs such commands.
OF_A_SERVER: Final = "--owner"
# tests/interfaces/test_completing.py installs it.
INSTALLS: Final = "memory-rag --install-completion"


class Block(NamedTuple):
    place: str
    language: str
    body: str

    def __str__(self) -> str:
        return self.place


def blocks(language: str | None = None) -> list[Block]:
    """Return the code blocks of the pages, of one language or all."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for fence in _FENCE.finditer(text):
            line = text[: fence.start()].count("\n") + 1
            found.append(Block(f"{page.name}:{line}", fence["language"], fence["body"]))
    return [block for block in found if language is None or block.language == language]


def test_every_block_is_of_a_language_that_some_test_looks_at() -> None:
    known = {"bash", "console", "toml"} | ELSEWHERE | SHOWN

    assert [block.place for block in blocks() if block.language not in known] == []
    assert len(blocks("console")) > 10
    assert len(blocks("bash")) > 25


@pytest.mark.parametrize("block", blocks("bash"), ids=str)
def test_the_lines_of_a_shell_block_work(world: World, block: Block) -> None:
    for text in filter(None, map(str.strip, block.body.splitlines())):
        if text.startswith("#"):
            continue
        words = shlex.split(text, comments=True)
        if words[0] == "memory-rag":
            line = Line.parse(text)
            if text.startswith(INSTALLS):
                continue
            if text.startswith((*READ_ONLY, *LONG)) or {DRAWS, OF_A_SERVER} & set(words):
                line.check(world)
                continue
            ran = line.run(world, agreed=True)
            assert (ran.code, "error:" in ran.err) == (0, False), (text, ran)
        elif words[:2] == ["pip", "install"]:
            _check_installed(words[2])
        elif words[0] == "make":
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), text
        else:
            pytest.fail(f"nobody knows how to try {text!r}")


TALKING: Final = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    ("page", "embedder"),
    [
        *((page, "none") for page in TALKING),
        # What a reader of the tutorial sees; embedding its history takes seconds.
        pytest.param(ROOT / "docs" / "tutorial.md", "minilm", marks=pytest.mark.slow),
    ],
    ids=lambda one: getattr(one, "stem", one),
)
def test_what_is_typed_prints_what_the_page_says(world: World, page: Path, embedder: str) -> None:
    environment = {"MEMORY_RAG_EMBEDDER": embedder}
    if page.name == "tutorial.md":
        assert world.memory_rag("demo", "--memory", "demo", **environment).code == 0
    wrong = []
    for block in (block for block in blocks("console") if block.place.startswith(f"{page.name}:")):
        for one in typed(block.body):
            if one.line.startswith("export "):
                name, _, value = one.line.removeprefix("export ").partition("=")
                environment[name] = value
                continue
            ran = Line.parse(one.line).run(world, agreed=False, **environment)
            if ran.code != 0 or not (one.is_followed_by(ran.out) or one.is_followed_by(ran.out + ran.err)):
                wrong.append(f"{block.place}: {one.line}\n{ran.out}{ran.err}")

    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_a_file_of_settings_is_one(block: Block) -> None:
    table = tomllib.loads(block.body)

    if "project" not in table:
        Settings().with_values(table, where=block.place)


@pytest.mark.parametrize(
    ("printed", "text", "is_so"),
    [
        (["not found"], "not found\n", True),
        (["not found"], "found\n", False),
        (["a", "…", "z"], "a\nb\nc\nz\n", True),
        (["a", "…", "z"], "a\nz\n", True),
        (["t1 … end"], "t1 and so on end\n", True),
        (["t1 …"], "t2 and\n", False),
        ([], "", True),
        ([], "more\n", False),
    ],
)
def test_a_page_may_leave_lines_out_but_says_nothing_else(printed: list[str], text: str, is_so: bool) -> None:
    assert Typed("memory-rag x", tuple(printed)).is_followed_by(text) is is_so


def _check_installed(what: str) -> None:
    if what != ".":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "optional-dependencies"
        ]
        found = re.fullmatch(r"memory-rag\[([\w-]+)\]", what)
        assert found is not None, what
        assert found[1] in extras
