"""The rules for secrets and personal data, on the labelled texts of a checkout and on data sets' turns."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from memory_rag.errors import MemoryRagError
from memory_rag.evaluation.benchmark import Benchmark
from memory_rag.evaluation.finding_secrets import Labelled, Place, secrets_trial
from memory_rag.privacy.finding import find


def labelled_secrets(module: str, benchmarks: Mapping[str, Benchmark]) -> dict[str, Any]:
    """Return the result as JSON; ``module`` puts the labelled texts together, and is looked for in this folder.

    Keys stand in no file, so that module makes them from a seed; it lies with the tests.

    Raises:
        MemoryRagError: there is no such module here.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        made = import_module(module)
    except ImportError as error:
        raise MemoryRagError(
            f"the labelled texts are put together by {module}, which can't be imported here ({error}); run this in a "
            "checkout's folder, or name another module with --examples"
        ) from error
    finally:
        sys.path.pop(0)
    examples = [
        Labelled(one.text, frozenset((at.start, at.end, at.kind) for at in one.spans), one.split, one.trap)
        for one in made.read_examples()
    ]
    talks = {name: [turn.text for turn in one.turns()] for name, one in benchmarks.items()}
    return {
        "dataset": {"name": "secrets", "sha256": hashlib.sha256(made.SECRETS.read_bytes()).hexdigest()},
        "result": secrets_trial(examples, talks, find=places_in),
    }


def places_in(text: str) -> list[Place]:
    """Return what the rules find in a text."""
    return [(one.span.start, one.span.end, one.kind.value) for one in find(text)]
