"""Numbers and tables as a reader of a page sees them."""

from __future__ import annotations

import pytest

from memory_rag.evaluation.markdown import amount, interval, markdown_table, share


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.06214, "0.0621"),
        (1.0, "1.00"),
        (12.35, "12.3"),
        (99.96, "100"),
        (345.6, "346"),
        (999.4, "999"),
        (999.6, "1,000"),
        (12345.6, "12,346"),
        (0.0, "0.00"),
    ],
)
def test_an_amount_has_three_digits_that_count(value: float, shown: str) -> None:
    assert amount(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0.8384, ".838"), (1.0, "1.000"), (0.0, ".000"), (-0.02, "-.020")])
def test_a_share_has_three_decimals_and_no_leading_zero(value: float, shown: str) -> None:
    assert share(value) == shown


def test_a_mean_is_shown_with_its_interval() -> None:
    assert interval({"mean": 0.8384, "low": 0.824, "high": 0.852, "n": 3}) == ".838 [.824, .852]"


def test_words_stand_to_the_left_and_numbers_to_the_right() -> None:
    assert markdown_table(("mode", "set", "recall"), [("keyword", "beam", ".5")], n_words=2) == (
        "| mode | set | recall |\n|---|---|---:|\n| keyword | beam | .5 |"
    )


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells, but the table has 2 columns"):
        markdown_table(("a", "b"), [("1",)])
