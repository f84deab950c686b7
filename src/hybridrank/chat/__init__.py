"""Chat models: each answers one request."""
