"""Data sets as benchmarks: one loader a file, all of them by name in the registry."""
