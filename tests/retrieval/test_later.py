"""What is put off is done once, in the end, and never after it was closed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from itertools import count

import pytest

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


def test_it_is_put_off_while_others_work_whom_it_would_keep_waiting() -> None:
    done, are_working = threading.Event(), True
    looks = count()
    later = Later(done.set, quiet_s=0.1, uses=lambda: next(looks) if are_working else 0, patience_s=3600)
    later.ask()
    assert not done.wait(1)

    are_working = False

    assert done.wait(60)
    later.close()


def test_it_is_not_put_off_for_ever() -> None:
    done, looks = threading.Event(), count()
    later = Later(done.set, quiet_s=0.1, uses=lambda: next(looks), patience_s=0.3)
    later.ask()

    assert done.wait(60)
    later.close()


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


def test_what_fails_keeps_nobody_waiting_and_is_done_when_it_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: told.append(failed.exc_value))
    outcomes = iter([OSError("the disk is gone"), None])
    done: list[str] = []

    def do() -> None:
        if (error := next(outcomes)) is not None:
            raise error
        done.append("done")

    later = Later(do, quiet_s=0.0)
    later.ask()
    later.wait()
    assert list(map(str, told)) == ["the disk is gone"]
    later.ask()
    later.wait()
    later.close()
    assert done == ["done"]


NO_THREAD = """
import resource, threading
from memory_rag.retrieval.later import Later
done = []
later = Later(lambda: done.append(1), quiet_s=0.0)
threading.stack_size(2**30)
resource.setrlimit(resource.RLIMIT_AS, (2**29, resource.RLIM_INFINITY))
later.ask()
later.wait()
print(len(done))
threading.stack_size(2**20)
later.ask()
later.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory is set")
def test_where_no_thread_can_be_started_asking_does_no_harm() -> None:
    told = subprocess.run([sys.executable, "-c", NO_THREAD], check=True, capture_output=True, text=True)

    assert told.stdout == "0\n"
