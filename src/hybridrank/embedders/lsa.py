"""Latent semantic analysis: an embedder that learns from the corpus itself, without a model or a server."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ..errors import IndexFormatError, InvalidValueError, MismatchError, NotIndexedError
from ..text.counts import TermCounts, count_terms
from ..text.strings import Strings
from ..text.tokenizer import Tokenizer
from ..types import Contribution, Document, Role
from .products import product
from .svd import truncated_svd
from .tfidf import TfIdf

if TYPE_CHECKING:
    from ..types import Vectors

Tokenize: TypeAlias = Callable[[str], Sequence[str]]

# Part of the fingerprint; to be raised when the same options and texts would give other vectors.
_VERSION = 2

# A tf-idf row of length 1 that keeps less than this of it in the latent space is rounding noise there.
_NOISE = 1e-6
_ROWS = 8192


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LSA:
    """Projects tf-idf vectors onto the leading singular vectors of the corpus (Deerwester et al. 1990).

    Weights are (1 + ln tf) * idf with idf = ln((1 + N) / (1 + df)) + 1, for documents and queries alike;
    weighted texts have unit length. The decomposition is the randomised one of Halko, Martinsson & Tropp
    (2011). The same texts give the same bits under any number of threads; their order matters only as far
    as float32 rounds, about 1e-6 of a cosine.

    Args:
        dimensions: how many singular vectors to keep, 1 or more. A corpus of lower rank (few texts, few
            terms, duplicates) has min(dimensions, rank), see `fitted_dimensions`. Time grows with the square.
        tokenizer: any callable from text to tokens, for documents and queries alike; `Tokenizer()` if None.
        power_iterations: how often the sketch is sharpened, 0 or more.
        oversampling: further columns of the sketch, 0 or more, that are cut off at the end.
        seed: of the sketch, 0 or more.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    dimensions: int
    tokenizer: Tokenize
    power_iterations: int
    oversampling: int
    seed: int
    _space: _Space | None

    def __init__(
        self,
        *,
        dimensions: int = 256,
        tokenizer: Tokenize | None = None,
        power_iterations: int = 2,
        oversampling: int = 20,
        seed: int = 0,
    ) -> None:
        if tokenizer is not None and not callable(tokenizer):
            raise InvalidValueError(f"tokenizer is {tokenizer!r}; give a callable from text to tokens")
        self._set(
            dimensions=_whole("dimensions", dimensions, least=1),
            tokenizer=Tokenizer() if tokenizer is None else tokenizer,
            power_iterations=_whole("power_iterations", power_iterations),
            oversampling=_whole("oversampling", oversampling),
            seed=_whole("seed", seed),
            _space=None,
        )

    def fit(self, texts: Sequence[str], /) -> Self:
        """A new LSA that has learnt vocabulary, weights and singular vectors from these texts.

        Raises:
            InvalidValueError: `texts` is a str, or holds something else than str.
        """
        return self._learn(self._count(texts))[0]

    def fit_embed(self, texts: Sequence[str], /) -> tuple[Self, Vectors]:
        """`fit(texts)` and the document vectors of the same texts, which are tokenised only once."""
        fitted, weighted = self._learn(self._count(texts))
        return fitted, _project(weighted, fitted.components)

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Vectors:
        """Unit vectors, float32, shape (len(texts), `fitted_dimensions`); both roles are embedded alike.

        A text without a known term has the zero vector. A row depends on its own text only.

        Raises:
            InvalidValueError: `texts` is a str or holds something else than str, or there is no such role.
            NotIndexedError: nothing is fitted yet.
        """
        if role not in ("query", "document"):
            raise InvalidValueError(f"role is {role!r}; give 'query' or 'document'")
        space = self._fitted
        return _project(space.weights.weigh(self._count(texts)), space.components)

    def state(self) -> dict[str, Any] | None:
        """What was learnt, see `Storable`; None where nothing was."""
        if self._space is None:
            return None
        space = self._space
        terms = Strings.of(space.weights.terms)
        return {
            "terms": terms.data,
            "term_ends": terms.ends,
            "idf": space.weights.idf,
            "singular_values": space.singular_values,
            "components": space.components,
            "digest": space.digest,
        }

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document] = (), /) -> Self:
        """A new LSA with these options and that state; documents play no part.

        Raises:
            IndexFormatError: the state is damaged.
        """
        terms = Strings(state["terms"], state["term_ends"])
        idf, values, components = state["idf"], state["singular_values"], state["components"]
        kinds = idf.dtype.str, values.dtype.str, components.dtype.str
        if kinds != ("<f8", "<f8", "<f4") or not (
            idf.shape == (len(terms),) and components.shape == (len(terms), *values.shape) and len(values)
        ):
            raise IndexFormatError("the arrays of LSA do not fit together")
        restored = copy.copy(self)
        restored._set(_space=_Space(TfIdf(terms, idf), values, components, str(state["digest"])))
        return restored

    def attribute(self, text: str, vector: ArrayLike, /) -> tuple[Contribution, ...]:
        """What each known term of a query adds to its cosine with a document vector, the most first.

        The projection is linear, so the values sum to the cosine; a term may count against a document.
        Empty where either has the zero vector.

        Args:
            text: the query.
            vector: the document's, shape (`fitted_dimensions`,), of any length.

        Raises:
            MismatchError: the vector has another shape.
            NotIndexedError: nothing is fitted yet.
        """
        space = self._fitted
        document = np.asarray(vector, np.float64)
        if document.shape != (self.fitted_dimensions,):
            raise MismatchError(
                f"vector has shape {document.shape}, but this LSA has {self.fitted_dimensions} dimensions; "
                "give a row of its own vectors"
            )
        counts = self._count([text])
        row = space.weights.weigh(counts)
        parts = row.data[:, None] * space.components[row.indices].astype(np.float64)
        length = np.sqrt((parts.sum(axis=0) ** 2).sum() * (document**2).sum())
        if length == 0.0 or not _project(row, space.components).any():
            return ()
        tf = dict(zip(counts.matrix.indices.tolist(), counts.matrix.data.tolist(), strict=True))
        tf_of = {term: int(tf[column]) for column, term in enumerate(counts.terms)}
        found = []
        for column, value in zip(row.indices, (parts * document).sum(axis=1) / length, strict=True):
            term = space.weights.terms[int(column)]
            detail = f"tf {tf_of[term]}, idf {space.weights.idf[column]:.2f}"
            found.append(Contribution(term, float(value), detail))
        return tuple(sorted(found, key=lambda c: (-c.value, c.name)))

    @property
    def fitted_dimensions(self) -> int:
        """Width of the vectors: min(`dimensions`, rank of the corpus), or 1 where no text has a term."""
        return int(self.components.shape[1])

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The known terms, sorted; one per row of `components`."""
        return tuple(self._fitted.weights.terms)

    @property
    def components(self) -> NDArray[np.float32]:
        """Right singular vectors, shape (terms, `fitted_dimensions`); the largest entry of each is > 0."""
        return self._fitted.components

    @property
    def singular_values(self) -> NDArray[np.float64]:
        """Of the weighted corpus, falling, shape (`fitted_dimensions`,)."""
        return self._fitted.singular_values

    def fingerprint(self) -> str:
        """Tells two LSAs apart that may embed differently: by options, tokenizer id and what was learnt."""
        identity = {
            "version": _VERSION,
            "dimensions": self.dimensions,
            "tokenizer": _tokenizer_id(self.tokenizer),
            "power_iterations": self.power_iterations,
            "oversampling": self.oversampling,
            "seed": self.seed,
            "learnt": "" if self._space is None else self._space.digest,
        }
        return "lsa:" + sha256(json.dumps(identity).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        defaults = {name: option.default for name, option in signature(type(self)).parameters.items()}
        defaults["tokenizer"] = Tokenizer()
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, value in defaults.items()
            if getattr(self, name) != value
        ]
        return f"LSA({', '.join(shown)})"

    def _count(self, texts: Sequence[str]) -> TermCounts:
        if isinstance(texts, str):
            raise InvalidValueError(f"texts is the str {texts[:40]!r}; give a list of str")
        texts = list(texts)
        for position, text in enumerate(texts):
            if not isinstance(text, str):
                raise InvalidValueError(f"text {position} is {type(text).__name__}; give a str")
        return count_terms(texts, self.tokenizer)

    def _learn(self, counts: TermCounts) -> tuple[Self, csr_array]:
        weights = TfIdf.learn(counts)
        weighted = weights.weigh(counts)
        svd = truncated_svd(
            weighted,
            self.dimensions,
            power_iterations=self.power_iterations,
            oversampling=self.oversampling,
            seed=self.seed,
        )
        if len(svd.singular_values):
            space = _Space(weights, svd.singular_values, svd.components)
        else:
            space = _Space(weights, np.zeros(1), np.zeros((len(weights.terms), 1), np.float32))
        fitted = copy.copy(self)
        fitted._set(_space=space)
        return fitted, weighted

    @property
    def _fitted(self) -> _Space:
        if self._space is None:
            raise NotIndexedError("this LSA has learnt nothing yet; call fit(texts) and use what it returns")
        return self._space

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


class _Space:
    """What was learnt from a corpus."""

    def __init__(
        self,
        weights: TfIdf,
        singular_values: NDArray[np.float64],
        components: NDArray[np.float32],
        known_digest: str = "",
    ) -> None:
        self.weights = weights
        self.singular_values = singular_values
        self.components = components
        self.digest = known_digest or self._digested()

    def _digested(self) -> str:
        weights, digest = self.weights, sha256()
        for term in weights.terms:
            name = term.encode("utf-8", "surrogatepass")
            digest.update(b"%d " % len(name) + name)
        for array in (weights.idf, self.singular_values, self.components):
            array.setflags(write=False)
            digest.update(array.data)
        return digest.hexdigest()


def _project(weighted: csr_array, components: NDArray[np.float32]) -> Vectors:
    # scipy adds up each row by itself, by rising column; a BLAS would let the other rows have a say.
    vectors: Vectors = product(weighted, components)
    for start in range(0, len(vectors), _ROWS):
        block = vectors[start : start + _ROWS]
        lengths = np.sqrt((block.astype(np.float64) ** 2).sum(axis=1))
        lengths[lengths <= _NOISE] = np.inf
        block /= lengths[:, None].astype(np.float32)
    return vectors


def _whole(name: str, value: object, *, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidValueError(f"{name} is {value!r}; give an int of {least} or more")
    return value


def _tokenizer_id(tokenizer: Tokenize) -> str:
    """Its `id`, or the name of the function or class."""
    known = getattr(tokenizer, "id", None)
    if isinstance(known, str):
        return known
    named: Any = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    return f"{getattr(named, '__module__', 'builtins')}.{named.__qualname__}"
