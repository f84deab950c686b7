"""Hypothesis strategies for documents, queries, corpora, filters and rankings.

The texts are meant to break things: other scripts, identifiers, control characters, combining marks, nothing
at all. Lone surrogates come only where they are asked for, since they cannot be written to a file.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import MissingExtraError
from ..types import Document, Filter, Query, Ranking

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise MissingExtraError("hypothesis", "testing") from error

_PLACES = (
    ("", ""),
    ("a.py", "python"),
    ("src/a.py", "python"),
    ("src/sub/b.go", "go"),
    ("docs/連線 說明.md", "markdown"),
)
_SYMBOLS = (
    ("", "", ""),
    ("function", "parse", "parse"),
    ("method", "parse", "Client.parse"),
    ("class", "連線", "連線"),
    ("part", "", "Client.parse"),
    ("section", "", ""),
)
_METADATA: tuple[dict[str, int], ...] = ({}, {"team": 0}, {"team": 1, "year": 0})
_SAMPLES = (
    "def parse_http_response(raw): return HTTPResponse(raw)",
    "parseHTTPResponse parse_http_response",
    "血糖與脫水",
    "初めてのPython入門",
    "배포 docker",
    "ｶﾅ カナ",
    "हिन्दी खोज",
    "spo2=91.0 position.clamp qwen3-embedding",
    "café cafe\u0301",
    "?!… --- \n\t",
    "\x00\x1b[31m",
    "a\r\nb\rc\u2028d\x0be",
    "the the the",
    "🧑‍💻🇹🇼",
    "\u202eabc",
)
_WORDS = ("token", "connection", "parse", "http", "連線", "逾時", "a", "x1")


def texts(*, surrogates: bool = False) -> st.SearchStrategy[str]:
    """Texts of every sort, often of words that other texts have too; lone surrogates where asked for."""
    characters = st.characters() if surrogates else st.characters(exclude_categories=["Cs"])
    words = st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)
    odd = [st.just("lone \ud800 surrogate")] if surrogates else []
    return st.one_of(words, st.sampled_from(_SAMPLES), st.text(characters, max_size=60), *odd)


def ids() -> st.SearchStrategy[str]:
    """Document ids: short and alike, or any non-empty text."""
    return st.one_of(
        st.integers(0, 30).map(str),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    )


def documents(
    *, id: st.SearchStrategy[str] | None = None, text: st.SearchStrategy[str] | None = None
) -> st.SearchStrategy[Document]:
    """Documents with and without path, lines, name, language and metadata."""
    return st.builds(
        _document,
        ids() if id is None else id,
        texts() if text is None else text,
        st.sampled_from(_PLACES),
        st.sampled_from(_SYMBOLS),
        st.integers(0, 50),
        st.sampled_from(_METADATA),
    )


def _document(
    id: str,
    text: str,
    place: tuple[str, str],
    symbol: tuple[str, str, str],
    start: int,
    metadata: dict[str, int],
) -> Document:
    path, language = place
    kind, name, qualified_name = symbol
    return Document(
        id,
        text,
        path=path,
        start_line=start,
        end_line=start + text.count("\n"),
        kind=kind,
        name=name,
        qualified_name=qualified_name,
        language=language,
        metadata=metadata,
    )


def corpora(*, min_size: int = 0, max_size: int = 8) -> st.SearchStrategy[tuple[Document, ...]]:
    """Documents with ids of their own, in any order; often none, often two with one text."""
    return st.lists(
        documents(), min_size=min_size, max_size=max_size, unique_by=lambda document: document.id
    ).map(tuple)


def queries(*, surrogates: bool = False) -> st.SearchStrategy[Query]:
    """Queries: words, sentences, code, nothing."""
    return st.builds(Query, texts(surrogates=surrogates), id=st.sampled_from(("", "q1")))


def filters() -> st.SearchStrategy[Filter]:
    """Filters on path, kind, language and metadata that let through all, some or none of `documents()`."""
    return st.builds(
        Filter,
        path=st.sampled_from(((), "*.py", "src/", "src/**/*.go", ("docs/", "a.py"), "none/")),
        language=st.sampled_from(((), "python", ("go", "markdown"), "none")),
        kind=st.sampled_from(((), "function", ("method", "class", ""), "none")),
        metadata=st.sampled_from(({}, {"team": 1}, {"team": 1, "year": 1})),
    )


@st.composite
def rankings(
    draw: st.DrawFn,
    *,
    corpus: Sequence[Document] | None = None,
    query: st.SearchStrategy[Query] | None = None,
    min_size: int = 0,
    max_size: int = 8,
) -> Ranking:
    """Rankings of some of a corpus, by scores (with ties) or by order alone.

    Args:
        corpus: what to rank, `min_size` documents or more; rankings of one corpus share ids.
    """
    chosen = draw(corpora(min_size=min_size, max_size=max_size)) if corpus is None else tuple(corpus)
    asked = draw(queries() if query is None else query)
    ordered = draw(
        st.lists(st.sampled_from(chosen), min_size=min_size, max_size=max_size, unique_by=lambda d: d.id)
        if chosen
        else st.just([])
    )
    source = draw(st.sampled_from(("", "bm25", "dense")))
    scores = draw(st.none() | st.lists(_SCORES, min_size=len(ordered), max_size=len(ordered)))
    if scores is None:
        return Ranking.from_order(asked, ordered, source=source)
    return Ranking.from_scores(asked, zip(ordered, scores, strict=True), source=source)


_SCORES = st.floats(-1e6, 1e6, allow_nan=False) | st.sampled_from((0.0, 0.5, 1.0))
