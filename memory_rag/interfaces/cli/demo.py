"""``memory-rag demo``."""
from __future__ import annotations
from memory_rag.interfaces.cli.place import Place
def demo(place: Place) -> None:
    """Run the main job on a sample history."""
