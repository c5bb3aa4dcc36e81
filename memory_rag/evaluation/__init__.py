"""How good recall is: question sets, trials over a memory, and their results as tables."""
