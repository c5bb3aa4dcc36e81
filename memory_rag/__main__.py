"""``python -m memory_rag`` is ``memory-rag``."""

from memory_rag.interfaces.cli import main

if __name__ == "__main__":
    main()
