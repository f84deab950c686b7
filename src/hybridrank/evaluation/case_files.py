"""Case files as plain records, each with the place it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import InvalidValueError

Record: TypeAlias = dict[str, Any]

_FIELDS = ("id", "query", "relevant", "category", "expected", "gap_id", "metadata")
_PROBE_FIELDS = {
    "probe_id": "id",
    "expected_behavior": "expected",
    "expected_rule_ids": "relevant",
    "expected_gap_id": "gap_id",
}


def read_records(path: str | Path, what: str = "case") -> Iterator[tuple[str, Record]]:
    """The objects of a .jsonl or .json file, each with `file:line` or `file[place]`.

    Args:
        what: what an object is, for messages; a JSON file may hold the list under this name with an s.

    Raises:
        InvalidValueError: no such file, not readable, not UTF-8, not valid, of another kind, or empty.
    """
    if not isinstance(path, str | Path):
        raise InvalidValueError(f"{path!r} is no {what} file; give the path of a .jsonl or .json file")
    file = Path(path)
    reader = {".jsonl": _lines, ".json": _items}.get(file.suffix.lower())
    if reader is None:
        raise InvalidValueError(f"{path}: a {what} file ends in .jsonl or .json, not in {file.suffix!r}")
    found = False
    for where, record in reader(file, _text(file, what), what):
        if not isinstance(record, dict):
            raise InvalidValueError(
                f"{where}: {_short(record)} stands where a {what}, an object, is expected"
            )
        found = True
        yield where, record
    if not found:
        raise InvalidValueError(f"{path}: the file holds no {what}")


def case_fields(record: Record, where: str) -> Record:
    """The record under the names of `Case`'s fields, `id`, `query`, `relevant` and `metadata` always there.

    Raises:
        InvalidValueError: a field is unknown, missing, or given under two names.
    """
    named = f"{where}: case {record.get('id', record.get('probe_id'))!r}: "
    fields: Record = {"relevant": [], "metadata": {}}
    others: Record = {}
    taken: dict[str, str] = {}
    for given, value in record.items():
        name = _PROBE_FIELDS.get(given, given)
        if name in taken:
            raise InvalidValueError(f"{named}{taken[name]!r} and {given!r} are one field; give one of them")
        taken[name] = given
        (fields if name in _FIELDS else others)[name] = value
    if others and "probe_id" not in record:
        hint = nearest(min(others), [*_FIELDS, *_PROBE_FIELDS])
        raise InvalidValueError(
            f"{named}unknown field {min(others)!r}{hint}; what is yours goes into 'metadata'"
        )
    for name in ("id", "query"):
        if name not in fields:
            raise InvalidValueError(f"{named}there is no field {name!r}")
    if not isinstance(fields["metadata"], Mapping):
        raise InvalidValueError(f"{named}metadata is {fields['metadata']!r}; give an object")
    return {**fields, "metadata": {**fields["metadata"], **others}}


def is_text(value: object) -> bool:
    """Whether it is a str that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message that offers the nearest known name; empty where none is near."""
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _text(file: Path, what: str) -> str:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise InvalidValueError(f"there is no file {str(file)!r}; give the path of a {what} file") from None
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"cannot read {str(file)[:200]!r}: {error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidValueError(f"{file}:{line}: not UTF-8: {error.reason}; save it as UTF-8") from error


def _lines(file: Path, text: str, what: str) -> Iterator[tuple[str, Any]]:
    # Not splitlines: a string may hold U+2028, which is no line end in JSON Lines.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{file}:{number}"
            yield where, _parsed(line, where)


def _items(file: Path, text: str, what: str) -> Iterator[tuple[str, Any]]:
    items = _parsed(text, str(file))
    if isinstance(items, dict) and set(items) == {f"{what}s"}:
        items = items[f"{what}s"]
    if not isinstance(items, list):
        raise InvalidValueError(f'{file}: give a list of {what}s, or {{"{what}s": [...]}}')
    for place, item in enumerate(items):
        yield f"{file}[{place}]", item


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise InvalidValueError(f"{where}: nested too deeply") from None
    except ValueError as error:
        raise InvalidValueError(f"{where}: not valid JSON: {error}") from error


def _once(pairs: Iterable[tuple[str, Any]]) -> Record:
    record: Record = {}
    for key, value in pairs:
        if key in record:
            raise ValueError(f"key {key!r} stands twice in one object")
        record[key] = value
    return record


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
