"""The JSON Schema of configurations: it says what `build` says, for all that a schema can know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fake_distributions import Site, temporary_site
from hybridrank import HybridRankError, components
from hybridrank.config import build, default_config
from hybridrank.registry import PluginWarning
from hybridrank.schema import config_schema

PARTS = """
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from hybridrank.protocols import Embedder, Retriever


class Leg:
    \"\"\"A leg that
    keeps its options.

    More about it.
    \"\"\"

    def __init__(
        self,
        *,
        needed: int,
        number: float = 1.5,
        count: int = 3,
        name: str | None = None,
        on: bool = False,
        mode: Literal["fast", "exact", 2] = "fast",
        weights: Mapping[str, float] | None = None,
        fields: tuple[str, ...] = ("text",),
        pair: tuple[int, str] = (1, "a"),
        names: Sequence[str] = (),
        noted: Annotated[int, "documented"] = 0,
        raw: bytes = b"",
        anything: Any = None,
        free=None,
        limit: float = float("inf"),
        tokenizer: str | Callable[[str], Sequence[str]] | None = None,
        query_embedder: Embedder | None = None,
        inner: Retriever | None = None,
        others: Sequence[Retriever] = (),
    ) -> None: ...

    def retrieve(self, query, /, *, k, where=None): ...
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for made in temporary_site(tmp_path, monkeypatch):
        made.install(
            "schema-dist", {"retrievers": {"leg": "parts_for_schema:Leg"}}, {"parts_for_schema": PARTS}
        )
        yield made


def valid(config: Any) -> bool:
    return bool(Draft202012Validator(config_schema()).is_valid(config))


def test_it_is_a_schema(site: Site) -> None:
    Draft202012Validator.check_schema(config_schema())


def builds(config: Any) -> bool:
    try:
        build(config)
    except HybridRankError:
        return False
    return True


def leg(**options: Any) -> dict[str, Any]:
    return {"retrievers": {"a": {"use": "leg", "needed": 1, **options}}}


@pytest.mark.parametrize("name", ["code", "text"])
def test_the_default_configurations_are_valid(name: str) -> None:
    Draft202012Validator(config_schema()).validate(default_config(name))


GOOD: list[dict[str, Any]] = [
    leg(),
    leg(number=2, count=-1, name=None, on=True, mode="exact"),
    leg(number=2.5, name="x", mode=2),
    leg(weights={"a": 1, "b": 0.5}, fields=["a"], pair=[2, "b"], names=[]),
    leg(weights=None, noted=3, anything={"a": [1]}, free="x"),
    leg(tokenizer="plain", query_embedder=None, inner=None),
    leg(tokenizer={"use": "standard", "stem": "english"}),
    leg(tokenizer=False, query_embedder={"use": "lsa", "dimensions": 8}),
    leg(inner={"use": "bm25"}, others=[{"use": "bm25", "k1": 2}, {"use": "dense"}]),
    leg(others={"x": {"use": "hybridrank:bm25"}}),
    {"retrievers": [{"use": "bm25"}]},
    {"retrievers": {"a": {"use": "schema-dist:leg", "needed": 1}}},
    {"retrievers": {"a": "@x"}, "resources": {"x": {"use": "bm25"}}},
    {"retrievers": {"a": {"use": "bm25"}}, "fuser": False, "validator": False, "recall": 5},
    {"retrievers": {"a": {"use": "bm25"}}, "fuser": None, "normalizer": False, "on_error": "degrade"},
    {"retrievers": {"a": {"use": "bm25"}}, "rerankers": [{"use": "definition", "depth": 10}]},
    {"retrievers": {"a": {"use": "bm25"}}, "ablations": {"none": {"recall": 3}}},
    {"retrievers": {"a": {"use": "bm25"}}, "fuser": {"use": "combsum", "normalization": "z-score"}},
]
BAD: list[dict[str, Any]] = [
    {},
    {"retrievers": {"a": {"use": "leg"}}},
    leg(unknown=1),
    leg(number="2"),
    leg(number=True),
    leg(count=1.5),
    leg(count=True),
    leg(name=1),
    leg(on=1),
    leg(mode="slow"),
    leg(mode=3),
    leg(weights={"a": "1"}),
    leg(weights=[1]),
    leg(fields="text"),
    leg(fields=[1]),
    leg(pair=[1]),
    leg(pair=[1, "a", "b"]),
    leg(pair=["a", 1]),
    leg(raw="x"),
    leg(tokenizer=3),
    leg(tokenizer={"use": "lsa"}),
    leg(tokenizer={"stem": "english"}),
    leg(query_embedder="lsa"),
    leg(inner={"use": "rrf"}),
    leg(others=[3]),
    leg(others={"use": "bm25"}),
    {"retrievers": {"a": {"use": "no such leg"}}},
    {"retrievers": {"a": {"use": 3}}},
    {"retrievers": {"a": {}}},
    {"retrievers": {"a": False}},
    {"retrievers": {"use": "bm25"}},
    {"retrievers": "bm25"},
    {"retrievers": {"a": {"use": "bm25"}}, "recal": 5},
    {"retrievers": {"a": {"use": "bm25"}}, "recall": "5"},
    {"retrievers": {"a": {"use": "bm25"}}, "on_error": "ignore"},
    {"retrievers": {"a": {"use": "bm25"}}, "rerankers": {"d": {"use": "definition", "depht": 3}}},
    {"retrievers": {"a": {"use": "bm25"}}, "fuser": {"use": "combsum", "normalization": "zscore"}},
    {"retrievers": {"a": {"use": "bm25"}}, "resources": {"x": 3}},
    {"retrievers": {"a": {"use": "bm25"}}, "ablations": {"x": 3}},
    {"retrievers": {"a": {"use": "bm25"}}, "ablations": []},
]


