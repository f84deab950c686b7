"""Code priors: each feature by hand, and what becomes of them in a ranking."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest

from hybridrank import (
    BM25,
    CodePriors,
    CodePriorsWeights,
    Component,
    Document,
    DuplicateIdError,
    Hit,
    InvalidValueError,
    NotIndexedError,
    Pipeline,
    Query,
    Ranking,
    UnknownNameError,
)
from hybridrank.rerankers.priors_paths import ROLES, is_test, path_facts, roles, words
from hybridrank.rerankers.priors_prose import comments
from hybridrank.text.tokenizer import Tokenizer

FEATURES = [field.name for field in fields(CodePriorsWeights) if not field.name.startswith("chunk_")]
CHUNK_ONLY = dict.fromkeys(FEATURES, 0.0)


def code(
    path: str, text: str = "", name: str = "", kind: str = "function", line: int = 1, scope: str = ""
) -> Document:
    end = line + text.count("\n")
    qualified = f"{scope}.{name}" if scope else name
    return Document(
        f"{path}:{line}-{end}",
        text,
        path,
        line,
        end,
        kind if name or kind == "import" else "",
        name,
        qualified,
    )


def ranked(query: str, *documents: Document) -> Ranking:
    return Ranking.from_order(Query(query), documents)


def measured(query: str, *documents: Document, others: tuple[Document, ...] = ()) -> list[dict[str, float]]:
    """The features of each document's file, in the order given."""
    part = CodePriors().index((*documents, *others))
    files, table = part.features(ranked(query, *documents))
    assert list(files) == list(dict.fromkeys(d.path for d in documents))
    return [dict(zip(FEATURES, row, strict=True)) for row in table.tolist()]


def values(feature: str, query: str, *documents: Document, others: tuple[Document, ...] = ()) -> list[float]:
    return [round(row[feature], 6) for row in measured(query, *documents, others=others)]


# What a path tells


def role(name: str, *paths: str) -> list[bool]:
    return [row[ROLES.index(name)] for row in roles(paths)]


def test_tests_are_told_by_whole_words() -> None:
    # DF-02
    paths = ["tests/test_x.py", "x_test.go", "foo.spec.ts", "src/latest.py", "inspect.py"]
    assert role("test", *paths) == [True, True, True, False, False]


@pytest.mark.parametrize(
    "path",
    [
        "src/contest.py",
        "specification.md",
        "attestation/key.go",
        "src/testify.rs",
        "greatest/hits.c",
        "protest",
    ],
)
def test_words_that_hold_test_are_no_tests(path: str) -> None:
    # DF-02
    assert role("test", path) == [False]


@pytest.mark.parametrize(
    "path",
    [
        "spec/a.rb",
        "a/__tests__/b.js",
        "FooTests/A.swift",
        "Foo.Tests/A.cs",
        "src/FooTest.java",
        "conftest.py",
    ],
)
def test_tests_in_many_languages(path: str) -> None:
    # DF-02
    assert role("test", path) == [True]


def test_examples_and_shims_by_whole_words() -> None:
    assert role("example", "examples/a.py", "docs/a.md", "a/demo.py", "docstring.py", "examplar/a.py") == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert role("compat", "a/_compat.py", "legacy/a.c", "compatible.py") == [True, True, False]


def test_prose_and_data_by_suffix() -> None:
    assert role("prose", "README.md", "a.rst", "a.py", "md") == [True, True, False, False]
    assert role("data", "a.json", "setup.py", "Makefile", "a.py") == [True, True, True, False]


def test_an_old_version_has_a_newer_one_beside_it() -> None:
    paths = ["api/v1/a.go", "api/v2/a.go", "api/v10/a.go", "other/v1/a.go", "v2x/a.go"]
    assert role("old_version", *paths) == [True, True, False, False, False]


def test_companions_go_on_where_a_file_beside_them_ends() -> None:
    paths = [
        "a/writer.cs",
        "a/writer.async.cs",
        "b/writer.async.cs",
        "a/mux.go",
        "a/mux_test.go",
        "a/muxer.go",
    ]
    assert role("companion", *paths) == [False, True, False, False, True, False]


def test_declarations_are_companions_only_beside_their_source() -> None:
    assert role("companion", "a/x.h", "a/x.c", "a/y.h", "b/x.h") == [True, False, False, False]


