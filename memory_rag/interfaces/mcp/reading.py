"""The tools that change nothing: search, quote, verify, look at a turn, the summary and the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from memory_rag.errors import QueryError, UnknownTurnError
from memory_rag.interfaces.mcp.live_memory import LiveMemory
from memory_rag.interfaces.mcp.results import (
    Checked,
    ConversationCount,
    Found,
    MemoryStats,
    OneSummary,
    QuotationChecked,
    Quotes,
    ShownTurn,
    Summaries,
    SummaryLine,
)
from memory_rag.interfaces.mcp.told import Told, unknown_turn
from memory_rag.interfaces.mcp.wording import (
    MOST_CHARS,
    PASSAGE_CHARS,
    excerpt_around,
    found_turn,
    iso,
    joined,
    passage,
    quote_lines,
    quoted_words,
    remembered,
    room_for,
)
from memory_rag.prompt.fencing import Excerpt, fenced
from memory_rag.retrieval.filters import Within
from memory_rag.summaries.summary import Level, Summary
from memory_rag.turns import Span, Turn

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.retrieval.quotes import Quote

LONGEST_QUERY: Final = 10_000
LONGEST_TEXT: Final = 1_000_000
_SPEAKERS_SHOWN: Final = 20
_CONVERSATIONS_SHOWN: Final = 30
_SUMMARIES_SHOWN: Final = 10

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
    """What a client may ask of one memory."""

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
        head = f"said in {_counted(len(quotes), 'place')}" if quotes else "not found: these words were never said"
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
        head = f"{_counted(len(checked), 'quotation')}, all verbatim" if good else _not_all(checked)
        shown = _quoted([quote for one in verdicts if one.status != "verbatim" for quote in one.quotes[:1]], memory)
        text = joined(head if checked else "there is no quotation in it", remembered(lines), shown)
        return Told(Checked(all_verbatim=good, verdicts=checked), text)

    def get_summary(
        self,
        conversation: Annotated[
            str | None, Field(description="Of this conversation; without it, of those summarised last.")
        ] = None,
        *,
        level: Annotated[
            Literal["hundred", "thousand", "lifetime"] | None,
            Field(description="How much one stands for: up to 100 turns, up to ten of those, the whole life."),
        ] = None,
    ) -> Told[Summaries]:
        """Read the running summary: topics, preferences, decisions with reasons, open questions, each with its turns.

        A summary tells where to look; for exact words use quote or get_turn with the turn ids of its lines.
        """
        memory = self._live.get()
        names = [conversation] if conversation is not None else summarised_last(memory, n=_SUMMARIES_SHOWN)
        levels = [Level.LIFETIME, Level.THOUSAND, Level.HUNDRED] if level is None else [Level(level)]
        found = [
            one for name in names for each in levels for one in reversed(memory.summaries.stored(name, level=each))
        ]
        shown = found[:_SUMMARIES_SHOWN]
        notes = [] if shown else [_no_summary(conversation, level)]
        if len(found) > len(shown):
            notes.append(f"{len(found) - len(shown)} more are stored; name a conversation and a level")
        result = Summaries(summaries=[_summary(one) for one in shown], notes=notes)
        return Told(result, joined(summaries_text(shown), [f"note: {line}" for line in notes]))

    def memory_stats(self) -> Told[MemoryStats]:
        """Count what is in the memory: turns, speakers, conversations, times, and how much is searched by meaning."""
        memory = self._live.get()
        stats = memory.stats()
        newest = sorted(
            stats.conversations, key=lambda one: (one.last is not None, one.last or stats.last, one.conversation_id)
        )[::-1][:_CONVERSATIONS_SHOWN]
        result = MemoryStats(
            n_turns=stats.n_turns,
            n_conversations=len(stats.conversations),
            n_sessions=stats.n_sessions,
            first=iso(stats.first),
            last=iso(stats.last),
            by_role=dict(stats.by_role),
            speakers=dict(list(stats.by_speaker.items())[:_SPEAKERS_SHOWN]),
            unrecalled=stats.unrecalled,
            languages=list(stats.languages),
            embedder=stats.embedder,
            embedded=stats.embedded,
            pending=stats.pending,
            conversations=[
                ConversationCount(
                    conversation_id=one.conversation_id,
                    title=one.title,
                    n_turns=one.n_turns,
                    first=iso(one.first),
                    last=iso(one.last),
                )
                for one in newest
            ],
            notes=[stats.note] if stats.note else [],
        )
        span = f", {result.first} to {result.last}" if result.first else ""
        head = f"{_counted(stats.n_turns, 'turn')} in {_counted(len(stats.conversations), 'conversation')}{span}"
        by_meaning = (
            f"{stats.embedded} can be searched by meaning, {stats.pending} wait for it"
            if stats.embedder
            else "keyword search only"
        )
        lines = [
            f"{one.conversation_id}: {one.title or '(no title)'} · {_counted(one.n_turns, 'turn')} · last {one.last}"
            for one in result.conversations
        ]
        return Told(result, joined(head, by_meaning, remembered(lines), [f"note: {line}" for line in result.notes]))


def summarised_last(memory: Memory, *, n: int) -> list[str]:
    """Return the conversations whose summaries were made last, the newest first."""
    made = {
        one.conversation_id: max((made_at for _number, made_at in state), default=0)
        for one in memory.store.conversations()
        if (state := memory.summaries.shelf.state(one.conversation_id))
    }
    return sorted(made, key=lambda name: (-made[name], name))[:n]


def summaries_text(summaries: Sequence[Summary]) -> str:
    """Return summaries as one fenced text."""
    lines: list[str] = []
    for one in summaries:
        ends = f"{one.first_turn_id} to {one.last_turn_id}"
        lines += [f"[{one.conversation_id} · {one.level.value} · {one.n_turns} turns, {ends}]", *one.text.splitlines()]
    return remembered(lines)


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
    return f"{_counted(n_hits, 'turn')}, best first{weak}"


def _quoted(quotes: Sequence[Quote], memory: Memory) -> str:
    return remembered([line for one in quotes for line in quote_lines(one, memory.zone)])


def _not_all(checked: Sequence[QuotationChecked]) -> str:
    wrong = sum(one.status != "verbatim" for one in checked)
    return f"{wrong} of {_counted(len(checked), 'quotation')} not verbatim; correct or drop them"


def _summary(one: Summary) -> OneSummary:
    return OneSummary(
        conversation_id=one.conversation_id,
        level=one.level.value,
        n_turns=one.n_turns,
        first_turn_id=one.first_turn_id,
        last_turn_id=one.last_turn_id,
        made_by=one.made_by,
        made_at=iso(one.made_at) or "",
        focus=one.focus,
        note=one.note,
        lines=[
            SummaryLine(
                kind=line.kind.value,
                text=line.text,
                reason=line.reason,
                turn_ids=list(line.turn_ids),
                verbatim=line.verbatim,
            )
            for line in one.lines
        ],
    )


def _no_summary(conversation: str | None, level: str | None) -> str:
    where = "" if conversation is None else f" of conversation {conversation!r}"
    of_level = "" if level is None else f" of level {level!r}"
    return f"there is no summary{where}{of_level} yet; search_memory finds the turns themselves"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
