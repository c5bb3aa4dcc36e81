"""What was said last time: a question for the sitting before this one is answered by its turns, not by a search."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, tzinfo
from typing import Final

from memory_rag.prompt.searched_memory import SearchedMemory
from memory_rag.retrieval.filters import Within
from memory_rag.retrieval.ranking import Hit, Ranking
from memory_rag.store.turn_reader import TurnReader
from memory_rag.talks.talk import Talk
from memory_rag.talks.talks import Talks
from memory_rag.turns import Role, Span

MOST_TURNS: Final = 12
"""The newest turns of that sitting that are quoted at most."""
_LOOKED_AT: Final = 20
_LONGEST: Final = 200
"""Code points of such a question at most: a longer text is about something."""

_LAST: Final[Mapping[str, str]] = {
    "en": r"\b(?:last|previous|previously|left off|leave off|left it|leave it|stopped|stop)\b",
    "sv": r"\b(?:förra|sist|senast|slutade|avslutade)\b",
    "nb": r"\b(?:forrige|førre|sist|slapp|stoppet|sluttet)\b",
}
_OTHER_WORDS: Final[Mapping[str, str]] = {
    "en": (
        "what where did do does we you i were was are have had been talk talked talking about say said discuss "
        "discussed discussing speak spoke spoken chat chatted chatting conversation conversations session time so "
        "and then the our my in on at it off up to with me us again get got remember recall tell remind can could "
        "please decide decided agree agreed something anything ok okay hi hello hey well now that which"
    ),
    "sv": (
        "vad var vi du jag bestämde bestämt pratade pratat talade talat diskuterade diskuterat sa sade sagt gick "
        "igenom om någonstans gången samtalet kommer kom ihåg minns kan kunde berätta påminn mig oss för med på i "
        "höll och så då nu det den vårt vårat hej ok okej handlade snackade snackat är har hade här"
    ),
    "nb": (
        "hva hvor vi du jeg bestemte bestemt snakket pratet diskuterte sa sagt gikk gjennom om gang samtalen "
        "samtale kommer husker minnes kan kunne fortell fortelle minn meg oss for med på i holdt og så da nå det "
        "den vår hei ok handlet var er har hadde snakka prata her ble enige"
    ),
}
_ASKING: Final = re.compile(
    r"\b(?:what|where|remind|recall|remember|tell|vad|var|minns|ihåg|påminn|berätta|hva|hvor|husker|minn|fortell)\b"
)
"""One of these is in every such question or request."""
_ALONE: Final = {language: frozenset(words.split()) for language, words in _OTHER_WORDS.items()}


def asks_of_last_time(question: str) -> bool:
    """Tell whether a question is for the last sitting as such: "where were we last time?", nothing that was in it.

    In English, Swedish and Norwegian. "What did I say about pricing last time?" is about pricing.
    """
    if len(question) > _LONGEST:
        return False
    text = question.casefold()
    for language, last in _LAST.items():
        if re.search(last, text) is None:
            continue
        others = re.findall(r"\w+", re.sub(last, " ", text))
        if _ASKING.search(text) and all(word in _ALONE[language] for word in others):
            return True
    return False


def with_last_time(
    memory: SearchedMemory, *, talks: Callable[[], Talks | None], clock: Callable[[], datetime]
) -> Callable[[str, Within], Ranking]:
    """Return the search of a prompt: a memory's own without a floor, but for questions about the last sitting as such.

    The prompt lays the floor, since it quotes the nearest turns where somebody asks and nothing clearly answers.
    """

    def search(question: str, within: Within) -> Ranking:
        known = talks()
        if known is not None and asks_of_last_time(question) and not _is_narrowed(within):
            today = clock().astimezone(memory.zone).date()
            found = last_time(question, within, talks=known, store=memory.store, today=today, zone=memory.zone)
            if found is not None:
                return found
        return memory.search(question, within=within, floor=False)

    return search


def last_time(
    question: str, within: Within, *, talks: Talks, store: TurnReader, today: date, zone: tzinfo
) -> Ranking | None:
    """Return the newest turns of the sitting before this one, the user's first; None if there was none.

    That is the newest session of an earlier day, or, if all is of today, the newest that isn't in the prompt
    (``within.without``).
    """
    newest = talks.newest(unit="session", n=_LOOKED_AT)
    earlier = [one for one in newest if one.last_said_at is None or one.last_said_at.astimezone(zone).date() < today]
    for talk in earlier or newest:
        hits = _turns_of(talk, talks=talks, store=store, without=frozenset(within.without), whole=bool(earlier))
        if hits is not None:
            return Ranking(question, "last time", hits, evidence="strong")
    return None


def _turns_of(
    talk: Talk, *, talks: Talks, store: TurnReader, without: frozenset[str], whole: bool
) -> tuple[Hit, ...] | None:
    rows = talks.shelf.rows_after(talk.talk, 0)[-MOST_TURNS:]
    turns = store.turns_at(rows)
    said = [turns[row] for row in rows if row in turns and turns[row].role in (Role.USER, Role.ASSISTANT)]
    if not said or (not whole and any(turn.turn_id in without for turn in said)):
        return None
    left = [turn for turn in said if turn.turn_id not in without]
    # What the user said comes first where there isn't room for all.
    left.sort(key=lambda turn: turn.role is not Role.USER)
    return tuple(Hit(turn, 1.0, rank, Span(0, len(turn.text))) for rank, turn in enumerate(left, start=1))


def _is_narrowed(within: Within) -> bool:
    return any((within.conversation, within.session, within.speaker, within.role, within.since, within.until))
