"""Whether a difference between two methods on the same cases could be chance.

All functions take one value per case. They are deterministic for a seed: sums are numpy's own, never those of
a linear algebra library, whose last bits depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from ..types import check_k

Values = NDArray[np.float64]

EXACT = 20
"""Up to so many cases that differ, all 2^n sign flips are counted."""

_CELLS = 1 << 20
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class PairedTest:
    """How the values of one method differ from those of another on the same cases.

    Attributes:
        cases: how many.
        difference: the mean of value minus baseline value.
        low, high: bootstrap interval of the difference; None for a single case.
        p: two-sided p-value of the paired randomisation test.
        exact: whether all sign flips were counted; else they were sampled.
        wins, ties, losses: on how many cases the value is above, equal to, below the baseline's.
    """

    cases: int
    difference: float
    low: float | None
    high: float | None
    p: float
    exact: bool
    wins: int
    ties: int
    losses: int

    def to_dict(self) -> dict[str, float | int | bool | None]:
        return asdict(self)


def paired_test(
    values: Sequence[float],
    baseline: Sequence[float],
    *,
    alpha: float = 0.05,
    samples: int = 9_999,
    seed: int = 0,
) -> PairedTest:
    """Compare two methods case by case.

    Args:
        values, baseline: one finite value per case, in the same order; at least one case.
        alpha: the interval covers 1 - alpha.
        samples: of the bootstrap, and of the randomisation test where it is not exact.
        seed: of both.

    Raises:
        InvalidValueError: the lengths differ, there is no case, a value is not finite, or an option is out of
            range.
    """
    differences = _checked(values) - _checked(baseline) if len(values) == len(baseline) else None
    if differences is None:
        raise InvalidValueError(
            f"{len(values)} values and {len(baseline)} of the baseline; give one per case"
        )
    p, exact = randomisation_test(differences, samples=samples, seed=seed)
    interval = bootstrap_interval(differences, alpha=alpha, samples=samples, seed=seed)
    low, high = interval or (None, None)
    wins, losses = int(np.sum(differences > _TIE)), int(np.sum(differences < -_TIE))
    cases = len(differences)
    return PairedTest(
        cases, math.fsum(differences) / cases, low, high, p, exact, wins, cases - wins - losses, losses
    )


def bootstrap_interval(
    differences: Sequence[float] | Values, *, alpha: float = 0.05, samples: int = 9_999, seed: int = 0
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the mean difference (Efron & Tibshirani 1993, chapter 13).

    Cases are drawn with replacement, each with its difference, so pairs stay together. Percentile rather than
    BCa, which is not defined where all cases agree and is erratic with a handful of them. With few cases the
    interval is too narrow: read it beside the p-value.

    Returns:
        The quantiles alpha / 2 and 1 - alpha / 2 of the resampled means; None for a single case, which has no
        spread to resample.

    Raises:
        InvalidValueError: as `paired_test`.
    """
    given = _checked(differences)
    check_options(alpha, samples, seed)
    if len(given) == 1:
        return None
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            given[random.integers(0, len(given), size=(rows, len(given)))].mean(axis=1)
            for rows in _batches(samples, len(given))
        ]
    )
    low, high = np.quantile(means, (alpha / 2, 1 - alpha / 2))
    return float(low), float(high)


def randomisation_test(
    differences: Sequence[float] | Values, *, samples: int = 9_999, seed: int = 0
) -> tuple[float, bool]:
    """Two-sided paired randomisation test of a mean difference of zero (Fisher 1935; Smucker et al. 2007).

    Under the null hypothesis each difference could as well have the other sign. p is the share of sign flips
    whose mean is at least as far from zero as the observed one. With up to `EXACT` differences that are not
    zero all flips are counted; beyond, `samples` are drawn and p = (b + 1) / (samples + 1), where b of them
    are as extreme, so that p is never 0 (Phipson & Smyth 2010).

    Returns:
        p, and whether it is exact.

    Raises:
        InvalidValueError: as `paired_test`.
    """
    given = np.abs(_checked(differences))
    check_options(0.05, samples, seed)
    sizes = given[given > _TIE]
    # Sums that differ by rounding only are ties, and ties count as extreme.
    observed = abs(math.fsum(_checked(differences))) - _TIE * (1 + math.fsum(sizes))
    if len(sizes) <= EXACT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate((sums + size, sums - size))
        return float(np.mean(np.abs(sums) >= observed)), True
    random = np.random.default_rng(seed)
    extreme = 0
    for rows in _batches(samples, len(sizes)):
        flipped = np.where(random.integers(0, 2, size=(rows, len(sizes)), dtype=np.int8), sizes, -sizes)
        extreme += int(np.sum(np.abs(flipped.sum(axis=1)) >= observed))
    return (extreme + 1) / (samples + 1), False


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values adjusted for being several (Holm 1979): with the i-th smallest of m multiplied by m - i + 1,
    made monotone, cut at 1; in the order given.

    Raises:
        InvalidValueError: a p-value is not between 0 and 1.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise InvalidValueError(f"p-value is {p!r}; give numbers between 0 and 1")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for smaller, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - smaller) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def least_cases(alpha: float = 0.05) -> int:
    """How many cases must differ for the randomisation test to reach alpha at all.

    With m differences, all of one sign, 2 of the 2^m flips are as extreme: p = 2^(1 - m). So m is the
    smallest integer of at least 1 - log2(alpha): 6 at 5 %.

    Raises:
        InvalidValueError: alpha is not between 0 and 1.
    """
    check_options(alpha, 1, 0)
    cases = 1
    while 2.0 ** (1 - cases) > alpha:
        cases += 1
    return cases


def detectable_difference(cases: int, *, alpha: float = 0.05, step: float = 1.0) -> float | None:
    """The smallest mean difference that so many cases could have shown.

    At least m = `least_cases(alpha)` of the n cases must differ, all in one direction. Where a case differs
    by `step` (1 for hit or miss, as Recall of a single target), that is a mean of m * step / n.

    Returns:
        The difference, or None where there are fewer than m cases: they can show none, however large.

    Raises:
        InvalidValueError: a number is out of range.
    """
    check_k(cases, "cases")
    if not 0 < step < math.inf:
        raise InvalidValueError(f"step is {step!r}; give a finite number above 0")
    least = least_cases(alpha)
    return None if cases < least else least * step / cases


def _checked(values: Sequence[float] | Values) -> Values:
    try:
        given = np.asarray(values)
    except ValueError:
        given = np.empty((0, 0))
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iuf":
        raise InvalidValueError(f"values are {str(values)[:60]}; give one number per case, one or more")
    given = given.astype(np.float64)
    if not np.isfinite(given).all():
        raise InvalidValueError(f"a value is {given[~np.isfinite(given)][0]}; give finite numbers")
    return given


def check_options(alpha: float, samples: int, seed: int) -> None:
    """Check the options of a test before something long runs.

    Raises:
        InvalidValueError: alpha is not between 0 and 1, samples is below 1, or seed below 0.
    """
    if not 0 < alpha < 1:
        raise InvalidValueError(f"alpha is {alpha!r}; give a number between 0 and 1, such as 0.05")
    check_k(seed, "seed")
    if check_k(samples, "samples") == 0:
        raise InvalidValueError("samples is 0; give 1 or more")


def _batches(samples: int, width: int) -> Iterator[int]:
    """Row counts that sum to `samples`, each of a matrix that stays small."""
    rows = max(1, _CELLS // width)
    for start in range(0, samples, rows):
        yield min(rows, samples - start)