def test_a_file_that_stands_for_its_folder_is_named_by_it() -> None:
    tokenizer = Tokenizer(stem="english")
    assert path_facts("src/routing/mod.rs", tokenizer).stem == "routing"
    assert path_facts("src/routing/__init__.py", tokenizer).stem == "routing"
    assert path_facts("index.js", tokenizer).stem == "index"
    assert path_facts("a/b/HTTPServer_main.c", tokenizer).words == ("http", "server", "main")
    assert path_facts("a/b/c.py", tokenizer).depth == 2


def test_words_of_names() -> None:
    assert words("parseHTTPResponse_v2") == ("parse", "http", "response", "v", "2")
    assert words("") == ()


def test_scopes_named_for_tests() -> None:
    assert is_test("tests.parses_headers")
    assert is_test("HeaderTests.parse")
    assert not is_test("Latest.get")
    assert not is_test("test_parse")


def test_comments_of_many_languages() -> None:
    assert comments("# one\nx = 1  # two\n") == "one"
    assert comments("// one\n/* two\n * three */") == "one\n two\n * three "
    assert comments('def f():\n    """Does it."""\n') == "Does it."
    assert comments("-- one\n{- two -}") == "one\n two "
    assert comments("#include <x.h>\n#!/bin/sh\n") == ""


# Features by hand


def test_the_best_document_of_a_file_in_each_leg() -> None:
    a, b, c = code("a.py"), code("b.py"), code("b.py", line=9)
    part = CodePriors().index([a, b, c])
    legs = [{"x": (1, 4.0), "y": (2, 0.2)}, {"x": (2, 3.0)}, {"x": (3, 1.0), "y": (1, 0.8)}]
    hits = tuple(
        Hit(document, 1.0, {name: Component(*value) for name, value in leg.items()})
        for document, leg in zip([a, b, c], legs, strict=True)
    )
    _, table = part.features(Ranking(Query("z"), hits))
    best, more = table[:, 0].tolist(), table[:, 1].tolist()
    assert best == pytest.approx([(1.0 + 0.25) / 2, (0.75 + 1.0) / 2])
    assert more == pytest.approx([(math.log(2) + math.log(1.25)) / 2, (math.log(2) + math.log(2)) / 2])


def test_only_components_before_fusion_are_legs() -> None:
    a, b = code("a.py"), code("b.py")
    hits = (
        Hit(a, 0.9, {"x": Component(1, 2.0), "fusion": Component(1, 0.3), "later": Component(2, 1.0)}),
        Hit(b, 0.8, {"x": Component(2, 1.0), "fusion": Component(2, 0.2), "later": Component(1, 9.0)}),
    )
    _, table = CodePriors().index([a, b]).features(Ranking(Query("z"), hits))
    assert table[:, 0].tolist() == [1.0, 0.5]


def test_without_components_the_own_score_is_the_leg() -> None:
    assert values("best_match", "z", code("a.py"), code("b.py"), code("c.py")) == [1.0, 0.5, 0.333333]


def test_phrases_count_neighbours_in_comments_and_names() -> None:
    documents = (
        code("a.py", "# reads the request body"),
        code("b.py", "# body of a request"),
        code("c.py", "", name="requestBody"),
    )
    assert values("phrases", "request body size", *documents) == [0.5, 0.0, 0.5]


def test_a_name_matches_by_weight_and_share_of_its_words() -> None:
    documents = code("a.py", name="parse"), code("b.py", name="parse_old"), code("c.py", name="other")
    rows = measured("parse", *documents)
    # parse_old has the terms parse_old, parse and old: one of three is asked for.
    assert [round(row["name_match"], 6) for row in rows] == [1.0, round(math.sqrt(1 / 3), 6), 0.0]


def test_words_of_the_query_that_are_whole_names() -> None:
    documents = code("a.py", name="delay"), code("b.py", name="with_timeout"), code("c.py", name="delayed")
    assert values("word_names", "delay and withTimeout", *documents) == [0.333333, 0.333333, 0.0]


def test_what_is_defined_exactly_alike_and_often() -> None:
    documents = (
        code("a.py", name="Session", kind="class"),
        code("b.py", name="session"),
        code("c.py", "Session()", name="use"),
        code("d.py", name="Session", kind="import"),
    )
    # Two files define it in some case, one as it is written.
    assert values("defined", "Session", *documents) == [1.0, round(0.5 / (1 + math.log(2)), 6), 0.0, 0.0]
    assert values("defined", "Session objects", *documents) == [0.0] * 4
    twice = code("a.py", name="Session", kind="class"), code("e.py", name="Session", kind="class")
    assert values("defined", "Session", *twice) == [round(1 / (1 + math.log(2)), 6)] * 2


