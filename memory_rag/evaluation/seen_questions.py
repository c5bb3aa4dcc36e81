"""The questions that weights were set after seeing, known by digests: those of a data set under any file's name.

A digest of a file tells a data set only as it was released. Its questions are the same where somebody wrote it anew,
cut a conversation out of it, or asks it session by session. ``python -m memory_rag.evaluation.seen_questions DATA``
makes the digests anew.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import Final

from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.turns import text_bytes

FILE: Final = Path(__file__).parent / "data" / "seen_questions.json"
_BYTES: Final = 4
_SHARE: Final = 0.05
"""Of a benchmark's questions, so many make it one that was seen: by chance a digest is known once in a million."""


def are_seen(benchmark: Benchmark, *, fitted_on: str) -> bool:
    """Tell whether questions of a benchmark are among those of the data set whose files have this SHA-256."""
    known = _seen().get(fitted_on, frozenset())
    asked = digests_of(benchmark) if known else frozenset()
    return len(asked & known) > _SHARE * len(asked)


def digests_of(benchmark: Benchmark) -> frozenset[bytes]:
    """Return a digest of each answerable question's words; case and white space don't count."""
    return frozenset(
        hashlib.sha256(text_bytes(" ".join(query.text.casefold().split()))).digest()[:_BYTES]
        for query in benchmark.answerable()
    )


@cache
def _seen() -> dict[str, frozenset[bytes]]:
    """Return the digests by the SHA-256 of the files that hold the questions."""
    found = {}
    for sha256, packed in json.loads(FILE.read_text(encoding="ascii")).items():
        data = base64.b64decode(packed)
        found[sha256] = frozenset(data[at : at + _BYTES] for at in range(0, len(data), _BYTES))
    return found


def _make(data: Path) -> None:
    from memory_rag.evaluation.datasets import beam, locomo

    benchmarks = (locomo.load(data / "locomo10.json"), beam.load(data / "beam" / "100K"))
    packed = {one.sha256: base64.b64encode(b"".join(sorted(digests_of(one)))).decode() for one in benchmarks}
    FILE.write_text(json.dumps(packed, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
