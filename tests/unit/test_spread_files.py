"""One hit of each file first."""

from __future__ import annotations

import pytest

from hybridrank import BM25, Document, Hit, InvalidValueError, Pipeline, Query, Ranking, SpreadFiles


def hits(*told: tuple[str, float]) -> Ranking:
    """Hits of these paths with these scores, ids by place."""
    return Ranking(
        Query("z"), tuple(Hit(Document(str(at), "", path), score) for at, (path, score) in enumerate(told))
    )


def spread(ranking: Ranking) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in SpreadFiles().rerank(ranking, k=99)]


def test_first_hits_then_the_others_in_their_order() -> None:
    given = hits(("a", 9.0), ("a", 8.0), ("b", 7.0), ("a", 6.0), ("c", 5.0), ("b", 4.5))
    # The others begin at 8.0, three above the lowest first hit: they go down by three.
    assert spread(given) == [("0", 9.0), ("2", 7.0), ("4", 5.0), ("1", 5.0), ("3", 3.0), ("5", 1.5)]


def test_others_below_the_first_hits_keep_their_scores() -> None:
    assert spread(hits(("a", 9.0), ("b", 7.0), ("a", 1.0))) == [("0", 9.0), ("1", 7.0), ("2", 1.0)]


def test_one_hit_a_file_stays_as_it_is() -> None:
    given = hits(("a", 0.5), ("b", 0.25))
    assert SpreadFiles().rerank(given, k=9).hits == given.hits


def test_documents_without_a_path_are_files_of_their_own() -> None:
    assert [id for id, _ in spread(hits(("", 3.0), ("", 2.0), ("a", 1.0)))] == ["0", "1", "2"]


def test_the_order_before_stays_readable() -> None:
    documents = [
        Document("a:1-1", "needle needle", "a", 1, 1),
        Document("a:2-2", "needle hay", "a", 2, 2),
        Document("b:1-1", "needle hay hay hay", "b", 1, 1),
    ]
    pipeline = Pipeline({"bm25": BM25()}, rerankers={"spread": SpreadFiles()}).index(documents)
    result = pipeline.search("needle", k=3)
    assert result.ids == ("a:1-1", "b:1-1", "a:2-2")
    assert result.trace["spread"].ids_in == ("a:1-1", "a:2-2", "b:1-1")
    assert [hit.components["fusion"].rank for hit in result] == [1, 3, 2]


def test_options() -> None:
    assert (repr(SpreadFiles()), repr(SpreadFiles(depth=3))) == ("SpreadFiles()", "SpreadFiles(depth=3)")
    with pytest.raises(InvalidValueError, match="depth"):
        SpreadFiles(depth=-1)
