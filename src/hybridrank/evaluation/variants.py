"""Variants of one configuration, indexed and run so that what they share is done once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..config import build, load_config
from ..errors import ConfigError, HybridRankError, UnknownNameError
from ..pipeline import Pipeline
from ..request import make_request
from ..types import Document, FrozenDict, check_k
from .cases import Case, check_cases
from .experiment import Progress, evaluate, hits_needed
from .judgements import Collapse
from .measures import Measure
from .memory import Memory, Remembering
from .outcomes import Evaluation

if TYPE_CHECKING:
    from ..code.corpus import Corpus
    from ..protocols import Chunker

Source: TypeAlias = str | Path | Iterable[Document]
"""What is searched: a folder of source files, which each variant's chunker cuts, or documents."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What differs from the baseline.

    Attributes:
        patch: values by dotted path in the configuration, as in its `[ablations.*]`.
        options: arguments of `Pipeline.search`: recall, weights, rerank_depth.
    """

    patch: Mapping[str, Any] = FrozenDict()
    options: Mapping[str, Any] = FrozenDict()

    def to_dict(self) -> dict[str, Any]:
        return {**self.patch, **self.options}


def without(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The patch that takes out a leg, a reranker, the validator or the normalizer.

    A leg's weight goes with it when the configuration is built. Where one leg is left, a fuser that compares
    the candidates of several is told not to.

    Raises:
        UnknownNameError: the configuration holds none of that name.
    """
    for group in ("retrievers", "rerankers"):
        parts = config.get(group, {})
        if isinstance(parts, Mapping) and name in parts:
            patch: dict[str, Any] = {f"{group}.{name}": False}
            fuser = config.get("fuser")
            alone = group == "retrievers" and len(parts) == 2
            if isinstance(fuser, Mapping) and alone and fuser.get("same_candidates") is True:
                patch["fuser.same_candidates"] = False
            return patch
    if name in ("validator", "normalizer") and config.get(name):
        return {name: False}
    known = [*config.get("retrievers", {}), *config.get("rerankers", {})]
    known += [stage for stage in ("validator", "normalizer") if config.get(stage)]
    raise UnknownNameError("part to leave out", name, known)


def build_variants(
    config: str | Path | Mapping[str, Any], variants: Mapping[str, Variant]
) -> dict[str, Pipeline]:
    """A pipeline for each variant; parts that differ in nothing are the same object.

    Raises:
        ConfigError: as `Pipeline.from_config`; the path in it begins with `ablations` and the variant's name.
    """
    base = load_config(config)
    patches = {name: dict(variant.patch) for name, variant in variants.items()}
    named = {**base, "ablations": {**base.get("ablations", {}), **patches}}
    pool: dict[Any, Any] = {}
    return {
        name: Pipeline(**build(named, ablation=name if patch else None, pool=pool))
        for name, patch in patches.items()
    }


def index_variants(
    pipelines: Mapping[str, Pipeline],
    source: Source,
    *,
    max_bytes: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Pipeline]:
    """The pipelines with their documents; each chunker cuts once, each leg and reranker is indexed once.

    Raises:
        ConfigError: the source holds documents, but the chunkers differ.
    """
    groups: dict[int, list[str]] = {}
    for name, pipeline in pipelines.items():
        groups.setdefault(id(pipeline.chunker), []).append(name)
    is_folder = isinstance(source, str | os.PathLike)
    if len(groups) > 1 and not is_folder:
        raise ConfigError("the variants cut files in different ways, but documents were given; give a folder")
    indexed: dict[str, Pipeline] = {}
    for names in groups.values():
        group = {name: pipelines[name] for name in names}
        corpus = None
        if isinstance(source, str | os.PathLike):
            corpus = _loaded(source, pipelines[names[0]].chunker, max_bytes, progress)
            indexed |= _indexed(group, corpus.documents, corpus, progress)
        else:
            indexed |= _indexed(group, tuple(source), None, progress)
    return {name: indexed[name] for name in pipelines}


