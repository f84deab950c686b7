"""What two texts share, by hand: weights, coverage, agreement, score, quotes."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from hybridrank import Document, IndexFormatError
from hybridrank.text.corpus_tokens import CorpusTokens
from hybridrank.text.evidence import Source

CORPUS = (
    Document("1", "open_file(path_name)"),
    Document("2", "open_file(mode_flag)"),
    Document("3", "close_all() and the Rest"),
    Document("4", "nothing is here, rest"),
)
TOKENS = CorpusTokens.of(CORPUS)


def test_the_weight_of_a_token_is_its_squared_log_odds_and_0_for_what_most_have() -> None:
    assert TOKENS.weight("path_name") == pytest.approx(log(4) ** 2)
    assert TOKENS.weight("open_file") == pytest.approx(log(3 / 2) ** 2)
    assert TOKENS.weight("in_no_document") == TOKENS.highest == pytest.approx(log(4) ** 2)
    three = CorpusTokens.of([Document(str(n), "a_b" if n < 3 else "") for n in range(5)])
    assert three.held("a_b") == 3
    assert three.weight("a_b") == 0.0


@pytest.mark.parametrize(
    ("documents", "weights"), [(1, [0]), (2, [log(2) ** 2, 0]), (3, [log(3) ** 2, 0, 0])]
)
def test_weights_in_a_small_corpus(documents: int, weights: list[float]) -> None:
    """A token of one of two documents tells, one of two of three does not, and of one nothing does."""
    for held, weight in enumerate(weights, 1):
        corpus = CorpusTokens.of([Document(str(n), "a_b" if n < held else "") for n in range(documents)])
        assert corpus.weight("a_b") == pytest.approx(weight)


def test_an_empty_corpus_has_no_weights() -> None:
    assert CorpusTokens.of(()).weight("a_b") == 0.0
    assert not Source("a_b", CorpusTokens.of(())).tells


def test_the_score_is_the_mean_of_coverage_and_agreement() -> None:
    source = Source("open_file(path_name)", TOKENS)
    first, second, third = (source.overlap(document.text) for document in CORPUS[:3])
    rare, common = log(4) ** 2, log(3 / 2) ** 2
    assert first.coverage == pytest.approx(1)
    assert first.agreement == pytest.approx((rare + common) / (common + 3 * rare))
    assert first.score == pytest.approx((1 + 0.351816) / 2, abs=1e-6)
    assert second.coverage == pytest.approx(0.078804, abs=1e-6)
    assert second.agreement == pytest.approx(common / (common + 3 * rare))
    assert second.score == pytest.approx(0.053264, abs=1e-6)
    assert (third.score, third.shared) == (0.0, ())
    told = first.contributions(TOKENS.documents)
    assert [(one.name, one.detail) for one in told] == [
        ("path_name", "in 1 of 4 documents"),
        ("open_file", "in 2 of 4 documents"),
    ]
    assert sum(one.value for one in told) == pytest.approx(first.score, abs=1e-6)


def test_tokens_that_no_document_has_count_in_the_source() -> None:
    source = Source("open_file(path_name, own_name)", TOKENS)
    rare, common = log(4) ** 2, log(3 / 2) ** 2
    covered = (rare + common) / (2 * rare + common)
    assert source.overlap(CORPUS[0].text).coverage == pytest.approx(covered)


def test_quotes_stand_in_both_texts_and_not_inside_each_other() -> None:
    text, other = "x = Input.is_pressed('go_left')", "see go_left, Input.is_pressed"
    corpus = CorpusTokens.of([Document("1", other), Document("2", "")])
    quotes = Source(text, corpus).overlap(other).quotes(text, other)
    assert [(q.text, q.in_source, q.in_document) for q in quotes] == [
        ("Input.is_pressed", (4, 20), (13, 29)),
        ("go_left", (22, 29), (4, 11)),
    ]


def test_a_source_without_api_tokens_is_prose() -> None:
    source = Source("where is the rest here?", TOKENS)
    assert list(source.weights) == ["rest", "here"]
    found = source.overlap(CORPUS[3].text)
    assert found.coverage == pytest.approx(1)
    (here, rest) = found.quotes(source.text, CORPUS[3].text)
    assert (here.text, here.in_source, here.in_document) == ("here", (18, 22), (11, 15))
    assert rest.text == "rest"
    (other,) = source.overlap(CORPUS[2].text).quotes(source.text, CORPUS[2].text)
    assert (other.text, other.in_source, other.in_document) == ("Rest", None, (20, 24))


def test_chinese_prose() -> None:
    documents = [Document("1", "血糖升高"), Document("2", "心率"), Document("3", "")]
    source = Source("血糖在哪", CorpusTokens.of(documents))
    assert source.overlap("血糖升高").score > source.overlap("心率").score == 0


def test_equal_documents_make_their_tokens_less_rare() -> None:
    once = CorpusTokens.of([Document("1", "a_b"), *(Document(f"x{n}", "") for n in range(4))])
    twice = CorpusTokens.of(
        [Document("1", "a_b"), Document("2", "a_b"), *(Document(f"x{n}", "") for n in range(3))]
    )
    assert twice.weight("a_b") < once.weight("a_b")


def test_parts_that_get_one_tuple_of_documents_share_the_count() -> None:
    documents = (Document("1", "a_b"), Document("2", "c_d"))
    made = CorpusTokens.of(documents)
    assert CorpusTokens.of(documents) is made
    assert CorpusTokens.of((*documents,)) is not made
    changing = [*documents]
    before = CorpusTokens.of(changing)
    changing.append(Document("3", "a_b"))
    assert (before.held("a_b"), CorpusTokens.of(changing).held("a_b")) == (1, 2)


def test_state_and_back() -> None:
    back = CorpusTokens.restored(TOKENS.state())
    assert back.digest == TOKENS.digest
    assert [back.weight(token) for token in TOKENS.places] == [
        TOKENS.weight(token) for token in TOKENS.places
    ]


@pytest.mark.parametrize(
    "damage",
    [
        {"holders": np.zeros(2, np.int32)},
        {"holders": TOKENS.holders.astype(np.int64)},
        {"holders": np.full(len(TOKENS.places), 5, np.int32)},
        {"holders": np.zeros(len(TOKENS.places), np.int32)},
        {"documents": -1},
        {"ends": np.zeros(1, np.int64)},
    ],
)
def test_a_damaged_state_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(IndexFormatError):
        CorpusTokens.restored({**TOKENS.state(), **damage})
