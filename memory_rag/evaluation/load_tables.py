"""The table of the page about many clients at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory_rag.evaluation.markdown import markdown_table

_WAYS: Final = {
    "mcp hybrid": "MCP `search_memory`, hybrid",
    "mcp keyword": "MCP `search_memory`, keyword",
    "page hybrid": "the page's list of hits, hybrid",
}


def load_table(found: Mapping[str, Any]) -> str:
    """Return what one server did at once, beside what a model asked straight took."""
    result, load = found["result"], found["provenance"]["settings"]["load"]
    alone, chats, stored = result["alone"], result["chats"], result["stored"]
    rows = [
        ("one chat, added before the first byte", _ms(alone["added"]), f"{alone['added']['n']} questions"),
        *(
            (
                f"{load['clients']} clients: {told}",
                _ms(one),
                f"{one['per_second']:.0f}/s; {one['cpu_ms']:.1f} ms of CPU each",
            )
            for name, told in _WAYS.items()
            if (one := result["searches"][name])
        ),
        *(
            (
                f"{one['n_chats']} chats at once, {told}: first byte",
                _ms(one["first_byte"]),
                f"{one['n_answers']} answers in {one['seconds']:.1f} s"
                + (f"; {one['cpu_ms']:.1f} ms of CPU each" if "cpu_ms" in one else ""),
            )
            for told, one in (("the model asked straight", chats["straight"]), ("through the server", chats["through"]))
        ),
    ]
    table = markdown_table(("what", "median, 95th percentile (ms)", ""), rows)
    failed = sum(one["n_failed"] for one in result["searches"].values())
    return (
        f"{table}\n\nOver {load['n_turns']:,} turns. Afterwards all {stored['n_turns']:,} messages of the "
        f"{stored['n_chats']} chats were stored, each once and byte for byte; {failed} searches failed."
    )


def _ms(timing: Mapping[str, Any]) -> str:
    return f"{timing['median_ms']:.1f}, {timing['p95_ms']:.1f}"
