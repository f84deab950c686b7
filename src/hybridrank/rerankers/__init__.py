"""A ranking into a better order of the same documents."""
