"""Latent semantic analysis: weights and cosines by hand, what it does with tiny corpora, what it refuses."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from math import log
from typing import Any

import numpy as np
import pytest

from hybridrank import LSA, InvalidValueError, MismatchError, NotIndexedError, Tokenizer
from hybridrank.protocols import Embedder, Fingerprinted, FitEmbedder, Fittable
from hybridrank.text.counts import count_terms

WORDS = str.split
THREE = ["a b", "b c", "c c d"]

# Their weights: N = 3; a and d stand in one text, b and c in two; c twice in the last.
RARE, COMMON = log(4 / 2) + 1, log(4 / 3) + 1
WEIGHED = np.array([[RARE, COMMON, 0, 0], [0, COMMON, COMMON, 0], [0, 0, (1 + log(2)) * COMMON, RARE]])
WEIGHED /= np.sqrt((WEIGHED**2).sum(axis=1, keepdims=True))


def lsa(**options: Any) -> LSA:
    return LSA(tokenizer=WORDS, **options)


def corpus(texts: int = 400, seed: int = 5) -> list[str]:
    """Texts about eight topics of twelve words each, with some words that all share."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 8, texts)
    return [
        " ".join([f"t{topic}w{n}" for n in rng.integers(0, 12, 9)] + [f"s{n}" for n in rng.integers(0, 6, 3)])
        for topic in topics
    ]


def test_it_is_what_the_protocols_ask_for() -> None:
    for protocol in (Embedder, Fittable, FitEmbedder, Fingerprinted):
        assert isinstance(LSA(), protocol)


def test_cosines_at_full_rank_are_those_of_tf_idf() -> None:
    fitted, vectors = lsa().fit_embed(THREE)
    np.testing.assert_allclose(vectors @ vectors.T, WEIGHED @ WEIGHED.T, atol=1e-6)
    # By hand, of "a b" and "b c": common² / (√(rare² + common²) √(2 common²)).
    assert float(vectors[0] @ vectors[1]) == pytest.approx(0.42804, abs=1e-5)
    assert float(vectors[0] @ vectors[2]) == pytest.approx(0.0, abs=1e-6)
    assert fitted.fitted_dimensions == 3
    assert fitted.vocabulary == ("a", "b", "c", "d")


def test_singular_values_and_components_are_those_of_the_weighted_matrix() -> None:
    _, values, vectors = np.linalg.svd(WEIGHED, full_matrices=False)
    fitted = lsa().fit(THREE)
    np.testing.assert_allclose(fitted.singular_values, values, rtol=1e-6)
    signs = np.sign(vectors[range(3), np.abs(vectors).argmax(axis=1)])
    np.testing.assert_allclose(fitted.components.T, vectors * signs[:, None], atol=1e-6)


def test_one_dimension_is_the_projection_on_the_first_singular_vector() -> None:
    fitted, vectors = lsa(dimensions=1).fit_embed(THREE)
    assert vectors.shape == (3, 1)
    np.testing.assert_array_equal(vectors, np.ones((3, 1)))
    np.testing.assert_allclose(fitted.components[:, 0], lsa().fit(THREE).components[:, 0], atol=1e-6)


def test_words_that_share_company_meet_though_no_text_holds_both() -> None:
    texts = ["car engine wheel", "automobile engine wheel", "flower petal leaf", "tree leaf flower"] * 3
    fitted, vectors = lsa(dimensions=2).fit_embed(texts)
    (query,) = fitted.embed(["car"], role="query")
    np.testing.assert_allclose(vectors @ query, [1, 1, 0, 0] * 3, atol=0.01)


def test_a_topic_is_found_by_words_of_it_that_a_text_lacks() -> None:
    texts = corpus()
    fitted, vectors = lsa(dimensions=8).fit_embed(texts)
    queries = fitted.embed([f"t{topic}w0 t{topic}w1" for topic in range(8)], role="query")
    for topic, scores in enumerate(queries @ vectors.T):
        best = np.argsort(-scores)[:20]
        assert all(f"t{topic}w" in texts[n] for n in best)
        assert any(f"t{topic}w0 " not in texts[n] and f"t{topic}w1 " not in texts[n] for n in best)


