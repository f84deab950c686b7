"""Parts for hybridrank from a distribution of their own."""
