"""First-stage legs: each returns a ranking of its own for one query."""
