"""Windows over a ranking, from its back to its front."""

from __future__ import annotations


def windows(count: int, size: int, stride: int) -> tuple[tuple[int, int], ...]:
    """The (start, end) of each window, the last places first.

    Together they cover all places, and where the stride is smaller than the size each shares places with the
    one after it, so that what one window puts in front the next one sees.
    """
    found = []
    end = count
    while end > 0:
        start = max(0, end - size)
        found.append((start, end))
        if not start:
            break
        end -= stride
    return tuple(found)
