"""``memory-rag context`` and ``events``: the prompt for a question, and the log of what was done to prompts."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.keeping import file_json
from memory_rag.interfaces.cli.output import Json, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place, usable
from memory_rag.interfaces.cli.terminal import padded, shown
from memory_rag.interfaces.cli.turn_shape import DOT, instant_json, when

if TYPE_CHECKING:
    from memory_rag.prompt.events import Event
    from memory_rag.prompt.prompt_context import Account, PromptContext
    from memory_rag.prompt.wishes import Wishes

_SHAPES = ("openai", "anthropic", "responses")
_PART_WIDTH = 22
_TOLD = ("what", "warning", "failed", "reason", "note")
"""What of an event's details is worth a place on its line."""


def _shape(value: str) -> str:
    if value not in _SHAPES:
        raise typer.BadParameter(f"unknown shape {value!r}; a shape is one of: {', '.join(_SHAPES)}")
    return value


def _retrieve(value: str) -> str:
    from memory_rag.prompt.retrieving import Retrieve

    return usable(Retrieve.parse, value).value


def _kind(value: str | None) -> str | None:
    if value is not None:
        from memory_rag.prompt.events import EventKind

        usable(EventKind.parse, value)
    return value


def context(
    place: Place,
    question: Annotated[str, typer.Argument(metavar="TEXT", help="What the user says now.", show_default=False)],
    system: Annotated[str, typer.Option("--system", metavar="TEXT", help="Your own instructions.")] = "",
    token_budget: Annotated[int, typer.Option("--token-budget", min=1, metavar="N", help="Tokens at most.")] = 6000,
    keep_recent: Annotated[
        int | None, typer.Option("--keep-recent", min=0, metavar="N", help="Newest turns kept. Default: 8.")
    ] = None,
    conversation: Annotated[str, typer.Option("--conversation", metavar="ID", help="What goes on.")] = "main",
    retrieve: Annotated[
        str,
        typer.Option(
            "--retrieve", metavar="WHEN", callback=_retrieve, help="What was said before: auto, always, never or tool."
        ),
    ] = "auto",
    shape: Annotated[
        str, typer.Option("--for", metavar="SHAPE", callback=_shape, help="With --json: openai, anthropic, responses.")
    ] = "openai",
    as_json: Json = False,
) -> None:
    """Put together the prompt for what the user says now.

    It is printed to be pasted; what it costs and what is in it is told beside it.
    """
    wishes: Wishes = {
        "token_budget": token_budget,
        "conversation_id": conversation,
        "retrieve": retrieve,
    }
    if keep_recent is not None:
        wishes["keep_recent"] = keep_recent
    with place.open() as memory:
        made = memory.context(question, system=system, **wishes)
    if as_json:
        print_json(_context_json(made, shape))
        return
    for message in made.messages:
        calls = [call["function"] for call in message.get("tool_calls", ())]
        called = [f"(calls {call['name']} {call['arguments']})" for call in calls]
        say(f"--- {message['role']}")
        say(shown("\n".join([*([message["content"]] if message["content"] else []), *called])))
    for line in _account_lines(made.account):
        tell(line)
    if keep_recent != 0 and not made.window.turns:
        note(f"no turns in conversation {conversation!r} yet; another is named with --conversation")
    for text in made.notes:
        note(text)


def events(
    place: Place,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", callback=_kind, help="Of this kind, such as compaction.")
    ] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", metavar="ID", help="Of this talk.")] = None,
    newest: Annotated[int, typer.Option("--newest", min=1, metavar="N", help="So many at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List edits, compactions, summaries and retrievals.

    Each with its time, the tokens before and after, the model, and the cost where a price is set.
    """
    from memory_rag.prompt.events import EventKind

    with place.open() as memory:
        found = memory.prompt.events.events(
            kind=None if kind is None else EventKind.parse(kind), conversation_id=conversation, newest=newest
        )
        zone = memory.zone
    if as_json:
        print_json({"events": [_event_json(one) for one in found]})
        return
    for one in found:
        say(shown(_event_line(one, zone)))
    if not found:
        say("nothing was logged")


def _context_json(made: PromptContext, shape: str) -> dict[str, Any]:
    shaped: dict[str, Any] = {"messages": made.messages}
    if shape == "anthropic":
        shaped = {**made.for_anthropic(), **({"betas": list(made.betas)} if made.betas else {})}
    elif shape == "responses":
        shaped = made.for_responses()
    account = made.account
    return {
        "request": shaped,
        "account": {
            "budget": account.budget,
            "total": account.total,
            "over_by": account.over_by,
            "counter": account.counter,
            "is_estimate": account.is_estimate,
            "parts": [{"part": one.part, "tokens": one.n_tokens, "told": one.told} for one in account.parts],
            "files": [file_json(one) for one in account.files],
        },
        "included": [
            {
                "turn_id": one.turn_id,
                "part": one.part,
                "why": one.why,
                "tokens": one.n_tokens,
                "is_whole": one.is_whole,
            }
            for one in made.included
        ],
        "notes": list(made.notes),
    }


def _account_lines(account: Account) -> list[str]:
    by = f"by {account.counter}" if not account.is_estimate else "estimated, erring high"
    lines = [f"{account.total:,} of {account.budget:,} tokens ({by})"]
    for one in account.parts:
        if one.n_tokens:
            lines.append(f"  {padded(one.part, _PART_WIDTH)}{one.n_tokens:>7,}  {one.told}".rstrip())
    return [*lines, *(f"  {read}" for read in account.files)]


def _event_line(one: Event, zone: tzinfo) -> str:
    parts = [when(one.happened_at, zone), one.kind.value]
    if one.conversation_id:
        parts.append(one.conversation_id)
    if one.turn_id:
        parts.append(one.turn_id)
    if one.tokens_before is not None or one.tokens_after is not None:
        parts.append(f"{_count(one.tokens_before)} to {_count(one.tokens_after)} tokens")
    if one.model:
        parts.append(one.model)
    if one.cost is not None:
        parts.append(f"cost {one.cost:.4f}")
    if "n_words" in one.details:
        counts = ((one.details.get("n_turns", "?"), "turn"), (one.details["n_words"], "word"))
        parts.append(", ".join(f"{n} {what if n == 1 else f'{what}s'}" for n, what in counts))
    parts += [str(one.details[name]) for name in _TOLD if name in one.details]
    return DOT.join(parts)


def _count(n_tokens: int | None) -> str:
    return "?" if n_tokens is None else f"{n_tokens:,}"


def _event_json(one: Event) -> dict[str, Any]:
    return {
        "event": one.number,
        "kind": one.kind.value,
        "happened_at": instant_json(one.happened_at),
        "conversation_id": one.conversation_id,
        "turn_id": one.turn_id,
        "model": one.model,
        "tokens_before": one.tokens_before,
        "tokens_after": one.tokens_after,
        "cost": one.cost,
        "details": dict(one.details),
    }
