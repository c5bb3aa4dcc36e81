"""A file as LongMemEval's, of any size, with invented words: what its loader reads, and how much memory it takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

_SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sa", "ti", "vo", "be", "du", "fa", "go", "hi", "ja")
_TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "temporal-reasoning",
    "knowledge-update",
    "multi-session",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How big a file is: ``n_fillers`` sessions are shared by all histories, as the data set's are."""

    n_questions: int = 500
    n_sessions: int = 50
    n_turns: int = 10
    n_characters: int = 1_000
    n_fillers: int = 20_000
    n_abstentions: int = 30


def write_haystacks(path: Path, size: Size, *, seed: int = 0) -> None:
    """Write the questions one by one; the text of a turn is cut from one long text, so that it is quickly made."""
    random = Random(seed)
    words = "".join(
        "".join(random.choices(_SYLLABLES, k=random.randint(1, 4))) + " "
        for _ in range(max(2_000, min(1_000_000, size.n_questions * size.n_sessions * 10)))
    )
    fillers = [_session(words, size, random) for _ in range(size.n_fillers)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(size.n_questions):
            file.write("," if number else "[")
            json.dump(_question(number, fillers, words, size, random), file)
        file.write("]\n")


def _question(
    number: int, fillers: list[list[dict[str, Any]]], words: str, size: Size, random: Random
) -> dict[str, Any]:
    abstention = number < size.n_abstentions
    places = sorted(random.sample(range(size.n_sessions), 2))
    ids, sessions = [], []
    question = next(_cuts(words, 60, random))
    for place in range(size.n_sessions):
        if place in places:
            ids.append(f"answer_{number:08x}_{place}")
            session = _session(words, size, random)
            for at, turn in enumerate(session):
                turn["has_answer"] = at == 2 and not abstention
            if not abstention and place == places[0]:
                question = _asking_for(session[2]["content"])
        else:
            filler = random.randrange(size.n_fillers)
            ids.append(f"ultrachat_{filler}")
            session = fillers[filler]
        sessions.append(session)
    return {
        "question_id": f"{number:08x}" + ("_abs" if abstention else ""),
        "question_type": _TYPES[number % len(_TYPES)],
        "question": question,
        "answer": "ka",
        "question_date": "2023/12/31 (Sun) 23:59",
        "haystack_session_ids": ids,
        "haystack_dates": [
            f"2023/{1 + p // 28:02}/{1 + p % 28:02} (Mon) 09:{p % 60:02}" for p in range(size.n_sessions)
        ],
        "haystack_sessions": sessions,
        "answer_session_ids": [ids[place] for place in places],
    }


def _asking_for(text: str) -> str:
    """Return some of a turn's words, so that there is something to be found."""
    return " ".join(text.split()[1:16:3])


def _session(words: str, size: Size, random: Random) -> list[dict[str, Any]]:
    cuts = _cuts(words, size.n_characters, random)
    return [{"role": ("user", "assistant")[at % 2], "content": next(cuts)} for at in range(size.n_turns)]


def _cuts(words: str, length: int, random: Random) -> Iterator[str]:
    while True:
        start = random.randrange(max(1, len(words) - length))
        yield words[start : start + length]
