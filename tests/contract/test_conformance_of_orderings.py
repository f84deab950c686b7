"""The conformance checks of fusers, rerankers and validators pass sound parts and catch broken ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import pytest

from hybridrank import (
    Document,
    Hit,
    InvalidValueError,
    NotIndexedError,
    Query,
    Quote,
    Ranking,
    Verdict,
)
from hybridrank.testing import ConformanceError, check_fuser, check_reranker, check_validator, checks_for
from hybridrank.types import check_k

Rankings = Mapping[str, Ranking]


class Counts:
    """Sums the weights of the rankings that have a document, and a little for its rank in each."""

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.weights: Mapping[str, float] = dict(weights or {})
        for name, weight in self.weights.items():
            if type(weight) is not float or not 0 <= weight < math.inf:
                raise InvalidValueError(f"weight of {name!r} is {weight!r}")

    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        return type(self)(weights)

    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        check_k(k)
        documents = {hit.id: hit.document for ranking in rankings.values() for hit in ranking}
        query = next((ranking.query for ranking in rankings.values()), Query(""))
        scored = [(document, self.score(rankings, document.id)) for document in documents.values()]
        return Ranking.from_scores(query, scored, source="counts", k=k)

    def score(self, rankings: Rankings, id: str) -> float:
        return math.fsum(
            self.weights.get(name, 1.0) / (60 + ranking.ids.index(id))
            for name, ranking in rankings.items()
            if id in ranking.ids
        )


class Unweighted:
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        return Counts().fuse(rankings, k=k)


def test_sound_fusers_pass() -> None:
    check_fuser(Counts)
    check_fuser(Unweighted)


class NoFuse:
    def __init__(self) -> None: ...


class FuseTakesAnything(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int, **more: Any) -> Ranking:
        return super().fuse(rankings, k=k)


class DividesByTheNumberOfHits(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        assert 1 / sum(len(ranking) for ranking in rankings.values())
        return super().fuse(rankings, k=k)


class FusesTooMany(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        check_k(k)
        return super().fuse(rankings, k=k + 1)


class FusesNegative(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        return super().fuse(rankings, k=max(k, 0))


class FusesByK(Counts):
    """Cuts each ranking at k before it fuses them."""

    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        check_k(k)
        return super().fuse({name: ranking.cut(k) for name, ranking in rankings.items()}, k=k)


class ByText(Counts):
    """Takes two documents of one text for one."""

    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        seen: set[str] = set()
        found = super().fuse(rankings, k=10**6)
        hits = tuple(h for h in found if not (h.document.text in seen or seen.add(h.document.text)))  # type: ignore[func-returns-value]
        return replace(found, hits=hits).cut(k)


class OnlyAgreed(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        found = super().fuse(rankings, k=10**6)
        every = [set(ranking.ids) for ranking in rankings.values()]
        return replace(found, hits=tuple(h for h in found if all(h.id in ids for ids in every))).cut(k)


class LosesTheQuery(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        return replace(super().fuse(rankings, k=k), query=Query(""))


class FirstCounts(Counts):
    """The first ranking of the mapping weighs more."""

    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        first = next(iter(rankings), "")
        return Counts({first: 1.5}).fuse(rankings, k=k)


class PlainSums(Counts):
    """Adds floats in the order of the mapping."""

    def score(self, rankings: Rankings, id: str) -> float:
        given = (1 / (n + r.ids.index(id)) for n, r in enumerate(rankings.values(), 7) if id in r.ids)
        return sum(given)


class LastFirst(Counts):
    def score(self, rankings: Rankings, id: str) -> float:
        return -super().score(rankings, id)


class FuseFlips(Counts):
    calls = 0

    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        found = super().fuse(rankings, k=10**6)
        self.calls += 1
        return Ranking.from_order(found.query, found[::-1] if self.calls % 2 else found).cut(k)


class FuseEmptiesTheMapping(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        found = super().fuse(rankings, k=k)
        if isinstance(rankings, dict):
            rankings["fused"] = found
        return found


class TiesByName(Counts):
    def fuse(self, rankings: Rankings, /, *, k: int) -> Ranking:
        found = super().fuse(rankings, k=10**6)
        hits = sorted(found, key=lambda hit: (-hit.score, hit.document.kind, hit.id))
        return replace(found, hits=tuple(hits)).cut(k)


class SameObject(Counts):
    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        self.weights = {**weights}
        return self


class Merges(Counts):
    def with_weights(self, weights: Mapping[str, float], /) -> Self:
        return type(self)({**self.weights, **weights})


class AnyWeight(Counts):
    def __init__(self, weights: Mapping[str, Any] | None = None) -> None:
        self.weights = dict(weights or {})


class IgnoresWeights(Counts):
    def score(self, rankings: Rankings, id: str) -> float:
        return Counts().score(rankings, id)


class MissingIsZero(Counts):
    def score(self, rankings: Rankings, id: str) -> float:
        if not self.weights:
            return super().score(rankings, id)
        return Counts({**dict.fromkeys(rankings, 0.0), **self.weights}).score(rankings, id)


FUSERS: dict[str, list[Callable[[], Any]]] = {
    "fuser_protocol": [NoFuse, FuseTakesAnything],
    "nothing_to_fuse": [DividesByTheNumberOfHits],
    "fused_at_most_k": [FusesTooMany, FusesNegative, FusesByK],
    "union": [ByText, OnlyAgreed, LosesTheQuery],
    "order_of_the_rankings": [FirstCounts, PlainSums],
    "order_within_a_ranking": [LastFirst],
    "fused_again": [FuseFlips, FuseEmptiesTheMapping],
    "fused_ties": [TiesByName],
    "weights": [SameObject, Merges, AnyWeight],
    "weights_count": [IgnoresWeights, MissingIsZero],
}


class Shortest:
    """Orders by the length of the text, and ties as they came."""

    count = 1

    def index(self, documents: Sequence[Document], /) -> Self:
        part = type(self)()
        part.count = len(documents)
        return part

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        check_k(k)
        hits: list[Hit] = sorted(ranking, key=self.length)
        return Ranking.from_order(ranking.query, hits).cut(k)

    async def arerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return self.rerank(ranking, k=k)

    def length(self, hit: Hit) -> int:
        return len(hit.document.text)


class Indexed(Shortest):
    count = 0

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        if not self.count:
            raise NotIndexedError("call index(documents) first")
        return super().rerank(ranking, k=k)


class Drops:
    """A subset is fine."""

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return replace(ranking, hits=tuple(hit for hit in ranking if hit.document.kind)).cut(k)


def test_sound_rerankers_pass() -> None:
    check_reranker(Indexed)
    check_reranker(Drops)


class NoRerank: ...


class RerankTakesAnything(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int, **more: Any) -> Ranking:
        return super().rerank(ranking, k=k)


class RerankSilentBeforeIndex(Indexed):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return ranking.cut(k) if not self.count else super().rerank(ranking, k=k)


class RerankIndexesItself(Indexed):
    def index(self, documents: Sequence[Document], /) -> Self:
        self.count = len(documents)
        return self


class RerankNeedsDocuments(Indexed):
    def index(self, documents: Sequence[Document], /) -> Self:
        assert len(documents) > 0
        return super().index(documents)


class AddsOne(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return Ranking.from_order(ranking.query, [Document("new", ""), *super().rerank(ranking, k=k)][:k])


class TwiceTheSame(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return Ranking.from_order(ranking.query, [*ranking, *ranking][:k])


class RerankRewrites(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        hits = (replace(hit, document=replace(hit.document, text="…")) for hit in ranking)
        return replace(ranking, hits=tuple(hits)).cut(k)


class RerankTooMany(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return super().rerank(ranking, k=check_k(k) + 2)


class RerankTruthyK(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return replace(ranking, hits=ranking.hits[: k or 0])


class CutsFirst(Shortest):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return super().rerank(ranking.cut(k), k=k)


class RerankFlips(Drops):
    calls = itertools.count()

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        turned = ranking[::-1] if next(self.calls) % 2 else ranking.hits
        return Ranking.from_order(ranking.query, turned).cut(k)


class ChangesItsInput(Drops):
    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        found = super().rerank(ranking, k=k)
        object.__setattr__(ranking, "source", "changed")
        return found


class ArerankReverses(Shortest):
    async def arerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        return Ranking.from_order(ranking.query, self.rerank(ranking, k=10**6)[::-1]).cut(k)


RERANKERS: dict[str, list[Callable[[], Any]]] = {
    "reranker_protocol": [NoRerank, RerankTakesAnything],
    "not_indexed": [RerankSilentBeforeIndex, RerankIndexesItself, RerankNeedsDocuments],
    "subset": [AddsOne, TwiceTheSame, RerankRewrites],
    "reranked_at_most_k": [RerankTooMany, RerankTruthyK, CutsFirst],
    "reranked_again": [RerankFlips, ChangesItsInput],
    "asynchronous": [ArerankReverses],
}


class Mentions:
    """Yes where the text holds a word of the query, with that word as the quote."""

    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        return [self.judge(ranking.query.text, hit.document) for hit in ranking]

    def judge(self, source: str, document: Document) -> Verdict:
        for word in source.split():
            if word in document.text:
                here, there = source.index(word), document.text.index(word)
                quote = Quote(word, (here, here + len(word)), (there, there + len(word)))
                return Verdict(document.id, "yes", True, (quote,))
        return Verdict(document.id, "undecided" if document.text else "no", False)


class IndexedMentions(Mentions):
    count = 0

    def index(self, documents: Sequence[Document], /) -> Self:
        part = type(self)()
        part.count = 1 + len(documents)
        return part

    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        if not self.count:
            raise NotIndexedError("call index(documents) first")
        return super().validate(ranking)


def test_sound_validators_pass() -> None:
    check_validator(Mentions)
    check_validator(IndexedMentions)


class NoValidate: ...


class ValidateTakesAnything(Mentions):
    def validate(self, ranking: Ranking, /, **more: Any) -> Sequence[Verdict]:
        return super().validate(ranking)


class ValidateSilentBeforeIndex(IndexedMentions):
    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        return super().validate(ranking) if self.count else ()


class OnlyAccepted(Mentions):
    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        return [verdict for verdict in super().validate(ranking) if verdict.accepted]


class OutOfOrder(Mentions):
    def validate(self, ranking: Ranking, /) -> Sequence[Verdict]:
        return super().validate(ranking)[::-1]


class AcceptsNo(Mentions):
    def judge(self, source: str, document: Document) -> Verdict:
        return replace(super().judge(source, document), accepted=True)


class SaysMaybe(Mentions):
    def judge(self, source: str, document: Document) -> Verdict:
        return replace(super().judge(source, document), answer="maybe")  # type: ignore[arg-type]


class PlainBooleans(Mentions):
    def validate(self, ranking: Ranking, /) -> Any:
        return [verdict.accepted for verdict in super().validate(ranking)]


class QuotesAhead(Mentions):
    def judge(self, source: str, document: Document) -> Verdict:
        verdict = super().judge(source, document)
        return replace(verdict, quotes=tuple(replace(q, in_document=(0, 1)) for q in verdict.quotes))


class QuotesWhatIsNotAsked(Mentions):
    def judge(self, source: str, document: Document) -> Verdict:
        return replace(super().judge(source, document), quotes=(Quote("invented", (0, 8)),))


class JudgesInTurn(Mentions):
    calls = itertools.count()

    def judge(self, source: str, document: Document) -> Verdict:
        return Verdict(document.id, "yes", next(self.calls) % 2 == 0)


VALIDATORS: dict[str, list[Callable[[], Any]]] = {
    "validator_protocol": [NoValidate, ValidateTakesAnything],
    "not_indexed": [ValidateSilentBeforeIndex],
    "one_verdict_each": [OnlyAccepted, OutOfOrder, AcceptsNo, SaysMaybe, PlainBooleans],
    "quotes": [QuotesAhead, QuotesWhatIsNotAsked],
    "judged_again": [JudgesInTurn],
}

BROKEN = {
    "fuser": (FUSERS, check_fuser),
    "reranker": (RERANKERS, check_reranker),
    "validator": (VALIDATORS, check_validator),
}
CASES = [(kind, law, part) for kind in BROKEN for law, parts in BROKEN[kind][0].items() for part in parts]


@pytest.mark.parametrize("kind", BROKEN)
def test_every_law_has_parts_that_break_it(kind: str) -> None:
    assert set(BROKEN[kind][0]) == set(dict(checks_for(kind)))


@pytest.mark.parametrize(("kind", "law", "part"), CASES)
def test_a_broken_part_is_caught(kind: str, law: str, part: Callable[[], Any]) -> None:
    with pytest.raises(ConformanceError) as caught:
        dict(checks_for(kind))[law](part)
    assert caught.value.law == law
    assert str(caught.value).startswith(f"{kind} breaks the law {law!r}: ")
    with pytest.raises(ConformanceError):
        BROKEN[kind][1](part)