def test_vectors_are_float32_of_length_one_in_order() -> None:
    fitted, vectors = lsa(dimensions=16).fit_embed(corpus())
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert vectors.shape == (400, 16)
    np.testing.assert_allclose((vectors**2).sum(axis=1), 1, atol=1e-6)
    assert fitted.embed([], role="query").shape == (0, 16)


def test_fit_embed_equals_fit_then_embed_bit_for_bit() -> None:
    texts = corpus()
    fitted, vectors = lsa(dimensions=16).fit_embed(texts)
    again = lsa(dimensions=16).fit(texts)
    assert fitted.fingerprint() == again.fingerprint()
    assert vectors.tobytes() == again.embed(texts, role="document").tobytes()


def test_fit_embed_tokenises_each_text_once() -> None:
    seen: list[str] = []

    def tokenizer(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    LSA(tokenizer=tokenizer).fit_embed(THREE)
    assert seen == THREE


def test_a_vector_does_not_depend_on_the_texts_embedded_with_it() -> None:
    texts = corpus()
    fitted = lsa(dimensions=16).fit(texts)
    together = fitted.embed([*texts, "t0w0 unknown", ""], role="query")
    for position in (0, 1, 57, 399, 400):
        (alone,) = fitted.embed([[*texts, "t0w0 unknown"][position]], role="query")
        assert alone.tobytes() == together[position].tobytes()


def test_roles_are_embedded_alike() -> None:
    fitted = lsa().fit(THREE)
    np.testing.assert_array_equal(fitted.embed(["a c"], role="query"), fitted.embed(["a c"], role="document"))


def test_unknown_terms_count_for_nothing() -> None:
    fitted = lsa().fit(THREE)
    plain, more = fitted.embed(["a c", "a zebra c"], role="query")
    assert plain.tobytes() == more.tobytes()


@pytest.mark.parametrize("text", ["", " ", "zebra", "A"])
def test_a_text_without_a_known_term_has_the_zero_vector(text: str) -> None:
    np.testing.assert_array_equal(lsa().fit(THREE).embed([text], role="query"), np.zeros((1, 3)))


def test_a_term_that_the_kept_dimensions_lost_gives_no_direction_of_noise() -> None:
    # Two unrelated groups of texts, and one dimension, which goes to the larger one.
    fitted = lsa(dimensions=1).fit(["x y"] * 5 + ["p q"])
    np.testing.assert_array_equal(fitted.embed(["p"], role="query"), [[0.0]])
    assert fitted.attribute("p", [1.0]) == ()


@pytest.mark.parametrize(
    ("texts", "dimensions"),
    [
        ([], 1),
        ([""], 1),
        (["", " ", ""], 1),
        (["a"], 1),
        (["a"] * 9, 1),
        (["a b c d e f"], 1),
        (["a b", "a b", "c"], 2),
        (["a", "b", "c", ""], 3),
        (["a", "a a", "b", "a b"], 2),
        (["a b", "b c", "a c"] * 20, 3),
    ],
)
def test_dimensions_shrink_to_the_rank_of_the_corpus(texts: list[str], dimensions: int) -> None:
    fitted, vectors = lsa().fit_embed(texts)
    assert fitted.dimensions == 256
    assert fitted.fitted_dimensions == dimensions
    assert fitted.singular_values.shape == (dimensions,)
    assert vectors.shape == (len(texts), dimensions)
    assert np.isfinite(vectors).all()
    filled = [bool(text.strip()) for text in texts]
    np.testing.assert_allclose((vectors**2).sum(axis=1), np.array(filled, float), atol=1e-6)


def test_duplicates_beyond_the_sketch_do_not_break_it() -> None:
    texts = [f"w{n % 7} v{n % 5} u{n % 3}" for n in range(2000)]
    fitted, vectors = lsa(dimensions=12, oversampling=0).fit_embed(texts)
    # Of 7 + 5 + 3 indicator columns two are dependent: each group sums to the same column of ones.
    assert fitted.fitted_dimensions == 12
    assert lsa(dimensions=15, oversampling=0).fit(texts).fitted_dimensions == 13
    assert np.isfinite(vectors).all()
    assert vectors[0].tobytes() == vectors[105].tobytes()


def test_order_of_the_texts_matters_only_as_far_as_float32_rounds() -> None:
    texts = corpus()
    order = np.random.default_rng(1).permutation(len(texts))
    first, vectors = lsa(dimensions=30).fit_embed(texts)
    other, shuffled = lsa(dimensions=30).fit_embed([texts[n] for n in order])
    assert first.vocabulary == other.vocabulary
    np.testing.assert_allclose((vectors @ vectors.T)[order][:, order], shuffled @ shuffled.T, atol=2e-5)


def test_seed_is_of_no_consequence_without_a_sketch_and_of_little_with_one() -> None:
    assert lsa(seed=0).fit(THREE).components.tobytes() == lsa(seed=9).fit(THREE).components.tobytes()
    texts = corpus()
    values = [lsa(dimensions=8, seed=seed).fit(texts).singular_values for seed in (0, 9)]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-4)


