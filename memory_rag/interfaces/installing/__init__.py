"""Entering the memory in other programs' settings, and taking it out, without touching anything else there."""
