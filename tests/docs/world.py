"""A person's home as the documentation takes it for granted: a memory, files to import, a model's answer to check."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

from memory_rag.memory import Memory
from memory_rag.sample import history_path
from memory_rag.store.backup import backup
from tests.interfaces.command_line import CommandLine

FOLDER = "/home/you"
"""What stands for the home folder where documentation prints a path."""
ANSWER = "You said “the price is 49 euro”, and you promised “a loaf will never cost more than 60 kronor”.\n"
CHATGPT = [
    {
        "title": "Trip",
        "id": "trip-1",
        "current_node": "b",
        "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "id": "b",
                    "author": {"role": "user"},
                    "create_time": 1780300000,
                    "content": {"content_type": "text", "parts": ["We take the night train to Narvik."]},
                },
            },
        },
    }
]
CLAUDE_CODE = {
    "type": "user",
    "uuid": "u1",
    "sessionId": "s1",
    "timestamp": "2026-06-01T08:00:00Z",
    "cwd": "/src",
    "message": {"role": "user", "content": "Name the table turns."},
}
RANKED = "q1 Q0 t17 1 2.0 mine\nq1 Q0 t18 2 1.0 mine\n"
JUDGED = "q1 0 t18 1\n"
QUESTIONS = "what does the workshop cost?\tt107\nwhere is the flat?\tt41\n"


class World:
    """A home folder and a command line in it; every run starts from the same state after :meth:`again`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept = folder.with_name(f"{folder.name}-kept")
        self.home = folder / ".local" / "share" / "memory-rag"
        environment = {
            "HOME": str(folder),
            "XDG_DATA_HOME": "",
            "MEMORY_RAG_HOME": str(self.home),
            "MEMORY_RAG_EMBEDDER": "none",
            "COLUMNS": "80",
            "OPENAI_API_KEY": "",
            # In a home of its own it would look for the machine's fonts anew, which takes seconds.
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR") or str(Path.home() / ".cache" / "matplotlib"),
        }
        self.memory_rag = CommandLine(self.home, environment)
        self._fill()
        shutil.copytree(self.folder, self.kept)

    def again(self) -> None:
        """Put everything back as it was at first."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)

    def _fill(self) -> None:
        downloads, code = self.folder / "Downloads", self.folder / ".claude" / "projects" / "src"
        for folder in (self.home, downloads, code, self.folder / "copies"):
            folder.mkdir(parents=True)
        with Memory.open(self.home / "main", embedder="none") as memory:
            memory.import_path(history_path())
            said_at = datetime(2024, 5, 1, tzinfo=UTC)
            memory.add("My old address is Ekvägen 12.", speaker="Bo", conversation_id="notes", said_at=said_at)
        backup(self.home / "main", self.folder / "copies" / "2026-11-29")
        for path in (downloads / "chatgpt-export.zip", self.folder / "chats.zip"):
            with ZipFile(path, "w") as archive:
                archive.writestr("conversations.json", json.dumps(CHATGPT))
        texts = {
            "answer.md": ANSWER,
            "notes.txt": "The oven man comes on Tuesday.",
            "project.md": "Prices are in kronor.\n",
            "event.json": json.dumps({"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"}),
            "my.run": RANKED,
            "my.qrels": JUDGED,
            "mine.tsv": QUESTIONS,
            "token": "a-token-of-more-than-16-signs\n",
            "WhatsApp Chat.txt": "01/06/2026, 08:00 - Ebba: The beans are up!\n",
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        (code / "s1.jsonl").write_text(json.dumps(CLAUDE_CODE) + "\n", encoding="utf-8")
