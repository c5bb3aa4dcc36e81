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
from typing import Any

_ENGINES = ("numpy", "faiss-cpu", "onnxruntime", "tokenizers", "PyStemmer", "rank-bm25")


def provenance(**settings: Any) -> dict[str, Any]:
    """Return commit, versions, machine, time and the settings given, as JSON."""
    return {
        "commit": _commit(),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _ENGINES},
        "machine": {"system": platform.system(), "processor": _processor(), "cores": os.cpu_count()},
        "settings": settings,
    }


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write a result as JSON with sorted keys, for readable differences."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _commit() -> str:
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def code_digest() -> str:
    """Return a SHA-256 of the package's own modules: other code may rank otherwise."""
    listed = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        listed.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes() + b"\0")
    return listed.hexdigest()
