"""Per-query measures and their means, made of rankings alone; a run and its check make them the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import InvalidValueError
from ..types import Document
from .cases import Case
from .judgements import judge
from .measures import Measure
from .method_rankings import Hits
from .outcomes import FIRST, GAP_REASON
from .scores import mean, scorer


def judged(
    cases: Iterable[Case],
    rankings: Mapping[str, Mapping[str, Hits]],
    documents: Mapping[str, Document],
    *,
    methods: Sequence[str],
    measures: Sequence[Measure],
    errors: Mapping[str, Mapping[str, str]],
) -> list[dict[str, Any]]:
    """One entry per case: for each method the values, ranks and missed targets; a gap is not scored.

    Args:
        rankings: by case id and method; each case must have one of each method and of no other.
        documents: by id; their text does not matter.
        errors: by case id and method, what went wrong.

    Raises:
        InvalidValueError: a case lacks the ranking of a method, has one more, or a ranking has an id twice.
    """
    entries = []
    for case in cases:
        given = rankings.get(case.id, {})
        if set(given) != set(methods):
            raise InvalidValueError(
                f"case {case.id!r} has rankings of {', '.join(given) or 'no method'}, not of all of "
                f"{', '.join(methods)} and of no other"
            )
        failed = {method: errors[case.id][method] for method in methods if method in errors.get(case.id, {})}
        entry: dict[str, Any] = {"case_id": case.id, "query": case.query}
        if case.is_gap:
            entry |= {"gap_id": case.gap_id, "scored": False, "reason": GAP_REASON}
            entry["first_ids"] = {method: _ids(given[method])[:FIRST] for method in methods}
        else:
            entry |= {"category": case.category, "scored": True}
            entry["relevant"] = [str(target) for target, grade in case.relevant.items() if grade > 0]
            entry["methods"] = {
                method: _judged(case, [documents[id] for id in _ids(given[method])], measures)
                for method in methods
            }
        entries.append({**entry, "errors": failed} if failed else entry)
    return entries


def aggregated(
    entries: Iterable[Mapping[str, Any]], methods: Iterable[str], measures: Sequence[Measure]
) -> dict[str, dict[str, Any]]:
    """For each method how many cases were scored, and the mean of each measure over them.

    Raises:
        InvalidValueError: no case can be scored.
    """
    scored = [entry for entry in entries if entry["scored"]]
    if not scored:
        raise InvalidValueError("no case can be scored; at least one must be answerable")
    return {
        method: {
            "cases": len(scored),
            "means": {
                measure.name: mean([entry["methods"][method]["values"][measure.name] for entry in scored])
                for measure in measures
            },
        }
        for method in methods
    }


def _ids(hits: Hits) -> list[str]:
    ids = [str(hit["id"]) for hit in hits]
    if len(set(ids)) < len(ids):
        raise InvalidValueError(f"a ranking has an id twice: {next(id for id in ids if ids.count(id) > 1)!r}")
    return ids


def _judged(case: Case, documents: Sequence[Document], measures: Iterable[Measure]) -> dict[str, Any]:
    judgement = judge(case, documents)
    return {
        "first_relevant_rank": min(judgement.found.ranks, default=None),
        "values": {
            measure.name: float(scorer(measure)(judgement.found, judgement.ranked, judgement.grades, case.id))
            for measure in measures
        },
        "ranks": dict(judgement.ranks),
        "missed": list(judgement.missed),
    }
