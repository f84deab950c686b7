"""Building BM25, from tokens and from text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridrank import BM25, Document

from . import data
from .harness import Options, Row, check, interleaved, once, row
from .peers import Bm25s, Tantivy, ours_answer

_WORD = re.compile(r"(?u)\b\w\w+\b")


def from_tokens(options: Options) -> Iterator[Row]:
    size = options.size(200_000)
    lists = data.token_lists(size, 100, 100)
    seconds, _ = once(options, lambda: Bm25s(lists[:100]))
    ours, peer = BM25().index_tokens(lists), Bm25s(lists)
    queries = data.common_queries(data.frequencies(lists), 20, size)
    agreement = check("build", [(ours_answer(ours, query, 10), peer.answer(query, 10)) for query in queries])
    del ours, peer
    times = interleaved(options, {"ours": lambda: BM25().index_tokens(lists), "bm25s": lambda: Bm25s(lists)})
    yield row(
        f"BM25 build, {size:,} documents × 100 tokens, tokens given",
        "bm25s (numba)",
        "10",
        times,
        "bm25s",
        agreement=agreement,
        note=f"compiled before: {seconds:.1f} s",
    )


def words(text: str) -> list[str]:
    """What bm25s takes for words."""
    return _WORD.findall(text.lower())


def from_text(options: Options) -> Iterator[Row]:
    if options.corpus is None:
        return
    import bm25s

    texts = data.real_texts(options.corpus, options.size(100_000))
    documents = [Document(str(number), text) for number, text in enumerate(texts)]

    def ours_same() -> BM25:
        return BM25(tokenizer=words).index(documents)

    def peer() -> Bm25s:
        return Bm25s(bm25s.tokenize(texts, stopwords=None, show_progress=False))

    first, second = ours_same(), peer()
    asked = [words(text)[:6] for text in texts[:: max(1, len(texts) // 20)]]
    asked = [query for query in asked if len(set(query)) == len(query) > 0]
    agreement = check("build", [(ours_answer(first, query, 10), second.answer(query, 10)) for query in asked])
    del first, second
    times = interleaved(
        options,
        {
            "ours": lambda: BM25().index(documents),
            "same words": ours_same,
            "bm25s": peer,
            "tantivy": lambda: Tantivy(texts, "default"),
        },
    )
    work = f"BM25 build from text, {len(texts):,} real documents"
    note = "our tokenizer also gives the parts of names"
    yield row(work, "bm25s (numba)", "> 1", times, "bm25s", note=note, agreement="other tokens")
    yield row(work, "tantivy", "> 1", times, "tantivy", note=note, agreement="other tokens")
    same = {**times, "ours": times["same words"]}
    yield row(f"{work}, bm25s's words", "bm25s (numba)", "> 1", same, "bm25s", agreement=agreement)
