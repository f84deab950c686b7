"""What holds for the documents of any file, whatever cut it."""

from __future__ import annotations

import io
from collections.abc import Sequence

from hybridrank.types import Document

DEFINITIONS = ("function", "method", "class")


def check_laws(text: str, documents: Sequence[Document], max_chars: int, max_lines: int = 10**9) -> None:
    lines = list(io.StringIO(text, newline=""))
    contents = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    owners = [0] * (len(lines) + 1)
    pieces: dict[int, str] = {}
    before = 0
    for d in documents:
        assert 1 <= d.start_line <= d.end_line <= len(lines)
        assert 0 < len(d.text) <= max_chars
        assert d.end_line - d.start_line < max_lines
        assert d.text.strip()
        whole = "".join([*lines[d.start_line - 1 : d.end_line - 1], contents[d.end_line - 1]])
        if d.text != whole:  # only a line over the limit is cut
            assert d.start_line == d.end_line
            assert len(whole) > max_chars
            pieces[d.start_line] = pieces.get(d.start_line, "") + d.text
        assert d.start_line > before or d.start_line == before == d.end_line
        assert d.start_line > before or before in pieces
        before = d.end_line
        for number in range(d.start_line, d.end_line + 1):
            owners[number] += 1
    for number, content in enumerate(contents, 1):
        if number in pieces:
            assert squeezed(pieces[number]) == squeezed(content)
        elif content.strip():
            assert owners[number] == 1
    assert len({d.id for d in documents}) == len(documents)


def squeezed(text: str) -> str:
    return "".join(text.split())


def outline(documents: Sequence[Document]) -> list[tuple[int, int, str, str]]:
    return [(d.start_line, d.end_line, d.kind, d.qualified_name) for d in documents]
