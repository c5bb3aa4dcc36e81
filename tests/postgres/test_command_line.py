"""Commands on a memory that lies on a server: what they do there, what they refuse, and that none tells a password."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from memory_rag.memory import Memory
from tests.interfaces.command_line import CommandLine, Ran
from tests.interfaces.test_completing import offered
from tests.postgres_server import PASSWORD, PostgresServer

NEVER = ("password=", PASSWORD, quote(PASSWORD))
SESSION_START = json.dumps({"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"})


@pytest.fixture
def memory_rag(tmp_path: Path, postgres_url: str, request: pytest.FixtureRequest) -> CommandLine:
    """The command line over a memory on the server, whose owner no other test has."""
    home = tmp_path / "home"
    return CommandLine(
        home,
        {
            "MEMORY_RAG_HOME": str(home),
            "MEMORY_RAG_EMBEDDER": "none",
            "MEMORY_RAG_MEMORY": postgres_url,
            "MEMORY_RAG_OWNER": f"line {request.node.name}"[:200],
            "COLUMNS": "200",
        },
    )


def add(memory_rag: CommandLine, text: str, *options: str) -> str:
    """Store a turn of Ebba's and return its id."""
    ran = memory_rag("add", text, "--speaker", "Ebba", "--conversation", "prices", *options)
    assert ran.code == 0, ran
    return ran.out.strip()


def test_what_is_said_is_found_quoted_shown_corrected_and_forgotten(memory_rag: CommandLine) -> None:
    turn_id = add(memory_rag, "The first season costs 49 euro.")

    assert turn_id == "t1"
    assert [hit["turn_id"] for hit in memory_rag("search", "what costs a season?", "--json").json["hits"]] == ["t1"]
    assert memory_rag("quote", "costs 49 euro").lines[0].startswith("exact · Ebba (user)")
    assert memory_rag("correct", "t1", "The first season costs 45 euro.").code == 0
    assert "45 euro" in memory_rag("show", "t1").out
    assert memory_rag("forget", "t1", "--yes").lines[0] == "forgot 1 turn"
    assert memory_rag("stats", "--json").json["n_turns"] == 0


def test_the_owner_may_be_an_option_and_counts_more_than_the_environment(memory_rag: CommandLine) -> None:
    own, other = memory_rag.environment["MEMORY_RAG_OWNER"], f"other {memory_rag.home}"[:200]
    add(memory_rag, "Mine.")
    add(memory_rag, "Another's.", "--owner", other)

    assert "Mine." in memory_rag("show", "t1").out
    assert memory_rag("stats", "--json").json["place"].endswith(f"owner {own!r}")
    assert memory_rag("--owner", other, "stats", "--json").json["place"].endswith(f"owner {other!r}")
    assert memory_rag("search", "another", "--json").json["hits"] == []


def test_an_owner_without_turns_is_told_how_to_have_a_memory(memory_rag: CommandLine) -> None:
    refused = memory_rag("search", "hej")

    assert refused.code == 1
    assert "holds no memory; check the name of the owner, or make one with: memory-rag add" in refused.err


def test_a_look_at_an_import_makes_no_owner(memory_rag: CommandLine, tmp_path: Path) -> None:
    add(memory_rag, "Hej.", "--owner", f"one {tmp_path}"[-200:])
    export = tmp_path / "turns.jsonl"
    export.write_text(memory_rag("export", "--owner", f"one {tmp_path}"[-200:]).out, encoding="utf-8")

    looked = memory_rag("import", str(export), "--dry-run", "--json")

    assert looked.code == 0
    assert "holds no memory" in memory_rag("stats").err
    assert memory_rag("import", str(export)).code == 0
    assert memory_rag("stats", "--json").json["n_turns"] == 1


def test_stats_count_the_owners_rows_and_name_no_folder(memory_rag: CommandLine) -> None:
    large = f"large {memory_rag.home}"[-200:]
    add(memory_rag, "Hej.")
    before = memory_rag("stats", "--json").json
    for number in range(20):
        add(memory_rag, f"Hej, nummer {number}.", "--owner", large)

    counted = memory_rag("stats", "--json").json
    told = {line[:13].strip(): line[15:] for line in memory_rag("stats").lines}

    assert counted == before
    assert counted["folder"] is None
    assert 100 < counted["n_bytes"]["words"] < 1000
    assert memory_rag("stats", "--json", "--owner", large).json["n_bytes"]["words"] > 10 * counted["n_bytes"]["words"]
    assert (counted["n_bytes"]["vectors"], counted["snapshot_seq"]) == (0, None)
    assert counted["place"].startswith(told["memory"])
    assert told["on disk"].endswith("indexes not counted")
    assert told["words in"] == "tables: turns with their sources 1, changes logged 1"
    assert told["changes"] == "1"


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("backup", "copy"), "with pg_dump as a superuser .*, or this memory into a folder with: memory-rag migrate"),
        (("restore", "copy"), "bring a backup onto the server with: memory-rag migrate"),
        (("doctor", "--rescue", "new"), "a backup of your server's own tools, or .* memory-rag migrate"),
    ],
)
def test_what_only_a_folder_has_is_refused_and_what_does_it_instead_is_named(
    memory_rag: CommandLine, words: tuple[str, ...], instead: str
) -> None:
    refused = memory_rag(*words)

    assert refused.code == 1
    assert re.search(f"owner .*, lies on a server: .*{instead}", refused.err), refused.err
    assert not Path(words[-1]).exists()


