"""``memory-rag where``: why a model no longer knows something; every place is looked into."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.output import Json, is_colourful, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import Ink, fitted, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import instant_json

if TYPE_CHECKING:
    from memory_rag.prompt.whereabouts import Answer


def where(
    place: Place,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words as they were said.", show_default=False)],
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="TEXT", help="Look at the prompt for this. Default: the last one asked."),
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Which goes on. Default: the last spoken in.")
    ] = None,
    token_budget: Annotated[
        int, typer.Option("--token-budget", min=1, metavar="N", help="Tokens that your prompts have at most.")
    ] = 6000,
    as_json: Json = False,
) -> None:
    """Say why a model doesn't know something any more.

    Looks for the words in the prompt, in the summaries, among cleared tool results, in pinned files, in everything
    that was said, and says where they are or what took them away.
    """
    with place.open() as memory:
        found = memory.prompt.where(words, conversation_id=conversation, question=question, token_budget=token_budget)
    if as_json:
        print_json(
            {
                "words": words,
                "conversation_id": found.conversation_id,
                "question": found.question,
                "in_prompt": found.in_prompt,
                "answers": [_answer_json(answer) for answer in found.answers],
            }
        )
        return
    ink = Ink(is_colourful(sys.stdout))
    said = "is told" if found.in_prompt else "is not told"
    asked = fitted(shown(found.question), 60)
    asked = f"the prompt for {asked!r}" if asked else "a prompt in which nothing is asked"
    verdict = f"The model {said} these words in {asked} ({shown(found.conversation_id)})."
    for span in wrapped(verdict, screen_width()):
        say(ink.bold(span.of(verdict)))
    for answer in found.answers:
        text = shown(answer.told)
        for number, span in enumerate(wrapped(text, screen_width() - 2)):
            say(("- " if number == 0 else "  ") + span.of(text))
    turns = [answer.turn_id for answer in found.answers if answer.turn_id]
    if turns:
        tell(f"see: {place.command('show', turns[0])}")


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "where": answer.where.value,
        "told": answer.told,
        "in_prompt": answer.in_prompt,
        "turn_id": answer.turn_id,
        "rank": answer.rank,
        "summary": answer.summary,
        "line": answer.line,
        "at": instant_json(answer.at),
    }