@pytest.mark.parametrize("config", [*GOOD, *BAD], ids=json.dumps)
def test_the_schema_says_what_build_says(site: Site, config: dict[str, Any]) -> None:
    assert valid(config) == builds(config) == (config in GOOD)


def test_a_part_is_described(site: Site) -> None:
    schema = config_schema()
    json.dumps(schema, allow_nan=False)
    tables = {
        name: branch["then"]
        for branch in schema["$defs"]["retriever"]["allOf"]
        for name in branch["if"]["properties"]["use"]["enum"]
    }
    assert tables["leg"] is tables["schema-dist:leg"]
    assert tables["leg"]["description"] == "A leg that keeps its options."
    assert tables["leg"]["required"] == ["needed"]
    options = tables["leg"]["properties"]
    assert options["fields"] == {"type": "array", "items": {"type": "string"}, "default": ["text"]}
    assert options["number"] == {"type": "number", "default": 1.5}
    assert "default" not in options["limit"]
    assert options["free"] == {}
    built_in = {info.name for info in components("fuser") if info.built_in}
    assert built_in <= set(schema["$defs"]["fuser"]["properties"]["use"]["enum"])


def test_a_kind_without_parts_allows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from hybridrank import schema

    fewer = tuple(info for info in components() if info.kind != "normalizer")
    monkeypatch.setattr(schema, "components", lambda: fewer)
    config = {"retrievers": {"a": {"use": "bm25"}}}
    assert valid({**config, "normalizer": False})
    assert not valid({**config, "normalizer": {"use": "question-words"}})


# PL-01
def test_a_broken_part_leaves_the_rest_described(site: Site) -> None:
    site.install("broken-dist", {"fusers": {"bad": "bad_for_schema:Part"}}, {"bad_for_schema": "1 / 0\n"})
    with pytest.warns(PluginWarning, match=r"fuser 'bad' takes: .*ZeroDivisionError"):
        schema = config_schema()
    check = Draft202012Validator(schema)
    config = {"retrievers": {"a": {"use": "bm25"}}}
    assert check.is_valid({**config, "fuser": {"use": "bad", "whatever": 1}})
    assert not check.is_valid({**config, "fuser": {"use": "rrf", "whatever": 1}})


# PL-03
def test_names_that_clash(site: Site) -> None:
    site.install("rival", {"fusers": {"rrf": "parts_for_schema:Leg", "same": "parts_for_schema:Leg"}})
    site.install("third", {"fusers": {"same": "parts_for_schema:Leg"}})
    check = Draft202012Validator(config_schema())

    def fused(**fuser: Any) -> bool:
        return bool(check.is_valid({"retrievers": {"a": {"use": "bm25"}}, "fuser": fuser}))

    assert fused(use="rrf", rrf_k=3)
    assert not fused(use="rrf", needed=3)
    assert fused(use="rival:rrf", needed=3)
    assert not fused(use="rival:rrf", rrf_k=3)
    assert not fused(use="same", needed=3)
    assert fused(use="third:same", needed=3)
