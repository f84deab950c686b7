"""What a case wants found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidValueError
from ..types import Document
from .found import as_grade


@dataclass(frozen=True, slots=True)
class Target:
    """What a case wants found: a document by its id, or a file, or lines of a file.

    A file or lines are found by any document that touches them, so that they outlive another chunking.

    Attributes:
        id: a document's id; `""` for a file.
        path: as in `Document.path`; `""` for a document.
        start_line, end_line: 1-based and inclusive; both 0 for the whole file.

    Raises:
        InvalidValueError: it has both id and path, or neither, or lines that are none.
    """

    id: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0

    def __post_init__(self) -> None:
        names: tuple[object, object] = (self.id, self.path)
        if not all(isinstance(name, str) for name in names) or bool(self.id) == bool(self.path):
            raise InvalidValueError(
                f"target has id {self.id!r} and path {self.path!r}; give one of them, a str"
            )
        lines: tuple[object, object] = (self.start_line, self.end_line)
        if not all(type(line) is int for line in lines) or not (
            lines == (0, 0) or 1 <= self.start_line <= self.end_line
        ):
            raise InvalidValueError(
                f"target {self.id or self.path!r} has lines {self.start_line!r} to {self.end_line!r}; lines "
                "count from 1, the first before the last"
            )
        if self.id and self.end_line:
            raise InvalidValueError(f"target {self.id!r} has lines; lines go with a path, not with an id")

    def touches(self, document: Document) -> bool:
        """Whether the document is the target, or holds some of its lines.

        A document without lines stands for its whole file.
        """
        if self.id:
            return document.id == self.id
        if document.path != self.path:
            return False
        if not self.end_line or not document.end_line:
            return True
        return document.start_line <= self.end_line and self.start_line <= document.end_line

    def __str__(self) -> str:
        lines = f":{self.start_line}-{self.end_line}" if self.end_line else ""
        return (self.id or self.path) + lines

    def to_dict(self, grade: float = 1) -> dict[str, Any]:
        """The target as case files hold it."""
        number = int(grade) if grade == int(grade) else grade
        if self.id:
            return {"id": self.id, "grade": number}
        lines = {"lines": [self.start_line, self.end_line]} if self.end_line else {}
        return {"path": self.path, **lines, "grade": number}


def read_target(item: object) -> tuple[Target, float]:
    """A target and its grade from a case file: an id, or an object with id or path, lines and grade.

    Raises:
        InvalidValueError: it is neither.
    """
    if isinstance(item, str):
        return Target(item), 1.0
    if not isinstance(item, Mapping):
        raise InvalidValueError(f'{item!r} is no target; give an id, or {{"path": …, "lines": [1, 9]}}')
    unknown = sorted(set(item) - {"id", "path", "lines", "grade"})
    if unknown:
        raise InvalidValueError(
            f"target has an unknown field {unknown[0]!r}; it has id or path, lines, grade"
        )
    lines = item.get("lines", [0, 0])
    if not isinstance(lines, list) or len(lines) != 2 or ("lines" in item and lines == [0, 0]):
        raise InvalidValueError(f"lines of a target are {lines!r}; give [first, last], counted from 1")
    target = Target(item.get("id", ""), item.get("path", ""), *lines)
    given = item.get("grade", 1)
    grade = as_grade(given)
    if grade is None:
        raise InvalidValueError(f"grade of {str(target)!r} is {given!r}; give a finite number")
    return target, grade
