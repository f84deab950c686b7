"""Documents from records: one JSON object each, in a .jsonl or .json file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DuplicateIdError, InvalidValueError
from ..records import ID_FIELD, TEXT_FIELD, record_document
from ..types import Document
from .case_files import Record, nearest, read_records

_TEXTS = ("path", "kind", "name", "qualified_name", "language")
_LINES = ("start_line", "end_line")


class Records(NamedTuple):
    """The documents of a file, the records they were made of, and the place of each, as `file:line`."""

    documents: tuple[Document, ...]
    records: tuple[Record, ...]
    places: tuple[str, ...]


def load_records(path: str | Path, *, id_field: str = ID_FIELD, text_field: str = TEXT_FIELD) -> Records:
    """The documents of a .jsonl or .json file of objects; every line counts, none is skipped.

    What becomes of a record is what `record_document` makes of it. But where that leaves a field of the wrong
    type among the metadata, it is an error here: a target may name it.

    Args:
        id_field, text_field: the fields that hold id and text; dots lead into objects, as in
            `metadata.rule_id`. A whole number as an id becomes a str.

    Raises:
        InvalidValueError: the file cannot be read or holds no record, or a record lacks id or text, or one of
            its fields is of the wrong type; the message names file and line.
        DuplicateIdError: two records have one id.
    """
    documents: list[Document] = []
    records: list[Record] = []
    places: list[str] = []
    seen: dict[str, str] = {}
    for where, record in read_records(path, "record"):
        document = _document(record, where, id_field, text_field)
        if document.id in seen:
            raise DuplicateIdError(f"{where}: id {document.id!r} stands already at {seen[document.id]}")
        seen[document.id] = where
        documents.append(document)
        records.append(record)
        places.append(where)
    return Records(tuple(documents), tuple(records), tuple(places))


def field_of(record: Mapping[str, Any], name: str, where: str, option: str) -> Any:
    """The value at a dotted name; a key that holds dots itself is found too.

    Raises:
        InvalidValueError: there is none; the message names `option`, by which another field is chosen.
    """
    if name in record:
        return record[name]
    node: Any = record
    for key in name.split("."):
        if not isinstance(node, Mapping) or key not in node:
            known = [str(key) for key in record]
            hint = nearest(name, known) or f"; the record has {', '.join(known) or 'no fields'}"
            raise InvalidValueError(f"{where}: there is no field {name!r} ({option}){hint}")
        node = node[key]
    return node


def _document(record: Record, where: str, id_field: str, text_field: str) -> Document:
    field_of(record, id_field, where, "id_field")
    field_of(record, text_field, where, "text_field")
    for names, kind in ((_TEXTS, str), (_LINES, int)):
        for name in names:
            value = record.get(name)
            if name not in (id_field, text_field) and type(value) not in (kind, type(None)):
                raise InvalidValueError(f"{where}: {name} is {value!r:.60}; give {kind.__name__}")
    if type(record.get("start_line")) is not type(record.get("end_line")):
        raise InvalidValueError(f"{where}: of start_line and end_line there is one; give both")
    if not isinstance(record.get("metadata", {}), Mapping):
        raise InvalidValueError(f"{where}: metadata is {record['metadata']!r:.60}; give an object")
    try:
        return record_document(record, id_field=id_field, text_field=text_field)
    except InvalidValueError as error:
        raise InvalidValueError(f"{where}: {error}") from None
