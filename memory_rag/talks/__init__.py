"""Sessions and conversations as a whole: what each was about, and which of them a question is about."""
