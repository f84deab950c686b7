"""The public summary of a run: what may be shown, rounded, without vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .facts import HYBRID, WHOLE
from .measures import Measure
from .method_rankings import Hits
from .results import aggregated

SUMMARY_SCHEMA = 1
DIGITS = 8
INTERPRETATION = (
    "Scores order the documents of one query within one method. Scores of different methods have no common "
    "scale: they must not be compared, added or drawn on one axis; compare ranks and measures."
)


def public_summary(
    *,
    about: Mapping[str, Any],
    counts: Mapping[str, int],
    facts: Mapping[str, Mapping[str, Any]],
    policies: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    rankings: Mapping[str, Mapping[str, Hits]],
    measures: Sequence[Measure],
    methods: Sequence[str],
    top: int,
    locked: bool,
    vector_hashes: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """The summary; floats are rounded to 8 decimals.

    Args:
        about: experiment id and scope.
        counts: of documents, cases, supported and gaps.
        policies: the evaluation section of the contract, or what stands for it.
        entries: as `judged` gives them.
        top: how many hits of each ranking are shown.
        locked: whether inputs and methods were held against a contract.
        vector_hashes: SHA-256 of query vectors, by leg and case.
    """
    shown = {
        case: {method: [dict(hit) for hit in of_case[method][:top]] for method in methods}
        for case, of_case in rankings.items()
    }
    whole: dict[str, Any] = rounded(
        {
            "schema_version": SUMMARY_SCHEMA,
            **about,
            "inputs": dict(counts),
            "methods": {method: facts[method] for method in methods},
            "evaluation_contract": dict(policies),
            "evaluation": {
                "aggregate": aggregated(entries, methods, measures),
                "queries": [entry for entry in entries if entry["scored"]],
                "gaps": [entry for entry in entries if not entry["scored"]],
            },
            "top_rankings": shown,
            "query_vector_sha256": {leg: dict(hashes) for leg, hashes in vector_hashes.items()},
            "checks": checks(counts, facts, entries, rankings, locked=locked),
            "score_interpretation": INTERPRETATION,
            "warning": _warning(counts, str(policies.get("selection_policy", "")), locked),
        }
    )
    return whole


def checks(
    counts: Mapping[str, int],
    facts: Mapping[str, Mapping[str, Any]],
    entries: Sequence[Mapping[str, Any]],
    rankings: Mapping[str, Mapping[str, Hits]],
    *,
    locked: bool,
) -> dict[str, bool | None]:
    """What was checked; None where there was no contract to hold it against."""
    ranked = [name for name in facts if name != WHOLE]
    sizes = {len(of_case[method]) for of_case in rankings.values() for method in ranked}
    return {
        "source_hashes_match": True if locked else None,
        "methods_match_contract": True if locked else None,
        "forbidden_fields_absent": True if locked else None,
        "required_values_present": True if locked else None,
        "same_candidates_for_all_methods": sizes == {counts["documents"]}
        and all(_one_set(of_case, ranked) for of_case in rankings.values()),
        "hybrid_fuses_its_inputs_only": HYBRID not in facts or _fused_alone(facts, rankings),
        "gaps_excluded_from_measures": all("methods" not in entry for entry in entries if not entry["scored"])
        and sum(1 for entry in entries if entry["scored"]) == counts["supported"],
        "rerankers_disabled": not any(fact.get("reranker_enabled") for fact in facts.values()),
    }


def rounded(value: Any) -> Any:
    """Floats at any depth rounded to 8 decimals; -0.0 becomes 0.0."""
    if isinstance(value, float):
        return (round(value, DIGITS) + 0.0) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def _one_set(of_case: Mapping[str, Hits], methods: Iterable[str]) -> bool:
    return len({frozenset(hit["id"] for hit in of_case[method]) for method in methods}) == 1


def _fused_alone(facts: Mapping[str, Mapping[str, Any]], rankings: Mapping[str, Mapping[str, Hits]]) -> bool:
    legs = facts[HYBRID]["inputs"]
    for of_case in rankings.values():
        ranks = {leg: {hit["id"]: hit["rank"] for hit in of_case[leg]} for leg in legs}
        for hit in of_case[HYBRID]:
            held = {leg: of[hit["id"]] for leg, of in ranks.items() if hit["id"] in of}
            if not held or dict(hit["component_ranks"]) != held:
                return False
            if facts[HYBRID]["use"] == "rrf" and not _is_rrf(hit, held, facts[HYBRID]):
                return False
    return True


def _is_rrf(hit: Mapping[str, Any], ranks: Mapping[str, int], fact: Mapping[str, Any]) -> bool:
    terms = [fact["weights"].get(leg, 1) / (fact["rrf_k"] + rank) for leg, rank in ranks.items()]
    return math.isclose(hit["rrf_score"], math.fsum(terms), rel_tol=1e-9, abs_tol=1e-12)


def _warning(counts: Mapping[str, int], policy: str, locked: bool) -> str:
    told = [
        f"{counts['supported']} scored cases and {counts['gaps']} gaps: these numbers describe this corpus, "
        "these cases and these settings, and do not show that one method is better in general."
    ]
    if policy:
        told.append(f"The selection policy is {policy!r}.")
    if not locked:
        told.append("No contract locked inputs and settings before this run.")
    return " ".join(told)
