"""The conformance checks pass a sound retriever, and each law catches the retrievers that break it."""

from __future__ import annotations

import itertools
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from hybridrank import (
    Contribution,
    Document,
    DuplicateIdError,
    Event,
    Filter,
    Hit,
    NotIndexedError,
    Query,
    Ranking,
)
from hybridrank.testing import ConformanceError, check_retriever, checks_for
from hybridrank.testing.samples import DOCUMENTS
from hybridrank.types import check_k

LAWS = dict(checks_for("retriever"))


class Words:
    """Scores a document by the number of the query's words that it holds."""

    documents: Sequence[Document] | None = None

    def index(self, documents: Sequence[Document], /) -> Self:
        if len({document.id for document in documents}) < len(documents):
            raise DuplicateIdError("an id stands twice")
        part = type(self)()
        part.documents = tuple(documents)
        return part

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        check_k(k)
        if self.documents is None:
            raise NotIndexedError("call index(documents) first")
        if not words_of(query.text):
            return Ranking(query, events=(Event("empty-query", "the query has no words"),))
        kept = (where or Filter()).select(self.documents)
        found = [(d, self.score(query, d)) for d in itertools.compress(self.documents, kept)]
        return Ranking.from_scores(query, [pair for pair in found if pair[1] > 0], source="words", k=k)

    def score(self, query: Query, document: Document) -> float:
        return len(words_of(query.text) & words_of(document.text))

    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> Sequence[Ranking]:
        return [self.retrieve(query, k=k, where=where) for query in queries]

    async def aretrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return self.retrieve(query, k=k, where=where)

    def explain(self, query: Query, document: Document, /) -> Sequence[Contribution]:
        return [Contribution(word, 1) for word in sorted(words_of(query.text) & words_of(document.text))]

    def fingerprint(self) -> str:
        return "words"


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w", text)) | set(re.findall(r"[a-z]+", text.casefold()))


def test_a_sound_retriever_passes() -> None:
    check_retriever(Words)
    check_retriever(Words, documents=DOCUMENTS[:3])


def test_ten_lines_pass() -> None:
    class Engine:
        """Knows its documents from elsewhere; no optional ability."""

        def retrieve(self, query: Query, *, k: int, where: Filter | None = None) -> Ranking:
            return Words().index(DOCUMENTS).retrieve(query, k=k, where=where)

    check_retriever(Engine)


def changed(ranking: Ranking, hits: Sequence[Hit]) -> Ranking:
    """A ranking that went round the checks of its constructor."""
    made = Ranking(ranking.query, (), ranking.source, ranking.events)
    object.__setattr__(made, "hits", tuple(hits))
    return made


class NoMethod:
    def index(self, documents: Sequence[Document], /) -> Self:
        return self


class TakesAnything(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None, **more: Any) -> Ranking:
        return super().retrieve(query, k=k, where=where)


