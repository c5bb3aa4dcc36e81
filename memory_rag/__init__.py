"""memory_rag: a long-term memory for a chat with a language model that never loses a word.

from memory_rag import Memory

with Memory.open("work") as memory:
    memory.add("The price is 49 euro.", role="user")
    print(memory.quote("price is 49 euro")[0].text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_rag.embedding.embedder import Embedder
    from memory_rag.memory import Memory
    from memory_rag.prompt.prompt_context import PromptContext
    from memory_rag.retrieval.comparison import Comparison
    from memory_rag.retrieval.filters import Within
    from memory_rag.retrieval.quotes import Quote
    from memory_rag.retrieval.ranking import Hit, Ranking
    from memory_rag.retrieval.verification import Verdict
    from memory_rag.settings import Settings
    from memory_rag.store.screening import Unstored
    from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn

__version__ = "0.1.0"

_HOME = {
    "Block": "memory_rag.turns",
    "Comparison": "memory_rag.retrieval.comparison",
    "Conversation": "memory_rag.turns",
    "Embedder": "memory_rag.embedding.embedder",
    "Hit": "memory_rag.retrieval.ranking",
    "Memory": "memory_rag.memory",
    "PromptContext": "memory_rag.prompt.prompt_context",
    "Quote": "memory_rag.retrieval.quotes",
    "Ranking": "memory_rag.retrieval.ranking",
    "Role": "memory_rag.turns",
    "Settings": "memory_rag.settings",
    "Source": "memory_rag.turns",
    "Span": "memory_rag.turns",
    "Turn": "memory_rag.turns",
    "Unstored": "memory_rag.store.screening",
    "Verdict": "memory_rag.retrieval.verification",
    "Within": "memory_rag.retrieval.filters",
}

__all__ = [
    "Block",
    "Comparison",
    "Conversation",
    "Embedder",
    "Hit",
    "Memory",
    "PromptContext",
    "Quote",
    "Ranking",
    "Role",
    "Settings",
    "Source",
    "Span",
    "Turn",
    "Unstored",
    "Verdict",
    "Within",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # PEP 562: a name is imported when it is first used, so that `import memory_rag` costs milliseconds.
    if name not in _HOME:
        raise AttributeError(f"module 'memory_rag' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
