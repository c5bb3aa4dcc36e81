"""How much a summarizer keeps of names, numbers, dates, decisions and preferences, block by block."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory_rag.summaries.audit import COUNTED, Kept, audit
from memory_rag.summaries.reading import read_sentences
from memory_rag.summaries.summary import WORD_LIMIT, Kind, Line, Summarizer
from memory_rag.text.analyzer import Analyzer
from memory_rag.turns import Turn

BATCH_TURNS: Final = 12
"""Turns by which a running summary is extended, as with the default triggers: 20 turns of which 8 stay."""
MUST_HOLD_NAME: Final = "decision or preference"


class SentencesInOrder:
    """A baseline: whole sentences in an order that knows nothing of them, as many as fit. It never extends."""

    def __init__(self, analyzer: Analyzer, *, name: str, seed: int | None = None) -> None:
        self._analyzer = analyzer
        self._seed = seed
        self.fingerprint = name

    def extend(
        self, earlier: Sequence[Line], turns: Sequence[Turn], *, focus: str = "", word_limit: int = WORD_LIMIT
    ) -> tuple[Line, ...]:
        """Return the first sentences that fit, or random ones."""
        read = read_sentences(turns, analyzer=self._analyzer)
        if self._seed is not None:
            random.Random(self._seed).shuffle(read)
        lines: list[Line] = []
        left = word_limit
        for sentence in read:
            line = Line(Kind.POINT, sentence.text, (sentence.turn.turn_id,), speaker=sentence.turn.speaker)
            if line.n_words <= left:
                lines.append(line)
                left -= line.n_words
            if left <= 0:
                break
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class BlockKept:
    """What one summary of one block of turns kept, by kind, and its words."""

    conversation_id: str
    kept: Mapping[str, Kept]
    n_words: int
    cited: frozenset[str]
    """Ids of the turns that its lines cite, subject words aside."""


def blocks_kept(
    conversations: Mapping[str, Sequence[Turn]],
    summarizer: Summarizer,
    *,
    analyzer: Analyzer,
    block_turns: int = 100,
    batch_turns: int | None = None,
    word_limit: int = WORD_LIMIT,
    told: Callable[[int], None] = lambda n_blocks: None,
) -> list[BlockKept]:
    """Return what is kept of every block of turns in every conversation, in order.

    A block is summarised at once, or with ``batch_turns`` extended by so many turns at a time, as a running summary is.
    """
    found: list[BlockKept] = []
    for conversation_id, turns in conversations.items():
        for start in range(0, len(turns), block_turns):
            block = turns[start : start + block_turns]
            lines: tuple[Line, ...] = ()
            for at in range(0, len(block), batch_turns or block_turns):
                batch = block[at : at + (batch_turns or block_turns)]
                lines = summarizer.extend(lines, batch, word_limit=word_limit)
            result = audit(lines, block, analyzer=analyzer)
            kept = {**result.kept, MUST_HOLD_NAME: result.must_hold}
            cited = frozenset(one for line in lines if line.kind is not Kind.TOPIC for one in line.turn_ids)
            found.append(BlockKept(conversation_id, kept, sum(line.n_words for line in lines), cited))
            told(len(found))
    return found


def by_conversation(blocks: Iterable[BlockKept]) -> dict[str, dict[str, Kept]]:
    """Return by kind and conversation what its blocks together kept; a conversation without the kind is left out."""
    counted: dict[str, dict[str, Kept]] = {kind: {} for kind in (*COUNTED, MUST_HOLD_NAME)}
    for block in blocks:
        for kind, kept in block.kept.items():
            before = counted[kind].get(block.conversation_id, Kept(0, 0))
            counted[kind][block.conversation_id] = Kept(before.kept + kept.kept, before.of + kept.of)
    return {kind: {name: kept for name, kept in own.items() if kept.of} for kind, own in counted.items()}
