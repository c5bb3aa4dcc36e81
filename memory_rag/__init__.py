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
    from memory_rag.evaluation.at_hand import benchmarks
    from memory_rag.evaluation.benchmark_report import BenchmarkReport
    from memory_rag.evaluation.run_scores import RunScores, score_run
    from memory_rag.interfaces.chat.session import ChatSession
    from memory_rag.memory import Memory
    from memory_rag.prompt.prompt_context import PromptContext
    from memory_rag.retrieval.comparison import Comparison
    from memory_rag.retrieval.filters import Within
    from memory_rag.retrieval.quotes import Quote, Quotes
    from memory_rag.retrieval.ranking import Hit, Ranking
    from memory_rag.retrieval.verification import Verdict, Verdicts
    from memory_rag.settings import Settings
    from memory_rag.store.screening import Unstored
    from memory_rag.trials.benchmarking import run_benchmark
    from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn

__version__ = "0.1.0"

_HOME = {
    "BenchmarkReport": "memory_rag.evaluation.benchmark_report",
    "Block": "memory_rag.turns",
    "ChatSession": "memory_rag.interfaces.chat.session",
    "Comparison": "memory_rag.retrieval.comparison",
    "Conversation": "memory_rag.turns",
    "Embedder": "memory_rag.embedding.embedder",
    "Hit": "memory_rag.retrieval.ranking",
    "Memory": "memory_rag.memory",
    "PromptContext": "memory_rag.prompt.prompt_context",
    "Quote": "memory_rag.retrieval.quotes",
    "Quotes": "memory_rag.retrieval.quotes",
    "Ranking": "memory_rag.retrieval.ranking",
    "Role": "memory_rag.turns",
    "RunScores": "memory_rag.evaluation.run_scores",
    "Settings": "memory_rag.settings",
    "Source": "memory_rag.turns",
    "Span": "memory_rag.turns",
    "Turn": "memory_rag.turns",
    "Unstored": "memory_rag.store.screening",
    "Verdict": "memory_rag.retrieval.verification",
    "Verdicts": "memory_rag.retrieval.verification",
    "Within": "memory_rag.retrieval.filters",
    "benchmarks": "memory_rag.evaluation.at_hand",
    "run_benchmark": "memory_rag.trials.benchmarking",
    "score_run": "memory_rag.evaluation.run_scores",
}

__all__ = [
    "BenchmarkReport",
    "Block",
    "ChatSession",
    "Comparison",
    "Conversation",
    "Embedder",
    "Hit",
    "Memory",
    "PromptContext",
    "Quote",
    "Quotes",
    "Ranking",
    "Role",
    "RunScores",
    "Settings",
    "Source",
    "Span",
    "Turn",
    "Unstored",
    "Verdict",
    "Verdicts",
    "Within",
    "__version__",
    "benchmarks",
    "run_benchmark",
    "score_run",
]


def __getattr__(name: str) -> Any:
    # PEP 562: a name is imported when it is first used, so that `import memory_rag` costs milliseconds.
    if name not in _HOME:
        raise AttributeError(f"module 'memory_rag' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
