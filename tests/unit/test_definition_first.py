"""Definition first: bonuses, scopes, order, reasons."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest

from hybridrank.errors import InvalidValueError
from hybridrank.protocols import Explainable, Reranker
from hybridrank.rerankers.definition_first import DefinitionFirst
from hybridrank.types import Component, Document, Event, Hit, Query, Ranking

NAMED, ALWAYS = DefinitionFirst(), DefinitionFirst(scope="always")


def document(id: str, kind: str = "", name: str = "", **fields: Any) -> Document:
    return Document(id, f"text of {id}", kind=kind, name=name, **fields)


def ranked(query: str, *documents: Document, step: float = 0.001) -> Ranking:
    """In the given order, with falling scores that lie as close together as those of rank fusion."""
    hits = tuple(Hit(d, 0.03 - step * n) for n, d in enumerate(documents))
    return Ranking(Query(query), hits, "fusion")


TEST = document("test", "function", "test_load_ledger_twice", path="tests/test_ledger.py")
IMPORT = document("import", "import", path="app.py")
DOC = document("doc", "section", "Ledgers", path="README.md")
DEF = document("def", "function", "load_ledger", path="ledger.py")


def test_is_an_explainable_reranker() -> None:
    assert isinstance(NAMED, Reranker)
    assert isinstance(NAMED, Explainable)


def test_the_definition_goes_first_and_the_others_keep_their_order() -> None:
    # DF-01
    reranked = NAMED.rerank(ranked("load_ledger", TEST, IMPORT, DOC, DEF), k=4)
    assert reranked.ids == ("def", "test", "import", "doc")
    assert [hit.score for hit in reranked] == pytest.approx([0.827, 0.030, 0.029, 0.028])


def test_a_query_that_names_nothing_changes_nothing() -> None:
    # DF-05
    ranking = ranked(
        "how are errors handled",
        document("a", "module", "errors_total"),
        document("b", "function", "handle"),
        document("c", "class", "errors"),
    )
    reranked = NAMED.rerank(ranking, k=3)
    assert reranked.hits == ranking.hits
    assert reranked.events == ()


def test_only_the_first_piece_of_a_split_definition_is_the_definition() -> None:
    # DF-06
    pieces = [document(f"f:{n}", "part", "long_function") for n in (2, 3, 4)]
    first = document("f:1", "function", "long_function")
    for scope in (NAMED, ALWAYS):
        reranked = scope.rerank(ranked("long_function", *pieces, first), k=4)
        assert reranked.ids == ("f:1", "f:2", "f:3", "f:4")
        assert [hit.score for hit in reranked] == pytest.approx([0.827, 0.530, 0.529, 0.528])


def test_equal_scores_keep_the_incoming_order() -> None:
    # DF-07: paths run against the order.
    others = [document(f"o{n}", "section", path=f"{'dcba'[n]}.md") for n in range(4)]
    assert NAMED.rerank(ranked("load_ledger", *others, step=0.0), k=4).ids == ("o0", "o1", "o2", "o3")
    assert NAMED.rerank(ranked("load_ledger", *others, DEF, step=0.0), k=5).ids == (
        "def",
        "o0",
        "o1",
        "o2",
        "o3",
    )
    twins = [document(f"t{n}", "method", "get", path=f"{'dcba'[n]}.py") for n in range(4)]
    assert NAMED.rerank(ranked("get", *twins, step=0.0), k=4).ids == ("t0", "t1", "t2", "t3")


def test_always_breaks_ties_by_path_line_id() -> None:
    documents = [
        document("4", path="b.py", start_line=1, end_line=1),
        document("3", path="a.py", start_line=10, end_line=10),
        document("2", path="a.py", start_line=9, end_line=9),
        document("1", path="a.py", start_line=10, end_line=10),
    ]
    assert ALWAYS.rerank(ranked("x", *documents, step=0.0), k=4).ids == ("2", "1", "3", "4")


def test_always_lifts_definitions_also_without_a_name() -> None:
    ranking = ranked("something else", IMPORT, DOC, DEF, document("c", "class"), document("m", "method"))
    reranked = ALWAYS.rerank(ranking, k=5)
    assert reranked.ids == ("def", "c", "m", "import", "doc")
    assert [hit.score for hit in reranked] == pytest.approx([0.328, 0.327, 0.326, 0.030, 0.029])


@pytest.mark.parametrize(
    "kind", ["class_body", "module", "section", "lines", "file", "record", "part", "", "Class"]
)
def test_other_kinds_are_no_definitions(kind: str) -> None:
    for reranker in (NAMED, ALWAYS):
        (hit,) = reranker.rerank(ranked("n", document("a", kind, "n")), k=1)
        assert hit.score == 0.03 + 0.5


@pytest.mark.parametrize("reranker", [NAMED, ALWAYS])
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("  Client\n", "client"),
        ("STRASSE", "straße"),
        ("發送", "發送"),
        ("get\u3000", " GET"),
        ("\ud800", "\ud800"),
        ("a\0b", "A\0B"),
    ],
)
def test_names_are_trimmed_and_case_folded(reranker: DefinitionFirst, query: str, name: str) -> None:
    (hit,) = reranker.rerank(ranked(query, document("a", "function", name)), k=1)
    assert hit.score == 0.03 + 0.8


@pytest.mark.parametrize("reranker", [NAMED, ALWAYS])
@pytest.mark.parametrize(("query", "name"), [("", ""), ("  ", ""), ("\n", " "), ("()", ""), (" () ", "")])
def test_an_empty_name_equals_nothing(reranker: DefinitionFirst, query: str, name: str) -> None:
    (hit,) = reranker.rerank(ranked(query, document("a", "section", name)), k=1)
    assert hit.score == 0.03


@pytest.mark.parametrize(
    "query", ["Client.send", "client.SEND", "Client.send()", " Client.send() ", "send()", "send ()"]
)
def test_qualified_names_and_calls_name_something_when_named(query: str) -> None:
    send = document("send", "method", "send", qualified_name="Client.send")
    assert NAMED.rerank(ranked(query, TEST, send), k=2).ids == ("send", "test")
    assert ALWAYS.explain(Query(query), send)[0].name == "definition"


def test_a_qualified_name_names_one_of_many() -> None:
    methods = [document(c, "method", "send", qualified_name=f"{c}.send") for c in ("Client", "Transport")]
    reranked = NAMED.rerank(ranked("Transport.send", *methods), k=2)
    assert [(hit.id, hit.score) for hit in reranked] == [("Transport", 0.029 + 0.8), ("Client", 0.03)]


def test_a_name_counts_once() -> None:
    function = document("f", "function", "f", qualified_name="f")
    assert [c.value for c in NAMED.explain(Query("f"), function)] == [0.5, 0.3]


def test_explain_gives_the_bonuses_with_their_reasons() -> None:
    send = document("send", "method", "send", qualified_name="Client.send")
    told = [(c.name, c.value, c.detail) for c in NAMED.explain(Query("Send"), send)]
    assert told == [("name", 0.5, "name equals the query"), ("definition", 0.3, "kind is method")]
    assert NAMED.explain(Query("Client.send"), send)[0].detail == "qualified name equals the query"
    assert NAMED.explain(Query("sending"), send) == ()
    assert [c.name for c in ALWAYS.explain(Query("sending"), send)] == ["definition"]


@pytest.mark.parametrize("reranker", [NAMED, ALWAYS])
def test_an_event_where_scores_lie_further_apart_than_the_bonus(reranker: DefinitionFirst) -> None:
    far = Ranking(Query("load_ledger"), (Hit(DOC, 12.5), Hit(IMPORT, 12.0), Hit(DEF, 3.0)))
    reranked = reranker.rerank(far, k=1)
    assert reranked.ids == ("doc",)
    (event,) = reranked.events
    assert (event.code, event.level) == ("score-spread", "warning")
    assert event.data == {"highest": 12.5, "lowest": 3.0, "bonus": 0.8}


def test_no_event_where_the_bonus_decides_or_there_is_none() -> None:
    at_the_limit = Ranking(Query("load_ledger"), (Hit(DOC, 0.8), Hit(DEF, 0.0)))
    assert NAMED.rerank(at_the_limit, k=2).events == ()
    nothing_named = Ranking(Query("other"), (Hit(DOC, 99.0), Hit(DEF, 0.0)))
    assert NAMED.rerank(nothing_named, k=2).events == ()
    only_sections = Ranking(Query("other"), (Hit(DOC, 99.0), Hit(IMPORT, 0.0)))
    assert ALWAYS.rerank(only_sections, k=2).events == ()


@pytest.mark.parametrize("reranker", [NAMED, ALWAYS])
def test_the_largest_scores_stay_finite(reranker: DefinitionFirst) -> None:
    largest = 1.7976931348623157e308
    far = Ranking(Query("load_ledger"), (Hit(DEF, largest), Hit(DOC, -largest)))
    reranked = reranker.rerank(far, k=2)
    assert [hit.score for hit in reranked] == [largest, -largest]
    assert all(math.isfinite(value) for value in reranked.events[0].data.values())


@pytest.mark.parametrize("reranker", [NAMED, ALWAYS])
def test_input_stays_as_it_is_and_components_go_along(reranker: DefinitionFirst) -> None:
    components = {"bm25": Component(1, 7.5)}
    told = (Event("dropped-words", "dropped: where"),)
    ranking = Ranking(Query("load_ledger"), (Hit(DOC, 0.03), Hit(DEF, 0.02, components)), "fusion", told)
    before = copy.deepcopy(ranking)
    reranked = reranker.rerank(ranking, k=2)
    assert ranking == before
    assert reranked == reranker.rerank(ranking, k=2)
    assert reranked[0] == Hit(DEF, 0.02 + 0.8, components)
    assert reranked.query is ranking.query
    assert (reranked.source, reranked.events) == ("definition", ())


@pytest.mark.parametrize("reranker", [NAMED, ALWAYS])
def test_k_and_nothing_to_rerank(reranker: DefinitionFirst) -> None:
    ranking = ranked("load_ledger", TEST, IMPORT, DEF)
    assert [len(reranker.rerank(ranking, k=k)) for k in (0, 1, 3, 99)] == [0, 1, 3, 3]
    assert len(reranker.rerank(Ranking(Query("load_ledger")), k=5)) == 0
    for k in (-1, True, 1.0, None):
        with pytest.raises(InvalidValueError, match="k is"):
            reranker.rerank(ranking, k=k)  # type: ignore[arg-type]


def test_depth_is_for_the_pipeline() -> None:
    reranker = DefinitionFirst(depth=1)
    assert reranker.depth == 1
    assert NAMED.depth is None
    assert reranker.rerank(ranked("load_ledger", TEST, DEF), k=2).ids == ("def", "test")


@pytest.mark.parametrize(
    "options",
    [{"scope": "never"}, {"scope": None}, {"scope": True}, {"depth": -1}, {"depth": True}, {"depth": 1.5}],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(InvalidValueError, match=f"{name} is"):
        DefinitionFirst(**options)


def test_options_cannot_change_and_show_in_the_repr() -> None:
    reranker = DefinitionFirst(scope="always", depth=20)
    assert repr(reranker) == "DefinitionFirst(scope='always', depth=20)"
    assert repr(NAMED) == "DefinitionFirst()"
    assert pickle.loads(pickle.dumps(reranker)) == reranker  # noqa: S301
    with pytest.raises(AttributeError):
        reranker.depth = 3  # type: ignore[misc]
