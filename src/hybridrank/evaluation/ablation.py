"""What each part of a pipeline earns: the pipeline compared with itself without it, or with it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import load_config
from ..errors import ConfigError
from ..types import Document, FrozenDict
from .cases import Case
from .comparison import Comparison, Difference
from .experiment import MEASURES, Progress, checked_cases
from .judgements import Collapse
from .measures import Measure, parse_measures
from .significance import check_options, detectable_difference, least_cases
from .variants import (
    Source,
    Variant,
    build_variants,
    check_variants,
    index_variants,
    run_variants,
)

BASELINE = "baseline"
_ADVICE = "look into single cases (hybridrank diagnose), or write more of them"


@dataclass(frozen=True, slots=True, repr=False)
class Ablation:
    """A configuration and its variants on the same cases.

    Attributes:
        comparison: means, latencies and, unless a policy forbids them, differences from the baseline.
        changes: by variant, the values by dotted path that it puts into the configuration.
        policy: the contract's selection policy where it forbids selection, else `""`.
        documents: by variant what it searched; with other chunkers, other documents.
    """

    comparison: Comparison
    changes: Mapping[str, Mapping[str, Any]]
    policy: str = ""
    documents: Mapping[str, Sequence[Document]] = FrozenDict()

    @property
    def clear(self) -> tuple[Difference, ...]:
        """The differences that chance does not explain."""
        return self.comparison.clear

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence for each clear difference."""
        return tuple(
            f"{one.method}: {one.measure} {'rises' if one.difference > 0 else 'falls'} by "
            f"{abs(one.difference):.4f}, p = {one.p_holm:.4f} after Holm's correction"
            for one in self.clear
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before drawing conclusions."""
        if self.policy:
            return (
                f"The contract's policy is {self.policy!r}: means stand side by side, without differences; "
                "they say nothing about which variant to take.",
            )
        differences, clear = self.comparison.differences, self.clear
        if not clear:
            return (*self.comparison.notes, f"None is shown to be better or worse: {_ADVICE}.")
        if len(clear) == len(differences):
            return ()
        alpha = self.comparison.alpha / len(differences)
        cases = len(next(iter(self.comparison.evaluations.values())).scored)
        smallest = detectable_difference(cases, alpha=alpha)
        others = len(differences) - len(clear)
        subject = "The other difference is" if others == 1 else f"The other {others} differences are"
        what = f"{subject} not told from chance by {cases} cases"
        if smallest is None:
            return (f"{what}; {_ADVICE}.",)
        return (
            f"{what}: the smallest they could have shown is {smallest:.3f}, if {least_cases(alpha)} of them "
            "went from 0 to 1 and none the other way.",
        )

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers.

        Args:
            timings: without them, equal rankings give equal dicts.
        """
        told = self.comparison.to_dict(timings=timings)
        return {
            **told,
            "changes": {name: dict(change) for name, change in self.changes.items()},
            "findings": list(self.findings),
            "notes": list(self.notes),
            "selection_policy": self.policy,
        }

    def __repr__(self) -> str:
        from ..report.ablation_text import ablation_text

        return ablation_text(self)

    def _repr_html_(self) -> str:
        from ..report.ablation_html import ablation_html

        return ablation_html(self)


def ablate(
    config: str | Path | Mapping[str, Any],
    source: Source,
    cases: Iterable[Case],
    *,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    measures: str | Measure | Iterable[str | Measure] = MEASURES,
    k: int | None = None,
    collapse: Collapse | None = None,
    alpha: float = 0.05,
    samples: int = 9_999,
    seed: int = 0,
    policy: str = "",
    share: bool = True,
    max_bytes: int | None = None,
    progress: Progress | None = None,
) -> Ablation:
    """Run a configuration and variants of it on the same cases.

    What variants share is done once: the corpus is cut and each leg indexed once, and a leg, reranker or
    validator is asked once for the same. See `Memory` for what that means to latencies.

    Args:
        config: as for `Pipeline.from_config`; the baseline.
        source: a folder of source files, or documents.
        variants: by name the values to put at dotted paths, False to take out; the configuration's
            `[ablations.*]` when None.
        measures, k, collapse, progress: as for `evaluate`.
        alpha, samples, seed: of the tests, as in `Comparison.of`.
        policy: a contract's selection policy as `forbids_selection` gives it; if there is one, nothing is
            said about differences.
        share: False runs every variant whole.
        max_bytes: larger files are skipped.

    Raises:
        ConfigError: the configuration or a variant does not describe a pipeline, or there is no variant.
        InvalidValueError, HybridRankError: as `evaluate`.
    """
    loaded = load_config(config)
    given = loaded.get("ablations", {}) if variants is None else variants
    if not given:
        raise ConfigError("there is nothing to compare with; give variants, or add [ablations.no-x] tables")
    if BASELINE in given:
        raise ConfigError(f"a variant is named {BASELINE!r}, as the unchanged configuration; rename it")
    made, checked = parse_measures(measures), checked_cases(cases)
    check_options(alpha, samples, seed)
    all_variants = {
        BASELINE: Variant(),
        **{name: Variant(FrozenDict(patch)) for name, patch in given.items()},
    }
    pipelines = build_variants(loaded, all_variants)
    check_variants(pipelines, all_variants, made, k)
    indexed = index_variants(pipelines, source, max_bytes=max_bytes, progress=progress)
    evaluations = run_variants(
        indexed,
        all_variants,
        checked,
        measures=made,
        k=k,
        collapse=collapse,
        share=share,
        progress=progress,
    )
    comparison = Comparison.of(evaluations, differences=not policy, alpha=alpha, samples=samples, seed=seed)
    changes = {name: variant.patch for name, variant in all_variants.items() if name != BASELINE}
    documents = {name: pipeline.documents or () for name, pipeline in indexed.items()}
    return Ablation(comparison, FrozenDict(changes), policy, FrozenDict(documents))
