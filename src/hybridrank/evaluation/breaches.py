"""What does not agree with a contract, or with what a run recorded of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..errors import MismatchError

_LONG = 200


class Breach(NamedTuple):
    """One thing that is not as it should be.

    Attributes:
        where: dotted path in the contract, or the name of a file of a run.
        expected, found: in words and values, for people.
    """

    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, found {self.found}"

    def to_dict(self) -> dict[str, str]:
        return self._asdict()


class ContractMismatchError(MismatchError):
    """Inputs, configuration or results are not those that a contract locks.

    Attributes:
        breaches: all of them.
    """

    def __init__(self, breaches: Iterable[Breach]) -> None:
        self.breaches = tuple(breaches)
        count = len(self.breaches)
        head = f"{count} {'thing differs' if count == 1 else 'things differ'} from the contract"
        super().__init__("\n".join([f"{head}:", *(f"  {breach}" for breach in self.breaches)]))


def shown(value: Any) -> str:
    """A value as JSON writes it, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _LONG else text[:_LONG] + "…"
