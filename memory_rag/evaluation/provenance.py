"""What a result was made with, so that it can be made again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from memory_rag import __version__

_PACKAGE: Final = Path(__file__).parents[1]
_ENGINES: Final = ("numpy", "faiss-cpu", "onnxruntime", "tokenizers", "PyStemmer", "rank-bm25")


def provenance(**settings: Any) -> dict[str, Any]:
    """Return this package's commit and version, those of the engines, machine, time and the settings given, as JSON.

    The commit is ``unknown`` where the package isn't in a checkout of its own.
    """
    return {
        "commit": _commit(),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": {"memory-rag": __version__, **{name: version(name) for name in _ENGINES}},
        "machine": {"system": platform.system(), "processor": _processor(), "cores": os.cpu_count()},
        "settings": settings,
    }


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write a result as JSON with sorted keys, for readable differences."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _commit() -> str:
    try:
        # In an environment inside somebody else's repository the commit would be theirs.
        _git("ls-files", "--error-unmatch", "__init__.py")
        return _git("describe", "--always", "--dirty")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=_PACKAGE, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def code_digest() -> str:
    """Return a SHA-256 of the package's own modules: other code may rank otherwise."""
    listed = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        listed.update(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    return listed.hexdigest()
