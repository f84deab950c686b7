"""What code priors measure of each candidate file: one number per feature, most of them between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from ..types import Hit
from .priors_index import EXACT, FOLDED, FileIndex, file_of
from .priors_paths import ROLES, PathFacts, Tokenize, compact, path_facts
from .priors_question import Question, dice, trigrams

FUSION = "fusion"
_SEVERAL = 10

F64 = NDArray[np.float64]

_STEM = (
    "file_named",
    "compound",
    "stem_words",
    "stem_letters",
    "stem_first",
    "stem_length",
    "folder",
)

FEATURES = (
    "best_match",
    "more_matches",
    "told",
    "phrases",
    "name_match",
    "word_names",
    "defined",
    *_STEM,
    "path_depth",
    "functions",
    *ROLES,
)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The files of a ranking's hits.

    Attributes:
        numbers: int64, shape (files,): their numbers in the index, in the order of their first hits.
        of_hit: int64, shape (hits,): the place in `numbers` of each hit's file.
        legs: float64, shape (legs, hits): what each leg thinks of each hit, divided by its best; 0 to 1.
    """

    numbers: NDArray[np.int64]
    of_hit: NDArray[np.int64]
    legs: F64

    @classmethod
    def of(cls, hits: Sequence[Hit], index: FileIndex, unread: Collection[str] = ()) -> Candidates:
        """The files of these hits.

        Args:
            unread: legs whose scores do not count.

        Raises:
            InvalidValueError: a document belongs to no file of the index.
        """
        places: dict[int, int] = {}
        of_hit: list[int] = []
        number_of = index.files.get
        for hit in hits:
            document = hit.document
            number = number_of(document.path or file_of(document))
            if number is None:
                raise InvalidValueError(
                    f"document {hit.id!r} belongs to no indexed file; index the documents that are ranked"
                )
            of_hit.append(places.setdefault(number, len(places)))
        return cls(np.array(list(places), np.int64), np.array(of_hit, np.int64), leg_scores(hits, unread))


def leg_scores(hits: Sequence[Hit], unread: Collection[str] = ()) -> F64:
    """Scores of each leg, divided by its best, shape (legs, hits), 0 where it does not know the hit.

    Legs are the components before `fusion`; where there are no components the hits' own score stands for one.
    """
    legs: dict[str, list[float]] = {}
    for place, hit in enumerate(hits):
        for name, component in hit.components.items():
            if name == FUSION:
                break
            if name in unread:
                continue
            if name not in legs:
                legs[name] = [0.0] * len(hits)
            legs[name][place] = component.score
    scores = np.array(list(legs.values()) or [[hit.score for hit in hits]], np.float64)
    scores = np.where(np.isfinite(scores), np.maximum(scores, 0.0), 0.0)
    best = scores.max(axis=1, initial=0.0, keepdims=True)
    return np.asarray(scores / np.where(best > 0.0, best, 1.0))


def file_features(
    hits: Sequence[Hit], candidates: Candidates, question: Question, index: FileIndex, tokenizer: Tokenize
) -> F64:
    """One row per candidate file, one column per feature of `FEATURES`."""
    numbers = candidates.numbers
    count = len(numbers)
    paths = [""] * count
    for hit, file in zip(hits, candidates.of_hit.tolist(), strict=True):
        paths[file] = hit.document.path
    facts = [path_facts(path, tokenizer) for path in paths]
    # Where each candidate stands in arrays over all files.
    place_of = np.full(len(index.files), -1, np.int64)
    place_of[numbers] = np.arange(count)
    by_leg = _by_leg(candidates, count)
    names = _names(question, index, place_of, count)
    depths = np.array([fact.depth for fact in facts], np.float64)
    roles = index.roles[numbers] & ~np.array(question.asked, np.bool_)
    columns: dict[str, F64] = {
        **by_leg,
        "told": _told(question, index)[numbers],
        "phrases": _phrases(question, index, place_of, count),
        **names,
        **_stems(facts, question),
        "path_depth": np.clip(depths - np.median(depths), -1.0, 1.0),
        "functions": index.functions[numbers],
        **{role: roles[:, column].astype(np.float64) for column, role in enumerate(ROLES)},
    }
    columns["told"] = _over_best(columns["told"])
    return np.column_stack([columns[name] for name in FEATURES])


def _by_leg(candidates: Candidates, count: int) -> dict[str, F64]:
    best, several = np.zeros(count), np.zeros(count)
    legs = len(candidates.legs)
    for scores in candidates.legs:
        order = np.lexsort((-scores, candidates.of_hit))
        files, sorted_scores = candidates.of_hit[order], scores[order]
        starts = np.searchsorted(files, np.arange(count))
        within = np.arange(len(files)) - starts[files]
        best += sorted_scores[starts]
        several += np.log1p(np.bincount(files, np.where(within < _SEVERAL, sorted_scores, 0.0), count))
    return {"best_match": best / legs, "more_matches": several / legs}


