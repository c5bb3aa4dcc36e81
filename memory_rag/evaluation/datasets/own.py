"""Your own memory: questions made from its turns, and questions that you write."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.evaluation.benchmark import Benchmark, Dropped, Query, Unit
from memory_rag.evaluation.datasets.assembly import Judged, Reading, benchmark_of
from memory_rag.evaluation.datasets.files_read import FilesRead
from memory_rag.evaluation.datasets.paraphrases import Paraphraser
from memory_rag.evaluation.datasets.question_file import judged_written, read_written
from memory_rag.evaluation.datasets.remembered_words import (
    EXACT_RULE,
    HALF_REMEMBERED_RULE,
    Remembered,
    WordSense,
    exact_words,
    half_remembered,
    said_in,
)
from memory_rag.evaluation.datasets.word_holders import WordHolders
from memory_rag.text.word_bounds import each_word
from memory_rag.turns import Turn

EXACT: Final = "exact words"
HALF: Final = "half-remembered"
PARAPHRASED: Final = "paraphrased"
WRITTEN: Final = "written by hand"

OF_ITS_OWN_WORDS: Final = (
    "The questions are made of the turns' own words, which favours retrieval by words; ask some of yours with "
    "--questions FILE."
)
"""Said where a memory is asked by such questions alone."""
USUAL_N: Final = 200
TOO_SHORT: Final = "turn not asked for: its conversation has"
"""Begins the reason of turns that only the pool ``memory`` asks for."""
FEWEST_CONTENT_WORDS: Final = 5
"""Turns with fewer are not asked for: "ok, thanks" is nothing that anybody looks for."""

_Make = Callable[[Turn, WordSense, Random], Remembered | None]


def load(
    turns: Iterable[Turn],
    *,
    unit: Unit = "turn",
    n: int = USUAL_N,
    seed: int = 0,
    languages: Sequence[str] = ("en",),
    longer_than: int = 0,
    questions: Path | None = None,
    paraphraser: Paraphraser | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Benchmark:
    """Return a benchmark of a memory's recalled turns with ``n`` questions made from them, and those of a file.

    Half of the questions made are 5 to 12 exact words of a turn, half are half-remembered words (the rule is
    ``remembered_words.HALF_REMEMBERED_RULE``); with a paraphraser, a third each. The turn that the words come from is
    relevant; words that another turn holds too are not asked for. Turns with five words of content or more are taken,
    one after another from each conversation that is ``longer_than`` so many turns. ``seed`` decides which; the same
    turns give the same questions. ``languages`` are the memory's; they tell common words. ``questions`` is read as
    :func:`~memory_rag.evaluation.datasets.question_file.read_written` says. ``progress`` is called with (made, ``n``)
    questions.

    Raises:
        SettingsError: ``n`` is negative.
        ImportFormatError: the file of questions can't be read.
        ModelError: the paraphraser failed.
    """
    if n < 0:
        raise SettingsError(f"n={n} questions can't be made; give 0 or more")
    dropped = Dropped()
    recalled: list[Turn] = []
    for turn in turns:
        if turn.recalled:
            recalled.append(turn)
        else:
            dropped.add("turn that search leaves out", turn.turn_id)
    files = FilesRead(questions or Path("turns"))
    files.note(Path("turns"), _digest(recalled))
    makers: list[tuple[str, _Make]] = [(EXACT, exact_words), (HALF, half_remembered)]
    if paraphraser is not None:
        makers.append((PARAPHRASED, partial(_paraphrased, paraphraser)))
    made_of = partial(_made, recalled, makers, n=n, seed=seed, longer_than=longer_than, progress=progress)
    judged = list(made_of(languages=languages, dropped=dropped)) if n else []
    if questions is not None:
        judged += judged_written(read_written(files, questions), recalled, category=WRITTEN, dropped=dropped)
    made = {
        EXACT: EXACT_RULE,
        HALF: HALF_REMEMBERED_RULE,
        PARAPHRASED: f"asked for by {paraphraser.name}" if paraphraser else "",
    }
    denominators = {kind: 0 for kind, _ in makers} if n else {}
    for found in judged:
        denominators[found.query.category] = denominators.get(found.query.category, 0) + 1
    in_other_words = any(found.grades and found.query.category not in (EXACT, HALF) for found in judged)
    reading = Reading(
        "own",
        files.sha256,
        recalled,
        judged,
        dropped,
        denominators,
        made={kind: made[kind] for kind, _ in makers} if n else {},
        caution=OF_ITS_OWN_WORDS if judged and not in_other_words else "",
    )
    return benchmark_of(reading, unit=unit)


def _made(
    turns: Sequence[Turn],
    makers: Sequence[tuple[str, _Make]],
    *,
    n: int,
    seed: int,
    longer_than: int,
    progress: Callable[[int, int], None] | None,
    languages: Sequence[str],
    dropped: Dropped,
) -> Iterator[Judged]:
    """Yield up to ``n`` questions, each from another turn, the makers in turns."""
    holders = WordHolders([said_in(turn) for turn in turns])
    sense = WordSense(languages, holders.counts())
    lengths = Counter(turn.conversation_id for turn in turns)
    number = 0
    for place in _sampled(turns, seed=seed):
        if progress is not None:
            progress(number, n)
        if number == n:
            return
        turn = turns[place]
        if lengths[turn.conversation_id] <= longer_than:
            dropped.add(f"{TOO_SHORT} {longer_than} turns at most", turn.turn_id)
            continue
        if not _says_enough(said_in(turn), sense):
            dropped.add("turn not asked for: few words of content", turn.turn_id)
            continue
        kind, make = makers[number % len(makers)]
        made = make(turn, sense, Random(_shuffled(turn.turn_id, seed)))
        if made is None:
            dropped.add(f"turn not asked for: no {kind} of it", turn.turn_id)
        elif holders.holding(made.origin) != [place]:
            dropped.add("turn not asked for: another turn has its words", turn.turn_id)
        else:
            number += 1
            query = Query(f"{kind.replace(' ', '-')}-{number:04}", made.query, turn.conversation_id, kind)
            yield Judged(query, {turn.turn_id: 1})
    if number < n:
        dropped.add("question that no turn was left for", f"{n} were asked for", count=n - number)


def _says_enough(said: str, sense: WordSense) -> bool:
    content = (word for word in each_word(said) if sense.is_content(word.of(said)))
    return len(list(islice(content, FEWEST_CONTENT_WORDS))) == FEWEST_CONTENT_WORDS


def _sampled(turns: Sequence[Turn], *, seed: int) -> Iterator[int]:
    """Yield the places of turns, one of each conversation and over again, in an order that only ids and seed decide."""
    by_conversation: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        by_conversation.setdefault(turn.conversation_id, []).append(place)
    for places in by_conversation.values():
        places.sort(key=lambda place: _shuffled(turns[place].turn_id, seed), reverse=True)
    waiting = [by_conversation[name] for name in sorted(by_conversation, key=lambda name: _shuffled(name, seed))]
    while waiting:
        for places in waiting:
            yield places.pop()
        waiting = [places for places in waiting if places]


def _shuffled(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode("utf-8", "surrogatepass")).digest()


def _paraphrased(paraphraser: Paraphraser, turn: Turn, _sense: WordSense, _random: Random) -> Remembered | None:
    said = said_in(turn)
    question = paraphraser.question_for(said)
    return Remembered(question, said) if question else None


def _digest(turns: Sequence[Turn]) -> str:
    listed = hashlib.sha256()
    for turn in turns:
        listed.update(f"{turn.sha256}  {turn.conversation_id}/{turn.turn_id}\n".encode("utf-8", "surrogatepass"))
    return listed.hexdigest()
