"""A ranking of documents judged by a case: which target is found at which rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..errors import InvalidValueError
from ..types import Document, FrozenDict
from .cases import Case
from .found import Found, credited_ranks, ideal_grades

Collapse: TypeAlias = Literal["path", "name", "qualified_name"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a ranking holds of a case's targets.

    A target counts once, however many documents touch it; its rank is that of the first that does. It is
    named by `str(target)`: `id`, `path` or `path:first-last`.

    Attributes:
        ranks: the 1-based rank of each target that was found; those judged not relevant are in it too.
        by: the id of the document that found it, by target.
        found: the same for the measures, relevant targets only.
        ranked: the ranking as target names, for measures that walk along it: a document that finds a target
            stands as that target, one that finds several as several in a row, any other as its own id.
        grades: the grade by target name.
    """

    ranks: Mapping[str, int]
    by: Mapping[str, str]
    found: Found
    ranked: tuple[str, ...]
    grades: Mapping[str, float]

    @property
    def missed(self) -> tuple[str, ...]:
        """The relevant targets that the ranking does not hold."""
        return tuple(name for name, grade in self.grades.items() if grade > 0 and name not in self.ranks)


def judge(case: Case, documents: Iterable[Document], *, collapse: Collapse | None = None) -> Judgement:
    """Judge a ranking of documents, best first.

    Args:
        collapse: documents that share this field take one place together, that of the first; those without
            it stay by themselves. So `"path"` ranks files by their best chunk.

    Raises:
        InvalidValueError: `collapse` is no such field.
    """
    names = {target: str(target) for target in case.relevant}
    grades = {names[target]: grade for target, grade in case.relevant.items()}
    ranks: dict[str, int] = {}
    by: dict[str, str] = {}
    first: dict[int, str] = {}
    for rank, document in _places(documents, collapse):
        first.setdefault(rank, document.id)
        for target, name in names.items():
            if name not in ranks and target.touches(document):
                ranks[name] = rank
                by[name] = document.id
    # A later document of a collapsed file may find a target at an earlier rank.
    order = sorted(ranks, key=lambda name: (ranks[name], -grades[name]))
    relevant = {name: grade for name, grade in grades.items() if grade > 0}
    hits = [name for name in order if name in relevant]
    at = [ranks[name] for name in hits]
    found = Found(at, [relevant[name] for name in hits], ideal_grades(relevant), credited_ranks(at))
    ranked = _ranked(first, order, ranks, grades)
    return Judgement(
        FrozenDict((name, ranks[name]) for name in order), FrozenDict(by), found, ranked, FrozenDict(grades)
    )


def collapse(ranked_ids: Iterable[str], key: Callable[[str], str]) -> list[str]:
    """The keys of the ids, each at its first place; the places behind it move up.

    For runs whose ids are finer than the judgements': `collapse(run["q"], lambda id: id.split("#")[0])`.
    """
    return list(dict.fromkeys(map(key, ranked_ids)))


def _places(documents: Iterable[Document], collapse: Collapse | None) -> Iterable[tuple[int, Document]]:
    if collapse is None:
        yield from enumerate(documents, 1)
        return
    if collapse not in get_args(Collapse):
        raise InvalidValueError(
            f"collapse is {collapse!r}; give one of {', '.join(get_args(Collapse))}, or None"
        )
    ranks: dict[tuple[str, str], int] = {}
    for document in documents:
        shared = getattr(document, collapse)
        key = ("shared", shared) if shared else ("own", document.id)
        yield ranks.setdefault(key, len(ranks) + 1), document


def _ranked(
    first: Mapping[int, str], order: Sequence[str], ranks: Mapping[str, int], grades: Mapping[str, float]
) -> tuple[str, ...]:
    at: dict[int, list[str]] = {}
    for name in order:
        at.setdefault(ranks[name], []).append(name)
    ranked: list[str] = []
    for rank, id in first.items():
        while id in grades:
            # A document that finds nothing must not be taken for a target of its name.
            id += "\0"
        ranked += at.get(rank, [id])
    return tuple(ranked)
