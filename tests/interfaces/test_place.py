"""Which memory a command works on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memory_rag.interfaces.cli.place import Place
from tests.interfaces.command_line import CommandLine


def test_a_name_lies_under_the_home_folder(memory_rag: CommandLine) -> None:
    memory_rag("add", "hej", "--memory", "work")

    assert (memory_rag.home / "work" / "turns.sqlite").is_file()


def test_anything_with_a_slash_is_a_path(memory_rag: CommandLine, tmp_path: Path) -> None:
    memory_rag("add", "hej", "--memory", f"{tmp_path}/elsewhere")

    assert (tmp_path / "elsewhere" / "turns.sqlite").is_file()


def test_the_options_may_stand_before_the_command_or_after_it(memory_rag: CommandLine, tmp_path: Path) -> None:
    memory_rag("--memory", "work", "--home", str(tmp_path), "add", "hej")

    assert (tmp_path / "work" / "turns.sqlite").is_file()
    assert memory_rag("stats", "--json", "--memory", "work", "--home", str(tmp_path)).json["n_turns"] == 1
    assert memory_rag("-m", "work", "stats", "--json", "--home", str(tmp_path)).json["n_turns"] == 1


def test_after_the_command_counts_more_than_before_it_and_both_more_than_the_environment(
    memory_rag: CommandLine,
) -> None:
    memory_rag("--memory", "one", "add", "hej", "--memory", "two", MEMORY_RAG_MEMORY="three")
    memory_rag("--memory", "one", "add", "hej", MEMORY_RAG_MEMORY="three")
    memory_rag("add", "hej", MEMORY_RAG_MEMORY="three")

    assert sorted(path.name for path in memory_rag.home.iterdir()) == ["one", "three", "two"]


@pytest.mark.parametrize("name", ["..", "."])
def test_a_name_that_cannot_be_a_folder_is_an_error(memory_rag: CommandLine, name: str) -> None:
    refused = memory_rag("add", "hej", "--memory", name)

    assert refused.code == 1
    assert "can't name a memory" in refused.err


def test_a_command_in_a_message_works_on_the_same_memory() -> None:
    assert Place().command("show", "t1") == "memory-rag show t1"
    assert Place("my work").command("search", "a b") == "memory-rag search 'a b' --memory 'my work'"
    assert Place(home=Path("/h")).command("reindex") == "memory-rag reindex --home /h"


def test_a_name_that_nothing_has_is_told_beside_those_there_are(memory_rag: CommandLine, tmp_path: Path) -> None:
    memory_rag("add", "hej", "--memory", "work")
    memory_rag("add", "hej", "--memory", "home")

    assert memory_rag("search", "hej").err == (
        f"error: {memory_rag.home / 'main'} holds no memory; choose one of these with --memory: home, work; "
        "or make it with: memory-rag import\n"
    )
    assert "choose one" not in memory_rag("search", "hej", "--memory", f"{tmp_path}/nowhere").err


def test_an_embedder_that_there_is_not_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("search", "hej", "--embedder", "magic")

    assert refused.code == 2
    assert "unknown embedder 'magic'; an embedder is one of: none, minilm, e5" in refused.err


def test_a_command_in_a_message_holds_no_password() -> None:
    place = Place("postgresql://ada:secret@db.example/work?sslmode=require", owner="ada")

    assert place.command("show", "t1") == (
        "memory-rag show t1 --memory 'postgresql://ada@db.example/work?sslmode=require' --owner ada"
    )
    assert (place.shown, place.title) == ("postgresql://db.example/work, owner 'ada'", "ada")


def test_an_owner_of_a_folder_is_wrong_usage(memory_rag: CommandLine) -> None:
    refused = memory_rag("search", "hej", "--memory", "work", "--owner", "ada")

    assert refused.code == 2
    assert "'work' is none; name the server's URL with --memory postgresql://" in refused.err


def test_an_owner_in_the_environment_is_no_matter_for_a_folder(memory_rag: CommandLine) -> None:
    assert memory_rag("add", "hej", MEMORY_RAG_OWNER="ada").code == 0


def test_a_url_of_something_else_is_refused_without_what_is_in_it(memory_rag: CommandLine) -> None:
    refused = memory_rag("add", "hej", "--memory", "mysql://ada:secret@db.example/work")

    assert refused.code == 1
    assert refused.err.startswith("error: mysql:// begins no memory's URL; a server's begins with postgresql://")
    assert "secret" not in refused.err


def test_without_the_extra_a_server_names_the_pip_line(
    memory_rag: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "memory_rag.postgres.connections", None)

    refused = memory_rag("add", "hej", "--memory", "postgresql://db.example/work")

    assert refused.code == 1
    assert refused.err.endswith("is not installed; install it with: pip install 'memory-rag[postgres]'\n")


def test_a_server_is_not_asked_for_what_only_a_folder_has(memory_rag: CommandLine) -> None:
    refused = memory_rag("backup", "copy", "--memory", "postgresql://ada:secret@127.0.0.1:1/work", "--owner", "ada")

    assert refused.code == 1
    assert refused.err.startswith("error: postgresql://127.0.0.1:1/work, owner 'ada', lies on a server: backup copies")
