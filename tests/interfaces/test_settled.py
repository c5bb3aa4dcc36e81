"""``memory-rag settings`` says what holds, and who said so."""

from __future__ import annotations

import pytest

from memory_rag.settings import Settings, settled
from tests.interfaces.command_line import CommandLine


@pytest.fixture
def with_file(memory_rag: CommandLine) -> CommandLine:
    memory_rag.home.mkdir()
    (memory_rag.home / "memory-rag.toml").write_text(
        'k = 5\nembedder = "e5"\nnever_store = ["surprise", "kind:card"]\n'
    )
    return memory_rag


def test_each_setting_has_the_value_that_a_memory_would_open_with_and_its_origin(with_file: CommandLine) -> None:
    file = str(with_file.home / "memory-rag.toml")

    told = with_file("settings", "--language", "sv", "--json", MEMORY_RAG_DEPTH="70").json

    assert {name: one for name, one in told.items() if one["from"] != "default"} == {
        "embedder": {"value": "none", "from": "the environment"},
        "language": {"value": "sv", "from": "the arguments"},
        "k": {"value": 5, "from": file},
        "depth": {"value": 70, "from": "the environment"},
        "never_store": {"value": ["surprise", "kind:card"], "from": file},
    }
    assert told["timezone"] == {"value": "UTC", "from": "default"}


def test_it_is_told_a_line_a_setting_and_defaults_have_no_origin(with_file: CommandLine) -> None:
    ran = with_file("settings", "k", "never_store", "secrets")

    assert ran.lines == [
        f"k            5             {with_file.home}/memory-rag.toml",
        "secrets      -",
        f"never_store  surprise, kind:card  {with_file.home}/memory-rag.toml",
    ]
    assert ran.err == f"the file is {with_file.home}/memory-rag.toml\n"


def test_a_setting_that_isnt_one_is_wrong_usage_and_the_settings_are_named(memory_rag: CommandLine) -> None:
    refused = memory_rag("settings", "colour")

    assert refused.code == 2
    assert "unknown setting 'colour'; settings are: embedder, language" in refused.err


def test_it_makes_no_memory_and_no_home(memory_rag: CommandLine) -> None:
    assert memory_rag("settings").err == f"the file is {memory_rag.home}/memory-rag.toml, which isn't there\n"
    assert not memory_rag.home.exists()


def test_values_are_those_of_settings_that_were_loaded() -> None:
    found = settled(environment={"MEMORY_RAG_K": "7"}, embedder="none")

    loaded = Settings.load(environment={"MEMORY_RAG_K": "7"}, embedder="none")
    assert {name: one.value for name, one in found.items()} == {name: getattr(loaded, name) for name in found}
    assert (found["k"].origin, found["embedder"].origin, found["depth"].origin) == (
        "the environment",
        "the arguments",
        "default",
    )


def test_a_url_is_shown_without_its_password(memory_rag: CommandLine) -> None:
    url = "postgresql://ada:p4ssw0rd@replica.example/work"

    told = memory_rag("settings", "replica", "--json", MEMORY_RAG_REPLICA=url)

    assert told.json == {"replica": {"value": "postgresql://ada@replica.example/work", "from": "the environment"}}
    assert "p4ssw0rd" not in memory_rag("settings", MEMORY_RAG_REPLICA=url).out


def test_what_settings_show_of_themselves_has_no_password() -> None:
    settings = Settings(replica="postgresql://ada:p4ssw0rd@replica.example/work")

    assert "p4ssw0rd" not in repr(settings)
    assert settings.with_values({"k": 3}, where="here").replica.endswith("@replica.example/work")
