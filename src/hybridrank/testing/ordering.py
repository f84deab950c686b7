"""The laws of fusers and rerankers, which order what others found, and of validators, which judge it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ..errors import InvalidValueError, NotIndexedError
from ..protocols import AsyncReranker, Fuser, Indexable, Reranker, Validator, Weighted
from ..types import Hit, Query, Ranking, Verdict, tie_key
from .checking import Make, answered, awaited, expect, in_threads, outline, ranking_of, ready, refused, same
from .samples import BLANK_QUERIES, DOCUMENTS, QUERIES

Law = Callable[[Make], None]
Rankings = Mapping[str, Ranking]

_QUERY = Query("send_request", id="q")
_NOT_A_COUNT: tuple[Any, ...] = (-1, True, 1.5, "3", None)


def _ranking(query: Query, places: str, scores: tuple[float, ...] = ()) -> Ranking:
    """Documents by their places among the fixed ones, as hexadecimal digits."""
    documents = [DOCUMENTS[int(place, 16)] for place in places]
    if not scores:
        return Ranking.from_order(query, documents)
    return Ranking(query, tuple(map(Hit, documents, scores)))


def _mixes(query: Query = _QUERY) -> Iterator[Rankings]:
    yield {"a": _ranking(query, "013"), "b": _ranking(query, "310")}
    yield {"a": _ranking(query, "02468"), "b": _ranking(query, "13579"), "c": _ranking(query, "a86b4")}
    yield {"a": _ranking(query, "0123456789"), "b": _ranking(query, "")}
    yield {"one": _ranking(query, "73b", (9.5, 9.5, -3.0))}
    yield {
        "c": _ranking(query, "21", (1e-9, 0.0)),
        "a": _ranking(query, "02", (1e9, 1.0)),
        "b": _ranking(query, "ab1"),
    }
    yield {"dense": _ranking(query, "5", (0.9,)), "bm25": _ranking(query, "65", (0.0, 0.0))}


# Fusers


def fuser_protocol(make: Make) -> None:
    """It has the method, and refuses a keyword that it does not know."""
    part = make()
    expect(isinstance(part, Fuser), f"{part!r} has no method fuse")
    refused("fuse({}, k=1, no_such_option=1)", TypeError, part.fuse, {}, k=1, no_such_option=1)


def nothing_to_fuse(make: Make) -> None:
    """No rankings and empty rankings make an empty ranking."""
    for rankings in ({}, {"a": Ranking(_QUERY)}, {"a": Ranking(_QUERY), "b": Ranking(_QUERY)}):
        found = _fused(make(), rankings, 5)
        expect(len(found) == 0, f"fuse of {len(rankings)} empty rankings gave {found.ids}")


def fused_at_most_k(make: Make) -> None:
    """At most k hits, none for 0; k is an int of 0 or more; the first k do not depend on k."""
    part = make()
    for rankings in _mixes():
        whole = _fused(part, rankings, 100)
        for k in range(len(whole) + 2):
            same(
                _fused(part, rankings, k),
                whole.cut(k),
                f"{_told(rankings)} fused with k={k}, and with k=100 cut",
            )
    for k in _NOT_A_COUNT:
        refused(f"fuse with k={k!r}", InvalidValueError, part.fuse, {"a": _ranking(_QUERY, "01")}, k=k)


def union(make: Make) -> None:
    """Every id of every ranking once, and no other; documents are told apart by id, never by text."""
    for rankings in _mixes():
        found = _fused(make(), rankings, 100)
        given = {hit.id: hit.document for ranking in rankings.values() for hit in ranking}
        expect(set(found.ids) == set(given), f"{_told(rankings)} fused to {found.ids}")
        expect(
            all(given[hit.id] == hit.document for hit in found), f"{_told(rankings)}: a document was changed"
        )
        expect(found.query == _QUERY, f"the query became {found.query!r}")


def order_of_the_rankings(make: Make) -> None:
    """The order in which rankings are given changes nothing."""
    for rankings in _mixes():
        turned = {name: rankings[name] for name in reversed(list(rankings))}
        one, other = _fused(make(), rankings, 100), _fused(make(), turned, 100)
        same(one, other, f"{_told(rankings)} fused in two orders of the mapping")


def order_within_a_ranking(make: Make) -> None:
    """Documents that only one ranking has keep its order."""
    for rankings in _mixes():
        found = _fused(make(), rankings, 100)
        for name, ranking in rankings.items():
            others = {hit.id for key, other in rankings.items() if key != name for hit in other}
            alone = [hit for hit in ranking if hit.id not in others]
            places = [found.ids.index(hit.id) for hit in alone]
            # Equal scores say nothing about the order, so a fuser of scores may turn them round.
            kept = [
                a < b
                for (a, b), (one, two) in zip(pairwise(places), pairwise(alone), strict=True)
                if one.score > two.score
            ]
            expect(all(kept), f"{_told(rankings)} fused to {found.ids}, against the order of {name!r}")


def fused_again(make: Make) -> None:
    """The same rankings are fused to the same one: again, by another part, in threads; none changes."""
    part, twin = make(), make()
    mixes = list(_mixes())
    first = [_fused(part, rankings, 5) for rankings in mixes]
    for rankings in mixes:
        same(_fused(part, rankings, 5), _fused(part, rankings, 5), f"{_told(rankings)} fused twice in a row")
    at_once = in_threads(lambda rankings: _fused(part, rankings, 5), mixes)
    for rankings, unchanged, found, beside in zip(mixes, _mixes(), first, at_once, strict=True):
        same(found, _fused(part, rankings, 5), f"{_told(rankings)} fused first and later")
        same(found, _fused(twin, rankings, 5), f"{_told(rankings)} fused by two equal parts")
        same(found, beside, f"{_told(rankings)} fused in threads")
        expect(
            rankings == unchanged and list(rankings) == list(unchanged), f"fuse changed {_told(unchanged)}"
        )


def fused_ties(make: Make) -> None:
    """Equal scores are in the order of path, start line and id."""
    for rankings in _mixes():
        _tied(_fused(make(), rankings, 100), _told(rankings))


def weights(make: Make) -> None:
    """`with_weights`, where there is one, gives a new part with these weights only, and refuses bad ones."""
    part = make()
    if not isinstance(part, Weighted):
        return
    before = dict(part.weights)
    heavy = answered("with_weights({'a': 3})", part.with_weights, {"a": 3.0})
    other = answered("with_weights({'b': 2})", heavy.with_weights, {"b": 2.0})
    expect(dict(part.weights) == before, f"with_weights changed the old part's weights to {part.weights}")
    expect(dict(other.weights) == {"b": 2.0}, f"weights a=3, replaced by b=2, gave {other.weights}")
    wrong: tuple[Any, ...] = (-1.0, math.nan, math.inf, True, "1", None)
    for value in wrong:
        refused(f"with_weights({{'a': {value!r}}})", InvalidValueError, part.with_weights, {"a": value})


def weights_count(make: Make) -> None:
    """A ranking that weighs more decides; a name that is missing weighs 1."""
    part = make()
    if isinstance(part, Weighted):
        rankings = {"a": _ranking(_QUERY, "013"), "b": _ranking(_QUERY, "103")}
        for given, best in (
            ({"a": 3.0}, "0"),
            ({"b": 3.0}, "1"),
            ({"a": 0.2}, "1"),
            ({"a": 1.0, "b": 3.0}, "1"),
        ):
            found = _fused(part.with_weights(given), rankings, 5)
            first = DOCUMENTS[int(best)].id
            expect(found.ids[:1] == (first,), f"{_told(rankings)} with weights {given} gave {outline(found)}")


# Rerankers


def reranker_protocol(make: Make) -> None:
    """It has the method, and refuses a keyword that it does not know."""
    part = ready(make, DOCUMENTS)
    expect(isinstance(part, Reranker), f"{part!r} has no method rerank")
    given = _ranking(_QUERY, "01")
    refused("rerank(ranking, k=1, no_such_option=1)", TypeError, part.rerank, given, k=1, no_such_option=1)


def not_indexed(make: Make) -> None:
    """A part that takes documents says so when it is asked before it has any; `index` leaves it as it was."""
    part = make()
    method, given = (part.rerank, {"k": 2}) if isinstance(part, Reranker) else (part.validate, {})
    if isinstance(part, Indexable):
        refused("the part before index", NotIndexedError, method, _ranking(_QUERY, "01"), **given)
        expect(part.index(DOCUMENTS) is not part, "index returned the same part; it must return a new one")
        refused("the old part after index", NotIndexedError, method, _ranking(_QUERY, "01"), **given)
        answered("index(())", part.index, ())


def subset(make: Make) -> None:
    """Only hits that came in, each once, with their documents; the query stays."""
    part = ready(make, DOCUMENTS)
    for given in _candidates():
        found = _reranked(part, given, len(given) + 7)
        known = {hit.id: hit.document for hit in given}
        unknown = [hit.id for hit in found if hit.id not in known]
        expect(not unknown, f"{_one(given)} got the new ids {unknown}")
        expect(all(known[hit.id] == hit.document for hit in found), f"{_one(given)}: a document was changed")
        expect(found.query == given.query, f"{_one(given)}: the query became {found.query!r}")


def reranked_at_most_k(make: Make) -> None:
    """At most k hits, none for 0; k is an int of 0 or more; the first k do not depend on k."""
    part = ready(make, DOCUMENTS)
    for given in _candidates():
        whole = _reranked(part, given, 100)
        for k in range(len(whole) + 2):
            same(_reranked(part, given, k), whole.cut(k), f"{_one(given)} with k={k}, and with k=100 cut")
    for k in _NOT_A_COUNT:
        refused(f"rerank with k={k!r}", InvalidValueError, part.rerank, _ranking(_QUERY, "01"), k=k)


def reranked_again(make: Make) -> None:
    """The same ranking gets the same order: again, by another part, in threads; it does not change."""
    part, twin = ready(make, DOCUMENTS), ready(make, DOCUMENTS)
    candidates = list(_candidates())
    first = [_reranked(part, given, 5) for given in candidates]
    for given in candidates:
        same(_reranked(part, given, 5), _reranked(part, given, 5), f"{_one(given)} twice in a row")
    at_once = in_threads(lambda given: _reranked(part, given, 5), candidates)
    for given, unchanged, found, beside in zip(candidates, _candidates(), first, at_once, strict=True):
        same(found, _reranked(part, given, 5), f"{_one(given)} first and later")
        same(found, _reranked(twin, given, 5), f"{_one(given)} by two equal parts")
        same(found, beside, f"{_one(given)} in threads")
        expect(given == unchanged, f"rerank changed {_one(unchanged)}")


def asynchronous(make: Make) -> None:
    """`arerank`, where there is one, gives what `rerank` gives."""
    part = ready(make, DOCUMENTS)
    if isinstance(part, AsyncReranker):
        for given in _candidates():
            found = answered(f"await arerank({_one(given)})", awaited, part.arerank, given, k=5)
            same(ranking_of(found, "arerank"), _reranked(part, given, 5), f"{_one(given)} awaited and not")


# Validators


def validator_protocol(make: Make) -> None:
    """It has the method, and refuses a keyword that it does not know."""
    part = ready(make, DOCUMENTS)
    expect(isinstance(part, Validator), f"{part!r} has no method validate")
    given = _ranking(_QUERY, "01")
    refused("validate(ranking, no_such_option=1)", TypeError, part.validate, given, no_such_option=1)


def one_verdict_each(make: Make) -> None:
    """One verdict per hit, in rank order; yes, no or undecided; a no is never accepted."""
    part = ready(make, DOCUMENTS)
    for given in _candidates():
        verdicts = _judged(part, given)
        ids = tuple(verdict.id for verdict in verdicts)
        expect(ids == given.ids, f"{_one(given)} was judged as {ids}")
        for verdict in verdicts:
            known = verdict.answer in ("yes", "no", "undecided") and isinstance(verdict.accepted, bool)
            expect(known, f"{_one(given)} got {verdict!r}")
            expect(
                verdict.answer != "no" or not verdict.accepted,
                f"{_one(given)}: a no was accepted: {verdict!r}",
            )


def quotes(make: Make) -> None:
    """A quote stands where it says in the query's text and in the document's; white space is folded."""
    part = ready(make, DOCUMENTS)
    for given in _candidates():
        for hit, verdict in zip(given, _judged(part, given), strict=True):
            for quote in verdict.quotes:
                for text, span in (
                    (given.query.text, quote.in_source),
                    (hit.document.text, quote.in_document),
                ):
                    stands = span is None or text[slice(*span)].split() == quote.text.split()
                    expect(stands, f"{hit.id!r} for {given.query!r} is quoted with {quote!r}")


def judged_again(make: Make) -> None:
    """The same ranking gets the same verdicts; it does not change."""
    part, twin = ready(make, DOCUMENTS), ready(make, DOCUMENTS)
    for given, unchanged in zip(_candidates(), _candidates(), strict=True):
        first = _judged(part, given)
        for later in (_judged(part, given), _judged(twin, given)):
            expect(first == later, f"{_one(given)} was judged {first}, then {later}")
        expect(given == unchanged, f"validate changed {_one(unchanged)}")


FUSER_LAWS: tuple[Law, ...] = (
    fuser_protocol,
    nothing_to_fuse,
    fused_at_most_k,
    union,
    order_of_the_rankings,
    order_within_a_ranking,
    fused_again,
    fused_ties,
    weights,
    weights_count,
)
RERANKER_LAWS: tuple[Law, ...] = (
    reranker_protocol,
    not_indexed,
    subset,
    reranked_at_most_k,
    reranked_again,
    asynchronous,
)
VALIDATOR_LAWS: tuple[Law, ...] = (validator_protocol, not_indexed, one_verdict_each, quotes, judged_again)


def _candidates() -> Iterator[Ranking]:
    for query in (*QUERIES, *BLANK_QUERIES):
        yield _ranking(query, "")
        yield _ranking(query, "5")
        yield _ranking(query, "17320")
        yield _ranking(query, "0123456789ab")
        yield _ranking(query, "ba2", (0.03, 0.03, -7.0))


def _fused(part: Any, rankings: Rankings, k: int) -> Ranking:
    asked = f"fuse({_told(rankings)}, k={k})"
    return ranking_of(answered(asked, part.fuse, rankings, k=k), asked)


def _reranked(part: Any, ranking: Ranking, k: int) -> Ranking:
    asked = f"rerank({_one(ranking)}, k={k})"
    return ranking_of(answered(asked, part.rerank, ranking, k=k), asked)


def _judged(part: Any, ranking: Ranking) -> tuple[Verdict, ...]:
    asked = f"validate({_one(ranking)})"
    verdicts = tuple(answered(asked, part.validate, ranking))
    expect(all(isinstance(verdict, Verdict) for verdict in verdicts), f"{asked} gave {verdicts!r}")
    return verdicts


def _told(rankings: Rankings) -> str:
    return "{" + ", ".join(f"{name}: {outline(ranking)}" for name, ranking in rankings.items()) + "}"


def _one(ranking: Ranking) -> str:
    return f"{ranking.query.text!r} {outline(ranking)}"


def _tied(ranking: Ranking, asked: str) -> None:
    for one, other in pairwise(ranking):
        wrong = one.score == other.score and tie_key(one.document) > tie_key(other.document)
        expect(not wrong, f"{asked} gave {one.id!r} before {other.id!r} at the same score {one.score}")