def test_a_file_named_as_an_identifier() -> None:
    documents = code("retry_policy.rs"), code("retry.rs"), code("policy/mod.rs")
    assert values("file_named", "RetryPolicy", *documents) == [1.0, 0.0, 0.0]
    assert values("file_named", "how RetryPolicy waits", *documents) == [1.0, 0.0, 0.0]
    assert values("file_named", "retry policy", *documents) == [0.0, 0.0, 0.0]


def test_a_file_named_by_neighbouring_words() -> None:
    documents = code("ServerTrust.swift"), code("server_trust_x.swift"), code("trust.swift")
    assert values("compound", "how server trust is checked", *documents) == [1.0, 0.0, 0.0]


def test_words_of_a_file_name_resemble_words_of_the_query() -> None:
    # ^compress$ and ^compression$ have 8 and 11 trigrams, 7 of them common.
    documents = code("compression.py"), code("zzz.py")
    assert values("stem_words", "compress", *documents) == [round(2 * 7 / (8 + 11), 6), 0.0]
    assert values("stem_letters", "compress", *documents) == [round(7 / 11, 6), 0.0]


def test_the_first_words_of_a_query_count_most() -> None:
    documents = code("key.py"), code("map.py"), code("other.py")
    assert values("stem_first", "key and map", *documents) == [1.0, 0.333333, 0.0]


def test_length_of_a_file_name() -> None:
    assert values("stem_length", "z", code("a.py"), code("a_b_c.py")) == [
        round(math.log(2), 6),
        round(math.log(4), 6),
    ]


def test_folders_with_words_of_the_query() -> None:
    documents = code("http/routing/a.py"), code("routing/http/b.py"), code("c.py")
    assert values("folder", "routes of routing", *documents) == [1.0, 0.0, 0.0]


def test_deeper_and_higher_than_the_median_candidate() -> None:
    documents = code("a/b/c/d.py"), code("a/b.py"), code("c.py")
    assert values("path_depth", "z", *documents) == [1.0, 0.0, -1.0]
    assert values("path_depth", "z", code("a/b.py"), code("c.py")) == [0.5, -0.5]


def test_a_file_that_exports_again_goes_behind_what_it_exports() -> None:
    imports = code("a/__init__.py", "from .loader import Loader", name="Loader", kind="import")
    real = code("a/loader.py", "class Loader:\n    def load(self): ...", name="Loader", kind="class")
    body = code("a/loader.py", "def load(self): ...", name="load", kind="method", line=2)
    found = CodePriors().index([imports, real, body]).rerank(ranked("Loader", imports, real, body), k=9)
    assert found[0].id == real.id


def test_how_much_of_a_file_lies_in_functions() -> None:
    documents = code("a.py", "x" * 30, name="f"), code("b.py", "x" * 40, name="C", kind="class")
    others = code("a.py", "x" * 10, line=9), code("b.py", "x" * 20, name="m", kind="part", line=9)
    assert values("functions", "z", *documents, others=others) == [0.75, 0.333333]


def test_rare_words_told_by_comments_and_names_weigh_more() -> None:
    documents = (
        code("a.py", "# retries with backoff"),
        code("b.py", "# retries"),
        code("c.py", "backoff(backoff)", name="x"),
    )
    told = values("told", "retries backoff", *documents)
    assert told[0] == 1.0
    assert 0 < told[1] < told[0]


@pytest.mark.parametrize(
    ("feature", "path", "query"),
    [
        ("test", "tests/loader.py", "tests for load_ledger"),
        ("test", "tests/loader.py", "which spec covers load_ledger"),
        ("example", "examples/loader.py", "example of load_ledger"),
        ("compat", "compat/loader.py", "legacy load_ledger"),
        ("prose", "loader.md", "documentation of load_ledger"),
        ("data", "loader.json", "config of load_ledger"),
    ],
)
def test_who_asks_for_a_role_is_not_kept_from_it(feature: str, path: str, query: str) -> None:
    # DF-08
    documents = code(path), code("src/loader.py", name="load_ledger")
    assert values(feature, "load_ledger", *documents) == [1.0, 0.0]
    assert values(feature, query, *documents) == [0.0, 0.0]
    assert values(feature, "the latest load_ledger", *documents) == [1.0, 0.0]


def test_who_names_a_version_is_not_kept_from_it() -> None:
    documents = code("api/v1/errors.py"), code("api/v2/errors.py")
    assert values("old_version", "errors", *documents) == [1.0, 0.0]
    assert values("old_version", "errors of v1", *documents) == [0.0, 0.0]
    assert values("old_version", "legacy errors", *documents) == [0.0, 0.0]


