"""Verdicts and orders without a model."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from hybridrank import (
    BM25,
    Document,
    EvidenceOverlap,
    InvalidValueError,
    LexicalEvidence,
    Pipeline,
    Query,
    Ranking,
    Verdict,
)

SOURCE = 'position.clamp(Vector2.ZERO, screen_size); print_line("go"); own_helper()'
CORPUS = (
    Document("a", "position.clamp(Vector2.ZERO, screen_size) keeps it inside; print_line(1)"),
    Document("b", "print_line(x) and print_line(y)"),
    Document("c", "Vector3.ZERO and move_and_slide(); print_line()"),
    Document("d", "print_line(); jump_high()"),
    Document("e", "screen_size: see also view_size, window_size, real_size, old_size"),
)


def judge(source: str, *, corpus: tuple[Document, ...] = CORPUS, **options: Any) -> dict[str, Verdict]:
    validator = LexicalEvidence(**options).index(corpus)
    return {one.id: one for one in validator.validate(Ranking.from_order(Query(source), corpus))}


def test_what_covers_the_source_is_accepted_with_its_strings() -> None:
    verdict = judge(SOURCE)["a"]
    assert (verdict.answer, verdict.accepted) == ("yes", True)
    assert [quote.text for quote in verdict.quotes] == ["position.clamp", "Vector2.ZERO", "screen_size"]
    for quote in verdict.quotes:
        assert quote.in_source is not None
        assert quote.in_document is not None
        assert SOURCE[slice(*quote.in_source)] == CORPUS[0].text[slice(*quote.in_document)] == quote.text


def test_tokens_that_most_documents_share_never_suffice() -> None:
    """Not even where they are all that the source has, or all that the candidate has."""
    verdicts = judge("print_line(); print_line()")
    assert {verdict.answer for verdict in verdicts.values()} == {"undecided"}
    assert not any(verdict.accepted or verdict.quotes for verdict in verdicts.values())
    assert judge(SOURCE)["b"] == Verdict("b", "no", False, (), "shares no rare string with the source")


def test_a_little_of_both_is_not_enough() -> None:
    verdict = judge(SOURCE)["e"]
    assert (verdict.answer, verdict.accepted) == ("no", False)
    assert [quote.text for quote in verdict.quotes] == ["screen_size"]
    assert verdict.reason.endswith("; accepted from 0.333")


def test_the_threshold_is_the_score_of_the_reranker() -> None:
    ranking = Ranking.from_order(Query(SOURCE), CORPUS)
    scores = {hit.id: hit.score for hit in EvidenceOverlap().index(CORPUS).rerank(ranking, k=5)}
    for id, score in scores.items():
        if score:
            assert judge(SOURCE, threshold=score)[id].accepted
            assert score == 1 or not judge(SOURCE, threshold=score + 1e-6)[id].accepted


def test_undecided_is_dropped_or_kept_and_never_yes() -> None:
    dropped, kept = judge("of the and"), judge("of the and", on_undecided="keep")
    assert {(one.answer, one.accepted) for one in dropped.values()} == {("undecided", False)}
    assert {(one.answer, one.accepted) for one in kept.values()} == {("undecided", True)}
    assert "rare among 5 documents" in dropped["a"].reason


def test_one_document_leaves_nothing_to_be_rarer_than() -> None:
    verdicts = judge("open_file(path_name)", corpus=(Document("a", "open_file(path_name)"),))
    assert verdicts["a"].answer == "undecided"


@pytest.mark.parametrize("size", [2, 3, 4])
def test_small_corpora(size: int) -> None:
    corpus = (
        Document("a", "open_file(path_name, read_mode)"),
        *(Document(f"x{number}", f"other_{number}() of kind_{number}") for number in range(size - 1)),
    )
    verdicts = judge("open_file(path_name, read_mode)", corpus=corpus)
    assert [id for id, one in verdicts.items() if one.accepted] == ["a"]


def test_a_verdict_does_not_depend_on_the_other_hits() -> None:
    validator = LexicalEvidence().index(CORPUS)
    alone = [validator.validate(Ranking.from_order(Query(SOURCE), [one]))[0] for one in CORPUS]
    assert alone == list(judge(SOURCE).values())


@pytest.mark.parametrize("wrong", [0, -0.1, 1.1, float("nan"), True, "0.3", None])
def test_a_threshold_out_of_range(wrong: Any) -> None:
    with pytest.raises(InvalidValueError, match="threshold is"):
        LexicalEvidence(threshold=wrong)


def test_on_undecided_is_checked() -> None:
    with pytest.raises(InvalidValueError, match="on_undecided is 'perhaps'"):
        LexicalEvidence(on_undecided="perhaps")  # type: ignore[arg-type]


def test_reprs_show_what_is_not_the_default() -> None:
    assert repr(LexicalEvidence()) == "LexicalEvidence()"
    assert repr(LexicalEvidence(threshold=0.5, on_undecided="keep")) == (
        "LexicalEvidence(threshold=0.5, on_undecided='keep')"
    )
    assert (repr(EvidenceOverlap()), repr(EvidenceOverlap(depth=9))) == (
        "EvidenceOverlap()",
        "EvidenceOverlap(depth=9)",
    )


def test_fingerprints_tell_options_and_corpora_apart() -> None:
    made = [
        LexicalEvidence(),
        LexicalEvidence(threshold=0.4),
        LexicalEvidence(on_undecided="keep"),
        LexicalEvidence().index(CORPUS),
        LexicalEvidence().index(CORPUS[:3]),
    ]
    assert len({one.fingerprint() for one in made}) == len(made)
    assert (
        LexicalEvidence().index(CORPUS).fingerprint() == LexicalEvidence().index(CORPUS[::-1]).fingerprint()
    )


def test_indexed_parts_pickle() -> None:
    ranking = Ranking.from_order(Query(SOURCE), CORPUS)
    validator, reranker = LexicalEvidence().index(CORPUS), EvidenceOverlap().index(CORPUS)
    verdicts, order = validator.validate(ranking), reranker.rerank(ranking, k=5)
    again, back = pickle.loads(pickle.dumps(validator)), pickle.loads(pickle.dumps(reranker))  # noqa: S301
    assert (again.validate(ranking), back.rerank(ranking, k=5)) == (verdicts, order)
    assert (again.fingerprint(), back.fingerprint()) == (validator.fingerprint(), reranker.fingerprint())


# The reranker


def test_the_most_evidence_comes_first_and_what_has_none_keeps_its_order() -> None:
    ranking = Ranking.from_order(Query(SOURCE), [CORPUS[number] for number in (3, 1, 4, 2, 0)])
    found = EvidenceOverlap().index(CORPUS).rerank(ranking, k=5)
    # c and e share as much, but e says more of something else.
    assert found.ids == ("a", "c", "e", "d", "b")
    assert [hit.score for hit in found][3:] == [0.0, 0.0]
    assert found.events == ()


def test_a_query_that_tells_nothing_changes_nothing_and_says_so() -> None:
    ranking = Ranking.from_order(Query("print_line()"), CORPUS[::-1])
    found = EvidenceOverlap().index(CORPUS).rerank(ranking, k=5)
    assert found.ids == ranking.ids
    assert [event.code for event in found.events] == ["nothing-shared"]


def test_contributions_sum_to_the_score() -> None:
    reranker = EvidenceOverlap().index(CORPUS)
    (hit,) = reranker.rerank(Ranking.from_order(Query(SOURCE), CORPUS[:1]), k=1)
    told = reranker.explain(Query(SOURCE), CORPUS[0])
    assert [one.name for one in told] == [
        "position.clamp",
        "clamp",
        "Vector2.ZERO",
        "Vector2",
        "ZERO",
        "screen_size",
    ]
    assert sum(one.value for one in told) == pytest.approx(hit.score, abs=1e-6)


# In a pipeline


def pipeline(**options: Any) -> Pipeline:
    return Pipeline(
        {"bm25": BM25()},
        rerankers=[EvidenceOverlap()],
        validator=LexicalEvidence(),
        normalizer=None,
        **options,
    )


def test_all_rejected_is_an_empty_result_that_says_how_many() -> None:  # VA-05
    found = pipeline(validate_depth=9).index(CORPUS).search("print_line() and jump_low()")
    assert found.hits == ()
    counts = next(event.data for event in found.events if event.code == "judged")
    assert (counts["judged"], counts["accepted"]) == (4, 0)
    assert "all-rejected" in [event.code for event in found.events]


def test_a_saved_pipeline_judges_the_same(tmp_path: Path) -> None:
    made = pipeline(validate_depth=9).index(CORPUS)
    made.save(tmp_path / "saved")
    loaded = Pipeline.load(tmp_path / "saved")
    assert loaded.fingerprint() == made.fingerprint()
    one, other = made.search(SOURCE), loaded.search(SOURCE)
    assert (one.verdicts, one.ids) == (other.verdicts, other.ids)
    assert [hit.score for hit in one] == [hit.score for hit in other]


def test_rarity_follows_the_documents() -> None:
    """A string stops being evidence when most documents have it."""
    few = pipeline(validate_depth=99).index(CORPUS)
    assert few.search(SOURCE).ids == ("a",)
    many = few.add(Document(f"n{number}", CORPUS[0].text) for number in range(9))
    assert many.search(SOURCE, k=20).ids == ()
