"""How well a new subject is heard: pieces of different conversations joined, and the joints looked for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.summaries.reading import is_read
from memory_rag.summaries.triggers import VectorsOf, new_subjects
from memory_rag.turns import Turn

NEAR: Final = 1
"""How many turns beside its joint a new subject may be heard and still count as found."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Turns of several conversations in a row; ``joints`` are the places at which another one begins."""

    turns: tuple[Turn, ...]
    joints: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """How many joints there are and were found, how many new subjects were told, in how many turns."""

    joints: int
    found: int
    told: int
    n_turns: int


def joined_pieces(
    conversations: Mapping[str, Sequence[Turn]], *, n_joined: int, n_pieces: int, lengths: tuple[int, int], seed: int
) -> list[Joined]:
    """Return runs of pieces from conversations drawn at random, two neighbours never of the same one.

    A piece is ``lengths[0]`` to ``lengths[1]`` turns in a row of one session, so that no sitting ends within it.
    """
    drawn = random.Random(seed)
    sessions: dict[str, list[list[Turn]]] = {}
    for name, turns in conversations.items():
        own: dict[str, list[Turn]] = {}
        for turn in turns:
            if is_read(turn):
                own.setdefault(turn.session_id, []).append(turn)
        long = [one for one in own.values() if len(one) >= lengths[0]]
        if long:
            sessions[name] = long
    made = []
    for _ in range(n_joined):
        pieces: list[Sequence[Turn]] = []
        last = ""
        for _ in range(n_pieces):
            last = drawn.choice([name for name in sessions if name != last])
            session = drawn.choice(sessions[last])
            n = drawn.randint(lengths[0], min(lengths[1], len(session)))
            start = drawn.randint(0, len(session) - n)
            pieces.append(session[start : start + n])
        made.append(in_a_row(pieces))
    return made


def in_a_row(pieces: Sequence[Sequence[Turn]]) -> Joined:
    """Return pieces one after the other, with the places at which each but the first begins."""
    turns: list[Turn] = []
    joints: list[int] = []
    for piece in pieces:
        if turns:
            joints.append(len(turns))
        turns += piece
    return Joined(tuple(turns), tuple(joints))


def heard(
    talks: Sequence[Joined], *, vectors_of: VectorsOf, least: float, told: Callable[[int], None] = lambda n: None
) -> Heard:
    """Return how many of the joints are told as new subjects, a turn beside counting too, and how many are told."""
    found = n_told = 0
    for number, talk in enumerate(talks, start=1):
        places = new_subjects(talk.turns, vectors_of=vectors_of, least=least)
        left = set(places)
        for joint in talk.joints:
            near = [place for place in sorted(left, key=lambda one: abs(one - joint)) if abs(place - joint) <= NEAR]
            if near:
                left.remove(near[0])
                found += 1
        n_told += len(places)
        told(number)
    return Heard(sum(len(talk.joints) for talk in talks), found, n_told, sum(len(talk.turns) for talk in talks))
