"""Term counts, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hybridrank import BM25, LSA, Dense, Document, InvalidValueError, Pipeline, Tokenizer
from hybridrank.retrievers.corpus import Corpus
from hybridrank.retrievers.numbered import NumberedDocuments
from hybridrank.text import counts, numbering
from hybridrank.text.counts import TermCounts, count_terms, count_tokens, each_token


def same(one: TermCounts, other: TermCounts) -> bool:
    return (
        one.terms == other.terms
        and np.array_equal(one.matrix.toarray(), other.matrix.toarray())
        and np.array_equal(one.lengths, other.lengths)
    )


def test_counts_are_by_document_and_first_seen_term() -> None:
    counted = count_tokens([["b", "a", "b"], [], ["c", "a"]])
    assert counted.terms == ("b", "a", "c")
    assert counted.matrix.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [0, 1, 1]]
    assert counted.lengths.tolist() == [3, 0, 2]
    assert counted.matrix.dtype == np.int32
    assert counted.lengths.dtype == np.int64


@pytest.mark.parametrize(
    "tokenizer", [Tokenizer(), Tokenizer(parts=False), Tokenizer(stem="english"), str.split]
)
def test_indices_are_sorted_and_no_zero_is_stored(tokenizer: Tokenizer) -> None:
    texts = ["z y x getUser z", "", "x getUser y user 血糖血糖", "z"]
    matrix = count_terms(texts, tokenizer).matrix
    for row in range(4):
        columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].tolist()
        assert columns == sorted(set(columns))
    assert matrix.data.min() > 0
    assert matrix.shape[0] == 4


def test_tokenizer_and_its_token_lists_count_alike() -> None:
    texts = ["parseHTTPResponse parse_http parse", "", "血糖與血糖 parse", "follow following"]
    for tokenizer in (Tokenizer(), Tokenizer(parts=False), Tokenizer(stem="english")):
        assert same(count_terms(texts, tokenizer), count_tokens([tokenizer(text) for text in texts]))
    counted = count_terms(texts, Tokenizer())
    assert counted.terms[:5] == ("parsehttpresponse", "parse", "http", "response", "parse_http")
    assert counted.lengths.tolist() == [4 + 3 + 1, 0, 9 + 1, 2]
    assert counted.matrix.toarray()[0, :5].tolist() == [1, 3, 2, 1, 1]


def test_blocks_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [["a", "b"], ["c", "c", "a"], [], ["d"], ["b", "e", "b"]]
    whole = count_tokens(lists)
    for size in (1, 2, 3, 9):
        monkeypatch.setattr(counts, "_BLOCK", size)
        assert same(count_tokens(lists), whole)


def test_nothing_can_be_counted() -> None:
    for counted in (count_tokens([]), count_terms([], Tokenizer()), count_terms([], str.split)):
        assert counted.terms == ()
        assert counted.matrix.shape == (0, 0)
        assert counted.lengths.shape == (0,)
    for counted in (count_tokens([[], ()]), count_terms(["", "…"], Tokenizer())):
        assert counted.matrix.shape == (2, 0)
        assert counted.lengths.tolist() == [0, 0]


def test_tokens_may_come_as_any_iterable_of_str() -> None:
    made = [("a", "b"), iter(["a"]), {"b": 1}.keys(), np.array(["a", "a"])]
    counted = count_tokens(made)  # type: ignore[arg-type]
    assert counted.terms == ("a", "b")
    assert all(type(term) is str for term in counted.terms)
    assert counted.matrix.toarray().tolist() == [[1, 1], [1, 0], [0, 1], [2, 0]]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("a b", "tokens are the str 'a b'; give a list of str"),
        (b"a b", "tokens are the bytes"),
        ({"a": 2}, "tokens are the dict"),
        ([1], "token 1 is int; give tokens as str"),
        (["a", None], "token None is NoneType"),
        ([b"a"], "token b'a' is bytes"),
        ([float("nan")], "token nan is float"),
        ([["a"]], r"tokens are \[\['a'\]\]"),
        (None, "tokens are None"),
        (7, "tokens are 7"),
    ],
)
def test_what_is_no_list_of_tokens_is_an_error(tokens: Sequence[str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        count_tokens([["a"], tokens])
    with pytest.raises(InvalidValueError, match=message):
        count_terms(["a"], lambda text: tokens)


def test_texts_are_a_list_of_str() -> None:
    with pytest.raises(InvalidValueError, match="texts is the str 'one text'"):
        count_terms("one text", Tokenizer())
    with pytest.raises(InvalidValueError, match="text is NoneType"):
        count_terms([None], Tokenizer())  # type: ignore[list-item]


def test_errors_of_a_tokenizer_pass_unchanged() -> None:
    def broken(text: str) -> list[str]:
        raise TypeError("my own fault")

    with pytest.raises(TypeError, match="my own fault"):
        count_terms(["a"], broken)


def test_tokens_are_numbered_alike_by_object_and_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    names = [f"t{number}" for number in range(50)] + ["t0x"[:2]]
    shared = [[names[at] for at in rng.integers(0, 51, 9)] for _ in range(300)]
    fresh = [[token[:1] + token[1:] for token in tokens] for tokens in shared]
    expected = count_tokens(iter(shared))
    monkeypatch.setattr(numbering, "_SAMPLE", 128)
    # Where strings lie in memory is chance: here they lie side by side.
    slots: dict[int, int] = {}
    real = numbering._addresses

    def near(objects: Any) -> Any:
        assert real(objects) is not None
        return np.array([16 * slots.setdefault(id(one), len(slots)) for one in objects], np.uintp)

    monkeypatch.setattr(numbering, "_addresses", near)
    seen: list[bool] = []
    by_object = numbering._by_object

    def spy(*given: Any) -> Any:
        found = by_object(*given)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(numbering, "_by_object", spy)
    assert same(count_tokens(shared), expected)
    assert same(count_tokens(fresh), expected)
    assert seen == [True, False]
    by_hand = count_tokens([["a", "b", "a"]] * 100)
    assert by_hand.terms == ("a", "b")
    assert by_hand.matrix.toarray().tolist() == [[2, 1]] * 100
    with pytest.raises(InvalidValueError, match="token 1 is int"):
        count_tokens([*shared, ["a", 1]])  # type: ignore[list-item]
    with pytest.raises(InvalidValueError, match=r"tokens are \['a', \[\]\]"):
        count_tokens([*shared, ["a", []]])  # type: ignore[list-item]
    assert same(_summed(each_token(shared)), expected)


def _summed(counts: TermCounts) -> TermCounts:
    matrix = counts.matrix.copy()
    matrix.sum_duplicates()
    return TermCounts(counts.terms, matrix, counts.lengths)


def test_numbered_documents_are_in_tie_order() -> None:
    for count in (0, 1, 9, 10, 11, 101, 1234):
        documents = NumberedDocuments(count)
        assert [d.id for d in documents] == sorted(map(str, range(count)))
        assert documents.positions == {d.id: place for place, d in enumerate(documents)}
        assert documents == Corpus(list(documents)).documents
        assert documents.digest == Corpus(list(documents)).digest


def test_counts_are_shared_between_parts_only_while_a_pipeline_indexes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    real = Tokenizer.words

    def words(tokenizer: Tokenizer, text: str) -> list[str]:
        asked.append(text)
        return real(tokenizer, text)

    monkeypatch.setattr(Tokenizer, "words", words)
    documents = [Document(str(number), f"alpha beta{number}") for number in range(5)]
    alone = BM25().index(documents), Dense(LSA()).index(documents)
    assert len(asked) == 10
    asked.clear()
    pipeline = Pipeline({"bm25": BM25(), "dense": Dense(LSA())}).index(documents)
    assert len(asked) == 5
    made = pipeline.retrievers["bm25"], pipeline.retrievers["dense"]
    assert [part.fingerprint() for part in made] == [part.fingerprint() for part in alone]  # type: ignore[attr-defined]
    asked.clear()
    Pipeline({"bm25": BM25(tokenizer=Tokenizer(stem="english")), "dense": Dense(LSA())}).index(documents)
    assert len(asked) == 10