def _told(question: Question, index: FileIndex) -> F64:
    scores = np.zeros(len(index.files))
    for term in question.weights:
        held = index.words.of(term)
        if held is not None:
            scores[held[0]] += held[1]
    return scores


def _phrases(question: Question, index: FileIndex, place_of: NDArray[np.int64], count: int) -> F64:
    found = np.zeros(count)
    for first, second in question.pairs:
        places = place_of[index.pair_files(first, second)]
        found[places[places >= 0]] += 1.0
    return found / max(len(question.pairs), 1)


def _names(question: Question, index: FileIndex, place_of: NDArray[np.int64], count: int) -> dict[str, F64]:
    size = len(index.name_files)
    weight, hits = np.zeros(size), np.zeros(size)
    for term, value in question.weights.items():
        held = index.names.of(term)
        if held is None:
            continue
        weight[held[0]] += value
        hits[held[0]] += 1.0
    touched = np.flatnonzero(hits)
    files = place_of[index.name_files[touched]]
    kept = files >= 0
    touched, files = touched[kept], files[kept]
    match = np.zeros(count)
    defined = _defined(question, index, place_of, count)
    np.maximum.at(match, files, np.sqrt(weight[touched] * hits[touched] / index.name_sizes[touched]))
    return {
        "name_match": match,
        "word_names": _word_names(question, index, place_of, count),
        "defined": defined if question.alone else np.zeros(count),
    }


def _word_names(question: Question, index: FileIndex, place_of: NDArray[np.int64], count: int) -> F64:
    found = np.zeros(count)
    for word in dict.fromkeys(question.plain):
        found[_defining(FOLDED + word, index, place_of)[0]] += 1.0
    return found / max(len(question.plain), 1)


def _defined(question: Question, index: FileIndex, place_of: NDArray[np.int64], count: int) -> F64:
    """The mean over identifiers of how surely each candidate defines it.

    A name that several files define counts 1 / (1 + ln(files)); one that is only written alike, half.
    """
    found = np.zeros(count)
    for name in question.identifiers:
        best = np.zeros(count)
        for key, sure in ((FOLDED + compact(name), 0.5), (EXACT + name, 1.0)):
            files, everywhere = _defining(key, index, place_of)
            best[files] = sure / (1.0 + math.log(max(everywhere, 1)))
        found += best
    return found / max(len(question.identifiers), 1)


def _defining(key: str, index: FileIndex, place_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The candidates that define a name, and how many files do."""
    held = index.names.of(key)
    if held is None:
        return np.zeros(0, np.int64), 0
    files = np.unique(index.name_files[held[0]])
    places = place_of[files]
    return places[places >= 0], len(files)


def _stems(facts: Sequence[PathFacts], question: Question) -> dict[str, F64]:
    asked = _Asked(question)
    table = np.array([_stem(fact, asked) for fact in facts], np.float64).reshape(len(facts), len(_STEM))
    return {name: table[:, column] for column, name in enumerate(_STEM)}


class _Asked:
    """What the names of files are compared with."""

    def __init__(self, question: Question) -> None:
        self.weights = question.weights
        self.words = question.words
        self.any_word: frozenset[str] = frozenset().union(*question.words)
        self.compounds = question.compounds
        self.identifiers = frozenset(map(compact, question.identifiers))
        self.trigrams = frozenset().union(*question.trigrams)
        self.alike = _Alike(question.trigrams)


class _Alike(dict[str, float]):
    """How much a word is like the query's word that is most like it."""

    def __init__(self, asked: Sequence[frozenset[str]]) -> None:
        self._asked = asked
        self._any: frozenset[str] = frozenset().union(*asked)

    def __missing__(self, word: str) -> float:
        own = trigrams(word)
        best = 0.0
        if not own.isdisjoint(self._any):
            best = max([dice(own, asked) for asked in self._asked])
        self[word] = best
        return best


def _stem(fact: PathFacts, asked: _Asked) -> tuple[float, ...]:
    """The features of `_STEM`, in their order."""
    letters, words = trigrams(fact.compact), fact.words
    first = None
    if not asked.any_word.isdisjoint(fact.terms):
        first = next(at for at, word in enumerate(asked.words) if not word.isdisjoint(fact.terms))
    return (
        fact.compact in asked.identifiers,
        fact.compact in asked.compounds,
        sum([asked.alike[word] for word in words]) / (len(words) or 1),
        len(letters & asked.trigrams) / len(letters) if letters else 0.0,
        0.0 if first is None else 1.0 / (1 + first),
        math.log1p(len(words)),
        not fact.folder.isdisjoint(asked.weights),
    )


def _over_best(values: F64) -> F64:
    best = values.max(initial=0.0)
    return values / best if best > 0.0 else values
