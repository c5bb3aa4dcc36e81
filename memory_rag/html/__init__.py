"""HTML of ours: markup that can't be broken by what it shows, and how results look in a notebook."""
