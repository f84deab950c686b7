"""How measures and latencies move with a setting: chunk size, recall, weights, rerank depth, any option."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ..config import load_config
from ..errors import ConfigError
from ..types import FrozenDict
from .ablation import BASELINE
from .cases import Case
from .experiment import MEASURES, Progress, checked_cases
from .judgements import Collapse
from .measures import Measure, parse_measures
from .outcomes import Evaluation
from .policy import refuse_selection
from .variants import Source, Variant, build_variants, check_variants, index_variants, run_variants

CHUNK_CHARS, RECALL, RERANK_DEPTH, WEIGHT = "chunk_chars", "recall", "rerank_depth", "weight."
MOST = 200
"""The most points of one sweep; a grid grows fast."""

_CHUNKER = {"use": "tree-sitter"}


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One setting, and what came of it.

    Attributes:
        settings: by knob; empty for the configuration as it is.
    """

    name: str
    settings: Mapping[str, Any]
    evaluation: Evaluation


@dataclass(frozen=True, slots=True, repr=False)
class Sweep:
    """A configuration run at several settings on the same cases.

    Attributes:
        knobs: the values by knob, in the order given.
        grid: whether the knobs were turned together; otherwise one at a time, the others as configured.
        points: the first is the configuration as it is.
    """

    knobs: Mapping[str, tuple[Any, ...]]
    grid: bool
    points: tuple[SweepPoint, ...]

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """By the name of the point."""
        return {point.name: point.evaluation for point in self.points}

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(measure.name for measure in self.points[0].evaluation.measures)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before taking a setting."""
        cases = len(self.points[0].evaluation.scored)
        return (
            f"The highest of {len(self.points)} settings on {cases} cases is partly luck: before you take "
            "it, run it on cases that took no part in the sweep.",
        )

    def line(self, knob: str) -> tuple[SweepPoint, ...]:
        """The points where this knob alone was turned, in the order of its values."""
        return tuple(point for point in self.points if set(point.settings) == {knob})

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers.

        Args:
            timings: without them, equal rankings give equal dicts.
        """
        return {
            "knobs": {knob: list(values) for knob, values in self.knobs.items()},
            "grid": self.grid,
            "measures": list(self.measures),
            "points": [
                {
                    "name": point.name,
                    "settings": dict(point.settings),
                    "evaluation": point.evaluation.to_dict(timings=timings),
                }
                for point in self.points
            ],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        from ..report.ablation_text import sweep_text

        return sweep_text(self)

    def _repr_html_(self) -> str:
        from ..report.ablation_html import sweep_html

        return sweep_html(self)


def sweep(
    config: str | Path | Mapping[str, Any],
    source: Source,
    cases: Iterable[Case],
    vary: Mapping[str, Iterable[Any]],
    *,
    grid: bool = False,
    measures: str | Measure | Iterable[str | Measure] = MEASURES,
    k: int | None = None,
    collapse: Collapse | None = None,
    policy: str = "",
    share: bool = True,
    max_bytes: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run a configuration at several settings on the same cases. What settings share is done once.

    Args:
        config: as for `Pipeline.from_config`.
        source: a folder of source files, or documents; chunk sizes need a folder.
        vary: values by knob: `chunk_chars` (the chunker's `max_chars`), `recall`, `rerank_depth`,
            `weight.NAME` of a leg, or a dotted path in the configuration such as `fuser.rrf_k`.
        grid: turn the knobs together, every combination; otherwise one at a time.
        measures, k, collapse, progress: as for `evaluate`.
        policy: a contract's selection policy as `forbids_selection` gives it.
        share, max_bytes: as for `ablate`.

    Raises:
        ConfigError: the policy forbids selection, nothing is varied, there are too many points, or a value
            does not fit its place.
        InvalidValueError, HybridRankError: as `evaluate`.
    """
    refuse_selection(policy, "a sweep")
    knobs = _knobs(vary)
    loaded = load_config(config)
    if CHUNK_CHARS in knobs and not loaded.get("chunker"):
        loaded["chunker"] = _CHUNKER
    settings = _settings(knobs, grid)
    variants = {_name(one): _variant(one) for one in settings}
    made, checked = parse_measures(measures), checked_cases(cases)
    pipelines = build_variants(loaded, variants)
    check_variants(pipelines, variants, made, k)
    indexed = index_variants(pipelines, source, max_bytes=max_bytes, progress=progress)
    evaluations = run_variants(
        indexed,
        variants,
        checked,
        measures=made,
        k=k,
        collapse=collapse,
        share=share,
        progress=progress,
    )
    points = tuple(SweepPoint(_name(one), one, evaluations[_name(one)]) for one in settings)
    return Sweep(FrozenDict(knobs), grid, points)


def _knobs(vary: Mapping[str, Iterable[Any]]) -> dict[str, tuple[Any, ...]]:
    knobs: dict[str, tuple[Any, ...]] = {}
    for knob, given in vary.items():
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise ConfigError(f"{knob} is to be {given!r}; give a list of values")
        values = tuple(given)
        if not values:
            raise ConfigError(f"no values were given for {knob}")
        for place, value in enumerate(values):
            if any(value == other and type(value) is type(other) for other in values[:place]):
                raise ConfigError(f"{knob} is to be {value!r} twice")
        knobs[knob] = values
    if not knobs:
        raise ConfigError("nothing is varied; give values for a knob, e.g. {'recall': [20, 40, 80]}")
    return knobs


def _settings(knobs: Mapping[str, tuple[Any, ...]], grid: bool) -> list[FrozenDict[str, Any]]:
    settings: list[FrozenDict[str, Any]] = [FrozenDict()]
    if grid:
        number = 1
        for values in knobs.values():
            number *= len(values)
        if number > MOST:
            raise ConfigError(f"the grid has {number:,} points, at most {MOST} are run; give fewer values")
        settings += [FrozenDict(zip(knobs, values, strict=True)) for values in product(*knobs.values())]
        return settings
    settings += [FrozenDict({knob: value}) for knob, values in knobs.items() for value in values]
    if len(settings) > MOST + 1:
        raise ConfigError(f"the sweep has {len(settings) - 1:,} points, at most {MOST} are run")
    return settings


def _name(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{knob}={value_text(value)}" for knob, value in settings.items()) or BASELINE


def value_text(value: object) -> str:
    """A setting's value as tables show it."""
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else repr(value)


def _variant(settings: Mapping[str, Any]) -> Variant:
    patch: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for knob, value in settings.items():
        if knob in (RECALL, RERANK_DEPTH):
            options[knob] = value
        elif knob.startswith(WEIGHT):
            options.setdefault("weights", {})[knob.removeprefix(WEIGHT)] = value
        else:
            patch["chunker.max_chars" if knob == CHUNK_CHARS else knob] = value
    return Variant(FrozenDict(patch), FrozenDict(options))


def one_line(knobs: Mapping[str, Sequence[Any]]) -> str:
    """The knobs and their values."""
    return "; ".join(f"{knob} {', '.join(map(value_text, values))}" for knob, values in knobs.items())
