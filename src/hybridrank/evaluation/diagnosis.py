"""Which stage lost what was not found: corpus, chunking, recall, fusion, a reranker, or the validator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ..errors import InvalidValueError, NotIndexedError
from ..pipeline import Pipeline
from ..types import Document, Filter, FrozenDict, Query, check_k
from .cases import Case
from .experiment import Progress, evaluate
from .lost_targets import Holders
from .measures import Hit
from .outcomes import CaseOutcome, Evaluation
from .places import Way, way_of

LossStage: TypeAlias = Literal["corpus", "chunking", "search", "recall", "fusion", "reranker", "validator"]
STAGES: tuple[LossStage, ...] = get_args(LossStage)
"""Where a target can be lost, in the order in which they are looked at; the first that applies is told."""

MEANING: Mapping[LossStage, str] = FrozenDict(
    {
        "corpus": "not in the corpus, or the case is wrong",
        "chunking": "no chunk holds its lines, or several share them",
        "search": "the search failed",
        "recall": "no leg gave it within the recall width",
        "fusion": "a leg gave it, but it was fused too low",
        "reranker": "a reranker moved it out of the first k",
        "validator": "the validator did not accept it",
    }
)


DEEPEST = 10_000
"""How many hits a leg is asked for when a target is looked for below the recall width."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A target that is not among the first k, and the stage that lost it.

    Attributes:
        target: `id`, `path` or `path:first-last`.
        stage: where it was lost; `part` is the reranker's name there, else `""`.
        reason: a sentence without a full stop.
        legs: its rank in each leg that ran, searched as deep as the corpus but at most `DEEPEST` hits; None
            where it is not there. A leg of which that is not known is left out.
        way: its rank after fusion and after each reranker that saw it; None where it is gone.
        documents: ids of the documents that hold it.
    """

    case: str
    query: str
    category: str
    target: str
    stage: LossStage
    reason: str
    part: str = ""
    legs: Mapping[str, int | None] = FrozenDict()
    way: Mapping[str, int | None] = FrozenDict()
    documents: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in self.__slots__}
        return {**told, "legs": dict(self.legs), "way": dict(self.way), "documents": list(self.documents)}


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """All targets that an evaluation missed, each with the stage that lost it.

    Attributes:
        k: a target is missed when it is not among the first k.
        recall: how many hits each leg gave.
        targets: how many relevant targets the scored cases have.
        cases: how many cases were scored.
        documents: what was searched.
    """

    k: int
    recall: int
    cases: int
    targets: int
    losses: tuple[Loss, ...]
    evaluation: Evaluation
    documents: Sequence[Document] = ()

    @property
    def summary(self) -> dict[LossStage, int]:
        """How many targets each stage lost, in the order of the stages."""
        return {stage: sum(loss.stage == stage for loss in self.losses) for stage in STAGES}

    @property
    def rerankers(self) -> dict[str, int]:
        """How many targets each reranker lost."""
        names = [loss.part for loss in self.losses if loss.stage == "reranker"]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def by_case(self) -> dict[str, list[Loss]]:
        """The losses by case id."""
        grouped: dict[str, list[Loss]] = {}
        for loss in self.losses:
            grouped.setdefault(loss.case, []).append(loss)
        return grouped

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers."""
        return {
            "k": self.k,
            "recall": self.recall,
            "cases": self.cases,
            "targets": self.targets,
            "found": self.targets - len(self.losses),
            "summary": dict(self.summary),
            "rerankers": self.rerankers,
            "losses": [loss.to_dict() for loss in self.losses],
            "errors": [{"id": one.case.id, "error": one.error} for one in self.evaluation.errors],
        }

    def __repr__(self) -> str:
        from ..report.ablation_text import diagnosis_text

        return diagnosis_text(self)

    def _repr_html_(self) -> str:
        from ..report.ablation_html import diagnosis_html

        return diagnosis_html(self)


