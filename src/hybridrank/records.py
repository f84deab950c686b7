"""Records, one JSON object each, as documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .errors import InvalidValueError
from .types import Document

ID_FIELD, TEXT_FIELD = "id", "text"
MAPPING = 2
"""Raised when a record becomes another document than before: indexes of records are then made anew."""

BOM = b"\xef\xbb\xbf"
_TEXTS = ("path", "kind", "name", "qualified_name", "language")
_LINES = ("start_line", "end_line")


class BadLine(NamedTuple):
    """A line that gives no document, counted from 1, and why."""

    line: int
    reason: str


def record_document(record: Mapping[str, Any], *, id_field: str, text_field: str) -> Document:
    """The document that a record stands for, wherever records are read.

    Fields with the names of `Document`'s (path, kind, name, qualified_name, language, start_line with
    end_line) are those where they are of their type; all other fields, and those of an object `metadata`,
    become metadata. Kind is `record` unless the record says otherwise. The record does not change.

    Args:
        id_field, text_field: name of the field, or its path through nested objects: `meta.id`. A field whose
            name holds the dots wins. The id is a non-empty str or an int, which becomes a str; the text is a
            str.

    Raises:
        InvalidValueError: it has no such field, or one is of the wrong type, or its lines are reversed.
    """
    rest = dict(record)
    id, text = _taken(rest, id_field), _taken(rest, text_field)
    if isinstance(id, bool) or not isinstance(id, str | int) or id == "":
        raise InvalidValueError(f"its id ({id_field}) is {id!r:.60}, not a non-empty str or an int")
    if not isinstance(text, str):
        raise InvalidValueError(f"its text ({text_field}) is {text!r:.60}, not a str")
    known = {name: rest.pop(name) for name in _TEXTS if isinstance(rest.get(name), str)}
    lines = {name: rest[name] for name in _LINES if type(rest.get(name)) is int}
    if len(lines) == len(_LINES):
        known.update((name, rest.pop(name)) for name in _LINES)
    inner = rest.get("metadata")
    if isinstance(inner, Mapping):
        del rest["metadata"]
        twice = [name for name in inner if name in rest]
        if twice:
            raise InvalidValueError(f"{twice[0]!r} stands in it and in its metadata")
        rest.update(inner)
    return Document(str(id), text, metadata=rest, **{"kind": "record", **known})


def check_fields(id_field: str, text_field: str) -> None:
    """The two are names of different fields.

    Raises:
        InvalidValueError: they are not.
    """
    for name, field in (("id_field", id_field), ("text_field", text_field)):
        if not field.strip("."):
            raise InvalidValueError(f"{name} is {field!r}; give the name of a field")
    if id_field == text_field:
        raise InvalidValueError(f"id_field and text_field are both {id_field!r}; give two fields")


def read_records(
    path: str | Path, *, id_field: str = ID_FIELD, text_field: str = TEXT_FIELD
) -> Iterator[Document | BadLine]:
    """A document for each line that holds a JSON object with an id and a text, see `record_document`.

    A line that is no such object is given as `BadLine`, as is one whose id an earlier line has; blank lines
    count for nothing.

    Raises:
        InvalidValueError: the file cannot be read, or a name is empty.
    """
    check_fields(id_field, text_field)
    try:
        opened = Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        raise InvalidValueError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    lines: dict[str, int] = {}
    with opened:
        for number, line in enumerate(opened, 1):
            content = line.removeprefix(BOM) if number == 1 else line
            if not content.strip():
                continue
            try:
                document = record_document(_parsed(content), id_field=id_field, text_field=text_field)
            except ValueError as error:
                yield BadLine(number, str(error))
                continue
            if document.id in lines:
                yield BadLine(number, f"its id {document.id!r} is that of line {lines[document.id]}")
                continue
            lines[document.id] = number
            yield document


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"it is no JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
        ) from None
    if not isinstance(record, dict):
        raise ValueError(f"it is no object but {type(record).__name__}")
    return record


def _taken(record: dict[str, Any], field: str, whole: str = "") -> Any:
    """The value of a field, which is taken out; objects that become empty go too. Inner ones are copied."""
    if field in record:
        return record.pop(field)
    head, dot, rest = field.partition(".")
    while dot:
        inner = record.get(head)
        if isinstance(inner, Mapping):
            left = dict(inner)
            value = _taken(left, rest, whole or field)
            record[head] = left
            if not left:
                del record[head]
            return value
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    raise InvalidValueError(f"it has no field {whole or field!r}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"its key {twice!r} stands twice in one object")
    return record


def _refuse(constant: str) -> float:
    raise ValueError(f"it holds {constant}, which is no JSON")
