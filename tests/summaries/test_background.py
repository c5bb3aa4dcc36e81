"""Work between turns: one conversation after the other, none forgotten, none begun after the end."""

from __future__ import annotations

import threading

import pytest

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


def test_a_fault_of_ours_does_not_end_all_that_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its traceback belongs on the terminal, and here nowhere.
    monkeypatch.setattr(threading, "excepthook", lambda _fault: None)
    done: list[str] = []

    def do(name: str) -> None:
        if name == "bad":
            raise ValueError("a fault")
        done.append(name)

    background = Background(do)
    background.name("bad")
    background.name("good")
    assert background.wait(timeout_s=5)
    background.name("bad")
    assert background.wait(timeout_s=5)
    background.name("later")

    assert background.wait(timeout_s=5)
    assert done == ["good", "later"]
