"""Running cases through pipelines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from ..errors import ContractError, HybridRankError, InvalidValueError
from ..types import Filter, FrozenDict, Query, Result, check_k
from .cases import Case, check_case_ids, check_cases
from .comparison import Comparison, check_methods
from .judgements import Collapse, judge
from .measures import Measure, parse_measures
from .outcomes import CaseOutcome, Evaluation
from .scores import EvaluationWarning, scorer

Progress = Callable[[str, int, int | None], None]

MEASURES = ("nDCG@10", "MRR@10", "Recall@10")
"""What is measured by default."""


class Searcher(Protocol):
    """What can be evaluated: a `Pipeline`, or anything that searches like one.

    Its `documents`, where it has some, are what targets are checked against; its `recall` is how many hits it
    can give at most.
    """

    def search(self, query: Query, /, *, k: int) -> Result: ...


def evaluate(
    pipeline: Searcher,
    cases: Iterable[Case],
    *,
    measures: str | Measure | Iterable[str | Measure] = MEASURES,
    k: int | None = None,
    recall: int | None = None,
    weights: Mapping[str, float] | None = None,
    rerank_depth: int | None = None,
    where: Filter | None = None,
    collapse: Collapse | None = None,
    check: bool = True,
    progress: Progress | None = None,
    name: str = "",
) -> Evaluation:
    """Run every case and score it.

    Gaps are run and shown, never scored. A search that raises counts as an empty ranking and is listed.

    Args:
        pipeline: with its documents indexed.
        cases: at least one that can be answered.
        measures: names such as `nDCG@10`, or measures.
        k: hits per search. When None, as many as the measures look at: the largest cutoff, or `recall` where
            a measure has none. With a validator, more hits are more judgements.
        recall, weights, rerank_depth, where: as for `Pipeline.search`.
        collapse: a field whose sharers take one place together, e.g. `"path"` to rank files.
        check: False lets targets pass that the corpus does not hold; they are never found.
        progress: called with (step, done, total).
        name: shown in tables.

    Raises:
        InvalidValueError: there is no case to score, two have one id, a target is not in the corpus, or a
            measure looks deeper than k or recall.
        HybridRankError: every search that could be scored failed; the first error is its cause.

    Warns:
        EvaluationWarning: nothing was found, and the pipeline's documents are not known.
    """
    made, given = parse_measures(measures), checked_cases(cases)
    documents = getattr(pipeline, "documents", None)
    if check and documents is not None:
        check_cases(given, documents)
    depth = hits_needed(pipeline, made, k, recall)
    options = {"recall": recall, "weights": weights, "rerank_depth": rerank_depth, "where": where}
    asked = {"k": depth, **{option: value for option, value in options.items() if value is not None}}
    step = f"evaluate {name}".rstrip()
    outcomes: list[CaseOutcome] = []
    failures: list[Exception] = []
    for done, case in enumerate(given):
        if progress is not None:
            progress(step, done, len(given))
        result, error, seconds = _searched(pipeline, case, asked)
        if error is not None:
            failures.append(error)
        outcomes.append(_outcome(case, result, error, seconds, made, collapse))
    if progress is not None:
        progress(step, len(given), len(given))
    evaluation = Evaluation(name, depth, made, tuple(outcomes))
    scored = evaluation.scored
    if all(outcome.error for outcome in scored):
        message = f"the searches of all {len(scored)} cases to score failed; the first: {scored[0].error}"
        raise HybridRankError(message) from failures[0]
    if documents is None and not any(outcome.ranks for outcome in scored):
        _warn_of_strangers(scored)
    return evaluation


def compare(
    pipelines: Mapping[str, Searcher],
    cases: Iterable[Case],
    *,
    baseline: str | None = None,
    measures: str | Measure | Iterable[str | Measure] = MEASURES,
    k: int | None = None,
    recall: int | None = None,
    weights: Mapping[str, float] | None = None,
    rerank_depth: int | None = None,
    where: Filter | None = None,
    collapse: Collapse | None = None,
    alpha: float = 0.05,
    samples: int = 9_999,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Run every case through several pipelines and compare them with one of them.

    Args:
        pipelines: by the names that tables show; two or more.
        baseline: the one that the others are compared with; the first when None.
        alpha, samples, seed: of the tests, as in `Comparison.of`.
        cases, measures, k, recall, weights, rerank_depth, where, collapse, progress: as for `evaluate`.

    Raises:
        InvalidValueError, HybridRankError: as `evaluate`; or there are fewer than two pipelines.
        UnknownNameError: there is no pipeline of the baseline's name.
    """
    from .significance import check_options

    check_methods(pipelines, baseline)
    check_options(alpha, samples, seed)
    made, given = parse_measures(measures), checked_cases(cases)
    evaluations = {
        name: evaluate(
            pipeline,
            given,
            measures=made,
            k=k,
            recall=recall,
            weights=weights,
            rerank_depth=rerank_depth,
            where=where,
            collapse=collapse,
            progress=progress,
            name=name,
        )
        for name, pipeline in pipelines.items()
    }
    return Comparison.of(evaluations, baseline=baseline, alpha=alpha, samples=samples, seed=seed)


