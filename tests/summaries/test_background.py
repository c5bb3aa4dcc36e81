"""Work between turns: one conversation after the other, none forgotten, none begun after the end."""

from __future__ import annotations

import threading

from memory_rag.summaries.background import Background


def test_each_conversation_is_worked_on_and_waited_for() -> None:
    done: list[str] = []
    background = Background(done.append)

    for name in ("a", "b"):
        background.name(name)

    assert background.wait(timeout_s=10)
    assert done == ["a", "b"]
    background.close()


def test_one_that_is_named_while_it_is_worked_on_is_worked_on_again() -> None:
    begun, may_end = threading.Event(), threading.Event()
    done: list[str] = []

    def do(name: str) -> None:
        begun.set()
        may_end.wait(10)
        done.append(name)

    background = Background(do)
    background.name("a")
    assert begun.wait(10)
    background.name("a")
    background.name("a")
    assert background.wait(timeout_s=0) is False
    may_end.set()

    assert background.wait(timeout_s=10)
    assert done == ["a", "a"]
    background.close()


def test_after_the_end_nothing_is_begun() -> None:
    done: list[str] = []
    background = Background(done.append)
    background.close()

    background.name("a")

    assert background.wait(timeout_s=10)
    assert done == []
