"""The index on disk: versioned, memory-mapped, atomic, incremental. docs/index.md tells how it works."""
