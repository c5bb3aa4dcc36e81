"""Of a server's URL only what isn't secret is ever told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.server_url import has_secret, is_on_server, memory_of, server_of, without_secrets

LETTERS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("url", "server", "printed"),
    [
        ("postgresql://ada:pw@db.example/work", "postgresql://db.example/work", "postgresql://ada@db.example/work"),
        ("postgres://db.example", "postgresql://db.example/", "postgresql://db.example"),
        ("postgresql:///work", "postgresql:///work", "postgresql:///work"),
        ("postgresql://a:b?c#d@h:5433/w", "postgresql://h:5433/w", "postgresql://a@h:5433/w"),
        ("postgresql://h1:1,h2:2/w?sslmode=require", "postgresql://h1:1,h2:2/w", None),
        ("postgresql://ada@[::1]:5432/w", "postgresql://[::1]:5432/w", None),
        ("postgresql:///w?host=%2Frun%2Fpg&port=5433", "postgresql:///run/pg:5433/w", None),
        ("postgresql://ada@h/w?password=pw", "postgresql://h/w", "postgresql://ada@h/w"),
        (
            "postgresql://ada@h/w?%70assword=pw&sslmode=require",
            "postgresql://h/w",
            "postgresql://ada@h/w?sslmode=require",
        ),
        # A slash or an @ that isn't escaped: it can't be told where the password ends.
        ("postgresql://ada:p/w@h/w", "postgresql://…", "postgresql://…"),
        ("postgresql://ada:p@w@h/w", "postgresql://…", "postgresql://…"),
        ("postgresql://ada:pw/w", "postgresql://…", "postgresql://…"),
        ("postgresql://h/w?password=p&w", "postgresql://h/w", "postgresql://h/w"),
        ("password=pw host=h", "postgresql://…", "postgresql://…"),
    ],
)
def test_a_server_is_named_and_a_url_printed_without_the_password(url: str, server: str, printed: str | None) -> None:
    assert server_of(url) == server
    assert without_secrets(url) == (url if printed is None else printed)
    assert has_secret(url) == (
        printed is not None and without_secrets(url) != url.replace("postgres://", "postgresql://")
    )


@given(LETTERS, st.sampled_from(["postgresql://ada:{}@h/w", "postgresql://h/w?password={}"]))
def test_no_password_gets_through_however_it_is_written(password: str, shape: str) -> None:
    secret = f"s3cr3t{password}s3cr3t"
    url = shape.format(secret)

    assert "s3cr3t" not in server_of(url) + without_secrets(url) + memory_of(url, owner="ada")
    assert has_secret(url)


def test_a_url_names_a_server_and_nothing_else_does() -> None:
    assert is_on_server("postgresql://h/w")
    assert is_on_server("postgres://h/w")
    assert not is_on_server("main")
    assert not is_on_server("/srv/postgresql")


def test_a_memory_is_named_by_its_server_and_its_owner() -> None:
    assert memory_of("postgresql://ada:pw@h/w", owner="ada") == "postgresql://h/w, owner 'ada'"