def run_variants(
    pipelines: Mapping[str, Pipeline],
    variants: Mapping[str, Variant],
    cases: Sequence[Case],
    *,
    measures: Sequence[Measure],
    k: int | None = None,
    collapse: Collapse | None = None,
    share: bool = True,
    progress: Progress | None = None,
) -> dict[str, Evaluation]:
    """An evaluation for each indexed pipeline.

    Args:
        share: ask a part only once for the same; False runs everything, so that latencies are those of whole
            searches.

    Raises:
        InvalidValueError, HybridRankError: as `evaluate`; what can be checked is checked first.
    """
    for name, pipeline in pipelines.items():
        try:
            check_cases(cases, pipeline.documents or ())
        except HybridRankError as error:
            error.add_note(f"in variant {name!r}")
            raise
    memory = Memory()
    evaluations: dict[str, Evaluation] = {}
    for name, pipeline in pipelines.items():
        searcher = Remembering(pipeline, memory) if share else pipeline
        try:
            made = evaluate(
                searcher,
                cases,
                measures=measures,
                k=k,
                collapse=collapse,
                check=False,
                progress=progress,
                name=name,
                **variants[name].options,
            )
        except HybridRankError as error:
            error.add_note(f"in variant {name!r}")
            raise
        evaluations[name] = _timed(made, searcher.beyond) if isinstance(searcher, Remembering) else made
    return evaluations


def check_variants(
    pipelines: Mapping[str, Pipeline],
    variants: Mapping[str, Variant],
    measures: Sequence[Measure],
    k: int | None,
) -> None:
    """Raise what the searches would raise, before anything is indexed."""
    for name, pipeline in pipelines.items():
        options = variants[name].options
        asked = {"recall": None, "weights": None, "rerank_depth": None, **options}
        try:
            if asked["recall"] is not None:
                check_k(asked["recall"], "recall")
            depth = hits_needed(pipeline, measures, k, asked["recall"])
            make_request(pipeline, "q", depth, where=None, explain=False, **asked)
        except HybridRankError as error:
            error.add_note(f"in variant {name!r}")
            raise


def _timed(evaluation: Evaluation, beyond: Mapping[str, float]) -> Evaluation:
    outcomes = tuple(
        replace(outcome, seconds=max(0.0, outcome.seconds + beyond.get(outcome.case.id, 0.0)))
        for outcome in evaluation.outcomes
    )
    return replace(evaluation, outcomes=outcomes)


def _loaded(
    root: str | os.PathLike[str], chunker: Chunker | None, max_bytes: int | None, progress: Progress | None
) -> Corpus:
    from ..code.corpus import load_code
    from ..code.walk import MAX_BYTES

    size = MAX_BYTES if max_bytes is None else max_bytes
    return load_code(root, chunker=chunker, max_bytes=size, progress=progress)


def _indexed(
    pipelines: Mapping[str, Pipeline],
    documents: Sequence[Document],
    corpus: Corpus | None,
    progress: Progress | None,
) -> dict[str, Pipeline]:
    legs = _distinct(pipeline.retrievers for pipeline in pipelines.values())
    rerankers = _distinct((pipeline.rerankers for pipeline in pipelines.values()), taken=legs)
    # One pipeline with all of them is indexed; the others take their parts from it.
    whole = Pipeline(legs, rerankers=rerankers).index(documents, progress=progress)
    whole.corpus = corpus
    made = whole.parts()
    parts = {id(part): made[name] for name, part in {**legs, **rerankers}.items()}

    def new(old: Mapping[str, Any]) -> dict[str, Any]:
        return {name: parts[id(part)] for name, part in old.items()}

    return {
        name: whole.with_(
            retrievers=new(pipeline.retrievers),
            fuser=pipeline.fuser,
            rerankers=new(pipeline.rerankers),
            validator=pipeline.validator,
            normalizer=pipeline.normalizer,
            chunker=pipeline.chunker,
            recall=pipeline.recall,
            validate_depth=pipeline.validate_depth,
            on_error=pipeline.on_error,
        )
        for name, pipeline in pipelines.items()
    }


def _distinct(groups: Iterable[Mapping[str, Any]], taken: Iterable[str] = ()) -> dict[str, Any]:
    """Each part once, under its name, or one like it where that is taken."""
    found: dict[int, tuple[str, Any]] = {}
    names = {*taken, "normalizer", "fusion", "validator"}
    for parts in groups:
        for name, part in parts.items():
            if id(part) not in found:
                number, free = 2, name
                while free in names:
                    free, number = f"{name} ({number})", number + 1
                names.add(free)
                found[id(part)] = free, part
    return dict(found.values())
