"""Shapes: 形."""

from __future__ import annotations

import functools
from dataclasses import dataclass

UNIT = 1


# A circle.
@dataclass
class Circle:
    """Round."""

    radius: float = UNIT

    @property
    def area(self) -> float:
        def inner() -> float:
            return self.radius

        return inner()

    class Inner:
        def deep(self) -> str:
            return "ö"


@functools.cache
async def load() -> int:
    return 1


if UNIT:

    def conditional() -> None:
        pass