class SilentBeforeIndex(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return Ranking(query) if self.documents is None else super().retrieve(query, k=k, where=where)


class IndexesItself(Words):
    def index(self, documents: Sequence[Document], /) -> Self:
        self.documents = super().index(documents).documents
        return self


class IndexesOldAndNew(Words):
    def index(self, documents: Sequence[Document], /) -> Self:
        self.documents = (part := super().index(documents)).documents
        return part


class NeedsDocuments(Words):
    def index(self, documents: Sequence[Document], /) -> Self:
        assert len(documents) > 0
        return super().index(documents)


class InventsInEmptyCorpus(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        if self.documents == () and k:
            return Ranking.from_order(query, [Document("ghost", "")])
        return super().retrieve(query, k=k, where=where)


class EverythingForNothing(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return found if words_of(query.text) else Ranking.from_order(query, (self.documents or ())[:k])


class SilentForNothing(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return replace(super().retrieve(query, k=k, where=where), events=())


class NoneForNothing(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return found if words_of(query.text) else None  # type: ignore[return-value]


class TooMany(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        check_k(k)
        return super().retrieve(query, k=max(k, 3), where=where)


class NegativeCounts(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return super().retrieve(query, k=max(k, 0), where=where)


class TrueCounts(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return super().retrieve(query, k=k + 0 if k is True else k, where=where)


class FailsBeyondTheCorpus(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        assert self.documents is None or k <= len(self.documents) + 7
        return super().retrieve(query, k=k, where=where)


class DependsOnK(Words):
    """The first hit sinks to the end where there is room for it."""

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return found if len(found) < 3 else Ranking.from_order(query, [*found[1:], found[0]])


class ScoresByK(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return replace(found, hits=tuple(replace(hit, score=hit.score / (k + 1)) for hit in found))


class RewritesTexts(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return replace(found, hits=[replace(h, document=replace(h.document, text="")) for h in found])  # type: ignore[arg-type]


class RenamesIds(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        hits = (replace(h, document=replace(h.document, id=f"~{h.id}")) for h in found)
        return replace(found, hits=tuple(hits))


class AnswersAnother(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return replace(super().retrieve(query, k=k, where=where), query=Query(query.text.lower()))


class IgnoresTheFilter(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        return super().retrieve(query, k=k)


class FiltersAfterTheCut(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k)
        return replace(found, hits=tuple(h for h in found if (where or Filter()).matches(h.document)))


class Flips(Words):
    """Reverses every second answer."""

    calls = 0

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        self.calls += 1
        return Ranking.from_order(query, found[::-1] if self.calls % 2 == 0 else found)


class Remembers(Words):
    """A query that comes after another is mixed with it."""

    last = ""

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        mixed = Query(f"{query.text} {self.last}")
        self.last = query.text
        return replace(super().retrieve(mixed, k=k, where=where), query=query)


class NoTwoAlike(Words):
    made = itertools.count()

    def __init__(self) -> None:
        self.bonus = next(self.made)

    def score(self, query: Query, document: Document) -> float:
        return super().score(query, document) and super().score(query, document) + self.bonus


class SortsTheList(Words):
    def index(self, documents: Sequence[Document], /) -> Self:
        if isinstance(documents, list):
            documents.sort(key=lambda document: document.id)
        return super().index(documents)


class KeepsTheList(Words):
    def index(self, documents: Sequence[Document], /) -> Self:
        part = super().index(documents)
        part.documents = documents
        return part


class TiesAsTheyCome(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=len(self.documents or ()) + k, where=where)
        place = {d.id: p for p, d in enumerate(self.documents or ())}
        return replace(found, hits=tuple(sorted(found, key=lambda h: (-h.score, place[h.id])))).cut(k)


class TakesDuplicates(Words):
    def index(self, documents: Sequence[Document], /) -> Self:
        return super().index(list({document.id: document for document in documents}.values()))


class ChokesOnSurrogates(Words):
    def score(self, query: Query, document: Document) -> float:
        document.text.encode()
        return super().score(query, document)


class ChokesOnNul(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        assert "\x00" not in query.text
        return super().retrieve(query, k=k, where=where)


class BatchWithoutFilter(Words):
    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> Sequence[Ranking]:
        return super().retrieve_batch(queries, k=k)


class BatchLosesBlanks(Words):
    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> Sequence[Ranking]:
        return super().retrieve_batch([q for q in queries if words_of(q.text)], k=k, where=where)


class BatchNeedsQueries(Words):
    def retrieve_batch(
        self, queries: Sequence[Query], /, *, k: int, where: Filter | None = None
    ) -> Sequence[Ranking]:
        assert len(queries) > 0
        return super().retrieve_batch(queries, k=k, where=where)


class AsyncReverses(Words):
    async def aretrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = self.retrieve(query, k=k, where=where)
        return Ranking.from_order(query, found[::-1])


class AsyncIsNot(Words):
    def aretrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Any:
        return self.retrieve(query, k=k, where=where)


class ExplainsWithNan(Words):
    def explain(self, query: Query, document: Document, /) -> Sequence[Contribution]:
        return [Contribution("x", math.nan)]


class ExplainsInProse(Words):
    def explain(self, query: Query, document: Document, /) -> Any:
        return ["because"]


class ExplainsDifferently(Words):
    times = itertools.count()

    def explain(self, query: Query, document: Document, /) -> Sequence[Contribution]:
        return [Contribution("x", next(self.times))]


class FingerprintOfTheObject(Words):
    def fingerprint(self) -> str:
        return hex(id(self))


class EmptyFingerprint(Words):
    def fingerprint(self) -> str:
        return ""


class InfiniteScores(Words):
    def score(self, query: Query, document: Document) -> float:
        return math.inf if super().score(query, document) else 0


class HiddenNan(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return changed(found, [replace(hit, score=math.nan) for hit in found])


class HiddenDuplicates(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return changed(found, [found[0]] * len(found) if found else [])


class HiddenRise(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        found = super().retrieve(query, k=k, where=where)
        return changed(found, found[::-1])


class PlainList(Words):
    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Any:
        return list(super().retrieve(query, k=k, where=where))


BROKEN: dict[str, list[Callable[[], Any]]] = {
    "protocol": [NoMethod, TakesAnything],
    "not_indexed": [SilentBeforeIndex, IndexesItself, IndexesOldAndNew],
    "empty_corpus": [NeedsDocuments, InventsInEmptyCorpus],
    "empty_query": [EverythingForNothing, SilentForNothing, NoneForNothing],
    "at_most_k": [TooMany, NegativeCounts, TrueCounts, FailsBeyondTheCorpus, InfiniteScores, PlainList],
    "prefix": [DependsOnK, ScoresByK, HiddenNan, HiddenDuplicates, HiddenRise],
    "known_documents": [RewritesTexts, RenamesIds, AnswersAnother],
    "filtered": [IgnoresTheFilter, FiltersAfterTheCut],
    "repeatable": [Flips, Remembers, NoTwoAlike],
    "no_mutation": [SortsTheList, KeepsTheList],
    "ties": [TiesAsTheyCome],
    "duplicate_ids": [TakesDuplicates],
    "odd_text": [ChokesOnSurrogates, ChokesOnNul],
    "batch": [BatchWithoutFilter, BatchLosesBlanks, BatchNeedsQueries],
    "asynchronous": [AsyncReverses, AsyncIsNot],
    "explained": [ExplainsWithNan, ExplainsInProse, ExplainsDifferently],
    "fingerprint": [FingerprintOfTheObject, EmptyFingerprint],
}


def test_every_law_has_retrievers_that_break_it() -> None:
    assert set(BROKEN) == set(LAWS)


@pytest.mark.parametrize(("law", "part"), [(law, part) for law, parts in BROKEN.items() for part in parts])
def test_a_broken_retriever_is_caught(law: str, part: Callable[[], Any]) -> None:
    with pytest.raises(ConformanceError) as caught:
        LAWS[law](part)
    assert caught.value.law == law
    assert str(caught.value).startswith(f"retriever breaks the law {law!r}: ")
    with pytest.raises(ConformanceError):
        check_retriever(part)


def test_the_message_shows_the_input() -> None:
    with pytest.raises(AssertionError, match=r"Query\(text='open_connection', .* with k=0 found"):
        LAWS["at_most_k"](TooMany)


def test_the_cause_is_kept() -> None:
    with pytest.raises(ConformanceError, match="UnicodeEncodeError") as caught:
        LAWS["odd_text"](ChokesOnSurrogates)
    assert isinstance(caught.value.__cause__, UnicodeEncodeError)


def test_three_lines_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "from hybridrank.testing import check_tokenizer, checks_for\n"
        "from hybridrank import Tokenizer\n"
        "import pytest\n"
        "def test_mine():\n"
        "    check_tokenizer(Tokenizer)\n"
        "@pytest.mark.parametrize('law, check', checks_for('tokenizer'))\n"
        "def test_law(law, check):\n"
        "    check(list)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone)
    assert "ConformanceError: tokenizer breaks the law 'tokens': " in run.stdout
    assert f"{len(checks_for('tokenizer'))} failed, 1 passed" in run.stdout
