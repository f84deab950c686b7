"""Holding inputs and pipeline against a contract: everything that moved, not only the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..config import load_config
from ..errors import ConfigError, HybridRankError
from ..pipeline import Pipeline
from ..types import Document
from .breaches import Breach, ContractMismatchError
from .case_files import read_records
from .cases import Case, check_case_ids, check_cases, read_case
from .contract import Contract
from .contract_sections import InputContract
from .facts import compare_facts, method_facts, prompt_hashes
from .field_checks import Records, forbidden_fields, places_shown, required_values
from .inputs import CorpusRead, InputFile, Inputs, Progress, hashed, load_corpus

_CONFIG = "config"


def checked_inputs(
    contract: Contract,
    *,
    base: str | Path,
    config: str | Path | None = None,
    progress: Progress | None = None,
) -> Inputs:
    """Everything that the contract names, read and indexed.

    Args:
        base: the folder that the contract's paths are relative to.
        config: the configuration, for a contract that locks none.

    Raises:
        ContractMismatchError: something is not as the contract says; all of it is listed.
        ConfigError: the contract locks no configuration and none is given, or both.
    """
    locked = _CONFIG in contract.sources
    if locked == (config is not None):
        what = "locks a configuration; give no other" if locked else "locks no configuration; give one"
        raise ConfigError(f"the contract {what}", where="sources.config_path")
    breaches: list[Breach] = []
    files = dict(_sources(contract, Path(base), breaches))
    config_path = Path(base, contract.sources[_CONFIG].path) if config is None else Path(config)
    if config is not None:
        files[_CONFIG] = hashed(_CONFIG, config, config_path)
    cases, case_records = _cases(Path(base, contract.sources["cases"].path), breaches)
    pipeline, settings = _pipeline(config_path, breaches)
    corpus = _corpus(
        Path(base, contract.sources["corpus"].path), contract.inputs, pipeline, breaches, progress
    )
    breaches += _counts(contract.inputs, cases, corpus)
    breaches += input_breaches(
        contract.inputs.forbidden_fields,
        contract.inputs.required_values,
        cases=case_records,
        documents={} if corpus is None else corpus.records,
        settings=settings,
    )
    if corpus is not None:
        breaches += blank_texts(corpus.documents)
    if corpus is not None and cases is not None:
        breaches += _targets(cases, corpus.documents)
    if pipeline is not None:
        pipeline = _indexed(pipeline, corpus, breaches, progress)
        breaches += _methods(contract, pipeline)
    if breaches or pipeline is None or cases is None or corpus is None:
        raise ContractMismatchError(breaches)
    return Inputs(pipeline, cases, files, corpus.notes)


def _sources(contract: Contract, base: Path, breaches: list[Breach]) -> Iterator[tuple[str, InputFile]]:
    for name, source in contract.sources.items():
        try:
            file = hashed(name, source.path, base / source.path)
        except HybridRankError as error:
            breaches.append(Breach(f"sources.{name}_path", "a file that can be read", str(error)))
            continue
        if file.sha256 != source.sha256:
            breaches.append(Breach(f"sources.{name}_sha256", source.sha256, f"{file.sha256} ({source.path})"))
        yield name, file


def _cases(path: Path, breaches: list[Breach]) -> tuple[tuple[Case, ...] | None, dict[str, Any]]:
    cases: list[Case] = []
    records: dict[str, Any] = {}
    count = len(breaches)
    try:
        for where, record in read_records(path):
            records[where] = record
            try:
                cases.append(read_case(record, where))
            except HybridRankError as error:
                breaches.append(Breach("cases", "a consistent case", str(error)))
        check_case_ids(cases)
    except HybridRankError as error:
        if path.exists():
            breaches.append(Breach("cases", "a file of cases with distinct ids", str(error)))
        return None, records
    return (tuple(cases) if len(breaches) == count else None), records


def _pipeline(path: Path, breaches: list[Breach]) -> tuple[Pipeline | None, dict[str, Any]]:
    if not path.exists():
        return None, {}
    try:
        settings = load_config(path)
    except HybridRankError as error:
        breaches.append(Breach("config", "a configuration that can be read", str(error)))
        return None, {}
    try:
        return Pipeline.from_config(settings), settings
    except HybridRankError as error:
        breaches.append(Breach("config", "a configuration of a pipeline", str(error)))
        return None, settings


def _corpus(
    path: Path,
    inputs: InputContract,
    pipeline: Pipeline | None,
    breaches: list[Breach],
    progress: Progress | None,
) -> CorpusRead | None:
    # Source code is cut by the chunker of a pipeline; without one there is nothing to say about it.
    if not path.exists() or (pipeline is None and path.is_dir()):
        return None
    try:
        return load_corpus(
            path, pipeline, id_field=inputs.id_field, text_field=inputs.text_field, progress=progress
        )
    except HybridRankError as error:
        breaches.append(Breach("corpus", "documents that can be read", str(error)))
        return None


def _counts(inputs: InputContract, cases: tuple[Case, ...] | None, corpus: CorpusRead | None) -> list[Breach]:
    found: dict[str, tuple[int, int]] = {}
    if corpus is not None:
        found["expected_document_count"] = inputs.documents, len(corpus.documents)
    if cases is not None:
        gaps = sum(case.is_gap for case in cases)
        found["expected_case_count"] = inputs.cases, len(cases)
        found["expected_supported_case_count"] = inputs.supported, len(cases) - gaps
        found["expected_gap_case_count"] = inputs.gaps, gaps
    return [
        Breach(f"input_contract.{name}", str(expected), str(counted))
        for name, (expected, counted) in found.items()
        if expected != counted
    ]


def input_breaches(
    forbidden: Iterable[str],
    required: Mapping[str, Mapping[str, Any]],
    *,
    cases: Records,
    documents: Records,
    settings: Mapping[str, Any],
) -> list[Breach]:
    """Forbidden fields that stand in an input, and required values that do not."""
    breaches = forbidden_fields(forbidden, {**documents, **cases, "the configuration": settings})
    for what, records in (("documents", documents), ("cases", cases)):
        breaches += required_values(required.get(what, {}), what, records)
    return breaches


def blank_texts(documents: Iterable[Document]) -> list[Breach]:
    """The documents whose text is blank, as one breach."""
    blank = [document.id for document in documents if not document.text.strip()]
    return (
        [Breach("corpus", "a text that is not blank in each document", f"blank: {places_shown(blank)}")]
        if blank
        else []
    )


def _targets(cases: tuple[Case, ...], documents: Iterable[Document]) -> list[Breach]:
    try:
        check_cases(cases, tuple(documents))
    except HybridRankError as error:
        return [Breach("cases", "targets that the corpus holds", line) for line in str(error).splitlines()]
    return []


def _indexed(
    pipeline: Pipeline, corpus: CorpusRead | None, breaches: list[Breach], progress: Progress | None
) -> Pipeline:
    if corpus is None:
        return pipeline
    try:
        return pipeline.index(corpus.documents, progress=progress)
    except HybridRankError as error:
        breaches.append(Breach("methods", "an index of all documents", str(error)))
        return pipeline


def _methods(contract: Contract, pipeline: Pipeline) -> list[Breach]:
    try:
        facts = method_facts(pipeline)
    except HybridRankError as error:
        return [Breach("methods", "methods that can be told apart", str(error))]
    breaches = []
    if set(facts) != set(contract.methods):
        breaches.append(Breach("methods", ", ".join(sorted(contract.methods)), ", ".join(sorted(facts))))
    for name in contract.method_names:
        if name in facts:
            breaches += compare_facts(name, contract.locked_facts(name), facts[name])
    if contract.evaluation.online_reranker.startswith("disabled") and (
        pipeline.rerankers or pipeline.validator
    ):
        found = ", ".join([*pipeline.rerankers, *(["validator"] if pipeline.validator else [])])
        breaches.append(Breach("evaluation.online_reranker", "no reranker and no validator", found))
    prompts = prompt_hashes(pipeline)
    for name in {**contract.prompts, **prompts}:
        locked, used = contract.prompts.get(name), prompts.get(name)
        if locked != used:
            breaches.append(Breach(f"prompts.{name}", locked or "no prompt", used or "no prompt"))
    deepest = max((getattr(one, "k", None) or 0 for one in contract.measures), default=0)
    if not contract.same_candidates and deepest > pipeline.recall:
        breaches.append(Breach("evaluation.cutoffs", f"at most recall={pipeline.recall}", str(deepest)))
    return breaches
