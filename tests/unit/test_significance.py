"""Tests of differences, against hand-worked values and scipy."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

from hybridrank import InvalidValueError
from hybridrank.evaluation.significance import (
    EXACT,
    bootstrap_interval,
    detectable_difference,
    holm,
    least_cases,
    paired_test,
    randomisation_test,
)


def normal(count: int, mean: float, seed: int = 7) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).normal(mean, 1, count)]


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 1, 1], 2 / 8),
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([1, 1, -1], 1.0),
        # Sums of ±3 ±1 ±1: |5| twice, |3| four times, |1| twice; observed 3.
        ([3, 1, -1], 6 / 8),
        ([0.5], 1.0),
        ([0, 0, 0], 1.0),
        # A difference of zero changes nothing.
        ([1, 1, 1, 0, 0, 0, 0], 2 / 8),
    ],
)
def test_exact_p_by_hand(differences: list[float], p: float) -> None:
    assert randomisation_test(differences) == (p, True)
    assert randomisation_test([-value for value in differences]) == (p, True)


def test_exact_p_by_counting_and_by_scipy() -> None:
    differences = normal(10, 0.5)
    observed = abs(sum(differences))
    flips = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=10)
    ]
    p, exact = randomisation_test(differences)
    assert exact
    assert p == sum(flip >= observed - 1e-9 for flip in flips) / 2**10
    theirs = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=2**10)
    assert p == pytest.approx(theirs.pvalue)


def test_sums_that_differ_by_rounding_are_ties() -> None:
    # 0.1 + 0.2 is not 0.3: without tolerance 0.1 + 0.2 - 0.3 would be extreme alone.
    assert randomisation_test([0.1, 0.2, -0.3]) == (1.0, True)
    assert randomisation_test([0.1] * 3 + [0.3] * 3) == (2 / 64, True)


def test_sampled_p_counts_the_observed_one_and_is_never_0() -> None:
    p, exact = randomisation_test([1.0] * (EXACT + 1), samples=99)
    assert (p, exact) == (1 / 100, False)
    assert randomisation_test([1.0, -1.0] * 15) == (1.0, False)


def test_sampled_p_is_near_the_exact_one() -> None:
    differences = normal(EXACT, 0.3, seed=3)
    exact, _ = randomisation_test(differences)
    sampled, was_exact = randomisation_test([*differences, 1e-9], samples=20_000)
    assert not was_exact
    # Five standard errors of a share of 20,000 draws.
    assert sampled == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 20_000) ** 0.5)


def test_bootstrap_interval_is_near_scipy_s() -> None:
    differences = normal(60, 0.4)
    ours = bootstrap_interval(differences, samples=20_000)
    theirs = stats.bootstrap(
        (differences,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours is not None
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)
    wide = bootstrap_interval(differences, alpha=0.01, samples=20_000)
    assert wide is not None
    assert wide[0] < ours[0] < float(np.mean(differences)) < ours[1] < wide[1]


def test_bootstrap_of_few_cases_by_hand() -> None:
    # Means of two draws of 0 and 1 are 0, ½, ½, 1.
    assert bootstrap_interval([0, 1]) == (0.0, 1.0)
    assert bootstrap_interval([0, 1], alpha=0.6) == (0.5, 0.5)
    assert bootstrap_interval([0.25, 0.25]) == (0.25, 0.25)
    assert bootstrap_interval([0.25]) is None


def test_two_methods_case_by_case() -> None:
    test = paired_test([1, 0.5, 0.2, 1], [0.5, 0.5, 0.4, 0])
    assert (test.cases, test.wins, test.ties, test.losses) == (4, 2, 1, 1)
    assert test.difference == pytest.approx((0.5 + 0 - 0.2 + 1) / 4)
    # Of ±0.5 ±0.2 ±1 the sums of at least 1.3: 1.7, 1.3 and their opposites.
    assert (test.p, test.exact) == (0.5, True)
    assert test.low is not None
    assert test.high is not None
    assert test.low <= test.difference <= test.high
    assert test.to_dict()["p"] == 0.5
    turned = paired_test([0.5, 0.5, 0.4, 0], [1, 0.5, 0.2, 1])
    assert (turned.difference, turned.p, turned.wins) == (-test.difference, test.p, 1)


def test_the_order_of_cases_does_not_matter_to_an_exact_p() -> None:
    differences = normal(9, 0.4)
    assert randomisation_test(differences) == randomisation_test(sorted(differences))


# Holm 1979: 0.005 · 4, 0.01 · 3, then the largest so far.
@pytest.mark.parametrize(
    ("given", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], (0.03, 0.06, 0.06, 0.02)),
        ([0.5, 0.9], (1.0, 1.0)),
        ([0.03], (0.03,)),
        ([0.02, 0.02], (0.04, 0.04)),
        ([], ()),
    ],
)
def test_holm_by_hand(given: list[float], adjusted: tuple[float, ...]) -> None:
    assert holm(given) == pytest.approx(adjusted)


def test_how_many_cases_must_differ() -> None:
    assert [least_cases(alpha) for alpha in (0.5, 0.25, 0.05, 0.03125, 0.01)] == [2, 3, 6, 6, 8]
    for alpha in (0.05, 0.01):
        least = least_cases(alpha)
        assert randomisation_test([1.0] * least)[0] <= alpha < randomisation_test([1.0] * (least - 1))[0]


def test_the_smallest_difference_that_could_show() -> None:
    assert detectable_difference(8) == 6 / 8
    assert detectable_difference(6) == 1
    assert detectable_difference(5) is None
    assert detectable_difference(0) is None
    assert detectable_difference(100, alpha=0.01, step=0.5) == 8 * 0.5 / 100
    # It is what the test finds: six of eight one way, the others equal.
    assert paired_test([1] * 6 + [0] * 2, [0] * 8).p <= 0.05 < paired_test([1] * 5 + [0] * 3, [0] * 8).p


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_test([1, 2], [1]), "2 values and 1 of the baseline; give one per case"),
        (lambda: paired_test([], []), "give one number per case, one or more"),
        (lambda: paired_test([float("nan")], [1]), "a value is nan; give finite numbers"),
        (lambda: paired_test([float("inf")], [1]), "a value is inf"),
        (lambda: paired_test(cast(Any, ["1"]), [1]), "give one number per case"),
        (lambda: paired_test(cast(Any, [None]), [1]), "give one number per case"),
        (lambda: paired_test(cast(Any, [[1, 2]]), [1]), "give one number per case"),
        (lambda: bootstrap_interval([1], alpha=0), "alpha is 0; give a number between 0 and 1"),
        (lambda: bootstrap_interval([1], alpha=float("nan")), "alpha is nan"),
        (lambda: randomisation_test([1], samples=0), "samples is 0; give 1 or more"),
        (lambda: randomisation_test([1], samples=True), "samples is True"),
        (lambda: randomisation_test([1], seed=-1), "seed is -1"),
        (lambda: holm([0.1, 1.2]), "p-value is 1.2"),
        (lambda: holm([float("nan")]), "p-value is nan"),
        (lambda: least_cases(1), "alpha is 1"),
        (lambda: detectable_difference(-1), "cases is -1"),
        (lambda: detectable_difference(True), "cases is True"),
        (lambda: detectable_difference(9, step=0), "step is 0"),
    ],
)
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        call()


def test_results_do_not_depend_on_threads_or_hash_seed() -> None:
    code = (
        "from hybridrank.evaluation.significance import paired_test\n"
        "import numpy as np\n"
        "draw = np.random.default_rng(5)\n"
        "print(paired_test(list(draw.random(300)), list(draw.random(300)), samples=2000, seed=4))\n"
    )
    told = set()
    for threads, seed in (("1", "1"), ("4", "2")):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        env = {**os.environ, **dict.fromkeys(names, threads), "PYTHONHASHSEED": seed}
        told.add(
            subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout
        )
    assert len(told) == 1
    assert b"exact=False" in told.pop()


def test_another_seed_draws_others() -> None:
    differences = normal(40, 0.3)
    assert bootstrap_interval(differences, seed=1) == bootstrap_interval(differences, seed=1)
    assert bootstrap_interval(differences, seed=1) != bootstrap_interval(differences, seed=2)
    assert randomisation_test(differences, seed=1) != randomisation_test(differences, seed=2)
