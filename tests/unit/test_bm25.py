"""BM25 against values worked out by hand, and the faults that others hit (named by their ids)."""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridrank import BM25, Document, Filter, Query, Tokenizer
from hybridrank.errors import DuplicateIdError, InvalidValueError, NotIndexedError
from hybridrank.protocols import BatchRetriever, Explainable, Fingerprinted, Indexable, Retriever

FACTOR = 2.2  # k1 + 1, which some implementations leave out


def documents(*texts: str) -> list[Document]:
    return [Document(str(number), text) for number, text in enumerate(texts)]


def index(*texts: str, **options: Any) -> BM25:
    return BM25(tokenizer=str.split, **options).index(documents(*texts))


def found(bm25: BM25, text: str, k: int = 10) -> dict[str, float]:
    return {hit.id: hit.score for hit in bm25.retrieve(Query(text), k=k)}


# --- the formula


def test_golden_idf_and_contribution() -> None:
    texts = ["common rare", *["common filler"] * 7, "filler filler"]
    bm25 = index(*texts)
    assert bm25.idf("rare") == pytest.approx(math.log(1 + 8.5 / 1.5)) == pytest.approx(1.8971, abs=5e-5)
    assert bm25.idf("common") == pytest.approx(0.1625, abs=5e-5)
    assert bm25.idf("nowhere") == pytest.approx(math.log(1 + 9.5 / 0.5))
    assert bm25.average_length == 2.0
    # tf 1 at average length: numerator and denominator are both 2.2.
    assert found(bm25, "rare") == {"0": pytest.approx(bm25.idf("rare"), rel=1e-6)}
    assert found(bm25, "rare common")["0"] == pytest.approx(1.8971 + 0.1625, abs=1e-4)


# Documents, query, and the scores without the factor.
SCORES: dict[str, tuple[list[str], str, list[float]]] = {
    # A term in exactly half of the documents still counts.
    "BM-01": (["kite sand", "kite wind", "rope", "bell"], "kite", [0.277259, 0.277259, 0, 0]),
    # A single document, or a term in all of them, has an idf above 0.
    "BM-02a": (["anchor"], "anchor", [0.130765]),
    "BM-02b": (["salt a", "salt b", "salt c"], "salt", [0.060696, 0.060696, 0.060696]),
    # The document frequency counts documents, not occurrences.
    "BM-03": (["log log log log", "log disk", "disk"], "log", [0.321763, 0.226898, 0]),
    # Equal documents score the same wherever they stand.
    "BM-06": (["alpha", "beta", "gamma", "swift hare", "swift fox"], "swift", [0, 0, 0, 0.338579, 0.338579]),
    # A repeated word of the query counts each time.
    "BM-11": (["kite sand", "kite wind", "rope", "bell"], "kite kite", [0.554518, 0.554518, 0, 0]),
    # The longer of two documents with one tf scores lower.
    "BM-12": (["pump x", "pump y1 y2 y3 y4 y5 y6 y7 y8 y9"], "pump", [0.113951, 0.065115]),
    # The average length is that of the whole collection.
    "BM-14": (["a b c q", "q", "z"], "q", [0.151614, 0.268574, 0]),
    "BM-15": (["tin can", "tin"], "can", [0.277259, 0]),
    # Each hit bears the score of its own document.
    "BM-16": (["owl", "fox fox fox", "fox"], "fox", [0, 0.286588, 0.255437]),
    # Hits are sorted, also when fewer match than are wanted.
    "BM-17": (
        ["fern f0 f1 f2 f3 f4 f5 f6", "fern g0 g1 g2", "fern", "oak"],
        "fern",
        [0.106244, 0.153173, 0.229057, 0],
    ),
}


@pytest.mark.parametrize(("token_lists", "query", "expected"), SCORES.values(), ids=SCORES)
def test_scores_without_the_factor(token_lists: list[str], query: str, expected: list[float]) -> None:
    bm25 = BM25(query_terms="count").index_tokens([text.split() for text in token_lists])
    np.testing.assert_allclose(bm25.scores(query.split()) / FACTOR, expected, rtol=0, atol=1.5e-6)
    # Each hit bears its own score, best first, and what does not match is not there. (BM-16, BM-17, BM-19)
    ranking = bm25.retrieve_tokens(query.split(), k=10)
    assert {hit.id: pytest.approx(hit.score / FACTOR, abs=1.5e-6) for hit in ranking} == {
        str(number): score for number, score in enumerate(expected) if score
    }
    assert list(ranking) == sorted(ranking, key=lambda hit: (-hit.score, hit.id))


