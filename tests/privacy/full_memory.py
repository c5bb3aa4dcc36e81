"""A memory in which a turn has left its words in every place there is, and what a reader finds of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from memory_rag.memory import Memory
from memory_rag.prompt.returned_blocks import ReturnedBlocks
from memory_rag.store.sqlite_store import SqliteTurnStore
from memory_rag.turns import Block, Conversation, Role, Source, Turn
from tests.end_to_end.hashed_words import HashedWords

CANARY = "zqcanary7731"
SECRET = f"My code is {CANARY}, and Nordanstigsbron is where Zebulonius hid the marmalade on Söndagsmorgonen."
OTHERS = (
    "The garden needs water twice a week",
    "We should plant tomatoes in spring",
    "The neighbour's cat sleeps on the shed",
    "I prefer tea in the morning",
)


def opened(folder: Path, *, name: str = "hashed-words") -> Memory:
    return Memory.open(folder, embedder=HashedWords(dim=256, name=name), language="en,sv")


def filled(folder: Path) -> Memory:
    """Return a memory with a talk in which ``secret`` is said once, in the middle, and whatever can be made of it."""
    return fill(opened(folder))


def fill(memory: Memory, *, n_turns: int = 24) -> Memory:
    """Fill a memory that holds nothing yet as :func:`filled` does, and return it."""
    items: list[Turn | Conversation] = [Conversation("talk", f"About {CANARY}")]
    for number in range(n_turns):
        items.append(told(f"n{number}", f"{OTHERS[number % len(OTHERS)]}, I said {number} times", ordinal=number))
        if number == n_turns // 2:
            items.append(told("secret", SECRET, ordinal=number))
            quoting = f'{{"reply_to": {{"content": "{SECRET}"}}}}'
            items.append(told("reply", "Yes, that one", ordinal=number, raw=quoting))
    memory.add_many(items)
    secret = turn_id_of(memory, SECRET)
    memory.correct(secret, text=f"{SECRET} Or was it?")
    memory.correct(secret, text=SECRET)
    memory.embed()
    memory.search("marmalade")
    memory.indexes.save()
    memory.summaries.summarise("talk", focus=f"keep {CANARY}", keep_recent=0)
    prompt = memory.prompt
    prompt.pins.add("Always answer in Swedish")
    prompt.pins.add(f"The code is {CANARY}")
    prompt.pins.add("Tea", turn_id=secret)
    prompt.decisions.add("meet at Nordanstigsbron", because="it is near")
    prompt.state.set("where.name", "Nordanstigsbron")
    prompt.state.set("goal", "water the garden")
    prompt.events.record("retrieval", hits=[secret, "t1"], reason=f"asked for {CANARY}", conversation_id="talk")
    after = turn_id_of(memory, "Yes, that one")
    compaction = [{"type": "compaction", "encrypted_content": "opaque"}, {"type": "text", "text": "Yes"}]
    kept = ReturnedBlocks(memory.store.connections)
    kept.keep(after, compaction, provider="anthropic")
    kept.keep(secret, [{"type": "thinking", "thinking": SECRET}], provider="anthropic")
    return memory


def told(native_id: str, text: str, *, ordinal: int, raw: str | None = None) -> Turn:
    source = Source("chat", native_id, raw or f'{{"id": "{native_id}", "content": "{text}"}}')
    blocks = (Block("image", {"alt": text}, caption=f"a picture of {text}"),) if text == SECRET else ()
    return Turn("", "talk", "day", ordinal, Role.USER, "Ebba", text, source=source, blocks=blocks)


def turn_id_of(memory: Memory, text: str) -> str:
    (turn_id,) = (turn.turn_id for turn in memory.turns() if turn.text == text)
    return turn_id


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def every_cell(folder: Path) -> str:
    """Return every value of every table, as text."""
    SqliteTurnStore(folder).close()
    database = sqlite3.connect(folder / "turns.sqlite")
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    cells = [cell for table in tables for row in database.execute(f"SELECT * FROM {table}") for cell in row]
    database.close()
    return "\n".join(cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell) for cell in cells)
