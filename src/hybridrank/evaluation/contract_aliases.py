"""Contracts that speak of rules, chunks and probes, brought into the form that `Contract` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ConfigError

_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "sources": {
        "flat_chunks_path": "corpus_path",
        "flat_chunks_sha256": "corpus_sha256",
        "retrieval_probes_path": "cases_path",
        "retrieval_probes_sha256": "cases_sha256",
    },
    "input_contract": {
        "expected_probe_count": "expected_case_count",
        "expected_supported_probe_count": "expected_supported_case_count",
        "expected_gap_probe_count": "expected_gap_case_count",
    },
    "evaluation": {
        "supported_probe_metrics": "measures",
        "gap_probe_policy": "gap_policy",
        "primary_comparison_methods": "methods",
    },
}
_MEASURES = {
    "mean_recall_at_k": "Recall@k",
    "mean_precision_at_k": "Precision@k",
    "mean_ndcg_at_k": "nDCG@k",
    "mean_reciprocal_rank": "MRR",
    "mean_average_precision": "MAP",
}
_VALUES = {"binary_unique_terms": "unique", "counted_terms": "count"}
# What files of flat chunks and probes hold, where the contract does not say otherwise.
_CHUNKS = {
    "id_field": "metadata.rule_id",
    "text_field": "search_text",
    "required_values": {
        "documents": {"retrieval_role": "search_candidate"},
        "cases": {"uses_patient_record": False, "uses_reference_label": False},
    },
}


def translated(contract: object) -> Any:
    """The contract under the names that `Contract` reads; unknown fields stay, to be refused there.

    Raises:
        ConfigError: a field stands there under both names.
    """
    if not isinstance(contract, Mapping):
        return contract
    made = dict(contract)
    for section, names in _SECTIONS.items():
        given = made.get(section)
        if isinstance(given, Mapping):
            made[section] = _renamed(section, given, names)
    sources, inputs = contract.get("sources"), made.get("input_contract")
    if isinstance(sources, Mapping) and "flat_chunks_path" in sources and isinstance(inputs, Mapping):
        made["input_contract"] = {**_CHUNKS, **inputs}
    evaluation = made.get("evaluation")
    if isinstance(evaluation, Mapping) and isinstance(evaluation.get("measures"), list):
        measures = [
            _MEASURES.get(name, name) if isinstance(name, str) else name for name in evaluation["measures"]
        ]
        made["evaluation"] = {**evaluation, "measures": measures}
    methods = made.get("methods")
    if isinstance(methods, Mapping):
        made["methods"] = {name: _method(method) for name, method in methods.items()}
    return made


def _renamed(section: str, given: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in given.items():
        ours = names.get(name, name)
        if ours in made:
            raise ConfigError(
                f"expected {ours!r} once, found it under two names, of which one is {name!r}", where=section
            )
        made[ours] = value
    return made


def _method(method: Any) -> Any:
    if not isinstance(method, Mapping):
        return method
    terms = method.get("query_term_frequency")
    if isinstance(terms, str) and terms in _VALUES:
        return {**method, "query_term_frequency": _VALUES[terms]}
    return method
