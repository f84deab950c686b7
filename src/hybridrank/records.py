"""Records from a file of JSON lines as documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .errors import InvalidValueError
from .types import Document

BOM = b"\xef\xbb\xbf"


class BadLine(NamedTuple):
    """A line that gives no document, counted from 1, and why."""

    line: int
    reason: str


def read_records(path: str | Path, *, id_field: str, text_field: str) -> Iterator[Document | BadLine]:
    """A document of kind `record` for each line that holds a JSON object with an id and a text.

    What else the object holds becomes metadata. A line that is no such object is given as `BadLine`, as is
    one whose id an earlier line has; blank lines count for nothing.

    Args:
        id_field, text_field: name of the field, or its path through nested objects: `meta.id`. A field whose
            name holds the dots wins. The id is a str or an int.

    Raises:
        InvalidValueError: the file cannot be read, or a name is empty.
    """
    for name, field in (("id_field", id_field), ("text_field", text_field)):
        if not field.strip("."):
            raise InvalidValueError(f"{name} is {field!r}; give the name of a field")
    if id_field == text_field:
        raise InvalidValueError(f"id_field and text_field are both {id_field!r}; give two fields")
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
                document = _document(content, id_field, text_field)
            except ValueError as error:
                yield BadLine(number, str(error))
                continue
            if document.id in lines:
                yield BadLine(number, f"its id {document.id!r} is that of line {lines[document.id]}")
                continue
            lines[document.id] = number
            yield document


def _document(line: bytes, id_field: str, text_field: str) -> Document:
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(record, dict):
        raise ValueError(f"it is no object but {type(record).__name__}")
    id = _taken(record, id_field)
    text = _taken(record, text_field)
    if isinstance(id, bool) or not isinstance(id, str | int) or id == "":
        raise ValueError(f"its id ({id_field}) is {id!r:.60}, not a non-empty str or an int")
    if not isinstance(text, str):
        raise ValueError(f"its text ({text_field}) is {text!r:.60}, not a str")
    return Document(str(id), text, kind="record", metadata=record)


def _taken(record: dict[str, Any], field: str) -> Any:
    """The value of a field, which is taken out; objects that become empty go too."""
    if field in record:
        return record.pop(field)
    head, dot, rest = field.partition(".")
    while dot:
        inner = record.get(head)
        if isinstance(inner, dict):
            value = _taken(inner, rest)
            if not inner:
                del record[head]
            return value
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    raise ValueError(f"it has no field {field!r}")


def _refuse(constant: str) -> float:
    raise ValueError(f"it holds {constant}, which is no JSON")
