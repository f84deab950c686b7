"""The symbol leg: what counts as a name in a query, what is found by it, in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from hybridrank import (
    BM25,
    Document,
    Filter,
    Pipeline,
    Query,
    SymbolRetriever,
    TreeSitterChunker,
    normalize_query,
)
from hybridrank.errors import IndexFormatError, InvalidValueError, NotIndexedError
from hybridrank.retrievers.symbol_question import SymbolQuestion, parts_of
from hybridrank.types import SourceFile

FILES = {
    "auth.py": """
class Client:
    def send(self, request):
        return request

    def parse_header(self, line):
        return line


def revoke_token(token):
    return token


def errors_total():
    return 0
""",
    "session.py": """
from auth import revoke_token


def log_out(session):
    revoke_token(session.token)
    revoke_token(session.other)  # revoke_token revoke_token
    Client.send(session)


def handle(event):
    return event
""",
    "server.go": """package main

func (s *Server) Send(r Request) { parseHeader(r) }

func parseHeader(r Request) {}

func send(r Request) {}
""",
    "guide.md": "# Tokens\n\nCall `revoke_token(token)` to log out.\n",
}


def documents(files: dict[str, str] = FILES) -> list[Document]:
    return [d for path, text in files.items() for d in TreeSitterChunker().chunk(SourceFile(path, text))]


@pytest.fixture(scope="module")
def leg() -> SymbolRetriever:
    return SymbolRetriever().index(documents())


def found(leg: SymbolRetriever, text: str, where: Filter | None = None) -> list[tuple[str, float]]:
    query = Query(normalize_query(text).text, original=text)
    return [
        (hit.document.qualified_name or hit.document.path, hit.score)
        for hit in leg.retrieve(query, k=9, where=where)
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("revoke_token", [("revoke_token", 1.0)]),
        ("revoke_token()", [("revoke_token", 1.0)]),
        ("`revoke_token`", [("revoke_token", 1.0)]),
        ("what does revoke_token do with sessions", [("revoke_token", 1.0)]),
        ("REVOKE_TOKEN", [("revoke_token", 0.85)]),
        ("revoke token", [("revoke_token", 0.8)]),
        ("revokeToken", [("revoke_token", 0.5)]),
        ("send", [("send", 1.0), ("Client.send", 0.95), ("Server.Send", 0.85)]),
        ("Client.send", [("Client.send", 1.0), ("send", 0.6), ("Server.Send", 0.5)]),
        ("Client::send", [("Client.send", 1.0), ("send", 0.6), ("Server.Send", 0.5)]),
        ("client.send", [("Client.send", 0.85), ("send", 0.6), ("Server.Send", 0.5)]),
        ("parse_header", [("Client.parse_header", 0.95), ("parseHeader", 0.5)]),
        ("parse_header_line", [("parseHeader", 0.4), ("Client.parse_header", 0.4)]),
        ("token", [("revoke_token", pytest.approx(1 / 3))]),
        ("the Client and its pool", [("Client", 1.0)]),
        # A capitalised word may be a common one, so it counts only as it is written.
        ("errors of the Send call", [("Server.Send", 0.95)]),
        ("errors of the CLIENT call", []),
    ],
)  # fmt: skip
def test_levels(leg: SymbolRetriever, query: str, expected: list[tuple[str, float]]) -> None:
    assert sorted(found(leg, query)) == sorted(expected)
    scores = [score for _, score in found(leg, query)]
    assert scores == sorted(scores, reverse=True)


# DF-05: words of a sentence that happen to be (parts of) names are no names.
@pytest.mark.parametrize(
    "query", ["how are errors handled", "handle errors in total", "send a token", "where do clients go"]
)
def test_a_query_without_a_name_finds_nothing(leg: SymbolRetriever, query: str) -> None:
    ranking = leg.retrieve(Query(query), k=9)
    assert not ranking
    assert ranking.events[0].code in ("no-symbol", "no-known-symbol")


@pytest.mark.parametrize(
    "query",
    [
        "where is revoke_token called",
        "Where is revoke_token() called from?",
        "who calls revoke_token",
        "callers of revoke_token",
        "find all calls of `revoke_token`",
        "where does revoke_token get called",
        "revoke_token 在哪被调用",
        "revoke_token在哪里被调用？",
        "谁调用了 revoke_token",
        "revoke_token 的调用者",
    ],
)
def test_callers_follow_the_definition_where_they_are_asked_for(leg: SymbolRetriever, query: str) -> None:
    assert found(leg, query) == [("revoke_token", 1.0), ("log_out", 0.7)]


def test_callers_of_a_plain_word_and_of_what_is_defined_elsewhere() -> None:
    leg = SymbolRetriever().index(
        documents({"a.py": "def f():\n    load()\n    http.get(1)\n\ndef load(): ...\n"})
    )
    assert found(leg, "where is the load function called") == [("load", 1.0), ("f", 0.7)]
    assert found(leg, "who calls http.get") == [("f", 0.7)]
    assert found(leg, "what does load do") == [("load", 1.0)]


def test_callers_where_a_call_needs_no_brackets() -> None:
    leg = SymbolRetriever().index(documents({"a.rb": "def run\n  load_all\nend\n\ndef load_all\nend\n"}))
    assert found(leg, "where is load_all called") == [("load_all", 1.0), ("run", 0.7)]


# DF-06
def test_of_a_definition_in_pieces_the_first_is_found() -> None:
    body = "".join(f"    value_{number} = {number}\n" for number in range(300))
    pieces = TreeSitterChunker(max_chars=1000).chunk(SourceFile("a.py", f"def long():\n{body}"))
    ranking = SymbolRetriever().index(pieces).retrieve(Query("long"), k=9)
    assert [hit.document.start_line for hit in ranking] == [1]


def test_filters_hold_before_the_cut(leg: SymbolRetriever) -> None:
    go = Filter(language="go")
    assert found(leg, "send", go) == [("send", 1.0), ("Server.Send", 0.85)]
    ranking = leg.retrieve(Query("revoke_token"), k=9, where=go)
    assert (len(ranking), ranking.events[0].code) == (0, "filtered-out")
    assert len(leg.retrieve(Query("send"), k=1)) == 1


def test_events_say_why_nothing_is_found(leg: SymbolRetriever) -> None:
    assert leg.retrieve(Query("no_such_name"), k=9).events[0].code == "no-known-symbol"
    assert leg.retrieve(Query("in two ways, said plainly"), k=9).events[0].code == "no-symbol"
    assert leg.retrieve(Query(""), k=9).events[0].code == "no-symbol"
    assert leg.retrieve(Query("send"), k=9).events == ()


def test_an_explanation_says_which_level(leg: SymbolRetriever) -> None:
    query = Query("revoke_token called", original="where is revoke_token called")
    ranking = leg.retrieve(query, k=9)
    told = [leg.explain(query, hit.document) for hit in ranking]
    assert [(one.name, one.value, one.detail) for (one,) in told] == [
        ("whole", 1.0, "the qualified name is revoke_token"),
        ("caller", 0.7, "calls revoke_token"),
    ]
    other = next(d for d in leg.documents if d.name == "handle")
    assert leg.explain(query, other) == ()
    with pytest.raises(InvalidValueError, match="not indexed"):
        leg.explain(query, Document("x", "x"))


def test_misuse_is_an_error(leg: SymbolRetriever) -> None:
    with pytest.raises(NotIndexedError, match="call index"):
        SymbolRetriever().retrieve(Query("a"), k=1)
    with pytest.raises(InvalidValueError, match="k"):
        leg.retrieve(Query("a"), k=-1)
    with pytest.raises(TypeError):
        SymbolRetriever(depth=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "spoil",
    [
        {"starts": np.zeros(3, np.int64)},
        {"items": np.zeros(0, np.int32)},
        {"items": None},
        {"sizes": np.zeros(2, np.int16)},
        {"key_ends": np.zeros(2, np.int64)},
    ],
)
def test_a_damaged_state_is_refused(leg: SymbolRetriever, spoil: dict[str, object]) -> None:
    state = leg.state()
    for name, value in spoil.items():
        state[name] = state[name] + 1_000_000 if value is None else value
    with pytest.raises(IndexFormatError, match="do not fit together"):
        SymbolRetriever().restore(state, leg.documents)


def test_a_definition_comes_first_however_often_it_is_used() -> None:
    users = {
        f"user_{n}.py": f"def use_{n}():\n    return [load_ledger({n})] * load_ledger({n})\n"
        for n in range(50)
    }
    files = {**users, "z/ledger.py": "def load_ledger(path):\n    return open(path)\n"}
    pipeline = Pipeline({"bm25": BM25(), "symbol": SymbolRetriever()}).index(documents(files))
    for query in ("load_ledger", "what does load_ledger return"):
        assert pipeline.search(query, k=3)[0].document.path == "z/ledger.py"
        assert pipeline.without("symbol").search(query, k=3)[0].document.path != "z/ledger.py"
    assert len(pipeline.search("where is load_ledger called", k=40, weights={"bm25": 0})) == 40


def mentions(text: str, typed: str = "") -> tuple[Sequence[tuple[str, bool]], bool]:
    question = SymbolQuestion.of(Query(text, original=typed))
    return [(one.scoped, one.loose) for one in question.mentions], question.callers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("load", [("load", True)]),
        ("load it", []),
        ("the HTTPClient retries", [("HTTPClient", True)]),
        ("the Session object", [("Session", False)]),
        ("std::vector growth", [("std.vector", True)]),
        ("use `load` here", [("load", True)]),
        ("call load() here", [("load", True)]),
        ("it ends. Then more", [("Then", False)]),
        ("version 2.0 is out", []),
        ("def f(a):\n    return load_all(a)", [("f", False), ("load_all", False)]),
        ("在哪里处理 parse_error 错误", [("parse_error", True)]),
        ("größe_messen", [("größe_messen", True)]),
        ("", []),
    ],
)  # fmt: skip
def test_names_in_a_query(text: str, expected: list[tuple[str, bool]]) -> None:
    found, callers = mentions(text)
    assert not callers
    if "\n" in text:
        assert set(expected) <= {*found, ("f", False)}
        assert not any(loose for _, loose in found)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("raise_for_status", {"raise", "for", "status"}),
        ("parseHTTPResponse", {"parse", "http", "response"}),
        ("load", {"load"}),
        ("__init__", {"init"}),
        ("_", {"_"}),
    ],
)
def test_parts_of_names(name: str, parts: set[str]) -> None:
    assert parts_of(name) == parts


def test_names_in_sentences_can_be_left_out(leg: SymbolRetriever) -> None:
    strict = SymbolRetriever(sentences=False).index(documents())
    for query in (
        "revoke_token",
        "revoke token",
        "where is revoke_token called",
        "revoke_token 在哪被调用",
        "Client.send",
    ):
        assert found(strict, query) == found(leg, query) != []
    assert found(strict, "what does revoke_token do with sessions") == []
    assert repr(strict) == "SymbolRetriever(sentences=False)"
    assert strict.fingerprint() != leg.fingerprint()
    with pytest.raises(InvalidValueError, match="give True or False"):
        SymbolRetriever(sentences="no")  # type: ignore[arg-type]
