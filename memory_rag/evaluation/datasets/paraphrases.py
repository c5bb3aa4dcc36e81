"""Questions about a turn in other words than its own, which a language model is asked for."""

from __future__ import annotations

from typing import Final, Protocol

from memory_rag.turns import printable

INSTRUCTION: Final = (
    "Somebody once said or read the passage below and now looks for it. Write the one question that they would type, "
    "in the language of the passage. Use other words than the passage where you can, keep names and numbers, and add "
    "nothing that it doesn't say. Answer with the question alone, on one line."
)
LONGEST_PASSAGE: Final = 2000
"""Characters of a turn that are sent at most, from its beginning."""


class Paraphraser(Protocol):
    """Something that asks for a passage in other words."""

    @property
    def name(self) -> str:
        """What made the questions, as a report names it."""

    def question_for(self, passage: str) -> str:
        """Return a question that the passage answers; empty if it gave none.

        Raises:
            ModelError: it can't be reached, or refuses.
        """


def messages_for(passage: str) -> list[dict[str, str]]:
    """Return what a chat model is asked for a passage's question."""
    return [
        {"role": "system", "content": INSTRUCTION},
        {"role": "user", "content": printable(passage[:LONGEST_PASSAGE])},
    ]


def question_in(answer: str) -> str:
    """Return the question of a model's answer: on one line, without quotation marks around it."""
    return " ".join(answer.split()).strip("\"'“”„«» ")
