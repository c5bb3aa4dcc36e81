"""Runs cases of one door in a process of their own: ``python -m tests.fuzz.run DOOR FIRST N FOLDER``.

Each case's number is written to FOLDER/case before it is tried, so that one that hangs or kills the process is known: a
case that takes 60 s of processor time ends the process. What goes wrong is printed, at most ten cases of it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
import warnings
from pathlib import Path

from tests.fuzz.doors import Doors

LIMIT_S = 60.0


def main(door: str, first: int, n_cases: int, folder: Path) -> int:
    # A regular expression that hangs can't be interrupted, but the process can be ended.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    warnings.simplefilter("error")
    doors = Doors(folder)
    use = doors.all()[door]
    told = os.open(folder / "case", os.O_RDWR | os.O_CREAT)
    failed = 0
    for number in range(first, first + n_cases):
        os.pwrite(told, f"{number:12}".encode(), 0)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        try:
            use(random.Random(number))
        except Exception:
            failed += 1
            print(f"case {number} of {door}:\n{traceback.format_exc()}", flush=True)
            if failed == 10:
                break
    signal.setitimer(signal.ITIMER_PROF, 0)
    doors.assert_unchanged()
    doors.close()
    print(f"{failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
