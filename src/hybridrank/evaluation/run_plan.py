"""Carrying out a run whose inputs, methods and measures are decided, and writing its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from ..types import Document
from .facts import prompt_hashes, seeds, text_sha256
from .inputs import InputFile, Inputs, Progress
from .manifest import MANIFEST_SCHEMA, event_counts, git_state, run_id, sealed, timings, utc, versions
from .measures import Measure
from .method_rankings import MethodRankings, rank_methods
from .results import judged
from .run_folder import (
    CASES,
    CONTRACT,
    DOCUMENT_VECTORS,
    DOCUMENTS,
    MANIFEST,
    MEASURES,
    QUERY_VECTORS,
    RANKINGS,
    SUMMARY,
    RunFolder,
    json_bytes,
    replace_file,
)
from .summary import public_summary
from .vectors import document_vectors, query_vectors, vector_legs

PRIVACY = (
    "The folder private/ holds queries, rankings and vectors; the public summary holds no vectors and no "
    "texts of documents."
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run found.

    Attributes:
        path: its folder; None where none was written.
        summary: the public summary.
        errors: by case id and method, searches that failed and count as empty rankings.
        warnings: how often parts told each event of level warning, by code.
        notes: lines for people on what was read.
    """

    path: Path | None
    summary: Mapping[str, Any]
    errors: Mapping[str, Mapping[str, str]]
    warnings: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, decided: inputs, methods, measures, policies."""

    inputs: Inputs
    facts: Mapping[str, Mapping[str, Any]]
    methods: tuple[str, ...]
    measures: tuple[Measure, ...]
    policies: Mapping[str, Any]
    about: Mapping[str, Any]
    same_candidates: bool
    contract_file: InputFile | None = None

    @property
    def deepest(self) -> int:
        """The largest cutoff."""
        return max((getattr(measure, "k", None) or 0 for measure in self.measures), default=0) or 10


def carry_out(
    plan: Plan,
    root: Path | None,
    public: Path | None,
    contract: bytes,
    command: Sequence[str],
    began: tuple[datetime, float],
    progress: Progress | None,
) -> Run:
    """Search, judge, and write the folder of the run, unless `root` is None.

    Args:
        root: the folder of runs.
        public: where a copy of the public summary goes.
        contract: the bytes of the contract's file; empty without one.
        began: when, and the performance counter then.

    Raises:
        ContractMismatchError: a method did not rank all candidates, though it must.
        HybridRankError: every search failed, or the folder cannot be written.
    """
    started, clock = began
    loaded = perf_counter() - clock
    inputs, pipeline = plan.inputs, plan.inputs.pipeline
    documents = {document.id: document for document in pipeline.documents or ()}
    facts = {name: plan.facts[name] for name in plan.methods}
    rankings = rank_methods(
        pipeline,
        inputs.cases,
        facts,
        depth=plan.deepest,
        same_candidates=plan.same_candidates,
        progress=progress,
    )
    entries = judged(
        inputs.cases,
        rankings.rankings,
        documents,
        methods=plan.methods,
        measures=plan.measures,
        errors=rankings.errors,
    )
    vectors = query_vectors(pipeline, facts, rankings.searched)
    hashes: dict[str, dict[str, str]] = {}
    for vector in vectors:
        hashes.setdefault(vector["leg"], {})[vector["case_id"]] = vector["vector_sha256"]
    gaps = sum(case.is_gap for case in inputs.cases)
    counts = {
        "documents": len(documents),
        "cases": len(inputs.cases),
        "supported": len(inputs.cases) - gaps,
        "gaps": gaps,
    }
    summary = public_summary(
        about=plan.about,
        counts=counts,
        facts=facts,
        policies=plan.policies,
        entries=entries,
        rankings=rankings.rankings,
        measures=plan.measures,
        methods=plan.methods,
        top=plan.deepest,
        locked=plan.contract_file is not None,
        vector_hashes=hashes,
    )
    told = dict(rankings.events)
    warned = {code: times for (level, code), times in sorted(told.items()) if level == "warning"}
    if root is None:
        return Run(None, summary, rankings.errors, warned, inputs.notes)
    name = run_id(started, inputs.files["config"].sha256)
    with RunFolder(root, name) as folder:
        if contract:
            folder.write(CONTRACT, contract)
        folder.write_json(SUMMARY, summary)
        folder.write_lines(CASES, (case.to_dict() for case in inputs.cases))
        folder.write_lines(DOCUMENTS, map(document_record, documents.values()))
        folder.write_lines(RANKINGS, _ranking_records(plan, rankings))
        folder.write_lines(MEASURES, entries)
        if vector_legs(pipeline):
            folder.write_lines(DOCUMENT_VECTORS, document_vectors(pipeline, facts))
            folder.write_lines(QUERY_VECTORS, vectors)
        manifest = {
            "manifest_schema_version": MANIFEST_SCHEMA,
            "run_id": name,
            "started_at_utc": utc(started),
            "finished_at_utc": utc(datetime.now(UTC)),
            "command": list(command),
            "git": git_state("."),
            "versions": versions(),
            **plan.about,
            "parameters": {
                "methods": facts,
                "prompts": prompt_hashes(pipeline),
                "evaluation": plan.policies,
                "measures": [measure.name for measure in plan.measures],
                "recall": len(documents) if plan.same_candidates else pipeline.recall,
                "same_candidates": plan.same_candidates,
                "top": plan.deepest,
            },
            "seeds": seeds(facts),
            "inputs": [file.to_dict() for file in (*_contract_file(plan), *inputs.files.values())],
            "outputs": folder.files,
            "counts": {**counts, "searches_failed": sum(map(bool, rankings.errors.values()))},
            "events": event_counts(rankings),
            "timings_seconds": timings(rankings, load=loaded),
            "privacy": PRIVACY,
        }
        folder.write_json(MANIFEST, sealed(manifest))
        path = folder.commit()
    if public is not None:
        replace_file(public, json_bytes(summary))
    return Run(path, summary, rankings.errors, warned, inputs.notes)


def document_record(document: Document) -> dict[str, Any]:
    """What a run keeps of a document: enough to judge rankings again, and to tell whether the text moved."""
    return {
        "id": document.id,
        "path": document.path,
        "start_line": document.start_line,
        "end_line": document.end_line,
        "text_sha256": text_sha256(document.text),
    }


def _contract_file(plan: Plan) -> tuple[InputFile, ...]:
    return () if plan.contract_file is None else (plan.contract_file,)


def _ranking_records(plan: Plan, rankings: MethodRankings) -> list[dict[str, Any]]:
    return [
        {"case_id": case, "method": method, "hits": of_case[method]}
        for case, of_case in rankings.rankings.items()
        for method in plan.methods
    ]
