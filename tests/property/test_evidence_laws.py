"""Laws of API tokens and of evidence without a model, on made-up texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Document, EvidenceOverlap, LexicalEvidence, Query, Ranking
from hybridrank.text.api_tokens import api_token_set, api_tokens, word_set, words
from hybridrank.text.corpus_tokens import CorpusTokens
from hybridrank.text.evidence import Source

PIECES = (
    "Input.is_pressed(",
    "position.clamp",
    "screen_size",
    "Vector2",
    '"go_left"',
    "'up'",
    "`down`",
    "self.",
    "@on",
    "::",
    "->",
    "if(",
    "the",
    "Player",
    " ",
    "\n",
    "\\",
    '"',
    "'",
    "`",
    "\u8840\u7cd6",
    "\u0301",
    "\u00b2",
    "\ud800",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=40)
CODE = st.lists(
    st.sampled_from([f"{word}_{n}" for word in ("open", "close", "read") for n in range(4)]), max_size=8
).map(" ".join)
CORPORA = st.lists(CODE, min_size=1, max_size=8).map(
    lambda texts: tuple(Document(str(number), text) for number, text in enumerate(texts))
)


@given(TEXTS)
def test_a_token_stands_where_it_says_first(text: str) -> None:
    for token, (start, end) in api_tokens(text).items():
        assert text[start:end] == token
        assert token.strip() == token != ""
        assert "\n" not in token
    for word, (start, end) in words(text).items():
        assert text[start:end].lower() == word


@given(TEXTS)
def test_sets_are_the_tokens_without_places(text: str) -> None:
    assert api_token_set(text) == set(api_tokens(text))
    assert word_set(text) == set(words(text))


@given(TEXTS, TEXTS)
def test_lines_are_read_one_by_one(one: str, other: str) -> None:
    assert set(api_tokens(f"{one}\n\n{other}")) == set(api_tokens(f"{one}\n")) | set(api_tokens(f"\n{other}"))


@given(CORPORA, TEXTS, TEXTS)
def test_scores_are_shares(corpus: tuple[Document, ...], source: str, candidate: str) -> None:
    found = Source(source, CorpusTokens.of(corpus)).overlap(candidate)
    assert 0 <= found.score <= 1
    assert 0 <= found.agreement <= 1
    assert 0 <= found.coverage <= 1 + 1e-12
    assert (found.score > 0) == bool(found.shared)


@given(CORPORA, CODE, CODE, st.sampled_from(["open_0", "close_1", "read_2"]))
def test_who_says_more_of_the_source_never_falls(
    corpus: tuple[Document, ...], source: str, candidate: str, more: str
) -> None:
    judged = Source(f"{source} {more}", CorpusTokens.of(corpus))
    assert judged.overlap(f"{candidate} {more}").score >= judged.overlap(candidate).score


@given(CORPORA, CODE, CODE)
def test_who_says_more_of_something_else_never_rises(
    corpus: tuple[Document, ...], source: str, candidate: str
) -> None:
    judged = Source(source, CorpusTokens.of(corpus))
    assert judged.overlap(f"{candidate} of_another").score <= judged.overlap(candidate).score


@given(CORPORA, CODE)
def test_what_most_documents_hold_is_no_evidence(corpus: tuple[Document, ...], source: str) -> None:
    """Whatever the source, and at any threshold: a yes needs a string that half of the documents lack."""
    validator = LexicalEvidence(threshold=1e-9).index(corpus)
    ranking = Ranking.from_order(Query(source), corpus)
    for verdict, document in zip(validator.validate(ranking), corpus, strict=True):
        shared = set(source.split()) & set(document.text.split())
        rare = {
            token for token in shared if 2 * sum(token in one.text.split() for one in corpus) <= len(corpus)
        }
        assert (verdict.answer == "yes") == bool(rare)
        assert {quote.text for quote in verdict.quotes} == rare


@given(CORPORA, TEXTS)
def test_quotes_stand_in_both_texts(corpus: tuple[Document, ...], source: str) -> None:
    validator = LexicalEvidence().index(corpus)
    for verdict, document in zip(
        validator.validate(Ranking.from_order(Query(source), corpus)), corpus, strict=True
    ):
        for quote in verdict.quotes:
            assert quote.in_document is not None
            assert document.text[slice(*quote.in_document)] == quote.text
            assert quote.in_source is None or source[slice(*quote.in_source)] == quote.text


@given(CORPORA, CODE, st.randoms(use_true_random=False))
def test_neither_the_order_of_documents_nor_of_hits_counts(
    corpus: tuple[Document, ...], source: str, random: object
) -> None:
    shuffled = list(corpus)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one = EvidenceOverlap().index(corpus).rerank(Ranking.from_order(Query(source), corpus), k=99)
    other = EvidenceOverlap().index(tuple(shuffled)).rerank(Ranking.from_order(Query(source), shuffled), k=99)
    assert {hit.id: hit.score for hit in one} == {hit.id: hit.score for hit in other}
    assert [hit.score for hit in one] == [hit.score for hit in other]


@given(CORPORA)
def test_state_and_back_is_the_same(corpus: tuple[Document, ...]) -> None:
    tokens = CorpusTokens.of(corpus)
    back = CorpusTokens.restored(tokens.state())
    assert back.digest == tokens.digest
    assert all(back.held(token) == tokens.held(token) for token in tokens.places)
