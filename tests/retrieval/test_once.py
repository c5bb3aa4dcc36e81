"""Values that are worked out when they are first asked for, once for each object."""

from __future__ import annotations

from memory_rag.retrieval.once import once


class Counted:
    """Counts how often its value is worked out."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.n_times = 0

    @once
    def value(self) -> int:
        """Return one more than the start."""
        self.n_times += 1
        return self.start + 1


def test_each_object_works_its_value_out_once() -> None:
    one, other = Counted(1), Counted(5)

    assert [one.value, one.value, other.value] == [2, 2, 6]
    assert (one.n_times, other.n_times) == (1, 1)


def test_nothing_is_worked_out_that_is_not_asked_for() -> None:
    assert Counted(1).n_times == 0


def test_a_class_shows_what_its_value_is() -> None:
    assert Counted.value.__doc__ == "Return one more than the start."