def test_fitting_returns_a_new_part_and_refits_from_scratch() -> None:
    unfitted = lsa()
    fitted = unfitted.fit(THREE)
    again = fitted.fit(["x y", "z"])
    with pytest.raises(NotIndexedError):
        unfitted.embed(["a"], role="query")
    assert fitted.vocabulary == ("a", "b", "c", "d")
    assert again.vocabulary == ("x", "y", "z")
    assert again.fingerprint() == lsa().fit(["x y", "z"]).fingerprint()


def test_contributions_sum_to_the_cosine() -> None:
    texts = corpus()
    fitted, vectors = lsa(dimensions=16).fit_embed(texts)
    query = "t1w1 t1w1 s0 t2w3 zebra"
    (unit,) = fitted.embed([query], role="query")
    for row in vectors[:50]:
        contributions = fitted.attribute(query, row)
        assert {c.name for c in contributions} == {"t1w1", "s0", "t2w3"}
        assert sum(c.value for c in contributions) == pytest.approx(float(row @ unit), abs=1e-6)
        assert [c.value for c in contributions] == sorted((c.value for c in contributions), reverse=True)


def test_contributions_by_hand() -> None:
    # At full rank a document's direction is its tf-idf row, which for "a b" is the query's too.
    fitted, vectors = lsa().fit_embed(THREE)
    first, second = fitted.attribute("a b", vectors[0] * 7)
    assert (first.name, second.name) == ("a", "b")
    assert first.value == pytest.approx(RARE**2 / (RARE**2 + COMMON**2), abs=1e-6)
    assert second.value == pytest.approx(COMMON**2 / (RARE**2 + COMMON**2), abs=1e-6)
    assert first.detail == "tf 1, idf 1.69"
    assert fitted.attribute("c c d", vectors[2])[0].detail == "tf 2, idf 1.29"


def test_nothing_contributes_to_or_from_a_zero_vector() -> None:
    fitted, vectors = lsa().fit_embed([*THREE, ""])
    assert fitted.attribute("zebra", vectors[0]) == ()
    assert fitted.attribute("", vectors[0]) == ()
    assert fitted.attribute("a", vectors[3]) == ()


def test_contributions_need_a_vector_of_this_space() -> None:
    fitted = lsa().fit(THREE)
    with pytest.raises(MismatchError, match=r"shape \(4,\).* 3 dimensions"):
        fitted.attribute("a", np.ones(4))
    with pytest.raises(MismatchError, match=r"shape \(1, 3\)"):
        fitted.attribute("a", np.ones((1, 3)))


