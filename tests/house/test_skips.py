"""Where everything is installed (MEMORY_RAG_ALL=1), a test that would be skipped fails and says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ONE_OF_EACH = """
import pytest

def test_that_passes(): pass

def test_that_skips(): pytest.skip("no dense engine")

@pytest.mark.skipif(True, reason="no evaluation data")
def test_that_is_marked(): pass

@pytest.fixture
def model(): pytest.skip("no model")

def test_whose_fixture_skips(model): pass

@pytest.mark.xfail(reason="a known fault", strict=True)
def test_that_is_known_to_fail(): assert 1 == 2
"""

ALL_OF_IT = """
import pytest
pytest.skip("no extra", allow_module_level=True)
"""


WITH_ALL = "MEMORY_RAG_ALL=1 says that everything is installed, but: Skipped: "


@pytest.mark.parametrize(
    ("environment", "closing"),
    [
        ({"MEMORY_RAG_ALL": "1"}, "1 failed, 1 passed, 1 xfailed, 2 errors"),
        ({}, "1 passed, 3 skipped, 1 xfailed"),
    ],
)
def test_a_skipped_test_fails_where_everything_is_installed(
    outcome_of: Callable[..., str], environment: dict[str, str], closing: str
) -> None:
    said = outcome_of(ONE_OF_EACH, **environment)

    assert closing in said
    told = [WITH_ALL + reason in said for reason in ("no dense engine", "no evaluation data", "no model")]
    assert told == [bool(environment)] * 3


@pytest.mark.parametrize(("environment", "closing"), [({"MEMORY_RAG_ALL": "1"}, "1 error"), ({}, "1 skipped")])
def test_a_skipped_module_fails_where_everything_is_installed(
    outcome_of: Callable[..., str], environment: dict[str, str], closing: str
) -> None:
    said = outcome_of(ALL_OF_IT, **environment)

    assert closing in said
    assert (WITH_ALL + "no extra" in said) is bool(environment)