def test_each_query_term_counts_once_unless_asked() -> None:  # BM-11
    assert found(index("kite sand", "rope"), "kite kite kite") == found(index("kite sand", "rope"), "kite")
    once = found(index("kite sand", "rope"), "kite")["0"]
    counted = index("kite sand", "rope", query_terms="count")
    assert found(counted, "kite kite kite")["0"] == pytest.approx(3 * once)


def test_length_does_not_matter_at_b_0() -> None:  # BM-12
    bm25 = index("pump x", "pump y1 y2 y3 y4 y5 y6 y7 y8 y9", b=0)
    assert bm25.scores(["pump"]).tolist() == [pytest.approx(bm25.idf("pump"))] * 2


@pytest.mark.parametrize("k1", [5e-324, 1e-9, 1e9, sys.float_info.max])
def test_extreme_k1_keeps_scores_finite_and_positive(k1: float) -> None:
    bm25 = index("kite kite sand", "kite", "rope", k1=k1)
    scores = list(found(bm25, "kite").values())
    assert len(scores) == 2
    assert all(0 < score < math.inf for score in scores)


def test_counts_above_the_small_integer_types() -> None:
    bm25 = BM25(b=0).index_tokens([["a"] * 70_000, ["a"] * 300, ["a"] * 255, ["b"]])
    saturated = [bm25.idf("a") * tf * 2.2 / (tf + 1.2) for tf in (70_000, 300, 255)]
    np.testing.assert_allclose(bm25.scores(["a"]), [*saturated, 0], rtol=1e-6)


def test_symmetric_documents_tie_exactly() -> None:
    # Three terms of one idf, added in different proportions: a float32 sum would break this tie by rounding.
    permutations = ["a a a b b c", "b b b c c a", "c c c a a b", "a a a c c b", "b b b a a c", "c c c b b a"]
    bm25 = index(*permutations, "x", "y z")
    assert len(set(found(bm25, "a b c").values())) == 1
    assert list(found(bm25, "a b c")) == list("012345")


# --- what is found, and in which order


def test_more_wanted_than_there_is() -> None:  # BM-04
    bm25 = index("red kite", "blue kite")
    assert len(bm25.retrieve(Query("kite"), k=10)) == 2
    assert len(bm25.retrieve(Query("kite"), k=0)) == 0
    for k in (-1, True, 1.0, "1", None):
        with pytest.raises(InvalidValueError, match="k is"):
            bm25.retrieve(Query("kite"), k=k)  # type: ignore[arg-type]
        with pytest.raises(InvalidValueError, match="k is"):
            bm25.retrieve(Query(""), k=k)  # type: ignore[arg-type]


def test_only_matching_documents_are_found() -> None:  # BM-05
    assert list(found(index("the owl sat", "the fox ran", "the elk slept", "the crab hid"), "crab", k=2)) == [
        "3"
    ]


def test_unknown_words() -> None:  # BM-07
    bm25 = index("red kite", "blue sea")
    nothing = bm25.retrieve(Query("zeppelin"), k=5)
    assert not nothing
    assert [event.code for event in nothing.events] == ["no-known-term"]
    assert found(bm25, "kite zeppelin") == found(bm25, "kite")
    assert bm25.scores(["zeppelin"]).tolist() == [0.0, 0.0]


def test_equal_scores_go_by_path_start_line_and_id() -> None:  # BM-18
    places = [("b.py", 1, "z"), ("a.py", 10, "y"), ("a.py", 9, "x"), ("a.py", 9, "w"), ("", 0, "v")]
    docs = [Document(id, "same words here", path, line, line) for path, line, id in places]
    for given in (docs, docs[::-1]):
        ranking = BM25().index(given).retrieve(Query("words"), k=5)
        assert ranking.ids == ("v", "w", "x", "y", "z")
        for k in range(5):
            assert BM25().index(given).retrieve(Query("words"), k=k).ids == ranking.ids[:k]


