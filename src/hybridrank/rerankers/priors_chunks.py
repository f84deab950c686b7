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


def chunk_scores(
    hits: Sequence[Hit], legs: F64, question: Question, weights: CodePriorsWeights, tokenizer: Tokenize
) -> F64:
    """What each hit is worth inside its file, shape (hits,).

    Args:
        legs: shape (legs, hits), each leg's scores divided by its best.
    """
    scores: F64 = np.asarray(legs.mean(axis=0) * weights.chunk_match)
    folded = frozenset(filter(None, map(compact, question.identifiers)))
    for place, hit in enumerate(hits):
        document = hit.document
        if not document.name:
            continue
        terms = _terms(document.name, tokenizer)
        if not terms.isdisjoint(question.weights):
            met = question.weights.keys() & terms
            weight = math.fsum(question.weights[term] for term in met)
            scores[place] += weights.chunk_name * math.sqrt(weight * len(met) / len(terms))
        if folded and document.kind in DEFINITIONS:
            scores[place] += weights.chunk_defined * _defines(document, question.identifiers, folded)
        if not question.asked[_TEST] and is_test(document.qualified_name):
            scores[place] += weights.chunk_test
    return scores


def _defines(document: Document, identifiers: Sequence[str], folded: frozenset[str]) -> float:
    """How surely the document is what an identifier of the query asks for: 1, 0.5 or 0."""
    if document.name in identifiers:
        constructor = document.kind == "method" and document.name in document.qualified_name.split(".")[:-1]
        return 0.5 if constructor else 1.0
    return 0.5 if compact(document.name) in folded else 0.0


@lru_cache(maxsize=1 << 16)
def _terms(name: str, tokenizer: Tokenize) -> frozenset[str]:
    return frozenset(tokenizer(name))
