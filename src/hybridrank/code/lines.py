"""A chunker for files that no grammar reads: runs of lines, cut at blank lines where there are some."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Document, FrozenDict, SourceFile
from .languages import language_of
from .spans import MAX_CHARS, Span, check_limit, documents, split_lines

MAX_LINES = 60

_METADATA: FrozenDict[str, object] = FrozenDict(parser="lines")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LineChunker:
    """Cuts any text into documents of kind `lines`.

    Every line that is not blank is in exactly one document, but for a line of more than `max_chars`
    characters: that one is cut, and its documents share it. `metadata` holds `parser: "lines"`.

    Args:
        max_lines: lines in a document, at most.
        max_chars: characters in a document, at most.

    Raises:
        InvalidValueError: a limit is no int of 1 or more.
    """

    max_lines: int = MAX_LINES
    max_chars: int = MAX_CHARS

    def __post_init__(self) -> None:
        check_limit("max_lines", self.max_lines)
        check_limit("max_chars", self.max_chars)

    def chunk(self, source: SourceFile, /) -> tuple[Document, ...]:
        """The documents of a file, in the order of its lines; none when all of it is blank."""
        language = source.language or language_of(source.path, source.text)
        source = SourceFile(source.path, source.text, language)
        return by_lines(source, max_lines=self.max_lines, max_chars=self.max_chars)

    def __repr__(self) -> str:
        options = (("max_lines", self.max_lines, MAX_LINES), ("max_chars", self.max_chars, MAX_CHARS))
        changed = (f"{name}={value}" for name, value, default in options if value != default)
        return f"LineChunker({', '.join(changed)})"


def by_lines(
    source: SourceFile,
    *,
    max_chars: int,
    max_lines: int = MAX_LINES,
    metadata: FrozenDict[str, object] = _METADATA,
) -> tuple[Document, ...]:
    lines = split_lines(source.text)
    whole = Span(1, len(lines), "lines")
    return documents(source, lines, [whole], max_chars=max_chars, max_lines=max_lines, metadata=metadata)
