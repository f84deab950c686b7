"""How often each term stands in each document."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from ..errors import InvalidValueError
from .tokenizer import Tokenizer

# Tokens that are summed up at a time, so that memory follows the counts and not the text.
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class TermCounts:
    """Term counts of a corpus.

    Attributes:
        terms: the vocabulary, in the order in which the terms first stand in the documents.
        matrix: int32, shape (documents, terms); sorted indices, no explicit zeros.
        lengths: int64, shape (documents,): tokens per document.
    """

    terms: tuple[str, ...]
    matrix: csr_array
    lengths: NDArray[np.int64]


def count_terms(texts: Sequence[str], tokenizer: Callable[[str], Sequence[str]]) -> TermCounts:
    """Tokenise texts and count: what `count_tokens` makes of their tokens.

    A `Tokenizer` is asked for the tokens of each different word only once.

    Raises:
        InvalidValueError: `texts` is one str, or the tokenizer does not give sequences of str.
    """
    if isinstance(texts, str):
        raise InvalidValueError(f"texts is the str {texts!r:.40}; give a list of texts")
    if type(tokenizer) is not Tokenizer:
        return count_tokens(map(tokenizer, texts))
    by_word = count_tokens(map(tokenizer.words, texts))
    by_term = count_tokens(map(tokenizer.expand, by_word.terms))
    matrix = by_word.matrix @ by_term.matrix
    matrix.sort_indices()
    return TermCounts(by_term.terms, matrix, by_word.matrix @ by_term.lengths)


def count_tokens(token_lists: Iterable[Sequence[str]]) -> TermCounts:
    """Count the tokens of documents that are given as lists.

    Raises:
        InvalidValueError: a document is a str or no sequence, or a token is no str.
    """
    numbers = _Numbers()
    tokens, ends, blocks = array("i"), [0], []
    for document in token_lists:
        if isinstance(document, str | bytes | Mapping):
            kind = type(document).__name__
            raise InvalidValueError(f"tokens are the {kind} {document!r:.40}; give a list of str")
        try:
            tokens.extend(map(numbers.__getitem__, document))
        except TypeError as error:
            raise InvalidValueError(f"tokens are {document!r:.40}; give a list of str") from error
        ends.append(len(tokens))
        if len(tokens) >= _BLOCK:
            blocks.append(_summed(tokens, ends, len(numbers)))
            tokens, ends = array("i"), [0]
    blocks.append(_summed(tokens, ends, len(numbers)))
    matrices = [_widened(matrix, len(numbers)) for matrix, _ in blocks]
    matrix = matrices[0] if len(matrices) == 1 else vstack(matrices, format="csr")
    return TermCounts(tuple(numbers), matrix, np.concatenate([lengths for _, lengths in blocks]))


def _summed(tokens: array[int], ends: list[int], terms: int) -> tuple[csr_array, NDArray[np.int64]]:
    """Counts and lengths of documents whose tokens, as numbers below `terms`, stand between the ends."""
    starts = np.array(ends, np.int32)
    columns = np.array(tokens, np.int32)
    lengths = np.diff(starts).astype(np.int64)
    matrix = csr_array((np.ones(len(columns), np.int32), columns, starts), shape=(len(ends) - 1, terms))
    matrix.sum_duplicates()  # works on `columns` and `starts` in place
    return matrix, lengths


def _widened(matrix: csr_array, terms: int) -> csr_array:
    """The counts of a block that was closed when fewer terms were known."""
    return csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], terms))


class _Numbers(dict[str, int]):
    """Numbers terms in the order in which they come."""

    def __missing__(self, term: object) -> int:
        if not isinstance(term, str):
            raise InvalidValueError(f"token {term!r:.40} is {type(term).__name__}; give tokens as str")
        number = self[str(term)] = len(self)
        return number