def test_ties_at_the_cut_of_a_large_corpus() -> None:  # BM-18
    # More documents than the selection of the best looks at in one block, most of them equal.
    texts = ["word"] * 1500 + ["word word"] * 3 + ["other"] * 700
    bm25 = BM25().index([Document(f"{number:04}", text) for number, text in enumerate(texts)])
    ids = bm25.retrieve(Query("word"), k=2000).ids
    assert ids == tuple(f"{number:04}" for number in (1500, 1501, 1502, *range(1500)))
    for k in (1, 3, 4, 5, 8, 100):
        assert bm25.retrieve(Query("word"), k=k).ids == ids[:k]


@pytest.mark.parametrize("text", ["", "   ", "?!…", "\x00"])
def test_a_query_without_words(text: str) -> None:
    for complete in (False, True):
        ranking = BM25(complete=complete).index(documents("red kite", "")).retrieve(Query(text), k=5)
        assert not ranking
        assert [event.code for event in ranking.events] == ["empty-query"]


def test_empty_documents_and_corpora() -> None:
    assert found(index("", "kite", "  "), "kite").keys() == {"1"}
    for bm25 in (index(), index("", "")):
        ranking = bm25.retrieve(Query("kite"), k=5)
        assert not ranking
        assert [event.code for event in ranking.events] == ["no-known-term"]
        assert bm25.average_length == 0.0
        assert bm25.vocabulary_size == 0
        assert math.isfinite(bm25.idf("kite"))
    assert BM25(complete=True).index(documents("", "")).retrieve(Query("kite"), k=5).ids == ("0", "1")


def test_a_filter_comes_before_the_cut() -> None:
    docs = [Document(f"{n}", "kite " * n, language="python" if n < 3 else "go") for n in range(1, 6)]
    bm25 = BM25().index(docs)
    assert bm25.retrieve(Query("kite"), k=2, where=Filter(language="python")).ids == ("2", "1")
    # The mask of the last filter is kept; another one must not get it.
    assert bm25.retrieve(Query("kite"), k=2, where=Filter(language="go")).ids == ("5", "4")
    assert bm25.retrieve(Query("kite"), k=2, where=Filter(language="python")).ids == ("2", "1")
    assert bm25.retrieve(Query("kite"), k=2, where=Filter()).ids == ("5", "4")
    nothing = bm25.retrieve(Query("kite"), k=2, where=Filter(language="rust"))
    assert not nothing
    assert [event.code for event in nothing.events] == ["filtered-out"]


def test_a_filter_whose_values_change_is_read_again() -> None:
    bm25 = BM25().index([Document("a", "kite", metadata={"tags": ["x"]})])
    tags = ["x"]
    where = Filter(metadata={"tags": tags})
    assert bm25.retrieve(Query("kite"), k=1, where=where).ids == ("a",)
    tags.append("y")
    assert bm25.retrieve(Query("kite"), k=1, where=where).ids == ()


def test_complete_adds_the_rest_at_score_0() -> None:
    docs = [Document(id, text, kind=kind) for id, text, kind in
            [("d", "oak", "x"), ("c", "kite", "x"), ("b", "elm", "y"), ("a", "kite kite", "y")]]  # fmt: skip
    bm25 = BM25(complete=True).index(docs)
    ranking = bm25.retrieve(Query("kite"), k=9)
    assert ranking.ids == ("a", "c", "b", "d")
    assert [hit.score > 0 for hit in ranking] == [True, True, False, False]
    assert bm25.retrieve(Query("kite"), k=3).ids == ("a", "c", "b")
    assert bm25.retrieve(Query("kite"), k=9, where=Filter(kind="x")).ids == ("c", "d")
    unknown = bm25.retrieve(Query("zeppelin"), k=9)
    assert unknown.ids == ("a", "b", "c", "d")
    assert [event.code for event in unknown.events] == ["no-known-term"]


def test_fields_are_searched_as_chosen() -> None:
    docs = [Document("a", "nothing", path="src/kite.py", name="fly"), Document("b", "fly", path="x.py")]
    assert BM25().index(docs).retrieve(Query("fly"), k=5).ids == ("b",)
    both = BM25(fields=("name", "text")).index(docs)
    assert set(both.retrieve(Query("fly"), k=5).ids) == {"a", "b"}
    assert BM25(fields=["path"]).index(docs).retrieve(Query("kite"), k=5).ids == ("a",)


