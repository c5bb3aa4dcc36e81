"""The tools that find words: search, quote, verify, look at a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from memory_rag.errors import QueryError, UnknownTurnError
from memory_rag.interfaces.mcp.results import (
    Checked,
    Found,
    QuotationChecked,
    Quotes,
    ShownTurn,
)
from memory_rag.interfaces.mcp.told import Told, unknown_turn
from memory_rag.interfaces.mcp.wording import (
    MOST_CHARS,
    PASSAGE_CHARS,
    counted,
    excerpt_around,
    found_turn,
    joined,
    passage,
    quote_lines,
    quoted_words,
    remembered,
    room_for,
)
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.prompt.fencing import Excerpt, fenced
from memory_rag.retrieval.filters import Within
from memory_rag.turns import Span, Turn

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.retrieval.quotes import Quote

LONGEST_QUERY: Final = 10_000
LONGEST_TEXT: Final = 1_000_000

Conversation = Annotated[str | None, Field(description="Only of this conversation, by its id.")]
Session = Annotated[str | None, Field(description="Only of this session.")]
Speaker = Annotated[str | None, Field(description="Only by this speaker, by name.")]
RoleGiven = Annotated[
    Literal["user", "assistant", "system", "tool"] | None, Field(description="Only by this side of the talk.")
]
Since = Annotated[str | None, Field(description="Said then or later: 2026, 2026-04, 2026-04-10 or 2026-04-10T09:30Z.")]
Until = Annotated[str | None, Field(description="Said then or earlier; a bare day, month or year is meant whole.")]
TurnId = Annotated[str, Field(min_length=1, max_length=200, description="A turn's id, such as t17.")]


class ReadingTools:
    """What a client may ask of the turns of one memory."""

    def __init__(self, live: LiveMemory) -> None:
        self._live = live

    def search_memory(
        self,
        query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY, description="A question, or words.")],
        *,
        k: Annotated[int, Field(ge=1, le=50, description="Turns at most.")] = 8,
        mode: Annotated[
            Literal["hybrid", "keyword", "dense"],
            Field(description="hybrid is best; keyword for exact terms, dense for meaning alone."),
        ] = "hybrid",
        conversation: Conversation = None,
        session: Session = None,
        speaker: Speaker = None,
        role: RoleGiven = None,
        since: Since = None,
        until: Until = None,
        include_unlikely: Annotated[
            bool, Field(description="Also what probably doesn't answer it, instead of nothing.")
        ] = False,
        include_unrecalled: Annotated[
            bool, Field(description="Also tool traffic, hidden context and abandoned branches.")
        ] = False,
    ) -> Told[Found]:
        """Find what was said in earlier conversations, best first, with who said it, when, and the exact words.

        Use it before you answer anything about the past: preferences, decisions, prices, names, dates. An empty result
        is an answer: say that it isn't in the memory rather than guess.
        """
        memory = self._live.get()
        within = Within(conversation, session, speaker, role, since, until, include_unrecalled)
        ranking = memory.search(query, k=k, mode=mode, within=within, floor=not include_unlikely)
        if ranking.pending:
            self._live.catching_up.begin(memory)
        room = room_for(len(ranking))
        excerpts = [excerpt_around(hit.turn, hit.span, n_chars=room) for hit in ranking]
        notes = list(ranking.notes)
        if any(not one.is_whole for one in excerpts):
            notes.append("parts of long turns are shown; get_turn shows a whole one")
        if not ranking.hits and not notes and not include_unlikely:
            notes.append("nothing here is likely to answer this; include_unlikely=true shows what comes nearest")
        found = Found(
            query=query,
            mode=str(ranking.mode),
            evidence=_evidence(ranking.evidence),
            hits=[found_turn(hit, one) for hit, one in zip(ranking, excerpts, strict=True)],
            pending=ranking.pending,
            notes=notes,
        )
        text = joined(
            _headline(len(ranking), ranking.evidence),
            fenced(excerpts, zone=memory.zone),
            [f"note: {line}" for line in notes],
        )
        return Told(found, text)

    def get_turn(
        self,
        turn_id: TurnId,
        *,
        before: Annotated[int, Field(ge=0, le=20, description="Turns before it to show.")] = 2,
        after: Annotated[int, Field(ge=0, le=20, description="Turns after it to show.")] = 2,
        start: Annotated[int, Field(ge=0, description="Where to begin in a turn too long to show whole.")] = 0,
    ) -> Told[ShownTurn]:
        """Show one turn whole, with what was said just before and after it.

        At most 24,000 characters of it are shown; if its end is below n_chars, call again with start=end.
        """
        memory = self._live.get()
        turns = _neighbours(memory, turn_id, before=before, after=after)
        place = next(number for number, turn in enumerate(turns) if turn.turn_id == turn_id)
        turn = turns[place]
        if start and start >= len(turn.text):
            raise QueryError(f"start is {start}, but turn {turn_id} has {len(turn.text)} characters; give a lower one")
        shown = Excerpt(turn, Span(start, min(len(turn.text), start + MOST_CHARS)))
        around = [excerpt_around(one, Span(0, 0), n_chars=PASSAGE_CHARS) for one in turns]
        earlier = [one.text[:MOST_CHARS] for one in memory.store.earlier_versions(turn_id)]
        result = ShownTurn(
            turn=passage(shown),
            before=[passage(one) for one in around[:place]],
            after=[passage(one) for one in around[place + 1 :]],
            sha256=turn.sha256,
            recalled=turn.recalled,
            earlier_texts=earlier,
        )
        more = f"it goes on: get_turn with start={shown.span.end}" if shown.span.end < len(turn.text) else ""
        changed = f"it was corrected {len(earlier)} times; earlier_texts has what it was" if earlier else ""
        excerpts = [*around[:place], shown, *around[place + 1 :]]
        return Told(result, joined(f"turn {turn_id}", fenced(excerpts, zone=memory.zone), more, changed))

    def quote(
        self,
        text: Annotated[
            str, Field(min_length=1, max_length=LONGEST_QUERY, description="The words, as they are remembered.")
        ],
        *,
        limit: Annotated[int, Field(ge=1, le=50, description="Places at most.")] = 5,
        conversation: Conversation = None,
        session: Session = None,
        speaker: Speaker = None,
        role: RoleGiven = None,
        since: Since = None,
        until: Until = None,
    ) -> Told[Quotes]:
        """Find where these words were said, byte for byte, else but for case and marks, else nearly.

        Before you put words in quotation marks, find them here and copy the stored ones. Nothing found means that they
        were never said: don't quote them.
        """
        memory = self._live.get()
        within = Within(conversation, session, speaker, role, since, until, unrecalled=True)
        quotes = memory.quote(text, limit=limit, within=within)
        notes = list(memory.indexes.notes_on(within))
        result = Quotes(query=text, found=bool(quotes), quotes=[quoted_words(one) for one in quotes], notes=notes)
        head = f"said in {counted(len(quotes), 'place')}" if quotes else "not found: these words were never said"
        told = joined(head, _quoted(quotes, memory), [f"note: {line}" for line in notes])
        return Told(result, told)

    def verify_quotes(
        self,
        answer: Annotated[
            str, Field(min_length=1, max_length=LONGEST_TEXT, description="A text with quotations in it.")
        ],
        *,
        turn_id: Annotated[
            str | None, Field(description="The stored turn that this text is: it can't confirm itself.")
        ] = None,
    ) -> Told[Checked]:
        """Check every quotation in a text against what was really said, and by whom.

        Run it on a draft that quotes the past, and correct what is not verbatim before you send it.
        """
        memory = self._live.get()
        if turn_id is not None:
            _neighbours(memory, turn_id, before=0, after=0)
        verdicts = memory.verify(answer, answer_turn_id=turn_id)
        checked = [
            QuotationChecked(
                quotation=one.quotation.text,
                start=one.quotation.span.start,
                end=one.quotation.span.end,
                status=one.status,
                claimed=one.claimed,
                count=one.count,
                message=one.message,
                quotes=[quoted_words(quote) for quote in one.quotes],
            )
            for one in verdicts
        ]
        good = all(one.status == "verbatim" for one in checked)
        lines = [
            f"{number}. {one.status}: {one.quotation[:200]!r} – {one.message}" for number, one in enumerate(checked, 1)
        ]
        head = f"{counted(len(checked), 'quotation')}, all verbatim" if good else _not_all(checked)
        shown = _quoted([quote for one in verdicts if one.status != "verbatim" for quote in one.quotes[:1]], memory)
        text = joined(head if checked else "there is no quotation in it", remembered(lines), shown)
        return Told(Checked(all_verbatim=good, verdicts=checked), text)


def _neighbours(memory: Memory, turn_id: str, *, before: int, after: int) -> list[Turn]:
    try:
        return memory.neighbours(turn_id, before=before, after=after)
    except UnknownTurnError:
        raise unknown_turn(turn_id) from None


def _evidence(value: str) -> Literal["strong", "weak", "none"]:
    return "strong" if value == "strong" else "weak" if value == "weak" else "none"


def _headline(n_hits: int, evidence: str) -> str:
    if not n_hits:
        return "nothing found: it isn't in this memory. Say so; don't guess."
    weak = "; weak evidence, they may well not answer it" if evidence == "weak" else ""
    return f"{counted(n_hits, 'turn')}, best first{weak}"


def _quoted(quotes: Sequence[Quote], memory: Memory) -> str:
    return remembered([line for one in quotes for line in quote_lines(one, memory.zone)])


def _not_all(checked: Sequence[QuotationChecked]) -> str:
    wrong = sum(one.status != "verbatim" for one in checked)
    return f"{wrong} of {counted(len(checked), 'quotation')} not verbatim; correct or drop them"
