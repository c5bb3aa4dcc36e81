"""Text: tokens, languages, dates, folding for quotes."""
