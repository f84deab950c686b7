"""Adding the postings of a term to the scores of its documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Sums: TypeAlias = NDArray[Any]
"""float64 or float32."""

Scatter: TypeAlias = Callable[[Sums, NDArray[np.int32], Sums], None]

# Values are cast in pieces of this many, which stay in the cache.
_PIECE = 1 << 16


def add_at(totals: Sums, places: NDArray[np.int32], values: Sums) -> None:
    """`totals[places] += values`; places may repeat."""
    np.add.at(totals, places, values)


def _compiled() -> Scatter | None:
    """The same by scipy's product of a sparse column and a vector, which takes half the time.

    It is no public function of scipy: None unless it is there and adds up a small example.
    """
    try:
        from scipy.sparse import _sparsetools

        product: Any = _sparsetools.csc_matvec

        def add(totals: Sums, places: NDArray[np.int32], values: Sums) -> None:
            ends = np.array((0, len(places)), np.int32)
            product(len(totals), 1, ends, places, values, np.ones(1, totals.dtype), totals)

        for kind in (np.float64, np.float32):
            tried = np.array([1.0, 2.0, 4.0], kind)
            add(tried, np.array([0, 2, 0], np.int32), np.array([0.5, 0.25, 8.0], kind))
            if tried.tolist() != [9.5, 2.0, 4.25]:
                return None
        return add
    except Exception:  # whatever it is in another version, numpy can do the same
        return None


_ADD: Scatter = _compiled() or add_at


def scatter(totals: Sums, places: NDArray[np.int32], impacts: NDArray[np.float32], weight: int) -> None:
    """Add `weight * impacts`, computed in the type of the totals, to the totals at these places.

    Args:
        totals: shape (documents,), changed.
        places: all within the totals, see `check_within`; compiled code would write anywhere.
    """
    if weight == 1 and totals.dtype == impacts.dtype:
        _ADD(totals, places, impacts)
        return
    for start in range(0, len(places), _PIECE):
        piece = slice(start, start + _PIECE)
        added: Sums = impacts[piece].astype(totals.dtype)
        _ADD(totals, places[piece], added if weight == 1 else added * totals.dtype.type(weight))


def check_within(places: NDArray[np.int32], size: int) -> None:
    """All places are from 0 to below `size`.

    Raises:
        IndexError: one is not.
    """
    if len(places) and places.view(np.uint32).max() >= size:
        raise IndexError("postings of a document that there is not; the index is damaged, index again")
