"""Fresh processes: timed from start to end, and their failures told."""

from __future__ import annotations

import sys

import pytest

from memory_rag.evaluation.speed_process import import_s, output_of, peak_mib, process_s


def test_a_process_takes_as_long_as_what_it_does() -> None:
    assert 0.2 < process_s("-c", "import time; time.sleep(.2)") < 30


def test_a_process_sees_the_package_that_measures_it() -> None:
    import memory_rag

    assert output_of("-c", "import memory_rag; print(memory_rag.__file__)").strip() == memory_rag.__file__


def test_a_process_keeps_its_bytecode_whatever_this_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    assert output_of("-c", "import sys; print(sys.dont_write_bytecode)").strip() == "False"


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"ended with 3: no such luck"):
        process_s("-c", "import sys; sys.stderr.write('no such luck'); sys.exit(3)")


def test_the_statement_takes_less_than_the_process() -> None:
    assert 0 < import_s() < process_s("-c", "import memory_rag") * 20


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from Linux's /proc")
def test_the_peak_of_a_command_is_its_own_and_not_this_process_s() -> None:
    held = bytearray(400 * 2**20)
    held[::4096] = b"x" * len(held[::4096])

    peak = peak_mib("--version")

    assert peak is not None
    assert 10 < peak < 200