def test_unspaced_chinese_matches_by_part() -> None:  # TK-01
    bm25 = BM25().index(documents("机器学习模型训练", "数据库索引优化"))
    assert [hit.id for hit in bm25.retrieve(Query("学习"), k=5)] == ["0"]


# --- tokens as they are, and foreign tokenizers


def test_token_lists_are_taken_as_they_are() -> None:
    strange = ["", " ", "\x00", "\ud800", "A", "a", "两 个"]
    bm25 = BM25().index_tokens([[token, "x"] for token in strange])
    for number, token in enumerate(strange):
        assert bm25.retrieve_tokens([token], k=9).ids == (str(number),)
    assert bm25.vocabulary_size == 8
    assert bm25.fingerprint() == BM25().index_tokens([["x", token] for token in strange]).fingerprint()


def test_token_lists_with_documents() -> None:
    docs = [Document("b", "", path="z"), Document("a", "", path="y")]
    bm25 = BM25().index_tokens([["kite"], ["kite", "kite"]], docs)
    assert bm25.documents == (docs[1], docs[0])
    assert bm25.retrieve_tokens(["kite"], k=2).ids == ("a", "b")
    assert bm25.scores(["kite"])[0] > bm25.scores(["kite"])[1] > 0
    with pytest.raises(InvalidValueError, match="1 token lists for 2 documents"):
        BM25().index_tokens([["kite"]], docs)
    with pytest.raises(DuplicateIdError, match="'b'"):
        BM25().index_tokens([["kite"]] * 2, [docs[0]] * 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: BM25().index_tokens(["red kite", "sea"]),
        lambda: BM25().index_tokens([["red", 1]]),  # type: ignore[list-item]
        lambda: BM25(tokenizer=str.lower).index(documents("red kite")),
        lambda: index("red kite").retrieve_tokens("kite", k=1),
        lambda: index("red kite").scores("kite"),
        lambda: index("red kite").scores([1]),  # type: ignore[list-item]
    ],
)
def test_a_text_or_number_is_no_token_list(wrong: Callable[[], object]) -> None:
    with pytest.raises(InvalidValueError, match="token"):
        wrong()


def test_any_callable_is_a_tokenizer() -> None:
    bm25 = BM25(tokenizer=lambda text: (word for word in text.split("|"))).index(documents("a b|c", "b"))  # type: ignore[arg-type,return-value]
    assert list(found(bm25, "a b")) == ["0"]
    assert list(found(bm25, "b|c")) == ["1", "0"]


# --- explanations, identity, options


def test_explain_names_terms_and_sums_to_the_score() -> None:
    texts = ["kite kite kite sand", "kite wind", "rope", "sand sand"]
    for query_terms, note in (("unique", ""), ("count", ", 2 times in the query")):
        bm25 = index(*texts, query_terms=query_terms)
        query = Query("kite sand wing kite")
        for hit in bm25.retrieve(query, k=9):
            parts = bm25.explain(query, hit.document)
            assert sum(part.value for part in parts) == pytest.approx(hit.score, rel=1e-12)
            assert [part.value for part in parts] == sorted((part.value for part in parts), reverse=True)
        parts = bm25.explain(query, bm25.documents[0])
        assert [(part.name, part.detail) for part in parts] == [
            ("kite", f"tf 3, in 2 of 4 documents{note}"),
            ("sand", "tf 1, in 2 of 4 documents"),
        ]
        assert bm25.explain(query, bm25.documents[2]) == ()


def test_equal_contributions_go_by_term() -> None:
    bm25 = index("b a c", "x")
    assert [part.name for part in bm25.explain(Query("c b a"), bm25.documents[0])] == ["a", "b", "c"]


def test_explain_knows_documents_by_id() -> None:
    bm25 = index("kite", "sea")
    assert bm25.explain(Query("kite"), Document("0", "another text", path="p"))[0].name == "kite"
    with pytest.raises(InvalidValueError, match="'2' is not indexed"):
        bm25.explain(Query("kite"), Document("2", "kite"))


def test_duplicate_ids_are_refused() -> None:
    with pytest.raises(DuplicateIdError, match="'x'"):
        BM25().index([Document("x", "a"), Document("y", "a"), Document("x", "b", path="p")])


