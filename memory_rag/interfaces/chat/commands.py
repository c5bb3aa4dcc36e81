"""What can be asked of a chat beside the model: each command of a line that begins with a slash."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_rag.errors import MemoryRagError, SettingsError, UnknownTurnError
from memory_rag.interfaces.chat.guide import HELP
from memory_rag.interfaces.chat.session import CUT_OFF, ChatSession
from memory_rag.interfaces.cli.terminal import fitted, screen_width, shown, wrapped
from memory_rag.interfaces.cli.turn_shape import DOT, when
from memory_rag.turns import Role, Turn

if TYPE_CHECKING:
    from memory_rag.prompt.prompt_context import PromptContext

Say = Callable[[str], None]
Ask = Callable[[str], str]
_QUOTES: Final = 5
_FEWEST: Final = 20
"""Columns of a turn's words that are shown however long what stands before them is."""


class Commands:
    """The commands of one chat; ``say`` prints a line, ``ask`` puts a question to the user and returns the answer."""

    def __init__(self, session: ChatSession, *, say: Say, ask: Ask) -> None:
        self._session = session
        self._say = say
        self._ask = ask
        self._known: dict[str, Callable[[str], None]] = {
            "why": self._why,
            "quote": self._quote,
            "search": self._search,
            "where": self._where,
            "forget": self._forget,
            "pin": self._pin,
            "summary": self._summary,
            "brief": self._brief,
            "export": self._export,
            "help": lambda _rest: say(HELP),
        }

    def run(self, line: str) -> None:
        """Do what a line asks; what can't be done is said, and the chat goes on."""
        name, _, rest = line.lstrip("/").partition(" ")
        command = self._known.get(name.lower())
        if command is None:
            self._wrapped(f"unknown command /{name}; /help lists them (begin with a space to say it to the model)")
            return
        try:
            command(rest.strip())
        except MemoryRagError as error:
            self._wrapped(f"error: {error}")
        except OSError as error:
            self._say(f"error: {shown(str(error.filename or ''))}: {error.strerror or error}")

    # -- the last prompt

    def _why(self, _rest: str) -> None:
        prompt = self._session.last
        if prompt is None:
            self._say("no prompt was made yet in this sitting")
            return
        for line in why_lines(prompt, self._turns_of(prompt)):
            self._wrapped(line)

    def _turns_of(self, prompt: PromptContext) -> dict[str, Turn]:
        found: dict[str, Turn] = {}
        for one in prompt.included:
            try:
                found[one.turn_id] = self._session.memory.get(one.turn_id)
            except UnknownTurnError:
                continue
        return found

    # -- what was said

    def _quote(self, rest: str) -> None:
        if not self._has(rest, "/quote WORDS"):
            return
        quotes = self._session.memory.quote(rest, limit=_QUOTES)
        for quote in quotes:
            who = f"{quote.status}: {quote.turn_id}{DOT}{quote.speaker or quote.role.value}{DOT}"
            self._say(fitted(shown(f"{who}{when(quote.said_at, self._session.memory.zone)}"), screen_width()))
            self._wrapped(f'  "{quote.text}"')
        if not quotes:
            self._say("not found")

    def _search(self, rest: str) -> None:
        if not self._has(rest, "/search WORDS"):
            return
        ranking = self._session.memory.search(rest, k=_QUOTES)
        for hit in ranking:
            self._turn_lines(hit.turn)
        if not ranking.hits:
            self._say("not found")

    def _where(self, rest: str) -> None:
        if not self._has(rest, "/where WORDS"):
            return
        session = self._session
        found = session.memory.prompt.where(
            rest, conversation_id=session.conversation_id, token_budget=session.token_budget
        )
        for answer in found.answers:
            self._wrapped(f"- {answer.told}")

    def _forget(self, rest: str) -> None:
        if not self._has(rest, "/forget ID ... or /forget last"):
            return
        turns = self._last_exchange() if rest == "last" else [self._session.memory.get(one) for one in rest.split()]
        if not turns:
            self._say("nothing was said yet")
            return
        for turn in turns:
            self._turn_lines(turn)
        what = "this turn" if len(turns) == 1 else f"these {len(turns)} turns"
        if self._ask(f"forget {what} for good? [y/N] ").strip().lower() not in ("y", "yes"):
            self._say("nothing was forgotten")
            return
        n_gone = self._session.memory.forget(list(dict.fromkeys(turn.turn_id for turn in turns)))
        self._say(f"forgotten: {n_gone} {'turn' if n_gone == 1 else 'turns'}")

    def _last_exchange(self) -> list[Turn]:
        newest = self._session.memory.store.newest(self._session.conversation_id, n=20)
        for place in range(len(newest) - 1, -1, -1):
            if newest[place].role is Role.USER:
                return newest[place:]
        return newest[-1:]

    # -- what goes along

    def _pin(self, rest: str) -> None:
        if self._has(rest, "/pin TEXT"):
            pin = self._session.memory.prompt.pins.add(rest)
            self._wrapped(f"pinned as {pin.pin_id}; it goes into every prompt (memory-rag pin --remove {pin.pin_id})")

    def _summary(self, rest: str) -> None:
        memory, conversation = self._session.memory, self._session.conversation_id
        if rest:
            memory.summaries.summarise(conversation, focus=rest)
        stored = memory.summaries.stored(conversation)
        for summary in stored:
            self._say(
                fitted(
                    f"turns {summary.first_turn_id} to {summary.last_turn_id}, by {summary.made_by}:", screen_width()
                )
            )
            for line in summary.text.splitlines():
                self._wrapped(f"  {line}")
        if not stored:
            self._say("no summary yet: the newest turns go into the prompt as they are")

    def _brief(self, _rest: str) -> None:
        from memory_rag.interfaces.cli.briefing import print_brief

        made = self._session.memory.prompt.brief(conversation_id=self._session.conversation_id)
        print_brief(made, self._session.memory.zone)

    def _export(self, rest: str) -> None:
        from memory_rag.importers.turn_lines import export_lines

        memory, conversation = self._session.memory, self._session.conversation_id
        turns = list(memory.turns(conversation_id=conversation))
        if rest.endswith(".jsonl"):
            named = [one for one in memory.store.conversations() if one.conversation_id == conversation]
            text = "".join(f"{line.rstrip()}\n" for line in export_lines(named, turns))
        else:
            text = "\n".join(_as_markdown(turns, self._session))
        if not rest:
            self._say(shown(text))
            return
        path = Path(rest).expanduser()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise SettingsError(f"{path} exists already; name another file") from None
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        self._say(f"written: {shown(str(path))}, {len(turns)} turns")

    # -- shown

    def _turn_lines(self, turn: Turn) -> None:
        place = f"{turn.turn_id}{DOT}{turn.speaker or turn.role.value}{DOT}"
        self._say(fitted(shown(f"{place}{when(turn.said_at, self._session.memory.zone)}"), screen_width()))
        self._say("  " + fitted(shown(turn.text), screen_width() - 2))

    def _wrapped(self, line: str) -> None:
        text = shown(line)
        indent = " " * (len(text) - len(text.lstrip(" -")))
        for number, span in enumerate(wrapped(text, screen_width() - len(indent))):
            self._say(("" if number == 0 else indent) + span.of(text))

    def _has(self, rest: str, usage: str) -> bool:
        if not rest:
            self._say(f"usage: {usage}")
        return bool(rest)


