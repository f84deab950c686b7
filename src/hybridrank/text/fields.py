"""Which fields of a document a part searches."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InvalidValueError
from ..types import Document

FIELDS = ("text", "path", "name", "qualified_name", "kind", "language")
"""The fields that can be searched."""


def check_fields(fields: Sequence[str]) -> tuple[str, ...]:
    """The given fields as a tuple: at least one of `FIELDS`, none twice.

    Raises:
        InvalidValueError: they are not.
    """
    if isinstance(fields, str) or not isinstance(fields, Sequence):
        raise InvalidValueError(f"fields is {fields!r}; give a list such as ['text']")
    for field in fields:
        if field not in FIELDS:
            raise InvalidValueError(f"fields names {field!r}; give some of: {', '.join(FIELDS)}")
    if not fields:
        raise InvalidValueError(f"fields is empty; give some of: {', '.join(FIELDS)}")
    if len(set(fields)) < len(fields):
        raise InvalidValueError(f"fields {list(fields)!r} names one twice; give each once")
    return tuple(fields)


def searchable_text(document: Document, fields: Sequence[str]) -> str:
    """The fields of a document, one after the other on lines of their own, without empty ones."""
    if tuple(fields) == ("text",):
        return document.text
    return "\n".join(filter(None, (getattr(document, field) for field in fields)))
