"""Several methods on the same cases, compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ..errors import InvalidValueError, UnknownNameError
from ..types import FrozenDict, check_id
from .outcomes import FIRST, GAP_REASON, Evaluation


@dataclass(frozen=True, slots=True)
class Difference:
    """How one method differs from the baseline in one measure.

    Attributes:
        difference: the mean of the method's value minus the baseline's, over the scored cases.
        low, high: bootstrap interval of the difference; None for a single case.
        p: of the paired randomisation test; `p_holm` the same, adjusted for all tests of the comparison.
        exact: whether p comes from all sign flips, not from a sample of them.
        wins, ties, losses: on how many cases the method is above, equal to, below the baseline.
    """

    method: str
    measure: str
    difference: float
    low: float | None
    high: float | None
    p: float
    p_holm: float
    exact: bool
    wins: int
    ties: int
    losses: int

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Evaluations of several methods on the same cases, and how they differ from one of them.

    No method is called the best: that is for the reader, with the intervals and p-values at hand.

    Attributes:
        evaluations: by method name.
        baseline: the method that the others are compared with; None when differences are not to be told.
        differences: by method, then by measure.
        alpha: intervals cover 1 - alpha.
        notes: what a reader must know, e.g. that the cases are too few to tell.
    """

    evaluations: Mapping[str, Evaluation]
    baseline: str | None
    differences: tuple[Difference, ...]
    alpha: float
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, Evaluation],
        *,
        baseline: str | None = None,
        differences: bool = True,
        alpha: float = 0.05,
        samples: int = 9_999,
        seed: int = 0,
    ) -> Self:
        """Compare evaluations that were made on the same cases with the same measures.

        Args:
            evaluations: two or more, by the names that tables show.
            baseline: the method that the others are compared with; the first when None.
            differences: False shows the methods side by side, without differences and tests.
            alpha: intervals cover 1 - alpha.
            samples, seed: of bootstrap and randomisation test.

        Raises:
            InvalidValueError: there are fewer than two, or one lacks a case, a measure or hits that another
                has.
            UnknownNameError: there is no evaluation of the baseline's name.
        """
        if len(evaluations) < 2:
            raise InvalidValueError(
                f"a comparison needs two methods or more; given: {', '.join(evaluations)}"
            )
        if baseline is not None and baseline not in evaluations:
            raise UnknownNameError("baseline", baseline, evaluations)
        _check_alike(evaluations)
        evaluations = FrozenDict((name, replace(one, name=name)) for name, one in evaluations.items())
        if not differences:
            return cls(evaluations, None, (), alpha, ())
        first = next(iter(evaluations)) if baseline is None else baseline
        told = _differences(evaluations, first, alpha, samples, seed)
        return cls(evaluations, first, told, alpha, _notes(evaluations[first], told, alpha))

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(measure.name for measure in next(iter(self.evaluations.values())).measures)

    @property
    def clear(self) -> tuple[Difference, ...]:
        """The differences that chance does not explain: adjusted p of at most alpha."""
        return tuple(one for one in self.differences if one.p_holm <= self.alpha)

    @property
    def gaps(self) -> list[dict[str, Any]]:
        """The questions that the corpus cannot answer, with the first ids of each method; never scored."""
        methods = {name: evaluation.gaps for name, evaluation in self.evaluations.items()}
        return [
            {
                "id": outcome.case.id,
                "query": outcome.case.query,
                "gap_id": outcome.case.gap_id,
                "scored": False,
                "reason": GAP_REASON,
                "first_ids": {name: list(gaps[place].ids[:FIRST]) for name, gaps in methods.items()},
            }
            for place, outcome in enumerate(next(iter(methods.values())))
        ]

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers.

        Args:
            timings: without them, equal rankings give equal dicts.
        """
        return {
            "baseline": self.baseline,
            "alpha": self.alpha,
            "measures": list(self.measures),
            "methods": [evaluation.to_dict(timings=timings) for evaluation in self.evaluations.values()],
            "differences": [one.to_dict() for one in self.differences],
            "gaps": self.gaps,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        from ..report.evaluation_text import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from ..report.evaluation_html import comparison_html

        return comparison_html(self)


def check_methods(methods: Iterable[str], baseline: str | None) -> None:
    """Check that there are two methods or more, and the baseline among them.

    Raises:
        InvalidValueError, UnknownNameError: there are not.
    """
    names = [check_id(name, "name of a method") for name in methods]
    if len(names) < 2:
        raise InvalidValueError(
            f"a comparison needs two methods or more; given: {', '.join(names) or 'none'}"
        )
    if baseline is not None and baseline not in names:
        raise UnknownNameError("baseline", baseline, names)


def _check_alike(evaluations: Mapping[str, Evaluation]) -> None:
    first, *others = evaluations
    expected = evaluations[first]
    for name in others:
        given = evaluations[name]
        for what, ours, theirs in (
            ("measure", _measures(expected), _measures(given)),
            ("case", _cases(expected), _cases(given)),
        ):
            for lacking, having, holder in ((ours, theirs, first), (theirs, ours, name)):
                missing = [one for one in having if one not in lacking]
                if missing:
                    raise InvalidValueError(f"{holder!r} lacks the {what} {missing[0]!r}, which others have")
        whole = [measure.name for measure in expected.measures if getattr(measure, "k", None) is None]
        if given.k != expected.k and whole:
            raise InvalidValueError(
                f"{whole[0]} looks at all hits, of which {first!r} has {expected.k} and {name!r} {given.k}; "
                "run both with one k"
            )
        for ours_outcome, theirs_outcome in zip(expected.outcomes, given.outcomes, strict=True):
            if ours_outcome.case != theirs_outcome.case:
                raise InvalidValueError(
                    f"case {ours_outcome.case.id!r} of {first!r} differs from the one of {name!r}, "
                    "or stands elsewhere"
                )


def _measures(evaluation: Evaluation) -> list[str]:
    return [measure.name for measure in evaluation.measures]


def _cases(evaluation: Evaluation) -> list[str]:
    return [outcome.case.id for outcome in evaluation.outcomes]


def _differences(
    evaluations: Mapping[str, Evaluation], baseline: str, alpha: float, samples: int, seed: int
) -> tuple[Difference, ...]:
    from .significance import holm, paired_test

    tests = {
        (name, measure): paired_test(
            evaluation.values(measure),
            evaluations[baseline].values(measure),
            alpha=alpha,
            samples=samples,
            seed=seed,
        )
        for name, evaluation in evaluations.items()
        if name != baseline
        for measure in _measures(evaluation)
    }
    adjusted = holm([test.p for test in tests.values()])
    return tuple(
        Difference(
            method,
            measure,
            test.difference,
            test.low,
            test.high,
            test.p,
            p_holm,
            test.exact,
            test.wins,
            test.ties,
            test.losses,
        )
        for ((method, measure), test), p_holm in zip(tests.items(), adjusted, strict=True)
    )


def _notes(baseline: Evaluation, differences: Sequence[Difference], alpha: float) -> tuple[str, ...]:
    from .significance import detectable_difference, least_cases

    if any(one.p_holm <= alpha for one in differences):
        return ()
    # Holm's first step: the smallest of m p-values is held against alpha / m.
    cases, strictest = len(baseline.scored), alpha / len(differences)
    smallest = detectable_difference(cases, alpha=strictest)
    least = least_cases(strictest)
    start = f"{cases} cases do not tell these methods apart at the level {alpha:g}"
    if smallest is None:
        end = f"at least {least} are needed to show any difference, however large"
    else:
        end = (
            f"the smallest difference they could have shown is {smallest:.3f}, if {least} of them went "
            "from 0 to 1 and none the other way"
        )
    return (f"{start}: {end}.",)