def test_asked_before_index() -> None:
    bm25 = BM25()
    asks: list[Callable[[], object]] = [
        lambda: bm25.retrieve(Query("a"), k=1),
        lambda: bm25.retrieve_batch([Query("a")], k=1),
        lambda: bm25.retrieve_tokens(["a"], k=1),
        lambda: bm25.scores(["a"]),
        lambda: bm25.explain(Query("a"), Document("a", "")),
        lambda: bm25.idf("a"),
        lambda: bm25.documents,
        lambda: bm25.vocabulary_size,
        lambda: bm25.average_length,
    ]
    for ask in asks:
        with pytest.raises(NotIndexedError, match="index"):
            ask()
    assert bm25.index(documents("a")).documents
    with pytest.raises(NotIndexedError):
        bm25.retrieve(Query("a"), k=1)


WRONG: dict[str, tuple[object, ...]] = {
    "k1": (0, -1.2, math.nan, math.inf, True, "1.2", None, 10**400),
    "b": (-0.01, 1.01, math.nan, -math.inf, False, "0.5", None),
    "query_terms": ("once", None, True, []),
    "complete": (1, 0, "yes", None),
    "tokenizer": ("standard", 3),
    "fields": (("text", "nonsense"), "text", ()),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_an_option_outside_its_range_is_named(name: str, value: object) -> None:
    with pytest.raises(InvalidValueError, match=name):
        BM25(**{name: value})  # type: ignore[arg-type]


def test_options_are_public_read_only_and_shown() -> None:
    bm25 = BM25(k1=2, fields=["name", "text"])
    assert (bm25.k1, bm25.b, bm25.query_terms, bm25.complete) == (2.0, 0.75, "unique", False)
    assert bm25.fields == ("name", "text")
    assert bm25.tokenizer == Tokenizer()
    with pytest.raises(AttributeError):
        bm25.k1 = 3  # type: ignore[misc]
    assert repr(BM25()) == "BM25()"
    assert repr(bm25) == "BM25(k1=2.0, fields=('name', 'text'))"
    assert repr(bm25.index(documents("a"))) == repr(bm25)


def test_it_has_the_optional_abilities() -> None:
    for ability in (Retriever, BatchRetriever, Indexable, Explainable, Fingerprinted):
        assert isinstance(BM25(), ability)


def test_fingerprints_tell_options_tokenizers_and_contents_apart() -> None:
    docs = documents("red kite", "sea")
    made = [
        BM25(),
        BM25(k1=1.3),
        BM25(b=0.5),
        BM25(query_terms="count"),
        BM25(complete=True),
        BM25(fields=("text", "name")),
        BM25(tokenizer=str.split),
        BM25(tokenizer=Tokenizer(parts=False)),
        BM25().index(docs),
        BM25().index(docs[:1]),
        BM25().index(documents("red kite", "sea sea")),
        BM25().index([Document("9", "red kite"), *docs[1:]]),
    ]
    assert len({bm25.fingerprint() for bm25 in made}) == len(made)
    assert BM25().index(docs).fingerprint() == BM25().index(docs[::-1]).fingerprint()
    assert BM25(k1=1.2, tokenizer=Tokenizer()).fingerprint() == BM25().fingerprint()


def test_copies_answer_the_same() -> None:
    bm25 = index("red kite", "blue kite kite")
    for twin in (pickle.loads(pickle.dumps(bm25)), copy.copy(bm25), copy.deepcopy(bm25)):  # noqa: S301
        assert found(twin, "kite red") == found(bm25, "kite red")
        assert twin.fingerprint() == bm25.fingerprint()


def test_hash_seed_changes_nothing() -> None:  # BM-18
    program = """
from hybridrank import BM25, Document, Query
texts = ["the quick kite", "kite quick", "a sea of kites", "sea kite the", "quick the sea"]
bm25 = BM25(tokenizer=lambda text: set(text.split())).index([Document(t, t) for t in texts])
query = Query("the sea kite quick of")
ranking = bm25.retrieve(query, k=9)
print([(h.id, h.score.hex()) for h in ranking], [bm25.explain(query, h.document) for h in ranking])
print(bm25.fingerprint())
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    assert "sea kite the" in outputs.pop()