@pytest.mark.parametrize(
    "use",
    [
        lambda part: part.embed(["a"], role="query"),
        lambda part: part.attribute("a", [1.0]),
        lambda part: part.components,
        lambda part: part.singular_values,
        lambda part: part.vocabulary,
        lambda part: part.fitted_dimensions,
    ],
)
def test_before_fit_it_says_what_to_call(use: Callable[[LSA], object]) -> None:
    with pytest.raises(NotIndexedError, match=r"fit\(texts\)"):
        use(LSA())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("dimensions", 0),
        ("dimensions", -1),
        ("dimensions", 2.0),
        ("dimensions", True),
        ("dimensions", "256"),
        ("dimensions", None),
        ("power_iterations", -1),
        ("power_iterations", False),
        ("oversampling", -1),
        ("oversampling", 1.5),
        ("seed", -1),
        ("seed", None),
        ("tokenizer", "standard"),
    ],
)
def test_options_out_of_range_are_named(option: str, value: object) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(InvalidValueError, match=f"{option} is {value!r}"):
        LSA(**options)


def test_texts_that_are_none() -> None:
    fitted = lsa().fit(THREE)
    for act in (fitted.fit, fitted.fit_embed, lambda texts: fitted.embed(texts, role="query")):
        with pytest.raises(InvalidValueError, match="texts is the str 'a b'"):
            act("a b")
        with pytest.raises(InvalidValueError, match="text 1 is NoneType"):
            act(["a", None])  # type: ignore[list-item]
    with pytest.raises(InvalidValueError, match="role is 'passage'"):
        fitted.embed(["a"], role="passage")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        fitted.embed(["a"])  # type: ignore[call-arg]


def test_texts_may_come_as_any_iterable() -> None:
    fitted = lsa().fit(text for text in THREE)  # type: ignore[arg-type]
    assert fitted.fingerprint() == lsa().fit(tuple(THREE)).fingerprint()


def test_hostile_text_is_only_text() -> None:
    texts = ["\ud800 a", "nul \x00 nul", "a" * 100_000, "é\u0301 ﷺ 𝔘", "b " * 50_000]
    fitted, vectors = LSA().fit_embed(texts)
    assert np.isfinite(vectors).all()
    assert np.isfinite(fitted.embed([*texts, "\udfff"], role="query")).all()
    assert fitted.fingerprint() == LSA().fit(texts).fingerprint()


def test_options_and_state_cannot_be_changed() -> None:
    fitted = lsa().fit(THREE)
    with pytest.raises(AttributeError):
        fitted.dimensions = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        fitted.components[0, 0] = 1.0


def _lines(text: str) -> Sequence[str]:
    return text.splitlines()


def test_fingerprint_tells_apart_what_embeds_differently() -> None:
    parts = [
        LSA(),
        LSA(dimensions=8),
        LSA(seed=1),
        LSA(power_iterations=3),
        LSA(oversampling=3),
        LSA(tokenizer=Tokenizer(stem="english")),
        LSA(tokenizer=_lines),
        LSA().fit(THREE),
        LSA().fit(["a b", "b c", "c d"]),
        LSA().fit(["a b", "b c", "c c e"]),
    ]
    assert len({part.fingerprint() for part in parts}) == len(parts)
    assert LSA().fit(THREE).fingerprint() == LSA().fit(THREE).fingerprint()
    assert LSA(tokenizer=Tokenizer()).fingerprint() == LSA().fingerprint()


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(LSA()) == "LSA()"
    assert repr(LSA(dimensions=64, seed=3)) == "LSA(dimensions=64, seed=3)"
    assert repr(LSA(dimensions=64).fit(THREE)) == "LSA(dimensions=64)"
    assert repr(LSA(tokenizer=Tokenizer(parts=False))).startswith("LSA(tokenizer=Tokenizer(")


def test_it_survives_pickling() -> None:
    fitted = LSA(dimensions=16).fit(corpus())
    thawed = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    assert thawed.fingerprint() == fitted.fingerprint()
    query = ["t1w1 s0"]
    assert thawed.embed(query, role="query").tobytes() == fitted.embed(query, role="query").tobytes()


def test_the_weights_do_not_know_the_order_of_counting() -> None:
    first = count_terms(["b a"], WORDS)
    assert first.terms == ("b", "a")
    assert lsa().fit(["b a"]).vocabulary == ("a", "b")
