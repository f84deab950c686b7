"""Orders code by what its names, paths and comments say, beside what the legs think of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError, NotIndexedError
from ..text.tokenizer import Tokenizer
from ..types import Contribution, Document, FrozenDict, Hit, Ranking, check_k
from .asked_callers import asked_for, names_of_legs
from .priors_build import build, updated
from .priors_chunks import chunk_scores
from .priors_features import F64, FEATURES, Candidates, file_features
from .priors_index import FileIndex
from .priors_paths import Tokenize
from .priors_question import Question
from .priors_reasons import reason
from .priors_weights import CodePriorsWeights

_SOURCE = "code-priors"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class CodePriors:
    """Ranks files by a weighted sum of transparent features, and documents within their file.

    A document's score is its file's score, less what separates it from the best document of the file (by
    the weights that begin with `chunk_`): the best document of a file has the file's score. The
    other features belong to files; `CodePriorsWeights` describes each. `contributions` gives what a hit's
    score is made of.

    Leg scores are read from the hits' components, those before `fusion`, each divided by the best of its leg;
    without components the hits' own scores serve. So legs may come and go. Equal scores keep their order.

    Args:
        weights: weights by feature that take the place of the default ones; the others stay. The attribute
            holds those that differ from the defaults, `all_weights` every one.
        tokenizer: any callable from text to tokens; `Tokenizer(stem="english")` if None.
        depth: how many hits a pipeline gives to this reranker, `None` all of them.
        name_legs: legs that find by name. Their scores count where the query is one name; for any other
            query they only bring candidates. Where it asks who calls something, the definition and then the
            callers that they found stand before all others, lifted by more than scores differ.

    Raises:
        InvalidValueError: an option is outside its range.
        UnknownNameError: a weight for a feature that does not exist.
    """

    _keeps_hits: ClassVar[bool] = True

    weights: Mapping[str, float]
    tokenizer: Tokenize
    depth: int | None
    name_legs: tuple[str, ...]
    all_weights: CodePriorsWeights
    _index: FileIndex | None

    def __init__(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        tokenizer: Tokenize | None = None,
        depth: int | None = None,
        name_legs: Sequence[str] = (),
    ) -> None:
        if tokenizer is not None and not callable(tokenizer):
            raise InvalidValueError(f"tokenizer is {tokenizer!r}; give a callable from text to tokens")
        all_weights = CodePriorsWeights.of(weights)
        self._set(
            all_weights=all_weights,
            weights=FrozenDict(all_weights.changed()),
            tokenizer=Tokenizer(stem="english") if tokenizer is None else tokenizer,
            depth=None if depth is None else check_k(depth, "depth"),
            name_legs=names_of_legs(name_legs),
            _index=None,
        )

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new CodePriors that knows these documents; their order does not matter.

        Raises:
            DuplicateIdError: two documents have one id.
        """
        new = copy.copy(self)
        new._set(_index=build(documents, self.tokenizer))
        return new

    def update(self, documents: Sequence[Document], places: NDArray[np.int64], /) -> Self:
        """What `index` makes of these documents; only files of which a document came or went are read.

        Args:
            documents: in tie order.
            places: shape (documents,): where each stood in the documents of before, negative for new ones.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        new = copy.copy(self)
        new._set(_index=updated(self._indexed(), documents, places, self.tokenizer))
        return new

    def state(self) -> dict[str, Any]:
        """What is known of the files as arrays, see `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        return self._indexed().state()

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new CodePriors with these options and that state.

        Raises:
            IndexFormatError: the state is damaged.
        """
        new = copy.copy(self)
        new._set(_index=FileIndex.restored(state))
        return new

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k hits with the highest score.

        Raises:
            InvalidValueError: k is negative or no int, or a document belongs to no indexed file.
            NotIndexedError: there are no documents yet.
        """
        check_k(k)
        index = self._indexed()
        if not ranking:
            return Ranking(ranking.query, (), _SOURCE)
        scored = self._score(ranking, index)
        of_hits = scored.of_hits + scored.asked
        order = np.argsort(-of_hits, kind="stable")[:k]
        given = ranking.hits
        hits = [
            Hit(given[at].document, score, given[at].components)
            for at, score in zip(order.tolist(), of_hits[order].tolist(), strict=True)
        ]
        return Ranking(ranking.query, tuple(hits), _SOURCE)

    def contributions(self, ranking: Ranking, id: str, /) -> tuple[Contribution, ...]:
        """What the score of a hit of this ranking is made of; the values sum to it. Empty for other ids.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        index = self._indexed()
        if id not in ranking.ids:
            return ()
        scored = self._score(ranking, index)
        place = ranking.ids.index(id)
        file = int(scored.candidates.of_hit[place])
        found = []
        for feature, value in zip(FEATURES, scored.features[file].tolist(), strict=True):
            added = value * getattr(self.all_weights, feature)
            if added:
                found.append(Contribution(feature, added, reason(feature, value)))
        found.sort(key=lambda contribution: -abs(contribution.value))
        behind = float(scored.of_hits[place] - scored.of_files[file])
        if behind:
            found.append(Contribution("chunk", behind, "behind the best of its file"))
        if scored.asked[place]:
            found.append(
                Contribution("asked", float(scored.asked[place]), "it is, or calls, what is asked for")
            )
        return tuple(found)

    def features(self, ranking: Ranking, /) -> tuple[tuple[str, ...], F64]:
        """The ranking's files, in the order of their first hits, and what is measured of each.

        Files are named by path, or by id where a document has none. The array has shape (files, features):
        the fields of `CodePriorsWeights` in their order, without those that begin with `chunk_`.

        Raises:
            InvalidValueError: a document belongs to no indexed file.
            NotIndexedError: there are no documents yet.
        """
        index = self._indexed()
        if not ranking:
            return (), np.zeros((0, len(FEATURES)))
        names = dict.fromkeys(hit.document.path or hit.id for hit in ranking)
        return tuple(names), self._score(ranking, index).features

    def fingerprint(self) -> str:
        """Equal where rankings are: made of options and the indexed documents' files, names and words."""
        from hashlib import sha256

        identity = [repr(self.all_weights), getattr(self.tokenizer, "id", repr(self.tokenizer))]
        if self.name_legs:
            identity.append(repr(self.name_legs))
        if self._index is not None:
            identity.append(self._index.digest)
        return f"code-priors:{sha256(repr(identity).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    def __repr__(self) -> str:
        shown = [f"weights={dict(self.weights)!r}"] if self.weights else []
        if self.tokenizer != Tokenizer(stem="english"):
            shown.append(f"tokenizer={self.tokenizer!r}")
        if self.depth is not None:
            shown.append(f"depth={self.depth}")
        if self.name_legs:
            shown.append(f"name_legs={list(self.name_legs)!r}")
        return f"CodePriors({', '.join(shown)})"

    def _score(self, ranking: Ranking, index: FileIndex) -> _Scored:
        question = Question.of(ranking.query.text, index, self.tokenizer)
        candidates = Candidates.of(ranking.hits, index, () if question.alone else self.name_legs)
        features = file_features(ranking.hits, candidates, question, index, self.tokenizer)
        # Added one feature after the other: a matrix product may differ in its last bits between machines.
        of_files = np.zeros(len(features))
        for column, feature in enumerate(FEATURES):
            of_files += features[:, column] * getattr(self.all_weights, feature)
        within = chunk_scores(ranking.hits, candidates.legs, question, self.all_weights, self.tokenizer)
        best = np.full(len(of_files), -np.inf)
        np.maximum.at(best, candidates.of_hit, within)
        of_hits = of_files[candidates.of_hit] - (best[candidates.of_hit] - within)
        return _Scored(candidates, features, of_files, of_hits, self._asked(ranking.hits, of_hits))

    def _asked(self, hits: Sequence[Hit], of_hits: F64) -> F64:
        """What lifts the definition and the callers of a query that asks for callers."""
        lifted = np.zeros(len(of_hits))
        order = np.argsort(-of_hits, kind="stable").tolist()
        definitions, callers = asked_for([hits[at] for at in order], self.name_legs)
        if callers:
            step = float(np.ceil(of_hits.max() - of_hits.min())) + 1.0
            lifted[[order[at] for at in callers]] = step
            lifted[[order[at] for at in definitions]] = 2.0 * step
        return lifted

    def _indexed(self) -> FileIndex:
        if self._index is None:
            raise NotIndexedError(
                "CodePriors has no documents yet; call index(documents) and use what it returns"
            )
        return self._index

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    candidates: Candidates
    features: F64
    of_files: F64
    of_hits: F64
    asked: F64