# Rankings


def test_the_definition_goes_before_what_mentions_it() -> None:
    # DF-01
    documents = [
        code("tests/test_ledger.py", "load_ledger()\n" * 6, name="test_all"),
        code("app.py", "from ledger import load_ledger", kind="import"),
        code("docs/usage.md", "# Loading\nCall load_ledger.", name="Loading", kind="section"),
        code("ledger.py", "def load_ledger(): ...", name="load_ledger"),
    ]
    found = CodePriors().index(documents).rerank(ranked("load_ledger", *documents), k=9)
    assert found[0].document.path == "ledger.py"
    assert {hit.id for hit in found} == {document.id for document in documents}


def test_the_first_piece_of_a_split_definition_goes_first() -> None:
    # DF-06
    first = code("big.py", "def crunch():", name="crunch", line=1)
    later = code("big.py", "crunch crunch", name="crunch", kind="part", line=50)
    found = CodePriors().index([first, later]).rerank(ranked("crunch", later, first), k=9)
    assert [hit.document.kind for hit in found] == ["function", "part"]


def test_a_class_goes_before_its_constructor_and_another_case() -> None:
    documents = [
        code("a.java", name="session", line=90),
        code("a.java", name="Session", kind="method", scope="Session", line=30),
        code("a.java", name="Session", kind="class", line=1),
    ]
    found = CodePriors().index(documents).rerank(ranked("Session", *documents), k=9)
    assert found[0].document.start_line == 1


def test_tests_inside_a_file_go_behind_its_code() -> None:
    inner = code("a.rs", name="parses_headers", scope="tests", line=50)
    real = code("a.rs", name="parse_headers", line=1)
    part = CodePriors().index([inner, real])
    assert part.rerank(ranked("parse headers", inner, real), k=1)[0].id == real.id
    asked = CodePriors(weights={"chunk_name": 0.0}).index([inner, real])
    assert asked.rerank(ranked("tests of headers", inner, real), k=1)[0].id == inner.id


def test_a_file_has_the_score_of_its_best_document() -> None:
    documents = [code("a.py", line=1), code("a.py", line=9), code("b.py")]
    part = CodePriors(weights={**CHUNK_ONLY, "best_match": 2.0}).index(documents)
    found = part.rerank(ranked("z", *documents), k=9)
    # Leg scores are 1, 1/2 and 1/3; the second document of a.py is half a leg behind the first.
    assert [round(hit.score, 6) for hit in found] == [2.0, 1.5, 0.666667]


def test_equals_keep_their_order() -> None:
    # DF-07
    documents = [code("d.py"), code("b.py"), code("c.py"), code("a.py")]
    part = CodePriors(weights={**CHUNK_ONLY}).index(documents)
    assert part.rerank(ranked("z", *documents), k=9).ids == tuple(d.id for d in documents)


def test_documents_without_a_path_are_files_of_their_own() -> None:
    documents = [Document("one", "alpha"), Document("two", "beta")]
    part = CodePriors().index(documents)
    assert part.features(ranked("alpha", *documents))[0] == ("one", "two")
    assert part.rerank(ranked("beta", *documents), k=9)[0].id == "two"


def test_contributions_sum_to_the_score_and_tell_why() -> None:
    documents = [
        code("tests/test_parse.py", "# parse headers", name="test_parse"),
        code("src/parse.py", "# parse headers", name="parse_headers"),
        code("src/parse.py", "pass", name="other", line=40),
    ]
    part, given = CodePriors().index(documents), ranked("parse headers", *documents)
    for hit in part.rerank(given, k=9):
        made_of = part.contributions(given, hit.id)
        assert math.fsum(c.value for c in made_of) == pytest.approx(hit.score)
        assert all(c.detail for c in made_of)
    told = {c.name: c for c in part.contributions(given, documents[0].id)}
    assert told["test"].value == CodePriorsWeights().test
    assert told["test"].detail == "a test; none is asked for"
    assert part.contributions(given, documents[2].id)[-1].name == "chunk"
    assert part.contributions(given, "no such id") == ()


def test_an_explained_search_tells_the_contributions() -> None:
    documents = [code("src/parse.py", "def parse(): ...", name="parse"), code("src/other.py", "parse()")]
    pipeline = Pipeline({"bm25": BM25()}, rerankers={"priors": CodePriors()}).index(documents)
    result = pipeline.search("parse", explain=True)
    told = result.explanations[result[0].id]["priors"]
    assert math.fsum(c.value for c in told) == pytest.approx(result[0].components["priors"].score)
    assert "defined" in {c.name for c in told}


