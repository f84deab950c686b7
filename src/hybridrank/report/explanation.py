"""How a hit got its place: one step per stage of the trace. Text, HTML and JSON are made from it."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Contribution, Hit, Ranking, Result, Stage

_WITHOUT_DOCUMENTS = "normalizer"


@dataclass(frozen=True, slots=True)
class Step:
    """What one stage made of one hit.

    Attributes:
        kind: retriever, fuser, reranker or validator.
        rank_before: its 1-based place in what the stage was given, None where that has no
            order (legs, fusion) or where it was not among them.
        rank: its 1-based place in what the stage gave, None where it is not there.
        score: the stage's score for it; compares inside this stage only.
        size: how many documents the stage gave.
        contributions: what the score, or the place, is made of.
    """

    stage: str
    kind: str
    rank_before: int | None
    rank: int | None
    score: float | None
    size: int
    contributions: tuple[Contribution, ...] = ()


def steps(result: Result, hit: Hit) -> list[Step]:
    """The hit's way through the stages that ran, in their order."""
    return steps_of(result, hit.id)


def steps_of(result: Result, id: str) -> list[Step]:
    """The way of any candidate."""
    told = result.explanations.get(id, {})
    return [_step(stage, id, told.get(stage.name, ())) for stage in stages(result)]


def stages(result: Result) -> list[Stage]:
    """The stages of the trace that handled documents."""
    return [stage for stage in result.trace.stages if stage.kind != _WITHOUT_DOCUMENTS]


def stage_names(answer: Result | Ranking) -> list[str]:
    """Names of the legs and stages that scored some hit: those of the trace first, in the order they ran."""
    scored = {name: None for hit in answer.hits for name in hit.components}
    ran = [stage.name for stage in stages(answer)] if isinstance(answer, Result) else []
    return [name for name in ran if name in scored] + [name for name in scored if name not in ran]


def dropped_words(result: Result) -> list[str]:
    """What normalisation took out of the query, in order."""
    words: list[str] = []
    for event in result.events:
        if event.code == "dropped-words":
            words += [str(word) for word in event.data.get("words", ())]
    return words


def _step(stage: Stage, id: str, contributions: tuple[Contribution, ...]) -> Step:
    rank = _rank(stage.ids_out, id)
    ordered = stage.kind in ("reranker", "validator")
    return Step(
        stage=stage.name,
        kind=stage.kind,
        rank_before=_rank(stage.ids_in, id) if ordered else None,
        rank=rank,
        score=stage.scores[rank - 1] if rank is not None and rank <= len(stage.scores) else None,
        size=len(stage.ids_out),
        contributions=contributions,
    )


def _rank(ids: tuple[str, ...], id: str) -> int | None:
    return ids.index(id) + 1 if id in ids else None
