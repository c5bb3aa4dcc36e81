"""An OpenAI-compatible endpoint that remembers: what is said goes into a memory, what matters comes out of it."""
