"""Which hits of a ranking may stay."""
