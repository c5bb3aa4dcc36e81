"""The README is a contract: its example runs, its commands and files exist."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_shows_the_exact_words(tmp_path: Path) -> None:
    found = re.search(r"<!-- example -->\n```python\n(.*?)```", README, re.DOTALL)
    assert found is not None
    assert len(found[1].strip().splitlines()) <= 12
    ran = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "1 user " in ran.stdout
    assert "folded" in ran.stdout or "exact" in ran.stdout
    assert "the price is 49 euro" in ran.stdout
    assert (tmp_path / "indexes" / "work" / "turns.sqlite").is_file()


def test_every_test_that_the_promises_name_exists() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", README)
    assert len(named) > 5
    missing = [path for path in named if not (ROOT / path).exists()]
    assert missing == []


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make ([a-z-]+)", README)):
        if f"make {target}" in README and target not in ("a", "it", "them", "one"):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
