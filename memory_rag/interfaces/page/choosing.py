"""The view that lists the memories of the home folder, to go from one to another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from memory_rag.interfaces.page.asked import Asked, Drawn
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.inventory import readable_size


class Choosing:
    """The list of memories; none of them is opened for it."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def listed(self, asked: Asked) -> Drawn:
        """Draw the memories, the server's own first, each with its size and when it last changed."""
        found = [self._shown(asked, name) for name in self._memories.names()]
        return Drawn("memories", {"found": found, "title": asked.texts.tell("memories")})

    def routes(self) -> tuple[tuple[str, str, Callable[[Asked], Drawn]], ...]:
        return (("GET", "/memories", self.listed),)

    def _shown(self, asked: Asked, name: str) -> dict[str, Any]:
        own = name == self._memories.name
        shown = {
            "name": name,
            "where": "/" if own else f"/memory/{quote(name, safe='', errors='replace')}/",
            "is_open": name == asked.memory_name,
            "size": "",
            "day": "",
        }
        # Gone, or never there, between the list and the look.
        if (found := self._memories.get(name).when_changed()) is not None:
            n_bytes, at = found
            shown["size"] = readable_size(n_bytes)
            shown["day"] = datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d")
        return shown
