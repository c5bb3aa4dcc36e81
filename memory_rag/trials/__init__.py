"""A benchmark asked of a real memory: where evaluation, which knows no engine, meets the indexes."""