def _searched(
    pipeline: Searcher, case: Case, asked: Mapping[str, Any]
) -> tuple[Result | None, Exception | None, float]:
    started = perf_counter()
    try:
        result = pipeline.search(Query(case.query, id=case.id), **asked)
        if not isinstance(result, Result):
            raise ContractError("search", f"returned {type(result).__name__}, not a Result")
    except Exception as error:
        return None, error, perf_counter() - started
    return result, None, perf_counter() - started


def _outcome(
    case: Case,
    result: Result | None,
    error: Exception | None,
    seconds: float,
    measures: Iterable[Measure],
    collapse: Collapse | None,
) -> CaseOutcome:
    documents = () if result is None else tuple(hit.document for hit in result.hits)
    values: dict[str, float] = {}
    ranks: Mapping[str, int] = FrozenDict()
    if not case.is_gap:
        judged = judge(case, documents, collapse=collapse)
        ranks = judged.ranks
        for measure in measures:
            values[measure.name] = scorer(measure)(judged.found, judged.ranked, judged.grades, case.id)
    return CaseOutcome(
        case=case,
        ids=tuple(document.id for document in documents),
        seconds=seconds,
        values=FrozenDict(values),
        ranks=ranks,
        error="" if error is None else f"{type(error).__name__}: {error}",
        result=result,
    )


def checked_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    """The cases, of which one at least can be scored.

    Raises:
        InvalidValueError: none can, one is no case, or two have one id.
    """
    given: tuple[object, ...] = (cases,) if isinstance(cases, str | Path) else tuple(cases)
    for case in given:
        if not isinstance(case, Case):
            raise InvalidValueError(f"{case!r} is no Case; give load_cases(path), or a list of Case")
    checked = tuple(case for case in given if isinstance(case, Case))
    check_case_ids(checked)
    if all(case.is_gap for case in checked):
        raise InvalidValueError(f"of {len(checked)} cases none can be answered; at least one must be scored")
    return checked


def hits_needed(pipeline: Searcher, measures: Iterable[Measure], k: int | None, recall: int | None) -> int:
    """How many hits to ask for.

    Raises:
        InvalidValueError: a measure looks deeper than k or recall, or no number follows from them.
    """
    width: int | None = getattr(pipeline, "recall", None) if recall is None else recall
    cutoffs = {measure.name: getattr(measure, "k", None) for measure in measures}
    depths = [width if cutoff is None else cutoff for cutoff in cutoffs.values()]
    given = k
    if given is None:
        known = [depth for depth in depths if depth is not None]
        if len(known) < len(depths):
            raise InvalidValueError("a measure without cutoff looks at all hits; say how many by k")
        given = max(known)
    limit = check_k(given) if width is None else min(check_k(given), width)
    for name, cutoff in cutoffs.items():
        if cutoff is not None and cutoff > limit:
            source = f"recall={width}" if width == limit else f"k={given}"
            raise InvalidValueError(f"{name} looks at {cutoff} hits, but {source} gives no more; raise it")
    if given > limit:
        raise InvalidValueError(f"k={given} is above recall={width}; raise recall")
    return given


def _warn_of_strangers(scored: Sequence[CaseOutcome]) -> None:
    outcome = next((outcome for outcome in scored if outcome.ids), None)
    if outcome is not None:
        target = next(iter(outcome.case.relevant))
        message = f"no target stands in any ranking: {outcome.ids[0]!r} was found, {str(target)!r} is wanted"
        warnings.warn(message, EvaluationWarning, stacklevel=3)