def test_no_command_tells_the_password(memory_rag: CommandLine, tmp_path: Path) -> None:
    add(memory_rag, "The first season costs 49 euro.")
    session = tmp_path / "transcript.jsonl"
    commands: list[tuple[str, ...]] = [
        *(
            (name,)
            for name in ("stats", "doctor", "settings", "brief", "events", "scan", "retain", "off-record", "state")
        ),
        *((name, "--json") for name in ("stats", "doctor", "settings")),
        *(("search", "season", "--owner", owner) for owner in ("nobody", "")),
        ("search", "season", "-k", "1"),
        ("summary", "--make"),
        ("context", "What costs a season?"),
        ("demo", "--owner", f"demo {tmp_path}"[:200]),
        ("backup", "copy"),
        ("install", "cursor", "--print"),
        ("uninstall", "cursor"),
        ("import", str(session)),
        ("reindex",),
    ]
    url = memory_rag.environment["MEMORY_RAG_MEMORY"]
    ran: list[Ran] = [memory_rag(*words, "--memory", url, HOME=str(tmp_path)) for words in commands]
    ran += [memory_rag(*words, MEMORY_RAG_REPLICA=url, HOME=str(tmp_path)) for words in commands]
    ran.append(memory_rag("hook", "claude-code", "--memory", url, "--owner", "nobody", stdin=SESSION_START))

    told = "".join(one.out + one.err for one in ran)
    assert [word for word in NEVER if word in told] == []
    assert "Next" in told
    assert "see: memory-rag" not in told


def test_a_program_is_given_no_password_but_told_where_it_belongs(memory_rag: CommandLine, tmp_path: Path) -> None:
    refused = memory_rag("install", "cursor", HOME=str(tmp_path))

    assert refused.code == 1
    assert "has a password in it" in refused.err
    assert "into ~/.pgpass (chmod 600)" in refused.err
    assert not (tmp_path / ".cursor").exists()


def test_the_tab_key_offers_names_of_the_owners_memory(memory_rag: CommandLine) -> None:
    add(memory_rag, "Hej.")

    assert offered(memory_rag, "memory-rag search --conversation ") == ["prices"]
    assert offered(memory_rag, "memory-rag search --speaker E") == ["Ebba"]
    assert offered(memory_rag, "memory-rag --owner nobody search --conversation ") == []


def test_a_server_that_does_not_answer_is_no_error_at_the_tab_key(memory_rag: CommandLine) -> None:
    line = "memory-rag search --memory postgresql://127.0.0.1:1/x --conversation "

    assert offered(memory_rag, line) == []


def test_a_session_of_another_program_is_told_what_is_pinned(memory_rag: CommandLine) -> None:
    memory_rag("add", "Hej.")
    memory_rag("pin", "Svara på svenska.")

    told = memory_rag("hook", "claude-code", stdin=SESSION_START)

    assert "Svara på svenska." in told.json["hookSpecificOutput"]["additionalContext"]
    assert told.err == ""


def test_a_hook_whose_server_is_away_says_so_and_stops_nothing(memory_rag: CommandLine) -> None:
    told = memory_rag("hook", "claude-code", "--memory", "postgresql://127.0.0.1:1/x", stdin=SESSION_START)

    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("memory-rag hook: postgresql://127.0.0.1:1/x can't be reached")


def test_the_memory_is_named_by_its_owner_where_a_name_is_wanted(memory_rag: CommandLine) -> None:
    add(memory_rag, "Hej.")
    url, owner = memory_rag.environment["MEMORY_RAG_MEMORY"], memory_rag.environment["MEMORY_RAG_OWNER"]

    with Memory.open(url, owner=owner, embedder="none", create=False) as memory:
        assert memory.name == owner
        with memory.opened_with(None) as again:
            assert [turn.text for turn in again.turns()] == ["Hej."]


def test_a_stranger_to_the_database_is_told_what_to_check(postgres: PostgresServer, memory_rag: CommandLine) -> None:
    url = postgres.new_database().replace(quote(PASSWORD), "wrong")

    refused = memory_rag("search", "hej", "--memory", f"{url}&require_auth=scram-sha-256")

    assert refused.code == 1
    assert "can't be reached" in refused.err
    assert "check the URL, the password and whether the server runs" in refused.err
    assert "wrong" not in refused.err
