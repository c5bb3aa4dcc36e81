"""What Claude Code's hooks do: store a session before its window is compacted, and tell the next what must hold."""
