"""A prompt in many languages costs no more than its account says, in the shape of every provider."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from memory_rag.embedding.wordpiece import TOKENIZER_FILE
from memory_rag.memory import Memory
from memory_rag.prompt.prompt_context import PromptContext
from memory_rag.prompt.tokens import MESSAGE_OVERHEAD, REPLY_OVERHEAD, TokenCounter

SAID = (
    "the price of bread is what we said and it was for you trädgården kålfjärilar jag beslutade håndtverkeren kjøpte "
    "båten цена хлеба السعر パンの値段 东京 49 4711-ZX 👩‍👩‍👧 decided prefer"
)
SYSTEM = "You are of help to the one who asks, and you say what it is that you know of it."


def told(memory: Memory, *, seed: int) -> None:
    """Tell a talk of words of many languages, half of it summarised, with a preference and a state."""
    dice = random.Random(seed)

    def words(most: int) -> str:
        return " ".join(dice.choices(SAID.split(), k=dice.randint(1, most)))

    for at in range(24):
        memory.add(words(40), role="user" if at % 2 == dice.randint(0, 1) else "assistant")
    memory.add(words(30), conversation_id="other")
    memory.prompt.pins.add("Svara på svenska, kortfattat och utan utfyllnad, jag läser i mobilen.")
    memory.prompt.state.set("resa", words(12))
    memory.summaries.summarise("main", keep_recent=10)
    memory.talks.summarise()


def cost(words: Any, counter: TokenCounter) -> int:
    """Count what a provider is sent: each system prompt and each message with its marks."""
    if isinstance(words, str):
        return counter.count(words)
    if isinstance(words, list):
        return sum(cost(one, counter) for one in words)
    return MESSAGE_OVERHEAD * ("role" in words) + cost(words.get("content", words.get("text", "")), counter)


def shapes(context: PromptContext, counter: TokenCounter) -> dict[str, int]:
    anthropic, responses = context.for_anthropic(), context.for_responses()
    system = MESSAGE_OVERHEAD + counter.count(context.system)
    return {
        "OpenAI": cost(context.messages, counter) + REPLY_OVERHEAD,
        "Anthropic": system + cost(anthropic["messages"], counter) + REPLY_OVERHEAD,
        "Responses": system + cost(responses["input"], counter) + REPLY_OVERHEAD,
    }


@pytest.mark.parametrize("tokenizer", ["", str(TOKENIZER_FILE)], ids=["estimate", "tokenizer file"])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_part_costs_more_beside_the_others_than_alone(tmp_path: Path, tokenizer: str, seed: int) -> None:
    with Memory.open(tmp_path / "m", embedder="none", language="en", tokenizer=tokenizer) as memory:
        told(memory, seed=seed)
        for budget, keep in itertools.product((300, 500, 800, 1300, 4000), (0, 3, 8)):
            context = memory.context(
                "what did I say of the price?",
                system=SYSTEM,
                token_budget=budget,
                keep_recent=keep,
                retrieve="always",
            )
            over = [note for note in context.notes if "stay verbatim" in note]
            for shape, n_tokens in shapes(context, memory.prompt.counter).items():
                assert n_tokens <= context.account.total, (shape, budget, keep)
            assert context.account.total <= budget or over, (budget, keep)
