"""Text to vectors, with distinct query and document roles."""
