"""Judgements and runs in the text formats of TREC.

A line of qrels is `query iteration document grade`, one of a run `query Q0 document rank score tag`, columns
separated by spaces or tabs. What is written has strictly falling scores, so that every tool sees our order,
also those that sort by score and break ties by id, as trec_eval does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from ..errors import DuplicateIdError, InvalidValueError
from .found import as_grade, checked_ranking

_COLUMNS = re.compile(r"[ \t\r]+")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """The grades by query and document id, in the order of the file.

    Raises:
        InvalidValueError: the file cannot be read, a line has other than four columns, a grade is no int, or
            a document has two grades for one query; the message names file and line.
    """
    qrels: dict[str, dict[str, int]] = {}
    for where, (query, _, document, given) in _rows(path, "query iteration document grade"):
        if not _WHOLE.fullmatch(given):
            raise InvalidValueError(f"{where}: grade is {given!r}; give an int")
        grade = int(given)
        grades = qrels.setdefault(query, {})
        if grades.setdefault(document, grade) != grade:
            raise InvalidValueError(
                f"{where}: document {document!r} has the grades {grades[document]} and {grade} for "
                f"query {query!r}"
            )
    return qrels


def read_run(path: str | Path) -> dict[str, list[str]]:
    """The document ids by query, best first: by falling score; equal scores by rank, then as they stand.

    Raises:
        InvalidValueError: the file cannot be read, a line has other than six columns, rank or score is no
            finite number, or the ranks contradict the scores; the message names file and line.
        DuplicateIdError: a document stands twice for one query.
    """
    rows: dict[str, dict[str, tuple[float, float, str]]] = {}
    for where, (query, _, document, rank, score, _) in _rows(path, "query Q0 document rank score tag"):
        numbers = [_number(text, what, where) for text, what in ((score, "score"), (rank, "rank"))]
        of_query = rows.setdefault(query, {})
        if document in of_query:
            raise DuplicateIdError(f"{where}: document {document!r} stands twice for query {query!r}")
        of_query[document] = (-numbers[0], numbers[1], where)
    run: dict[str, list[str]] = {}
    for query, places in rows.items():
        run[query] = sorted(places, key=lambda document: places[document][:2])
        for before, after in pairwise(run[query]):
            if places[before][1] > places[after][1]:
                raise InvalidValueError(
                    f"{places[after][2]}: query {query!r}: {after!r} has a better rank than {before!r}, but "
                    "a lower score; rank by falling score"
                )
    return run


def write_qrels(path: str | Path, qrels: Mapping[str, Mapping[str, float]]) -> None:
    """Write judgements.

    Raises:
        InvalidValueError: an id is empty, or holds white space or what is not UTF-8, or a grade is no whole
            number, which the format cannot hold.
    """
    lines: list[str] = []
    for query, grades in qrels.items():
        for document, grade in grades.items():
            number = as_grade(grade)
            if number is None or number != int(number):
                raise InvalidValueError(
                    f"query {query!r}: grade of {document!r} is {grade!r}; TREC qrels hold whole numbers"
                )
            lines.append(f"{_word(query, 'query id')} 0 {_word(document, 'document id')} {int(number)}\n")
    Path(path).write_bytes("".join(lines).encode())


def write_run(path: str | Path, run: Mapping[str, Sequence[str]], *, tag: str = "hybridrank") -> None:
    """Write rankings, best first; the scores fall from the length of the ranking to 1.

    A query with an empty ranking leaves no line: the format cannot hold it.

    Raises:
        InvalidValueError: an id or the tag is empty, or holds white space or what is not UTF-8.
        DuplicateIdError: a document stands twice in a ranking.
    """
    _word(tag, "tag")
    lines: list[str] = []
    for query, given in run.items():
        ranked_ids = checked_ranking(given, f"query {query!r}: ")
        seen: set[str] = set()
        for rank, document in enumerate(ranked_ids, 1):
            if document in seen:
                raise DuplicateIdError(f"query {query!r}: document {document!r} stands twice in the ranking")
            seen.add(document)
            score = len(ranked_ids) - rank + 1
            words = f"{_word(query, 'query id')} Q0 {_word(document, 'document id')}"
            lines.append(f"{words} {rank} {score} {tag}\n")
    Path(path).write_bytes("".join(lines).encode())


def _rows(path: str | Path, columns: str) -> Iterator[tuple[str, list[str]]]:
    wanted = len(columns.split())
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InvalidValueError(f"there is no file {str(path)!r}") from None
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"cannot read {str(path)[:200]!r}: {error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell for cell in _COLUMNS.split(line) if cell]
        if not cells:
            continue
        if len(cells) != wanted:
            raise InvalidValueError(f"{path}:{number}: {len(cells)} columns; give {wanted}: {columns}")
        yield f"{path}:{number}", cells


def _number(text: str, what: str, where: str) -> float:
    try:
        # float() reads 1_0 as 10.
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidValueError(f"{where}: {what} is {text!r}; give a finite number")
    return number


def _word(value: object, what: str) -> str:
    if isinstance(value, str) and value.split() == [value] and "\0" not in value and _is_utf8(value):
        return value
    raise InvalidValueError(
        f"{what} {value!r} cannot stand in a TREC file; give ids without white space, as UTF-8"
    )


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
