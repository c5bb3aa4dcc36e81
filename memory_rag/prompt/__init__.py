"""What a model is told: the window, what always holds, what was retrieved, the summary; and how it is kept small."""
