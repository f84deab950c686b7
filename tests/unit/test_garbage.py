from __future__ import annotations

import gc
import weakref

from hybridrank.garbage import rarely_collecting


class Loop:
    def __init__(self) -> None:
        self.me = self


def test_thresholds_come_back_after_the_last_of_several() -> None:
    before = gc.get_threshold()
    first, second = rarely_collecting(), rarely_collecting()
    with first:
        second.__enter__()
    assert gc.get_threshold()[0] > before[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


def test_loops_are_still_collected() -> None:
    with rarely_collecting():
        gone = weakref.ref(Loop())
        kept = [[] for _ in range(gc.get_threshold()[0] + 1000)]  # type: ignore[var-annotated]
        assert gone() is None, len(kept)


def test_a_collector_that_is_off_stays_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with rarely_collecting():
            assert gc.get_threshold()[0] == 0
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
