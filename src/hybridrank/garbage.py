"""Fewer searches for garbage while millions of objects are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Trees of definitions refer to themselves, so that garbage is still collected, among what is new.
_RARELY = (100_000, 50, 1000)

_lock = Lock()
_open = 0
_before = gc.get_threshold()


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """While any is open, in whatever thread, Python looks for garbage among new objects, and rarely.

    By default it looks through all objects again and again as they become more, which takes a tenth of the
    time of indexing and finds nothing. The thresholds of before come back when the last one is closed; a
    collector that is off stays off.
    """
    global _open, _before
    with _lock:
        if not _open:
            _before = gc.get_threshold()
            if _before[0]:
                gc.set_threshold(*_RARELY)
        _open += 1
    try:
        yield
    finally:
        with _lock:
            _open -= 1
            if not _open and gc.get_threshold() == _RARELY:
                gc.set_threshold(*_before)
