"""Questions about a turn in other words than its own, asked for from a language model."""

from __future__ import annotations

from typing import Any, Final, Protocol

from memory_rag.errors import ModelError
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


class ModelParaphraser:
    """Asks a chat model. The passages leave this machine, for wherever the client's ``base_url`` points.

    ``client`` is an ``openai.OpenAI``; it brings key, address, time limit and retries. ``temperature`` is sent if it is
    given, since some models refuse one. What a model wrote, it may not write again: keep the questions in a file
    (:func:`~memory_rag.evaluation.datasets.question_file.written_line`).
    """

    def __init__(self, client: Any, *, model: str, temperature: float | None = None) -> None:
        self._client, self._model = client, model
        self._sampling = {} if temperature is None else {"temperature": temperature}

    @property
    def name(self) -> str:
        return self._model

    def question_for(self, passage: str) -> str:
        messages = [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": printable(passage[:LONGEST_PASSAGE])},
        ]
        try:
            answer = self._client.chat.completions.create(model=self._model, messages=messages, **self._sampling)
            said = answer.choices[0].message.content
        except Exception as error:  # the SDK's own errors can't be named here: it is imported where embeddings are
            raise ModelError(
                f"{self._client.base_url} gave no paraphrase with {self._model}: {error}; check the address, which "
                "usually ends in /v1, the model's name and the key"
            ) from error
        return " ".join(said.split()).strip("\"'“”„«» ") if isinstance(said, str) else ""
