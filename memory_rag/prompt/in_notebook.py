"""A prompt, what a new session knows, and where words went, as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_rag.html.cards import badge, card, folded, listed, quiet, row, share_bar, table, words
from memory_rag.html.markup import Html
from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.prompt.brief import Brief
    from memory_rag.prompt.message_parts import Json
    from memory_rag.prompt.prompt_context import PromptContext
    from memory_rag.prompt.whereabouts import Whereabouts

_START: Final = Span(0, 0)


def context_html(context: PromptContext) -> Html:
    """Return what a prompt costs, part by part and drawn against its budget, why each turn is in it, and its words."""
    account = context.account
    costs = [
        [part.part, share_bar(part.n_tokens / account.budget), f"{part.n_tokens:,}", part.told]
        for part in account.parts
        if part.n_tokens
    ]
    counted = "estimated, erring high" if account.is_estimate else f"counted by {account.counter}"
    title = f"{account.total:,} of {account.budget:,} tokens ({counted})"
    turns = [[one.turn_id, one.part, one.why, f"{one.n_tokens:,}"] for one in context.included]
    return card(
        table(["part", "of the budget", "tokens", ""], costs),
        listed(context.notes),
        folded("Why each turn is there", table(["turn", "part", "why", "tokens"], turns, numbers=1)) if turns else None,
        folded("The prompt, word for word", *map(_message, context.messages)),
        title=title,
    )


def _message(message: Json) -> Html:
    return row(str(message["role"]), words(_said(message["content"])))


def _said(content: object) -> str:
    return content if isinstance(content, str) else str(content)


def brief_html(brief: Brief) -> Html:
    """Return what a new session knows, part by part."""
    rows = [row("preference", words(pin.text)) for pin in brief.preferences]
    rows += [row("state", words(f"{key}: {value}")) for key, value in brief.state.items()]
    for one in brief.decisions:
        why = f" (why: {one.because})" if one.because else ""
        rows.append(row("decision", words(f"{one.text}{why}"), quiet(f"{one.decided_at:%Y-%m-%d}")))
    rows += [row("file", str(file)) for file in brief.files]
    if brief.summary is not None:
        rows.append(row("summary", words(brief.summary.text, around=_START)))
    for talk in brief.earlier:
        about = "not summarised yet" if talk.summary is None else talk.summary.one_line
        rows.append(row("earlier", words(talk.title or talk.name), quiet(about)))
    if not rows:
        return card("A new session knows nothing yet.")
    return card(*rows, title=f"What a new session of {brief.conversation_id} knows")


def whereabouts_html(found: Whereabouts) -> Html:
    """Return every place where words are or were."""
    rows = []
    for answer in found.answers:
        place = badge(answer.where.value, "good" if answer.in_prompt else "unsure")
        rows.append(row(place, words(answer.told)))
    title = f"Where is “{found.words}”?"
    asked = quiet(f"in the prompt for: {found.question}") if found.question else None
    return card(*rows, asked, title=title)
