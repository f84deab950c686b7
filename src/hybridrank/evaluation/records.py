"""Documents from records: one JSON object each, in a .jsonl or .json file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DuplicateIdError, InvalidValueError
from ..types import Document
from .case_files import Record, nearest, read_records

ID_FIELD, TEXT_FIELD = "id", "text"
_FIELDS = ("path", "start_line", "end_line", "kind", "name", "qualified_name", "language")


class Records(NamedTuple):
    """The documents of a file, the records they were made of, and the place of each, as `file:line`."""

    documents: tuple[Document, ...]
    records: tuple[Record, ...]
    places: tuple[str, ...]


def load_records(path: str | Path, *, id_field: str = ID_FIELD, text_field: str = TEXT_FIELD) -> Records:
    """The documents of a .jsonl or .json file of objects; every line counts, none is skipped.

    Fields of the names of `Document`'s are taken as such, all others become its metadata, those of an object
    `metadata` among them. Kind is `record` unless a record says otherwise.

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
    id = field_of(record, id_field, where, "id_field")
    text = field_of(record, text_field, where, "text_field")
    taken = {id_field, text_field}
    known = {name: record[name] for name in _FIELDS if name in record and name not in taken}
    rest = {name: value for name, value in record.items() if name not in taken and name not in known}
    inner = rest.pop("metadata", {})
    if not isinstance(inner, Mapping):
        raise InvalidValueError(f"{where}: metadata is {inner!r}; give an object")
    twice = [name for name in inner if name in rest]
    if twice:
        raise InvalidValueError(f"{where}: {twice[0]!r} stands in the record and in its metadata")
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    try:
        return Document(id, text, metadata={**rest, **inner}, **{"kind": "record", **known})
    except InvalidValueError as error:
        raise InvalidValueError(f"{where}: {error}") from None
