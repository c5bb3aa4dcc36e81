"""A memory moved from where it lies to another place, whichever engines keep them, and both compared."""
