"""``memory-rag chat``: talk with a model over a memory that forgets nothing."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.interfaces.cli.output import error, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import screen_width, wrapped

if TYPE_CHECKING:
    from memory_rag.summaries.chat_endpoint import ChatEndpoint


def chat(
    place: Place,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="A server that speaks OpenAI's chat API; ends in /v1."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model that answers.")] = None,
    conversation: Annotated[str, typer.Option("--conversation", metavar="ID", help="Which goes on.")] = "main",
    system: Annotated[
        str | None, typer.Option("--system", metavar="TEXT", help="Your own instructions instead of ours.")
    ] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Your name in the memory.")] = None,
    token_budget: Annotated[int, typer.Option("--token-budget", min=1, metavar="N", help="Tokens at most.")] = 6000,
) -> None:
    """Talk with a model that remembers what was said.

    Without a server, it says how to get one, and prints each prompt for pasting. In the chat, /help lists what can be
    asked of it. A key is read from OPENAI_API_KEY, and never stored or shown.
    """
    from memory_rag.interfaces.chat.guide import ENDPOINTS
    from memory_rag.interfaces.chat.loop import Chat
    from memory_rag.interfaces.chat.session import SYSTEM, ChatSession

    endpoint = _endpoint(base_url, model)
    with place.open(create=True) as memory:
        now = datetime.now(UTC).astimezone(memory.zone)
        session = ChatSession(
            memory,
            conversation_id=conversation,
            session_id=now.strftime("%Y-%m-%d %H:%M:%S"),
            speaker=speaker,
            system=SYSTEM if system is None else system,
            token_budget=token_budget,
            endpoint=endpoint,
        )
        if endpoint is None:
            tell(ENDPOINTS)
        elif sys.stdin.isatty():
            kept = "a new memory" if not len(memory) else f"{len(memory):,} turns are remembered"
            greeting = f"{endpoint.model} · {place.title}, {kept} · /help lists what can be asked, Ctrl-D leaves"
            for line in wrapped(greeting, screen_width()):
                say(line.of(greeting))
        try:
            whole = Chat(session).run()
        finally:
            if endpoint is not None:
                endpoint.close()
    if not whole:
        raise typer.Exit(1)


def _endpoint(base_url: str | None, model: str | None) -> ChatEndpoint | None:
    """Return what answers; None if neither a server nor a key is named."""
    from memory_rag.embedding.retry import RetryPolicy
    from memory_rag.errors import SettingsError
    from memory_rag.interfaces.chat.loop import telling_sleep
    from memory_rag.interfaces.chat.pointing import pointed_at

    retry = RetryPolicy(attempts=4, sleep=telling_sleep())
    try:
        return pointed_at(base_url, model, retry=retry, url_option="--base-url", model_option="--model")
    except SettingsError as wrong:
        error(str(wrong))
        raise typer.Exit(2) from None
