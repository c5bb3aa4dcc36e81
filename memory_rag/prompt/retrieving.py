"""When a prompt brings back what was said before: always, never, when it is asked for, or when a model asks itself."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

from memory_rag.errors import SettingsError
from memory_rag.prompt.asking_for_details import Need
from memory_rag.retrieval.ranking import Ranking

NOT_ASKED: Final = "nothing was searched for: these words ask for nothing that was said before (retrieve is 'auto')"
NO_ROOM: Final = "nothing was searched for: what goes before it leaves no room in the budget"
NOT_STRONG: Final = (
    "nothing is quoted: it isn't clear that these words ask for what was said before, and the evidence is {evidence} "
    "(retrieve is 'auto')"
)

NEAREST: Final = 3
"""Of what is found when nothing said clearly answers what was asked, so many are quoted."""


class Retrieve(StrEnum):
    """Who decides whether turns are retrieved.

    With ``auto`` it is decided by the question and by what the search finds. With ``tool`` the model decides: it is
    given the tools of :mod:`memory_rag.prompt.memory_tools`, and the prompt has no retrieved turns.
    """

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"
    TOOL = "tool"

    @classmethod
    def parse(cls, value: str) -> Retrieve:
        """Return the way named.

        Raises:
            SettingsError: it is none.
        """
        try:
            return cls(value)
        except ValueError:
            raise SettingsError(f"unknown retrieve {value!r}; retrieve is one of: {', '.join(cls)}") from None


def is_quoted(need: Need, ranking: Ranking) -> bool:
    """Tell whether what a search found is quoted: all of it if it was asked for, else only strong evidence."""
    return need is Need.ASKED or ranking.evidence == "strong"


def nearest_of(ranking: Ranking) -> Ranking:
    """Return the nearest of what a search without a floor found, as weak evidence."""
    return replace(ranking, hits=ranking.hits[:NEAREST], evidence="weak")
