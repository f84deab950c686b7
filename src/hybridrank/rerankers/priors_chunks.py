"""Which document of a file answers best: what code priors add inside a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..types import Document, Hit
from .priors_features import F64
from .priors_index import DEFINITIONS
from .priors_paths import ROLES, Tokenize, compact, is_test
from .priors_question import Question
from .priors_weights import CodePriorsWeights

_TEST = ROLES.index("test")
_MOST_NAMES = 1 << 16


def chunk_scores(
    hits: Sequence[Hit], legs: F64, question: Question, weights: CodePriorsWeights, tokenizer: Tokenize
) -> F64:
    """What each hit is worth inside its file, shape (hits,).

    Args:
        legs: shape (legs, hits), each leg's scores divided by its best.
    """
    scores: list[float] = (legs.mean(axis=0) * weights.chunk_match).tolist()
    folded = frozenset(filter(None, map(compact, question.identifiers)))
    known, asked, tests = _terms(tokenizer), question.weights, not question.asked[_TEST]
    for place, hit in enumerate(hits):
        document = hit.document
        name = document.name
        if not name:
            continue
        terms = known[name]
        if not terms.isdisjoint(asked):
            met = asked.keys() & terms
            weight = math.fsum([asked[term] for term in met])
            scores[place] += weights.chunk_name * math.sqrt(weight * len(met) / len(terms))
        if folded and document.kind in DEFINITIONS:
            scores[place] += weights.chunk_defined * _defines(document, question.identifiers, folded)
        if tests and is_test(document.qualified_name):
            scores[place] += weights.chunk_test
    return np.array(scores, np.float64)


def _defines(document: Document, identifiers: Sequence[str], folded: frozenset[str]) -> float:
    """How surely the document is what an identifier of the query asks for: 1, 0.5 or 0."""
    if document.name in identifiers:
        constructor = document.kind == "method" and document.name in document.qualified_name.split(".")[:-1]
        return 0.5 if constructor else 1.0
    return 0.5 if compact(document.name) in folded else 0.0


class _Terms(dict[str, frozenset[str]]):
    """The terms of names met before; emptied when full."""

    def __init__(self, tokenizer: Tokenize) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, name: str) -> frozenset[str]:
        if len(self) >= _MOST_NAMES:
            self.clear()
        found = self[name] = frozenset(self._tokenizer(name))
        return found


@lru_cache(maxsize=16)
def _terms(tokenizer: Tokenize) -> _Terms:
    """One for all calls with this tokenizer: to look a name up by it and the tokenizer would hash both."""
    return _Terms(tokenizer)
