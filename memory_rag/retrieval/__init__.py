"""How stored words are found: keyword and dense indexes, ranking, quotes."""