def diagnose(
    pipeline: Pipeline,
    cases: Iterable[Case],
    *,
    k: int = 10,
    recall: int | None = None,
    weights: Mapping[str, float] | None = None,
    rerank_depth: int | None = None,
    where: Filter | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Run the cases and tell of each target that is not among the first k which stage lost it.

    Unlike `evaluate`, targets that the corpus does not hold are no error: they are told as lost there.

    Args:
        pipeline: with its documents indexed. With `corpus`, skipped files are named with their reason.
        k: 1 or more, at most `recall`.
        recall, weights, rerank_depth, where, progress: as for `evaluate`.

    Raises:
        NotIndexedError: the pipeline has no documents.
        InvalidValueError, HybridRankError: as `evaluate`.
    """
    if pipeline.documents is None:
        raise NotIndexedError("the pipeline has no documents; call index, or Pipeline.for_code")
    if check_k(k) == 0:
        raise InvalidValueError("k is 0, so that every target would be missed; give 1 or more")
    width = pipeline.recall if recall is None else check_k(recall, "recall")
    if k > width:
        raise InvalidValueError(f"k={k} is above recall={width}: legs give {width} hits each; raise recall")
    evaluation = evaluate(
        pipeline,
        cases,
        measures=Hit(k),
        k=k,
        recall=recall,
        weights=weights,
        rerank_depth=rerank_depth,
        where=where,
        check=False,
        progress=progress,
    )
    return diagnose_evaluation(pipeline, evaluation, k=k, recall=recall, where=where)


def diagnose_evaluation(
    pipeline: Pipeline,
    evaluation: Evaluation,
    *,
    k: int | None = None,
    recall: int | None = None,
    where: Filter | None = None,
) -> Diagnosis:
    """The same for an evaluation that this pipeline has made.

    Args:
        k: at most the evaluation's, which it is when None.
        recall, where: those of the evaluation.

    Raises:
        NotIndexedError: the pipeline has no documents.
        InvalidValueError: k is above the evaluation's.
    """
    if pipeline.documents is None:
        raise NotIndexedError("the pipeline has no documents; call index, or Pipeline.for_code")
    depth = evaluation.k if k is None else k
    if depth > evaluation.k:
        raise InvalidValueError(f"k={depth} is above the {evaluation.k} hits that each search gave")
    holders = Holders(pipeline.documents, pipeline.corpus, where)
    width = pipeline.recall if recall is None else recall
    losses: list[Loss] = []
    targets = 0
    for outcome in evaluation.scored:
        deep: dict[str, Sequence[str] | str] = {}
        for target, grade in outcome.case.relevant.items():
            if grade <= 0:
                continue
            targets += 1
            rank = outcome.ranks.get(str(target))
            if rank is not None and rank <= depth:
                continue
            lost = holders.lost(target)
            documents = lost.documents
            legs = _legs(pipeline, outcome, documents, where, deep) if documents else {}
            way = way_of(outcome.result, frozenset(document.id for document in documents), depth)
            stage, reason, part = _told(outcome, lost.stage, lost.reason, way, legs, width, depth)
            losses.append(
                Loss(
                    outcome.case.id,
                    outcome.case.query,
                    outcome.case.category,
                    str(target),
                    stage,
                    reason,
                    part,
                    FrozenDict({name: place for name, place in legs.items() if not isinstance(place, str)}),
                    FrozenDict(way.ranks),
                    tuple(document.id for document in documents),
                )
            )
    return Diagnosis(
        depth, width, len(evaluation.scored), targets, tuple(losses), evaluation, pipeline.documents
    )


def _told(
    outcome: CaseOutcome,
    early: LossStage | None,
    reason: str,
    way: Way,
    legs: Mapping[str, int | str | None],
    recall: int,
    k: int,
) -> tuple[LossStage, str, str]:
    if early is not None:
        return early, reason + (f"; {way.told}" if early == "chunking" and way.told else ""), ""
    if outcome.result is None:
        return "search", outcome.error, ""
    if way.stage is None:
        if not legs:
            return "recall", "no leg ran: " + ("; ".join(e.message for e in outcome.events) or "k is 0"), ""
        told = ", ".join(f"{name} {_place(place)}" for name, place in legs.items())
        return "recall", f"{told} (recall {recall})", ""
    return way.stage, way.told, way.part


def _place(place: int | str | None) -> str:
    return "does not have it" if place is None else place if isinstance(place, str) else f"has it at {place}"


def _legs(
    pipeline: Pipeline,
    outcome: CaseOutcome,
    documents: Sequence[Document],
    where: Filter | None,
    deep: dict[str, Sequence[str] | str],
) -> dict[str, int | str | None]:
    """The best rank of the documents in each leg that ran; a str says why there is none to tell."""
    if outcome.result is None:
        return {}
    wanted = {document.id for document in documents}
    places: dict[str, int | str | None] = {}
    for stage in outcome.result.trace.stages:
        if stage.kind != "retriever":
            continue
        place = first_place(stage.ids_out, wanted)
        failed = next((event.message for event in stage.events if event.code == "stage-failed"), "")
        if place is None and not failed:
            if stage.name not in deep:
                query = outcome.result.trace.query
                deep[stage.name] = _searched_deeper(pipeline, stage.name, query, where)
            places[stage.name] = _deep_place(deep[stage.name], wanted, len(pipeline.documents or ()))
        else:
            places[stage.name] = place if place is not None else f"failed ({failed})"
    return places


def _searched_deeper(
    pipeline: Pipeline, name: str, query: Query, where: Filter | None
) -> Sequence[str] | str:
    leg = pipeline.retrievers.get(name)
    if leg is None:
        return "is no leg of this pipeline"
    try:
        return leg.retrieve(query, k=min(DEEPEST, len(pipeline.documents or ())), where=where).ids
    except Exception as error:  # whatever a leg does when it is asked for everything
        return f"cannot be searched deeper ({type(error).__name__}: {error})"


def _deep_place(ids: Sequence[str] | str, wanted: Iterable[str], documents: int) -> int | str | None:
    if isinstance(ids, str):
        return ids
    place = first_place(ids, wanted)
    if place is None and len(ids) == DEEPEST < documents:
        return f"does not have it in its first {DEEPEST:,}"
    return place


def first_place(ids: Sequence[str], wanted: Iterable[str]) -> int | None:
    """The 1-based place of the first of the wanted ids."""
    known = frozenset(wanted)
    return next((place for place, id in enumerate(ids, 1) if id in known), None)
