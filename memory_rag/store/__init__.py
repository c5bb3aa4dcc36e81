"""The store of words: SQLite, a numbered change log, named migrations."""
