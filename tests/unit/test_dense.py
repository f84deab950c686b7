"""Dense retrieval over tables of vectors, where every cosine is known; what it does with broken embedders."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pytest

from hybridrank import (
    LSA,
    ContractError,
    Contribution,
    Dense,
    Document,
    DuplicateIdError,
    Filter,
    HybridRankError,
    InvalidValueError,
    MismatchError,
    NotIndexedError,
    Query,
    Ranking,
)
from hybridrank.protocols import BatchRetriever, Explainable, Fingerprinted, Indexable, Retriever
from hybridrank.types import Role


@dataclass
class Table:
    """An embedder that looks its vectors up."""

    vectors: Mapping[str, Sequence[float]]
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Any:
        self.asked.append((role, *texts))
        return np.array([self.vectors[text] for text in texts], np.float64)


@dataclass
class Says:
    """An embedder that answers whatever it was told to, whatever it is asked."""

    document: Any
    query: Any = None

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Any:
        return self.document if role == "document" else self.query


def docs(*texts: str) -> list[Document]:
    return [Document(str(number), text) for number, text in enumerate(texts)]


def scored(ranking: Ranking) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in ranking]


def codes(ranking: Ranking) -> list[str]:
    return [event.code for event in ranking.events]


PLANE = {
    "east": (1, 0),
    "north": (0, 1),
    "northeast": (1, 1),
    "west": (-2, 0),
    "nowhere": (0, 0),
    "steep": (3, 4),
}


def plane(*texts: str, **options: Any) -> Dense:
    return Dense(Table(PLANE), **options).index(docs(*texts))


def test_it_is_what_the_protocols_ask_for() -> None:
    for protocol in (Retriever, Indexable, BatchRetriever, Explainable, Fingerprinted):
        assert isinstance(Dense(), protocol)


def test_scores_are_cosines_rounded_to_five_decimals() -> None:
    found = plane("north", "northeast", "steep", "west", "east").retrieve(Query("east"), k=9)
    assert scored(found) == [("4", 1.0), ("1", 0.70711), ("2", 0.6), ("0", 0.0), ("3", -1.0)]
    assert found.source == "dense"
    assert found.events == ()


def test_ties_go_by_path_start_line_and_id() -> None:
    documents = [
        Document("z", "east", path="b.py", start_line=1, end_line=1),
        Document("y", "east", path="a.py", start_line=20, end_line=20),
        Document("x", "east", path="a.py", start_line=3, end_line=3),
        Document("w", "northeast", path="a.py", start_line=3, end_line=3),
        Document("a", "east", path="a.py", start_line=3, end_line=3),
    ]
    dense = Dense(Table(PLANE)).index(documents)
    assert dense.retrieve(Query("east"), k=9).ids == ("a", "x", "y", "z", "w")
    assert dense.retrieve(Query("east"), k=2).ids == ("a", "x")
    assert [d.id for d in dense.documents] == ["a", "w", "x", "y", "z"]


def test_scores_that_agree_to_five_decimals_are_ties() -> None:
    # The second is nearer by 2e-7; that is below what is promised, so the id decides.
    table = {"q": (1, 0), "first": (1, 1e-3), "second": (1, 7e-4)}
    found = Dense(Table(table)).index(docs("first", "second")).retrieve(Query("q"), k=2)
    assert scored(found) == [("0", 1.0), ("1", 1.0)]


def test_minus_zero_is_zero() -> None:
    table = {"q": (1, 0), "d": (-1e-9, 1)}
    (hit,) = Dense(Table(table)).index(docs("d")).retrieve(Query("q"), k=1)
    assert str(hit.score) == "0.0"


def test_lengths_of_vectors_do_not_count() -> None:
    table = {"q": (1e-300, 0), "huge": (3e300, 4e300), "tiny": (5e-324, 0), "big": (1e38, 1e38)}
    found = Dense(Table(table)).index(docs("huge", "tiny", "big")).retrieve(Query("q"), k=3)
    assert scored(found) == [("1", 1.0), ("2", 0.70711), ("0", 0.6)]


def test_zero_vectors_are_never_found() -> None:  # EM-14
    dense = plane("nowhere", "east")
    assert scored(dense.retrieve(Query("east"), k=5)) == [("1", 1.0)]
    empty = dense.retrieve(Query("nowhere"), k=5)
    assert len(empty) == 0
    assert codes(empty) == ["no-known-term"]
    np.testing.assert_array_equal(dense.vectors, [[0, 0], [1, 0]])


def test_a_corpus_of_zero_vectors_has_nothing_to_find() -> None:  # EM-14
    dense = plane("nowhere", "nowhere")
    assert scored(dense.retrieve(Query("east"), k=5)) == []
    assert codes(dense.retrieve(Query("east"), k=5)) == ["no-known-term"]
    assert scored(plane("nowhere", complete=True).retrieve(Query("east"), k=5)) == [("0", 0.0)]


def test_complete_rankings_hold_every_document() -> None:
    texts = ("nowhere", "west", "north", "east", "", "nowhere")
    dense = plane(*texts, complete=True)
    expected = [("3", 1.0), ("0", 0.0), ("2", 0.0), ("4", 0.0), ("5", 0.0), ("1", -1.0)]
    full = dense.retrieve(Query("east"), k=6)
    assert scored(full) == expected
    assert full.events == ()
    for k in range(6):
        assert scored(dense.retrieve(Query("east"), k=k)) == expected[:k]
    unknown = dense.retrieve(Query("nowhere"), k=6)
    assert scored(unknown) == [(str(n), 0.0) for n in range(6)]
    assert codes(unknown) == ["no-known-term"]


def test_complete_rankings_respect_the_filter() -> None:
    documents = [
        Document("a", "east", language="go"),
        Document("b", "nowhere", language="go"),
        Document("c", "east", language="c"),
        Document("d", "", language="c"),
    ]
    dense = Dense(Table(PLANE), complete=True).index(documents)
    found = dense.retrieve(Query("east"), k=9, where=Filter(language="go"))
    assert scored(found) == [("a", 1.0), ("b", 0.0)]
    unknown = dense.retrieve(Query("nowhere"), k=9, where=Filter(language="c"))
    assert scored(unknown) == [("c", 0.0), ("d", 0.0)]


@pytest.mark.parametrize("text", ["", "  ", "?!", "->", "\x00\n", "…"])
@pytest.mark.parametrize("complete", [False, True])
def test_a_query_without_words_finds_nothing_and_is_not_embedded(text: str, complete: bool) -> None:
    table = Table(PLANE)
    dense = Dense(table, complete=complete).index(docs("east"))
    found = dense.retrieve(Query(text), k=5)
    assert len(found) == 0
    assert codes(found) == ["empty-query"]
    assert table.asked == [("document", "east")]


def test_blank_documents_are_not_embedded_and_not_found() -> None:
    table = Table(PLANE)
    dense = Dense(table).index(docs("east", "", " \n", "north"))
    assert table.asked == [("document", "east", "north")]
    assert dense.retrieve(Query("east"), k=9).ids == ("0", "3")
    assert dense.vectors.shape == (4, 2)


def test_roles_are_told_apart() -> None:
    table = Table(PLANE)
    Dense(table).index(docs("east")).retrieve(Query("north"), k=1)
    assert table.asked == [("document", "east"), ("query", "north")]


@pytest.mark.parametrize("embedder", [LSA(), Table(PLANE)], ids=["lsa", "table"])
def test_an_empty_corpus_works(embedder: Any) -> None:
    for documents in ([], docs("", " ")):
        dense = Dense(embedder).index(documents)
        found = dense.retrieve(Query("east"), k=5)
        assert len(found) == 0
        assert codes(found) == ["no-known-term"]
        assert dense.retrieve_batch([Query("east"), Query("")], k=5)[1].events[0].code == "empty-query"
        assert len(dense.vectors) == len(documents)


def test_filter_comes_before_the_cut() -> None:
    documents = [Document(f"{n:02}", "east", language="go") for n in range(20)]
    documents.append(Document("z", "northeast", language="c"))
    dense = Dense(Table(PLANE)).index(documents)
    assert scored(dense.retrieve(Query("east"), k=1, where=Filter(language="c"))) == [("z", 0.70711)]
    nothing = dense.retrieve(Query("east"), k=1, where=Filter(language="java"))
    assert len(nothing) == 0
    assert codes(nothing) == ["filtered-out"]


def test_k() -> None:
    dense = plane("east", "north")
    assert len(dense.retrieve(Query("east"), k=0)) == 0
    assert len(dense.retrieve(Query("east"), k=10**12)) == 2
    for k in (-1, True, 1.0, None):
        with pytest.raises(InvalidValueError, match="k is"):
            dense.retrieve(Query("east"), k=k)  # type: ignore[arg-type]


def test_fields_are_embedded_together() -> None:
    table = Table({"send\nClient.send": (1, 0)})
    document = Document("1", "body", name="send", qualified_name="Client.send")
    Dense(table, fields=("name", "qualified_name")).index([document])
    assert table.asked == [("document", "send\nClient.send")]
    with pytest.raises(InvalidValueError, match="titel"):
        Dense(fields=("titel",))


def test_two_documents_of_one_id_are_refused() -> None:
    with pytest.raises(DuplicateIdError, match="'a'"):
        Dense(Table(PLANE)).index([Document("a", "east"), Document("a", "north")])


def test_before_index_it_says_what_to_call() -> None:
    dense = Dense()
    for act in (
        lambda: dense.retrieve(Query("east"), k=1),
        lambda: dense.retrieve_batch([], k=1),
        lambda: dense.explain(Query("east"), Document("1", "east")),
        lambda: dense.documents,
        lambda: dense.vectors,
    ):
        with pytest.raises(NotIndexedError, match=r"index\(documents\)"):
            act()


@pytest.mark.parametrize("embedder", ["lsa", object(), LSA])
def test_an_embedder_is_an_object_that_embeds(embedder: Any) -> None:
    with pytest.raises(InvalidValueError, match="embedder is"):
        Dense(embedder)


def test_complete_is_a_bool() -> None:
    with pytest.raises(InvalidValueError, match="complete is 1"):
        Dense(complete=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_documents_with_non_finite_vectors_are_named(bad: float) -> None:  # EM-02
    documents = [Document(id, "text") for id in ("a", "b", "c")]
    with pytest.raises(ContractError, match="NaN or infinity from Says") as caught:
        Dense(Says([[1.0, 0.0], [bad, 0.0], [0.0, bad]])).index(documents)
    assert caught.value.ids == ("b", "c")


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_query_with_a_non_finite_vector_is_an_error(bad: float) -> None:  # EM-02
    dense = Dense(Says([[1.0, 0.0]], [[bad, 0.0]])).index(docs("text"))
    with pytest.raises(ContractError, match="NaN or infinity from Says for the query 'what'"):
        dense.retrieve(Query("what"), k=1)


BROKEN = [
    ([[1.0, 0.0]], "got 1 vectors for 2 texts"),
    ([[1.0, 0.0]] * 3, "got 3 vectors for 2 texts"),
    ([], r"got an array of shape \(0,\) for 2 texts"),
    ([[]], "got 1 vectors for 2 texts"),
    ([[], []], "got empty vectors for 2 texts"),
    ([[1.0, 0.0], [1.0]], "got vectors of unlike lengths for 2 texts"),
    ([[1.0, 0.0], []], "got vectors of unlike lengths for 2 texts"),
    ([1.0, 0.0], r"got an array of shape \(2,\) for 2 texts"),
    (np.ones((2, 1, 3)), r"got an array of shape \(2, 1, 3\)"),
    (None, r"got an array of shape \(\)"),
    ([["a", "b"], ["c", "d"]], "got vectors of <U1"),
    ([[None, 1.0], [1.0, 1.0]], "got vectors of object"),
    (np.ones((2, 2), complex), "got vectors of complex128"),
    (np.ones((2, 2), bool), "got vectors of bool"),
]


@pytest.mark.parametrize(("vectors", "message"), BROKEN)
def test_what_is_not_one_vector_a_text_is_refused(vectors: Any, message: str) -> None:  # EM-06
    with pytest.raises(ContractError, match=message):
        Dense(Says(vectors)).index(docs("one", "two"))
    dense = Dense(Says(np.eye(2), vectors)).index(docs("one", "two"))
    with pytest.raises(ContractError, match=message):
        dense.retrieve_batch([Query("one"), Query("two")], k=1)


def test_vectors_of_any_real_type_will_do() -> None:
    for dtype in ("f2", "f4", "f8", "i1", "u2", "i8", "longdouble"):
        dense = Dense(Says(np.array([[1, 0], [3, 4]], dtype), np.array([[1, 0]], dtype))).index(
            docs("a", "b")
        )
        assert scored(dense.retrieve(Query("q"), k=2)) == [("0", 1.0), ("1", 0.6)]
        assert dense.vectors.dtype == np.float32


def test_another_dimension_at_query_time_is_an_error() -> None:
    dense = Dense(Says([[1.0, 0.0]], [[1.0, 0.0, 0.0]])).index(docs("text"))
    with pytest.raises(MismatchError, match="3 dimensions, but the index has 2"):
        dense.retrieve(Query("what"), k=1)


@dataclass
class Named(Table):
    model: str = "m1"

    def fingerprint(self) -> str:
        return self.model


def test_another_model_of_the_same_dimension_is_an_error() -> None:  # EM-12
    embedder = Named(PLANE)
    dense = Dense(embedder).index(docs("east"))
    assert len(dense.retrieve(Query("east"), k=1)) == 1
    embedder.model = "m2"
    for act in (
        lambda: dense.retrieve(Query("east"), k=1),
        lambda: dense.retrieve_batch([Query("east")], k=1),
        lambda: dense.explain(Query("east"), dense.documents[0]),
    ):
        with pytest.raises(MismatchError, match=r"'m2' now.*with 'm1'"):
            act()
    assert len(dense.index(docs("east")).retrieve(Query("east"), k=1)) == 1


@dataclass(frozen=True)
class Centred:
    """A fittable embedder without `fit_embed`: word counts around their mean."""

    mean: float | None = None

    def fit(self, texts: Sequence[str], /) -> Self:
        return type(self)(sum(len(text.split()) for text in texts) / max(1, len(texts)))

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Any:
        assert self.mean is not None
        return np.array([[len(text.split()) - self.mean, 1.0] for text in texts])


def test_an_embedder_that_learns_is_fitted_to_the_documents() -> None:
    embedder = Centred()
    dense = Dense(embedder).index(docs("a", "a b c", ""))
    assert embedder.mean is None
    assert dense.embedder == Centred(2.0)
    assert dense.retrieve(Query("a"), k=2).ids == ("0", "1")
    assert dense.index(docs("a", "b c d e f")).embedder == Centred(3.0)


def test_the_default_embedder_learns_from_the_corpus() -> None:
    dense = Dense().index(docs("apple pie", "apple tart", "stone wall"))
    assert dense.retrieve(Query("apple"), k=2).ids == ("0", "1")
    assert isinstance(dense.embedder, LSA)
    assert dense.embedder.fitted_dimensions == 3
    unknown = dense.retrieve(Query("zebra"), k=2)
    assert len(unknown) == 0
    assert codes(unknown) == ["no-known-term"]


def test_a_fitted_embedder_is_fitted_again() -> None:
    elsewhere = LSA().fit(["stone wall"])
    dense = Dense(elsewhere).index(docs("apple pie"))
    assert dense.retrieve(Query("apple"), k=1).ids == ("0",)
    assert dense.fingerprint() == Dense().index(docs("apple pie")).fingerprint()


def test_index_returns_a_new_part() -> None:
    unindexed = Dense(Table(PLANE), complete=True)
    first = unindexed.index(docs("east"))
    second = first.index(docs("north", "east"))
    assert second.complete
    with pytest.raises(NotIndexedError):
        unindexed.retrieve(Query("east"), k=1)
    assert first.retrieve(Query("east"), k=5).ids == ("0",)
    assert second.retrieve(Query("east"), k=5).ids == ("1", "0")
    with pytest.raises(ValueError, match="read-only"):
        first.vectors[0, 0] = 2.0
    with pytest.raises(AttributeError):
        first.complete = False  # type: ignore[misc]


def test_the_explanation_of_an_embedder_that_tells_nothing_is_the_cosine() -> None:
    dense = plane("northeast", "nowhere")
    assert dense.explain(Query("east"), dense.documents[0]) == (Contribution("cosine", 0.70711),)
    assert dense.explain(Query("nowhere"), dense.documents[0]) == ()
    assert dense.explain(Query("east"), dense.documents[1]) == ()
    assert dense.explain(Query("?"), dense.documents[0]) == ()
    with pytest.raises(InvalidValueError, match="'other' is not indexed"):
        dense.explain(Query("east"), Document("other", "east"))


def test_the_explanation_of_lsa_is_a_sum_over_terms() -> None:
    dense = Dense().index(docs("apple pie", "apple tart", "stone wall", ""))
    query = Query("apple tart zebra")
    for hit in dense.retrieve(query, k=3):
        contributions = dense.explain(query, hit.document)
        assert {c.name for c in contributions} == {"apple", "tart"}
        assert sum(c.value for c in contributions) == pytest.approx(hit.score, abs=6e-6)
    assert dense.explain(query, dense.documents[3]) == ()


def test_a_batch_gives_the_rankings_of_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(PLANE)
    dense = Dense(table).index(docs("east", "north", "steep", "nowhere"))
    queries = [Query(text) for text in ("east", "", "nowhere", "steep", "east", "west")]
    singles = [dense.retrieve(query, k=2) for query in queries]
    table.asked.clear()
    assert list(dense.retrieve_batch(queries, k=2)) == singles
    assert table.asked == [("query", "east", "nowhere", "steep", "east", "west")]
    # However the batch is cut into blocks.
    monkeypatch.setattr("hybridrank.retrievers.dense._PRODUCTS", 8)
    assert list(dense.retrieve_batch(queries, k=2)) == singles
    assert dense.retrieve_batch([], k=2) == ()


def test_fingerprint_tells_apart_what_ranks_differently() -> None:
    parts = [
        Dense(),
        Dense(complete=True),
        Dense(fields=("text", "name")),
        Dense(LSA(dimensions=8)),
        Dense(Table(PLANE)),
        plane("east"),
        plane("north"),
        plane("east", "east"),
        Dense(Named(PLANE)),
        Dense(Named(PLANE, model="m2")),
    ]
    assert len({part.fingerprint() for part in parts}) == len(parts)
    assert plane("east", "north").fingerprint() == plane("east", "north").fingerprint()


def test_repr() -> None:
    assert repr(Dense()) == "Dense(LSA())"
    indexed = Dense(LSA(dimensions=8), complete=True).index(docs("a"))
    assert repr(indexed) == "Dense(LSA(dimensions=8), complete=True)"
    assert repr(Dense(fields=("name",))) == "Dense(LSA(), fields=('name',))"


def test_it_survives_pickling() -> None:
    dense = Dense(Table(PLANE)).index(docs("east", "steep"))
    thawed = pickle.loads(pickle.dumps(dense))  # noqa: S301
    assert thawed.fingerprint() == dense.fingerprint()
    assert thawed.retrieve(Query("east"), k=2) == dense.retrieve(Query("east"), k=2)


def test_every_error_is_one_of_ours() -> None:
    assert issubclass(ContractError, HybridRankError)
    assert issubclass(MismatchError, HybridRankError)


PROGRAM = textwrap.dedent(
    """
    import json, pathlib, rich
    from hybridrank import Dense, Document, Query

    documents = []
    root = pathlib.Path(rich.__file__).parent
    for path in sorted(root.rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        for start in range(0, len(lines), 40):
            name = path.relative_to(root).as_posix()
            text = "\\n".join(lines[start : start + 40])
            documents.append(Document(f"{name}:{start}", text, path=name, start_line=start, end_line=start))
    dense = Dense().index(documents)
    queries = [Query(d.text[:n]) for d in documents[::9] for n in (15, 200)]
    found = dense.retrieve_batch(queries, k=80)
    print(json.dumps([dense.fingerprint(), [[(hit.id, hit.score) for hit in ranking] for ranking in found]]))
    """
)


def _run(threads: str, hash_seed: str) -> str:
    env = os.environ | {
        "OPENBLAS_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "PYTHONHASHSEED": hash_seed,
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def test_real_code_ranks_the_same_under_any_number_of_threads_and_hash_seed() -> None:
    one, two = _run("1", "1"), _run("2", "2")
    assert one == two
    assert sum(len(ranking) for ranking in json.loads(one)[1]) > 5_000
