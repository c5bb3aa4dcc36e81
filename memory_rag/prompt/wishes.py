"""What a prompt should be, as its caller wishes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypedDict

from memory_rag.errors import SettingsError
from memory_rag.prompt.checked import is_whole
from memory_rag.prompt.retrieving import Retrieve
from memory_rag.retrieval.filters import Within

TOKEN_BUDGET: Final = 6000


class Wishes(TypedDict, total=False):
    """The fields of :class:`ContextWish`, each with its default if it isn't given."""

    token_budget: int
    keep_recent: int
    conversation_id: str
    retrieve: str
    within: Within


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWish:
    """What a prompt should be: its budget, how many newest turns it keeps, and of which conversation.

    ``retrieve`` says whether turns are searched for and quoted: ``auto`` (if the question asks for them), ``always``,
    ``never``, or ``tool`` (the model asks for them itself); ``within`` narrows that search.
    """

    token_budget: int = TOKEN_BUDGET
    keep_recent: int = 8
    conversation_id: str = "main"
    retrieve: str = "auto"
    within: Within = field(default_factory=Within)

    def __post_init__(self) -> None:
        for name, least in {"token_budget": 1, "keep_recent": 0}.items():
            given = getattr(self, name)
            if not is_whole(given, least=least):
                raise SettingsError(f"{name} must be at least {least}, a whole number; got {given!r}")
        if not (isinstance(self.conversation_id, str) and self.conversation_id):
            raise SettingsError(f"conversation_id is the id of a conversation; got {self.conversation_id!r}")
        Retrieve.parse(self.retrieve)
