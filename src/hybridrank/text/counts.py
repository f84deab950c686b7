"""How often each term stands in each document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from ..errors import InvalidValueError
from .numbering import Block, Numbers, numbered
from .sharing import keep_counts, recall_counts
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
    texts = list(texts)
    known: TermCounts | None = recall_counts(tokenizer, texts)
    if known is not None:
        return known
    by_word = count_tokens(map(tokenizer.words, texts))
    by_term = count_tokens(map(tokenizer.expand, by_word.terms))
    matrix = by_word.matrix @ by_term.matrix
    matrix.sort_indices()
    counted = TermCounts(by_term.terms, matrix, by_word.matrix @ by_term.lengths)
    keep_counts(tokenizer, texts, counted)
    return counted


def count_tokens(token_lists: Iterable[Sequence[str]]) -> TermCounts:
    """Count the tokens of documents that are given as lists.

    Raises:
        InvalidValueError: a document is a str or no sequence, or a token is no str.
    """
    numbers = Numbers()
    waiting: list[Block] = []
    blocks: list[tuple[csr_array, NDArray[np.int64]]] = []
    for block in numbered(token_lists, numbers):
        waiting.append(block)
        if sum(len(one.tokens) for one in waiting) >= _BLOCK:
            blocks.append(_summed(waiting, len(numbers)))
            waiting = []
    if waiting:
        blocks.append(_summed(waiting, len(numbers)))
    matrices = [_widened(matrix, len(numbers)) for matrix, _ in blocks]
    matrix = matrices[0] if len(matrices) == 1 else vstack(matrices, format="csr")
    return TermCounts(tuple(numbers), matrix, np.concatenate([lengths for _, lengths in blocks]))


def each_token(token_lists: Iterable[Sequence[str]]) -> TermCounts:
    """The same, but each token is an entry of the matrix with the count 1, in the order of the text.

    Raises:
        InvalidValueError: as `count_tokens`.
    """
    numbers = Numbers()
    blocks = list(numbered(token_lists, numbers))
    lengths = np.concatenate([block.lengths for block in blocks])
    return TermCounts(
        tuple(numbers), _matrix([block.tokens for block in blocks], lengths, len(numbers)), lengths
    )


def _summed(blocks: Sequence[Block], terms: int) -> tuple[csr_array, NDArray[np.int64]]:
    """Counts and lengths of documents whose tokens are numbers below `terms`."""
    lengths = np.concatenate([block.lengths for block in blocks])
    matrix = _matrix([block.tokens for block in blocks], lengths, terms)
    matrix.sum_duplicates()
    return matrix, lengths


def _matrix(tokens: Sequence[NDArray[np.int32]], lengths: NDArray[np.int64], terms: int) -> csr_array:
    columns = tokens[0].copy() if len(tokens) == 1 else np.concatenate(tokens)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    kind = np.int32 if len(columns) < 2**31 else np.int64
    given = np.ones(len(columns), np.int32), columns.astype(kind, copy=False), starts.astype(kind)
    return csr_array(given, shape=(len(lengths), terms))


def _widened(matrix: csr_array, terms: int) -> csr_array:
    """The counts of a block that was closed when fewer terms were known."""
    return csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], terms))
