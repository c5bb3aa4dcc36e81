"""A child's peak is its own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from tests.peak import peak_bytes

SHOWN = "from tests.peak import peak_bytes; print(peak_bytes())"


def test_a_childs_peak_is_not_its_parents() -> None:
    held = np.ones(300_000_000, np.uint8)

    shown = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, encoding="utf-8", check=True)

    assert peak_bytes() > held.nbytes > 2 * int(shown.stdout) > 10_000_000