def why_lines(prompt: PromptContext, turns: dict[str, Turn]) -> Iterator[str]:
    """Yield what was in a prompt and why: its account, its turns, the earlier conversations, what was left out."""
    account = prompt.account
    by = "estimated, erring high" if account.is_estimate else f"by {account.counter}"
    yield f"{account.total:,} of {account.budget:,} tokens ({by}):"
    for part in account.parts:
        if part.n_tokens:
            yield f"  {part.part:<22}{part.n_tokens:>7,}  {part.told}".rstrip()
    for file in account.files:
        yield f"  {file}"
    for one in prompt.included:
        turn = turns.get(one.turn_id)
        whole = "" if one.is_whole else ", a part of it"
        head = f"- {one.turn_id} ({one.why}{whole}): "
        room = min(48, max(_FEWEST, screen_width() - len(head)))
        yield head + ("forgotten since" if turn is None else fitted(turn.text, room))
    for talk in prompt.earlier:
        about = talk.summary.one_line if talk.summary is not None else ""
        yield f"- earlier conversation {talk.name}: {fitted(about, 60)}"
    for text in prompt.notes:
        yield f"note: {text}"


def _as_markdown(turns: list[Turn], session: ChatSession) -> Iterator[str]:
    yield f"# {session.conversation_id}\n"
    for turn in turns:
        if not turn.recalled:
            continue
        cut = " (cut off)" if any(block.kind == CUT_OFF for block in turn.blocks) else ""
        who = turn.speaker or turn.role.value
        yield f"## {who}{DOT}{when(turn.said_at, session.memory.zone)}{DOT}{turn.turn_id}{cut}\n"
        yield f"{turn.text}\n"
