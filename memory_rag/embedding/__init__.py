"""Texts to vectors: one protocol, one module for each engine, and a catalogue that opens them by name."""
