"""A chat on the terminal over a memory: what is said, what is shown, what can be asked of it."""
