"""One chat: the user's words are stored before anything is asked, and an answer as far as it came."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from memory_rag.errors import ModelError
from memory_rag.turns import Block, Role, Turn

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.prompt.prompt_context import PromptContext
    from memory_rag.retrieval.verification import Verdicts
    from memory_rag.summaries.chat_endpoint import Piece

SYSTEM: Final = (
    "You talk with one person over a long time. What was said before is given to you where it may matter. Quote it "
    "word for word, with its turn id, or say that you don't find it; never make a quotation up."
)
CUT_OFF: Final = "cut_off"
"""The kind of the block that marks an answer that didn't come to its end; its data say why."""
STOPPED: Final = "stopped by the user"


class Endpoint(Protocol):
    """What answers."""

    model: str

    def stream(self, messages: Sequence[Mapping[str, Any]]) -> Iterator[Piece]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Answered:
    """How an answer ended: its stored turn (None if not a word came), and why it was cut off ('' if it wasn't)."""

    turn: Turn | None
    cut_off: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said, the prompt that was made for it, and the answer: None if no model is set.

    ``cut_off`` says why an answer didn't come to its end ('' if it did).
    """

    said: Turn
    prompt: PromptContext
    answer: Turn | None
    cut_off: str = ""

    def _repr_html_(self) -> str:
        from memory_rag.interfaces.chat.in_notebook import exchange_html

        return exchange_html(self)


class ChatSession:
    """One sitting of one conversation, kept in a memory."""

    @classmethod
    def open(
        cls,
        memory: Memory,
        *,
        conversation_id: str = "main",
        base_url: str | None = None,
        model: str | None = None,
        speaker: str | None = None,
        system: str | None = None,
        token_budget: int = 6000,
    ) -> Self:
        """Begin a sitting with any model that speaks OpenAI's chat API.

        ``base_url`` and ``model`` may come from ``OPENAI_BASE_URL`` and ``MEMORY_RAG_CHAT_MODEL``, the key from
        ``OPENAI_API_KEY``. Where neither a server nor a key is named there is no model, and what is said is stored and
        its prompt made all the same.

        Raises:
            SettingsError: the address is none, or a model has to be named.
        """
        from memory_rag.interfaces.chat.pointing import pointed_at

        endpoint = pointed_at(base_url, model)
        now = datetime.now(UTC).astimezone(memory.zone)
        return cls(
            memory,
            conversation_id=conversation_id,
            session_id=now.strftime("%Y-%m-%d %H:%M:%S"),
            speaker=speaker,
            system=SYSTEM if system is None else system,
            token_budget=token_budget,
            endpoint=endpoint,
        )

    def say(self, text: str) -> Exchange:
        """Store what the user says, ask the model with all that matters of what was said before, store its answer.

        Without a model the prompt is made and nothing is asked. An answer that breaks off is kept as far as it came.

        Raises:
            ModelError: the model can't be reached; what was said is stored.
        """
        turn = self.hear(text)
        prompt = self.prompt_for(text)
        if self.endpoint is None:
            return Exchange(turn, prompt, None)
        said: list[str] = []
        try:
            for _piece in self.answer(prompt, said=said):
                continue
        except ModelError as error:
            kept = self.keep(said, cut_off=str(error))
            if kept.turn is None:
                raise
            return Exchange(turn, prompt, kept.turn, kept.cut_off)
        return Exchange(turn, prompt, self.keep(said).turn)

    def verify(self, exchange: Exchange) -> Verdicts:
        """Check every quotation in an answer against what was said; there are none where nothing was answered."""
        from memory_rag.retrieval.verification import Verdicts

        answer = exchange.answer
        return Verdicts() if answer is None else self.memory.verify(answer.text, answer_turn_id=answer.turn_id or None)

    def close(self) -> None:
        """Close the connections to the model."""
        if self.endpoint is not None:
            self.endpoint.close()

    def __init__(
        self,
        memory: Memory,
        *,
        conversation_id: str,
        session_id: str,
        speaker: str | None = None,
        system: str = SYSTEM,
        token_budget: int = 6000,
        endpoint: Endpoint | None = None,
    ) -> None:
        self.memory = memory
        self.conversation_id = conversation_id
        self.session_id = session_id
        self.endpoint = endpoint
        self.last: PromptContext | None = None
        """The last prompt; None before the first."""
        self._speaker = speaker
        self._system = system
        self.token_budget = token_budget

    def hear(self, text: str) -> Turn:
        """Store what the user says, and return it; one that a rule keeps out has no id."""
        return self.memory.add(
            text, speaker=self._speaker, conversation_id=self.conversation_id, session_id=self.session_id
        )

    def prompt_for(self, text: str) -> PromptContext:
        """Put the prompt together for what was said last."""
        self.last = self.memory.context(
            text, system=self._system, conversation_id=self.conversation_id, token_budget=self.token_budget
        )
        return self.last

    def unanswered(self) -> Turn | None:
        """Return the newest turn if it is the user's, as one is whose answer never came."""
        newest = self.memory.store.newest(self.conversation_id, n=1)
        return newest[0] if newest and newest[0].role is Role.USER else None

    def answer(self, prompt: PromptContext, *, said: list[str]) -> Iterator[str]:
        """Yield the model's answer as it comes; ``said`` gathers it, however it ends.

        Raises:
            ModelError: it can't be reached, or broke off.
        """
        if self.endpoint is None:
            raise ModelError("no model is set")
        self._usage: dict[str, Any] = {}
        for piece in self.endpoint.stream(prompt.messages):
            if piece.text:
                said.append(piece.text)
                yield piece.text
            elif piece.n_read is not None:
                self._usage = {"prompt_tokens": piece.n_read, "completion_tokens": piece.n_written or 0}
            if piece.ended == "length":
                raise ModelError("the model came to its limit of tokens")

    def keep(self, said: Sequence[str], *, cut_off: str = "") -> Answered:
        """Store an answer as far as it came, marked if it was cut off; nothing is stored if not a word came.

        A Ctrl-C meanwhile waits until it is stored.
        """
        text = "".join(said)
        if not text.strip():
            return Answered(None, cut_off)
        with uninterrupted():
            blocks = (Block(CUT_OFF, {"reason": cut_off}),) if cut_off else ()
            model = self.endpoint.model if self.endpoint is not None else None
            turn = self.memory.add(
                text,
                role=Role.ASSISTANT,
                speaker=model,
                conversation_id=self.conversation_id,
                session_id=self.session_id,
                blocks=blocks,
            )
            if turn.turn_id and model is not None and not cut_off:
                told = {"model": model, **({"usage": self._usage} if self._usage else {})}
                self.memory.prompt.record(told, turn_id=turn.turn_id, provider="openai")
        # Between turns, never before an answer.
        self.memory.summarise_between(self.conversation_id)
        return Answered(turn, cut_off)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a Ctrl-C wait until the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(came[0], None)
