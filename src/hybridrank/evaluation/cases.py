"""Cases: what is asked, and what should be found, or that the corpus cannot answer it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ..errors import DuplicateIdError, InvalidValueError
from ..types import Document, FrozenDict
from .case_files import Record, case_fields, is_text, nearest, read_records
from .found import as_grade
from .targets import Target, read_target

Expected: TypeAlias = Literal["retrieve", "disclose_gap"]

_HINTS, _SHOWN = 3, 10


@dataclass(frozen=True, slots=True, init=False)
class Case:
    """One question of an evaluation.

    Attributes:
        id: names it in tables, runs and errors.
        query: what is asked.
        relevant: a grade by target. Given as ids, or as a mapping from ids or targets, in the constructor;
            a grade of 0 or below is judged and not relevant.
        category: free; means are told per category.
        expected: `"retrieve"`, or `"disclose_gap"` for a question that the corpus cannot answer. A gap is run
            and shown, but never scored.
        gap_id: which gap; only a gap has one, and it must.
        metadata: anything else.
        where: the file and line it came from, for messages; does not take part in comparisons.

    Raises:
        InvalidValueError: the case is inconsistent; the message names it.
    """

    id: str
    query: str
    relevant: Mapping[Target, float]
    category: str
    expected: Expected
    gap_id: str | None
    metadata: Mapping[str, Any] = field(hash=False)
    where: str = field(compare=False)

    def __init__(
        self,
        id: str,
        query: str,
        relevant: Mapping[Any, float] | Iterable[str | Target] = (),
        *,
        category: str = "",
        expected: Expected = "retrieve",
        gap_id: str | None = None,
        metadata: Mapping[str, Any] = FrozenDict(),
        where: str = "",
    ) -> None:
        named = f"{where + ': ' if where else ''}case {id!r}: "
        for name, given in (("id", id), ("query", query)):
            if not is_text(given):
                raise InvalidValueError(f"{named}{name} is {given!r}; give a str that is not blank")
        if category != "" and not is_text(category):
            raise InvalidValueError(f"{named}category is {category!r}; give a str")
        if expected not in get_args(Expected):
            raise InvalidValueError(f"{named}expected is {expected!r}; give 'retrieve' or 'disclose_gap'")
        targets = _targets(relevant, named)
        _check_consistent(targets, expected, gap_id, named)
        values: tuple[object, ...] = (
            *(id, query, FrozenDict(targets), category, expected, gap_id, FrozenDict(metadata), where),
        )
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def is_gap(self) -> bool:
        """Whether the corpus cannot answer the question."""
        return self.expected == "disclose_gap"

    def to_dict(self) -> dict[str, Any]:
        """The case as a line of a case file."""
        data: dict[str, Any] = {
            "id": self.id,
            "query": self.query,
            "relevant": [target.to_dict(grade) for target, grade in self.relevant.items()],
            "category": self.category,
            "expected": self.expected,
            "gap_id": self.gap_id,
        }
        return {**data, "metadata": dict(self.metadata)} if self.metadata else data


def load_cases(path: str | Path) -> tuple[Case, ...]:
    """The cases of a file: JSON Lines (.jsonl, one object a line) or JSON (.json, a list of objects).

    An object holds `id`, `query`, `relevant`, `category`, `expected` (`retrieve` when left out), `gap_id` and
    `metadata`. `relevant` is an object of grades by document id, or a list of document ids and of objects
    `{"id": …}` or `{"path": …, "lines": [first, last]}`, each with a `grade` (1 when left out).

    The names `probe_id`, `expected_behavior`, `expected_rule_ids` and `expected_gap_id` are read too; in an
    object with a `probe_id` all other fields become metadata, where otherwise an unknown field is an error.

    Raises:
        InvalidValueError: the file cannot be read or holds no case, or a case is inconsistent; the message
            names file, line (or place in the list) and id.
        DuplicateIdError: two cases have one id.
    """
    cases = tuple(read_case(record, where) for where, record in read_records(path))
    check_case_ids(cases)
    return cases


def check_cases(cases: Iterable[Case], documents: Sequence[Document]) -> None:
    """Check that every target of the cases is in the corpus, and that no case id stands twice.

    Raises:
        DuplicateIdError: two cases have one id.
        InvalidValueError: a target is unknown, or begins behind the last line of its file; the message names
            the cases and targets and the nearest that are known.
    """
    cases = tuple(cases)
    check_case_ids(cases)
    ids = {document.id for document in documents}
    last_lines: dict[str, int] = {}
    for document in documents:
        last_lines[document.path] = max(document.end_line, last_lines.get(document.path, 0))
    last_lines.pop("", None)
    wrong: list[str] = []
    for case in cases:
        for target in case.relevant:
            known = target.id in ids if target.id else target.path in last_lines
            if not known:
                what = f"id {target.id!r}" if target.id else f"path {target.path!r}"
                # A look for the nearest name goes through the whole corpus.
                hint = instead(target, last_lines, ids) if len(wrong) < _HINTS else ""
                wrong.append(f"{_named(case)}no document has the {what}{hint}")
            elif target.path and 0 < last_lines[target.path] < target.start_line:
                last = last_lines[target.path]
                wrong.append(f"{_named(case)}{target} begins behind line {last}, where its file ends")
    if wrong:
        more = [f"and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
        raise InvalidValueError("\n".join(wrong[:_SHOWN] + more))


def check_case_ids(cases: Iterable[Case]) -> None:
    """Check that no id stands for two cases.

    Raises:
        DuplicateIdError: one does.
    """
    seen: dict[str, Case] = {}
    for case in cases:
        if case.id in seen:
            first = seen[case.id].where
            raise DuplicateIdError(
                f"{_named(case)}the id stands for another case too{', of ' + first if first else ''}"
            )
        seen[case.id] = case


def read_case(record: Record, where: str) -> Case:
    """The case of an object of a case file.

    Args:
        where: file and line, for messages.

    Raises:
        InvalidValueError: it is inconsistent.
    """
    values = case_fields(record, where)
    named = f"{where}: case {values['id']!r}: "
    return Case(**{**values, "relevant": _read_relevant(values["relevant"], named)}, where=where)


def _read_relevant(given: object, named: str) -> dict[Target, float]:
    if isinstance(given, Mapping):
        given = [{"id": id, "grade": grade} for id, grade in given.items()]
    if not isinstance(given, list):
        raise InvalidValueError(f"{named}relevant is {given!r}; give a list")
    relevant: dict[Target, float] = {}
    for item in given:
        try:
            target, grade = read_target(item)
        except InvalidValueError as error:
            raise InvalidValueError(f"{named}{error}") from None
        if target in relevant:
            raise InvalidValueError(f"{named}{str(target)!r} stands twice among what is relevant")
        relevant[target] = grade
    return relevant


def _targets(relevant: Mapping[Any, float] | Iterable[str | Target], named: str) -> dict[Target, float]:
    if isinstance(relevant, str | bytes | Target) or not isinstance(relevant, Iterable):
        raise InvalidValueError(f"{named}relevant is {relevant!r}; give a list of ids, or a grade by id")
    graded = relevant.items() if isinstance(relevant, Mapping) else ((key, 1) for key in relevant)
    targets: dict[Target, float] = {}
    names: dict[str, Target] = {}
    for key, given in graded:
        if not isinstance(key, str | Target):
            raise InvalidValueError(f"{named}relevant holds {key!r}; give ids as str, or Target(path=…)")
        try:
            target = Target(key) if isinstance(key, str) else key
        except InvalidValueError as error:
            raise InvalidValueError(f"{named}{error}") from None
        grade = as_grade(given)
        if grade is None:
            raise InvalidValueError(f"{named}grade of {str(target)!r} is {given!r}; give a finite number")
        # A list of ids may repeat one; two grades, or a document and a file of one name, are unclear.
        if names.setdefault(str(target), target) != target or targets.get(target, grade) != grade:
            raise InvalidValueError(f"{named}{str(target)!r} stands twice among what is relevant")
        targets[target] = grade
    return targets


def _check_consistent(targets: Mapping[Target, float], expected: str, gap_id: object, named: str) -> None:
    if expected == "disclose_gap":
        if targets:
            raise InvalidValueError(
                f"{named}a gap has nothing relevant, but relevant names {', '.join(map(str, targets))}"
            )
        if not is_text(gap_id):
            raise InvalidValueError(f"{named}gap_id is {gap_id!r}; a gap needs one, a str that is not blank")
        return
    if gap_id is not None:
        raise InvalidValueError(f"{named}gap_id is {gap_id!r}, but only a gap ('disclose_gap') has one")
    if not any(grade > 0 for grade in targets.values()):
        raise InvalidValueError(
            f"{named}nothing is relevant; name a document or path with a grade above 0, "
            "or expect 'disclose_gap'"
        )


def _named(case: Case) -> str:
    return f"{case.where + ': ' if case.where else ''}case {case.id!r}: "


def instead(target: Target, paths: Collection[str], ids: Collection[str]) -> str:
    """What an unknown target may have meant."""
    if target.id in paths:
        return f'; for the file write {{"path": {target.id!r}}}'
    span = re.fullmatch(r"(.+):([1-9][0-9]*)-([1-9][0-9]*)", target.id, re.DOTALL)
    if span and span[1] in paths:
        return f'; chunks move: write {{"path": {span[1]!r}, "lines": [{span[2]}, {span[3]}]}}'
    return nearest(target.id or target.path, ids if target.id else paths)