# Options


def test_weights_by_name_are_put_over_the_default_ones() -> None:
    part = CodePriors(weights={"test": 0, "told": 2})
    assert (part.all_weights.test, part.all_weights.told) == (0.0, 2.0)
    assert part.all_weights.phrases == CodePriorsWeights().phrases
    assert part.weights == {"test": 0.0, "told": 2.0}
    assert repr(part) == "CodePriors(weights={'told': 2.0, 'test': 0.0})"
    assert CodePriors(weights=part.weights).all_weights == part.all_weights
    assert CodePriors(weights={"told": CodePriorsWeights().told}).weights == {}
    assert repr(CodePriors(depth=5)) == "CodePriors(depth=5)"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", None, 1e7])
def test_a_weight_that_is_no_number_in_range(value: object) -> None:
    with pytest.raises(InvalidValueError, match="weight told is"):
        CodePriors(weights={"told": value})  # type: ignore[dict-item]


def test_a_weight_for_nothing_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="told"):
        CodePriors(weights={"tolld": 1.0})


@pytest.mark.parametrize("options", [{"weights": [1]}, {"tokenizer": 3}, {"depth": -1}, {"depth": True}])
def test_options_outside_their_range(options: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError):
        CodePriors(**options)  # type: ignore[arg-type]


def test_before_index_and_with_strangers() -> None:
    given = ranked("a", code("a.py"))
    with pytest.raises(NotIndexedError, match="index"):
        CodePriors().rerank(given, k=1)
    with pytest.raises(InvalidValueError, match=r"a\.py:1-1.*no indexed file"):
        CodePriors().index([code("b.py")]).rerank(given, k=1)


def test_an_id_that_stands_twice() -> None:
    with pytest.raises(DuplicateIdError, match=r"a\.py:1-1"):
        CodePriors().index([code("a.py"), code("a.py", "other")])


def test_scores_that_are_no_numbers_count_as_none() -> None:
    a, b = code("a.py"), code("b.py")
    hits = (Hit(a, 1.0, {"x": Component(1, math.nan)}), Hit(b, 0.5, {"x": Component(2, -3.0)}))
    found = CodePriors().index([a, b]).rerank(Ranking(Query("z"), hits), k=9)
    assert all(math.isfinite(hit.score) for hit in found)


def test_a_stored_index_ranks_as_before() -> None:
    documents = [
        code("tests/test_parse.py", "# parse headers", name="test_parse"),
        code("src/parse.py", "# parse headers", name="parse_headers"),
    ]
    part = CodePriors().index(documents)
    again = CodePriors().restore(part.state(), documents)
    given = ranked("parse headers", *documents)
    assert again.rerank(given, k=9) == part.rerank(given, k=9)
    assert again.fingerprint() == part.fingerprint() != CodePriors().fingerprint()
    damaged = {**part.state(), "roles": part.state()["roles"][1:]}
    with pytest.raises(Exception, match="do not fit together"):
        CodePriors().restore(damaged, documents)


def test_a_leg_that_finds_by_name_counts_where_the_query_is_one_name() -> None:
    a, b = code("a.py", "x", "load"), code("b.py", "y", "store")
    hits = (
        Hit(a, 1.0, {"words": Component(1, 2.0), "names": Component(2, 0.5), "fusion": Component(1, 1.0)}),
        Hit(b, 0.5, {"words": Component(2, 1.0), "names": Component(1, 1.0), "fusion": Component(2, 0.5)}),
    )

    def matches(query: str, **options: Any) -> list[float]:
        part = CodePriors(**options).index([a, b])
        table = part.features(Ranking(Query(query), hits))[1]
        return table[:, FEATURES.index("best_match")].tolist()  # type: ignore[no-any-return]

    assert matches("load", name_legs=["names"]) == matches("load") == [0.75, 0.75]
    assert matches("load it") == [0.75, 0.75]
    assert matches("load it", name_legs=["names"]) == [1.0, 0.5]
    assert matches("load it", name_legs=["words", "names"]) == [1.0, 0.5]
    assert matches("load it", name_legs=["none"]) == [0.75, 0.75]


def test_legs_that_find_by_name_are_options_like_others() -> None:
    part = CodePriors(name_legs=["symbol"])
    assert repr(part) == "CodePriors(name_legs=['symbol'])"
    assert part.name_legs == ("symbol",)
    assert part.fingerprint() != CodePriors().fingerprint()
    with pytest.raises(InvalidValueError, match="give a list of names of legs"):
        CodePriors(name_legs="symbol")
