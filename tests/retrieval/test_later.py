"""What is put off is done once, in the end, and never after it was closed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from memory_rag.retrieval.later import Later


def test_what_is_asked_for_again_and_again_is_done_once_after_the_last_time() -> None:
    done: list[float] = []
    later = Later(lambda: done.append(time.monotonic()), quiet_s=0.3)
    for _ in range(5):
        later.ask()
        time.sleep(0.05)
    last = time.monotonic()
    assert done == []

    later.wait()

    assert len(done) == 1
    assert done[0] >= last + 0.2
    later.ask()
    later.wait()
    assert len(done) == 2


def test_what_is_asked_for_while_it_is_being_done_is_done_again() -> None:
    begun, may_end = threading.Event(), threading.Event()
    done: list[int] = []

    def do() -> None:
        begun.set()
        may_end.wait(10)
        done.append(len(done))

    later = Later(do, quiet_s=0.01)
    later.ask()
    assert begun.wait(10)
    later.ask()
    may_end.set()
    later.wait()

    assert done == [0, 1]


def test_closing_begins_nothing_and_waits_for_what_was_begun() -> None:
    done: list[int] = []
    later = Later(lambda: done.append(1), quiet_s=60)
    later.ask()
    later.close()
    later.ask()
    later.wait()
    assert done == []

    begun = threading.Event()

    def do() -> None:
        begun.set()
        time.sleep(0.1)
        done.append(2)

    slow = Later(do, quiet_s=0)
    slow.ask()
    assert begun.wait(10)
    slow.close()
    assert done == [2]


def test_a_process_that_ends_does_it_before_and_does_not_wait_for_the_time_to_pass() -> None:
    program = (
        "from memory_rag.retrieval.later import Later\n"
        "later = Later(lambda: print('done', flush=True), quiet_s=600)\n"
        "later.ask()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert ended.stdout == "done\n"


def test_no_thread_is_left_when_all_is_done() -> None:
    before = threading.active_count()
    later = Later(lambda: None, quiet_s=0)
    later.ask()
    later.wait()
    for _ in range(200):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before
