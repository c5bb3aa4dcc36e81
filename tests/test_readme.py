"""The pages are a contract: their examples run, their commands, options, settings and files exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from memory_rag.interfaces.cli.app import COMMANDS, app
from memory_rag.settings import Settings, setting_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *DOCS)}
OTHERS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("CHANGELOG.md", "eval/README.md", "indexes/README.md", "notebooks/README.md")
}
"""Pages whose commands and links are looked at too."""
ALL = PAGES | OTHERS

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(
    r"^<!-- example -->\n```python\n(?P<code>.*?)^```\n(?:\n<!-- prints -->\n```text\n(?P<prints>.*?)^```)?",
    re.DOTALL | re.MULTILINE,
)


class Example(NamedTuple):
    code: str
    prints: str | None


EXAMPLES = {
    f"{name}:{text[: found.start()].count(chr(10)) + 2}": Example(found["code"], found["prints"])
    for name, text in PAGES.items()
    if name != "README.md"
    for found in _EXAMPLE.finditer(text)
}


def test_the_example_runs_and_shows_the_exact_words(tmp_path: Path) -> None:
    found = _EXAMPLE.search(README)
    assert found is not None
    code = found["code"]
    assert len(code.strip().splitlines()) <= 12
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "1 user " in ran.stdout
    assert "folded" in ran.stdout or "exact" in ran.stdout
    assert "the price is 49 euro" in ran.stdout
    assert (tmp_path / "indexes" / "work" / "turns.sqlite").is_file()


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_of_a_page_runs_and_prints_what_the_page_says(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    exec(compile(EXAMPLES[place].code, place, "exec"), {"__name__": "example"})

    assert capsys.readouterr().out == EXAMPLES[place].prints


def test_every_python_block_of_a_page_is_an_example_that_is_run() -> None:
    n_blocks = {
        name: sum(language == "python" for language, _ in _FENCE.findall(text))
        for name, text in PAGES.items()
        # An importer's example is a package of its own, which tests/importers/test_importers_page.py installs; those of
        # a server are run by tests/postgres/test_its_page.py.
        if name not in ("docs/importers.md", "docs/postgres.md")
    }

    assert n_blocks == {name: len(_EXAMPLE.findall(PAGES[name])) for name in n_blocks}
    assert sum(n_blocks.values()) > 5


def test_every_test_that_the_promises_name_exists() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", README)
    assert len(named) > 5
    missing = [path for path in named if not (ROOT / path).exists()]
    assert missing == []


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {
        (name, target) for name, text in PAGES.items() for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.M)
    }
    assert [(name, target) for name, target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_every_page_is_linked_from_the_readme() -> None:
    assert [name for name in PAGES if name != "README.md" and f"({name})" not in README] == []


@pytest.mark.parametrize("name", ALL)
def test_every_link_to_a_file_leads_to_one(name: str) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", ALL[name])]

    files = [link for link in links if link and "://" not in link]
    assert [link for link in files if not ((ROOT / name).parent / link).exists()] == []


@pytest.mark.parametrize("name", ALL)
def test_every_command_and_option_on_a_page_exists(name: str) -> None:
    written = list(_command_lines(ALL[name]))

    assert [f"{line}: {problem}" for line in written if (problem := _wrong_with(line))] == []


def test_every_command_is_told_on_the_readme() -> None:
    table = README.partition("## On the command line\n")[2].partition("\n## ")[0]
    told = set(re.findall(r"[a-z-]+", " ".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))

    assert [name for name in COMMANDS if name not in told and name != "demo"] == []


@pytest.mark.parametrize("name", ALL)
def test_every_module_that_a_page_runs_exists(name: str) -> None:
    modules = re.findall(r"python -m ((?:memory_rag|tests)[\w.]*)", ALL[name])

    paths = [ROOT / module.replace(".", "/") for module in modules]
    assert [path for path in paths if not (path.with_suffix(".py").is_file() or (path / "__main__.py").is_file())] == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("memory-rag forget t17 --prove", ""),
        ("memory-rag bench run locomo --data PATH", ""),
        ("memory-rag forgot t17", "there is no command forgot"),
        ("memory-rag forget t17 --really", "forget has no option --really"),
        ("memory-rag bench walk", "there is no command bench walk"),
    ],
)
def test_a_command_that_isnt_there_is_noticed(line: str, problem: str) -> None:
    assert _wrong_with(line) == problem


def test_the_page_of_settings_has_each_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \|(?: `([^`]*)`)? \|", PAGES["docs/settings.md"], re.MULTILINE)
    settings = Settings()

    told = {name: default for name, default in rows if name.islower()}
    assert told == {name: str(getattr(settings, name) or "") or _zero(name) for name in setting_names()}


def test_every_variable_on_a_page_is_one_that_is_read() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "memory_rag").rglob("*.py"))
    read = {f"MEMORY_RAG_{name.upper()}" for name in setting_names()}
    read |= {"MEMORY_RAG_DATA", "MEMORY_RAG_TEST_PG"}  # the second by the tests

    named = {name for text in PAGES.values() for name in re.findall(r"MEMORY_RAG_[A-Z]+(?:_[A-Z]+)*", text)}
    assert [name for name in sorted(named) if name not in read and f'"{name}"' not in sources] == []


def test_every_extra_on_a_page_can_be_installed() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    named = {name for text in ALL.values() for name in re.findall(r"memory-rag\[([\w-]+)\]", text)}
    assert len(named) > 3
    assert [name for name in sorted(named) if name not in extras] == []


def _zero(name: str) -> str:
    """Return a default of 0 as the page writes it; nothing for an empty text or list."""
    default = getattr(Settings(), name)
    return "" if default in ("", ()) else str(default)


def _command_lines(text: str) -> Iterator[str]:
    """Yield each ``memory-rag`` call of a page: in shell blocks, and in code amid words."""
    for language, block in _FENCE.findall(text):
        if language in ("bash", ""):
            yield from (line.strip() for line in block.splitlines() if line.strip().startswith("memory-rag "))
    outside = _FENCE.sub("", text)
    yield from (" ".join(found.split()) for found in re.findall(r"`(memory-rag [^`]+)`", outside))


def _wrong_with(line: str) -> str:
    words = shlex.split(line, comments=True)[1:]
    group: Any = get_command(app)
    if words[0].startswith("-"):
        return ""
    if words[0] not in COMMANDS:
        return f"there is no command {words[0]}"
    command = group.get_command(None, words[0])
    if hasattr(command, "commands") and len(words) > 1:
        command = command.commands.get(words[1])
        if command is None:
            return f"there is no command {words[0]} {words[1]}"
    # What a hook may be given is taken as it comes.
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    given = [word.partition("=")[0] for word in words if word.startswith("-") and word != "-"]
    unknown = [word for word in given if word not in known]
    return f"{words[0]} has no option {unknown[0]}" if unknown else ""
