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

_KINDS = (
    "",
    "function",
    "method",
    "class",
    "class_body",
    "import",
    "module",
    "section",
    "lines",
    "file",
    "part",
)
_LANGUAGES = ("", "python", "go", "markdown")
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


@st.composite
def documents(
    draw: st.DrawFn, *, id: st.SearchStrategy[str] | None = None, text: st.SearchStrategy[str] | None = None
) -> Document:
    """Documents with and without path, lines, name, language and metadata."""
    start = draw(st.integers(0, 50))
    name = draw(st.sampled_from(("", "parse", "open_connection", "連線")))
    return Document(
        draw(ids() if id is None else id),
        draw(texts() if text is None else text),
        path=draw(st.sampled_from(("", "a.py", "src/a.py", "src/sub/b.go", "docs/連線 說明.md"))),
        start_line=start,
        end_line=start + draw(st.integers(0, 20)),
        kind=draw(st.sampled_from(_KINDS)),
        name=name,
        qualified_name=name and draw(st.sampled_from((name, f"Client.{name}"))),
        language=draw(st.sampled_from(_LANGUAGES)),
        metadata=draw(st.dictionaries(st.sampled_from(("team", "year")), st.integers(0, 2), max_size=2)),
    )


def corpora(*, min_size: int = 0, max_size: int = 12) -> st.SearchStrategy[tuple[Document, ...]]:
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
        language=st.lists(st.sampled_from(_LANGUAGES), max_size=2),
        kind=st.lists(st.sampled_from(_KINDS), max_size=3),
        metadata=st.dictionaries(st.sampled_from(("team", "year")), st.integers(0, 2), max_size=1),
    )


@st.composite
def rankings(
    draw: st.DrawFn,
    *,
    corpus: Sequence[Document] | None = None,
    query: st.SearchStrategy[Query] | None = None,
    max_size: int = 12,
) -> Ranking:
    """Rankings of some of a corpus, by scores (with ties) or by order alone.

    Args:
        corpus: what to rank; several rankings of one corpus share ids, as fusion needs it.
    """
    chosen = draw(corpora(max_size=max_size)) if corpus is None else tuple(corpus)
    asked = draw(queries() if query is None else query)
    order = draw(st.permutations(chosen))[: draw(st.integers(0, min(len(chosen), max_size)))]
    source = draw(st.sampled_from(("", "bm25", "dense")))
    if draw(st.booleans()):
        return Ranking.from_order(asked, order, source=source)
    scores = st.floats(-1e6, 1e6, allow_nan=False) | st.sampled_from((0.0, 0.5, 1.0))
    return Ranking.from_scores(asked, [(document, draw(scores)) for document in order], source=source)
