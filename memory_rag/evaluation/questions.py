"""Questions with the turns that answer them, from LoCoMo and BEAM."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_rag.errors import ImportFormatError

_LOCOMO_CATEGORIES: Final = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 open-domain",
    4: "4 single-hop",
    5: "5 adversarial",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation; ``evidence`` are native ids of the turns that answer it, empty for none."""

    text: str
    conversation_id: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a data set, what was dropped of its evidence and why, and the people who talk.

    ``turn_ids`` are each conversation's native ids in spoken order, ``people`` the names of its speakers.
    """

    name: str
    sha256: str
    questions: tuple[Question, ...]
    dropped: Mapping[str, int]
    turn_ids: Mapping[str, tuple[str, ...]]
    people: Mapping[str, tuple[str, ...]]

    def answerable(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.evidence)


def locomo_questions(path: Path) -> QuestionSet:
    """Return LoCoMo's questions (``locomo10.json``), its dirty evidence ids mended where they can be.

    "D8:6; D9:17" in one string are two ids, "D30:05" is D30:5; ids of no turn are dropped and counted.

    Raises:
        ImportFormatError: the file isn't LoCoMo's.
    """
    data = path.read_bytes()
    dropped: Counter[str] = Counter()
    questions, turn_ids, people = [], {}, {}
    try:
        for conversation in json.loads(data):
            name, talk = conversation["sample_id"], conversation["conversation"]
            people[name] = (talk["speaker_a"], talk["speaker_b"])
            turn_ids[name] = tuple(_locomo_turns(talk))
            known = set(turn_ids[name])
            for asked in conversation["qa"]:
                evidence = set()
                for text in asked.get("evidence", []):
                    for session, turn in re.findall(r"D(\d+):(\d+)", text):
                        found = f"D{int(session)}:{int(turn)}"
                        evidence |= {found} & known
                        dropped["evidence id of no turn"] += found not in known
                if not evidence:
                    dropped["question without evidence"] += 1
                    continue
                category = _LOCOMO_CATEGORIES[asked["category"]]
                questions.append(Question(asked["question"], name, frozenset(evidence), category))
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFormatError(f"{path} is not LoCoMo's questions: {error!r}") from error
    digest = hashlib.sha256(data).hexdigest()
    return QuestionSet("locomo", digest, tuple(questions), dict(dropped), turn_ids, people)


def beam_questions(folder: Path) -> QuestionSet:
    """Return BEAM's questions from a folder of numbered chats (``100K``); those on abstention have no evidence.

    Raises:
        ImportFormatError: the folder holds no BEAM chats.
    """
    chats = sorted((path for path in folder.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    if not chats:
        raise ImportFormatError(f"{folder} holds no numbered BEAM chats such as 1/chat.json")
    digest = hashlib.sha256()
    dropped: Counter[str] = Counter()
    questions, turn_ids = [], {}
    for chat in chats:
        name = f"beam-{folder.name}-{chat.name}"
        words, asked = ((chat / file).read_bytes() for file in ("chat.json", "probing_questions.json"))
        digest.update(words + asked)
        turn_ids[name] = tuple(
            str(message["id"]) for batch in json.loads(words) for group in batch["turns"] for message in group
        )
        known = set(turn_ids[name])
        for ability, listed in json.loads(asked).items():
            for entry in listed:
                ids = {str(found) for found in _leaves(entry.get("source_chat_ids"))}
                dropped["evidence id of no turn"] += len(ids - known)
                if not ids & known and ability != "abstention":
                    dropped["question without evidence"] += 1
                    continue
                questions.append(Question(entry["question"], name, frozenset(ids & known), ability))
    return QuestionSet("beam", digest.hexdigest(), tuple(questions), dict(dropped), turn_ids, {})


def _locomo_turns(talk: Mapping[str, Any]) -> Iterator[str]:
    numbers = sorted(int(m[1]) for key in talk if (m := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        yield from (turn["dia_id"] for turn in talk[f"session_{number}"])


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif value is not None:
        yield value
