"""Laws of chunking for every language, on lines of its sample in any order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chunk_laws import check_laws
from hybridrank.code.chunk import TreeSitterChunker
from hybridrank.code.grammars import GRAMMARS
from hybridrank.types import SourceFile

SAMPLES = {
    path.stem: path.read_text("utf-8").split("\n")
    for path in sorted((Path(__file__).parents[1] / "samples").iterdir())
    if path.stem in GRAMMARS
}
ODD = [
    "",
    "  ",
    "{",
    "}",
    "(",
    ")",
    "end",
    '"',
    "'",
    "`",
    "/*",
    "*/",
    "#",
    "\x0c",
    "\u2028",
    "\ud800",
    "é文 = (",
]


@st.composite
def sources(draw: Any) -> SourceFile:
    language = draw(st.sampled_from(sorted(SAMPLES)))
    lines = SAMPLES[language]
    pieces = []
    for _ in range(draw(st.integers(0, 8))):
        if draw(st.booleans()):
            pieces.append(draw(st.sampled_from(ODD)))
        else:
            start = draw(st.integers(0, len(lines) - 1))
            pieces += lines[start : start + draw(st.integers(1, 12))]
    return SourceFile(f"a.{language}", draw(st.sampled_from(["\n", "\r\n", "\r"])).join(pieces), language)


@given(sources(), st.integers(1, 400))
def test_nothing_is_lost_and_nothing_stands_twice(source: SourceFile, max_chars: int) -> None:
    documents = TreeSitterChunker(max_chars=max_chars).chunk(source)
    check_laws(source.text, documents, max_chars)
    for d in documents:
        assert "\n" not in d.name + d.qualified_name
        assert d.metadata["parser"] == "tree-sitter", d.metadata


@given(sources())
def test_it_is_a_function_of_the_file_alone(source: SourceFile) -> None:
    assert TreeSitterChunker().chunk(source) == TreeSitterChunker().chunk(source)
