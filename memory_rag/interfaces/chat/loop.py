"""The chat's loop: a line in, an answer out, until somebody leaves."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from memory_rag.errors import MemoryRagError, ModelError
from memory_rag.interfaces.chat.commands import Commands
from memory_rag.interfaces.chat.flow import Flow
from memory_rag.interfaces.chat.session import STOPPED, Answered, ChatSession
from memory_rag.interfaces.cli.output import flush, is_colourful, say, tell
from memory_rag.interfaces.cli.terminal import Ink, screen_width, shown
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.turns import Turn

_END: Final = "."
_WAITING: Final = "…"
_LEAVING: Final = ("/quit", "/exit")
_LAST_WORK_S: Final = 2.0


class Chat:
    """A chat on a terminal, or over pipes: then nothing but answers is on stdout."""

    def __init__(self, session: ChatSession) -> None:
        self._session = session
        self._talks = sys.stdin.isatty() and sys.stdout.isatty()
        self._failed = False
        self._ink = Ink(is_colourful(sys.stdout))
        self._commands = Commands(session, say=self._say, ask=self._read)
        if self._talks:
            with suppress(ImportError):
                import readline  # noqa: F401  it gives input() a history and its keys

    def run(self) -> bool:
        """Talk until the end of the input, or /quit; False if, over pipes, an answer didn't come whole."""
        waiting = self._session.unanswered()
        if waiting is not None:
            tell(f"note: {waiting.turn_id} got no answer; /again asks it again")
        while True:
            try:
                line = self._message()
            except EOFError:
                if self._talks:
                    self._say("")
                break
            except KeyboardInterrupt:
                self._say("")
                tell("(Ctrl-D or /quit leaves)")
                continue
            if line.strip() in _LEAVING:
                break
            try:
                self._one(line)
            except KeyboardInterrupt:
                self._say("")
                tell("stopped; what you said is stored")
            except MemoryRagError as error:
                self._failed = True
                tell(f"error: {error}")
        # What was said last may be due for a summary; a model that takes longer is not waited for.
        with suppress(KeyboardInterrupt):
            self._session.memory.summaries.wait(timeout_s=_LAST_WORK_S)
            self._session.memory.talks.wait(timeout_s=_LAST_WORK_S)
        return self._talks or not self._failed

    def _one(self, line: str) -> None:
        if not line.strip():
            return
        if line.strip() == "/again":
            self._again()
        elif line.startswith("/"):
            self._commands.run(line.strip())
        else:
            said = self._own_words(line.strip("\n"))
            if not said:
                return
            turn = self._session.hear(said)
            reason = getattr(turn, "reason", "")
            if not turn.turn_id:
                tell(f"note: not stored ({reason}); the model is asked all the same")
            self._ask_model(turn)

    def _own_words(self, message: str) -> str:
        """Return a message without quoted turns of this memory, as a pasted prompt has them; tell what was left out."""
        own = self._session.memory.prompt.own_words(message)
        if own.taken_out:
            tell(f"note: left out, since the memory quoted it: {', '.join(own.turn_ids) or 'what was recalled'}")
        return own.text

    def _again(self) -> None:
        newest = self._session.memory.store.newest(self._session.conversation_id, n=20)
        asked = next((turn for turn in reversed(newest) if turn.role.value == "user"), None)
        if asked is None:
            tell("nothing was asked yet")
            return
        self._ask_model(asked)

    def _ask_model(self, turn: Turn) -> None:
        try:
            prompt = self._session.prompt_for(turn.text)
        except MemoryRagError as error:
            self._failed = True
            tell(f"error: {error}")
            if turn.turn_id:
                tell(f"what you said is stored as {turn.turn_id}")
            return
        if self._session.endpoint is None:
            self._by_hand(prompt)
            return
        said: list[str] = []
        cut_off = ""
        flow = Flow(self._write, width=screen_width() if self._talks else None)
        self._wait_shown(True)
        try:
            for piece in self._session.answer(prompt, said=said):
                if len(said) == 1:
                    self._wait_shown(False)
                flow.feed(piece)
        except KeyboardInterrupt:
            cut_off = STOPPED
        except ModelError as error:
            cut_off = str(error)
        answered = self._session.keep(said, cut_off=cut_off)
        if not said:
            self._wait_shown(False)
        else:
            flow.end()
        self._tell_end(answered, turn)

    def _tell_end(self, answered: Answered, asked: Turn) -> None:
        self._failed |= bool(answered.cut_off) or answered.turn is None
        kept = "" if not asked.turn_id else f"what you said is stored as {asked.turn_id}; "
        if answered.cut_off and answered.turn is None:
            why = "stopped" if answered.cut_off == STOPPED else f"error: {answered.cut_off}"
            tell(f"{why}\n{kept}/again asks it again")
        elif answered.cut_off:
            where = f"kept as {answered.turn.turn_id}" if answered.turn and answered.turn.turn_id else "not stored"
            tell(f"(cut off: {answered.cut_off}; what came is {where} and marked so; /again asks again)")
        elif answered.turn is None:
            tell(f"the model gave an empty answer; {kept}/again asks it again")
        elif not answered.turn.turn_id:
            tell("note: the answer was not stored")

    def _by_hand(self, prompt: PromptContext) -> None:
        """Print the prompt for pasting, and take the answer that is pasted back."""
        for message in prompt.messages:
            self._say(f"--- {message['role']}")
            self._say(shown(message["content"] or ""))
        if not self._talks:
            return
        self._say("---")
        tell(f"paste the answer, then a line with {_END!r} alone; only {_END!r} if there is none")
        lines: list[str] = []
        try:
            while (line := self._read("")) != _END:
                lines.append(line)
        except (EOFError, KeyboardInterrupt):
            tell("no answer was kept")
            return
        answered = self._session.keep(["\n".join(lines)])
        if answered.turn is not None:
            tell(f"kept as {answered.turn.turn_id}")

    # -- the terminal

    def _message(self) -> str:
        """Read what the user says: a line, and those after it as long as each ends in a backslash."""
        lines = [self._read(self._prompt("> "))]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._read(self._prompt("  ")))
        return "\n".join(lines)

    def _prompt(self, text: str) -> str:
        # What takes no room is marked so, or the line editor would count it.
        return f"\x01\x1b[1m\x02{text}\x01\x1b[0m\x02" if self._ink.colour else text

    def _read(self, prompt: str) -> str:
        flush()
        if self._talks:
            return input(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _wait_shown(self, waiting: bool) -> None:
        if self._talks and self._ink.colour:
            self._write(_WAITING if waiting else "\r \r")

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()

    def _say(self, text: str) -> None:
        say(text)
        sys.stdout.flush()


def telling_sleep(sleep: Callable[[float], None] = time.sleep) -> Callable[[float], None]:
    """Return what waits before a request is made again, and says so."""

    def wait(seconds: float) -> None:
        tell(f"the server gives no answer yet; asking again in {max(1, round(seconds))} s (Ctrl-C stops)")
        sleep(seconds)

    return wait
