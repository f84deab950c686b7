from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from fake_distributions import Site, temporary_site
from hybridrank import (
    ConfigError,
    InvalidValueError,
    MissingExtraError,
    Pipeline,
    PluginError,
    UnknownNameError,
)
from hybridrank.config import ablations, build, default_config, load_config
from hybridrank.protocols import Weighted
from hybridrank.registry import PluginWarning

PARTS = """
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from hybridrank.errors import InvalidValueError, MissingExtraError
from hybridrank.protocols import Embedder, Retriever

if TYPE_CHECKING:
    from nowhere import Mystery


class Recorded:
    def __init__(self, **given: object) -> None:
        self.given = given


class Leg(Recorded):
    def __init__(
        self,
        *,
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
        mystery: Mystery | None = None,
        free=None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        query_embedder: Embedder | None = None,
    ) -> None:
        if number < 0:
            raise InvalidValueError(f"number is {number}; give 0 or more")
        if count == 13:
            raise RuntimeError("unlucky")
        if count == 14:
            raise MissingExtraError("torch", "heavy")
        given = dict(locals())
        del given["self"], given["__class__"]
        super().__init__(**given)

    def retrieve(self, query, /, *, k, where=None): ...


class Ensemble(Recorded):
    def __init__(self, *, first: Retriever, others: Sequence[Retriever] = (), legs: Any = None) -> None:
        super().__init__(first=first, others=others)

    def retrieve(self, query, /, *, k, where=None): ...


class Emb(Recorded):
    def __init__(self, *, size: int, tokenizer: object = None) -> None:
        super().__init__(size=size, tokenizer=tokenizer)


class Tok(Recorded):
    def __init__(self, *, stem: str = "") -> None:
        super().__init__(stem=stem)


class Rer(Recorded):
    def __init__(self, *, depth: int | None = None) -> None:
        super().__init__(depth=depth)


class Fus(Recorded):
    def __init__(self, *, weights: Mapping[str, float] | None = None) -> None:
        super().__init__(weights=weights)


class Val(Recorded):
    pass
"""
ENTRIES = {
    "retrievers": {"leg": "parts_for_config:Leg", "ensemble": "parts_for_config:Ensemble"},
    "embedders": {"emb": "parts_for_config:Emb"},
    "tokenizers": {"tok": "parts_for_config:Tok"},
    "rerankers": {"rer": "parts_for_config:Rer"},
    "fusers": {"fus": "parts_for_config:Fus"},
    "validators": {"val": "parts_for_config:Val"},
}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for made in temporary_site(tmp_path, monkeypatch):
        made.install("parts-dist", ENTRIES, {"parts_for_config": PARTS})
        yield made


def leg(**options: Any) -> dict[str, Any]:
    return {"retrievers": {"a": {"use": "leg", **options}}}


def given(config: Any, ablation: str | None = None) -> dict[str, Any]:
    """The options of the one leg."""
    options: dict[str, Any] = build(config, ablation=ablation)["retrievers"]["a"].given
    return options


# Reading


def test_toml_json_and_mapping_say_the_same(tmp_path: Path) -> None:
    config = {"recall": 40, "retrievers": {"b": {"use": "leg"}, "a": {"use": "leg", "number": 2}}}
    toml = tmp_path / "p.toml"
    toml.write_text("recall = 40\n[retrievers.b]\nuse = 'leg'\n[retrievers.a]\nuse = 'leg'\nnumber = 2\n")
    as_json = tmp_path / "P.JSON"
    as_json.write_text(json.dumps(config))
    for source in (toml, str(toml), as_json, config, MappingProxyType(config)):
        assert load_config(source) == config
        assert list(build(source)["retrievers"]) == ["b", "a"]


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xef\xbb\xbfrecall = 40\r\n[retrievers]\r\n")
    assert load_config(path) == {"recall": 40, "retrievers": {}}


@pytest.mark.parametrize(
    "source", ["no/such.toml", "recall = 40", "", "x" * 5000, "a\x00b.toml", Path("no/such.json")]
)
def test_no_such_file(source: str | Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file|cannot read"):
        load_config(source)


@pytest.mark.parametrize("source", [None, 3, ["retrievers"], b"p.toml"])
def test_no_configuration_at_all(source: Any) -> None:
    with pytest.raises(ConfigError, match="is no configuration"):
        load_config(source)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.toml", b"recall = 1\n[retrievers\n", r"p\.toml:2: not valid TOML"),
        ("p.toml", b"recall = 1\nrecall = 2\n", r"p\.toml:2: not valid TOML"),
        ("p.toml", b'recall = 1\n\nx = """', r"p\.toml:3: not valid TOML"),
        ("p.json", b'{\n"recall": 1,\n}', r"p\.json:3: not valid JSON"),
        ("p.json", b"", r"p\.json:1: not valid JSON"),
        ("p.json", b'{"a": 1,\n "b": 2,\n "a": 3}', r"p\.json: not valid JSON: key 'a' stands twice"),
        ("p.json", b"[1]", "a configuration is a table of keys, not list"),
        ("p.json", b"null", "a configuration is a table of keys, not NoneType"),
        ("p.json", b"[" * 100_000, "nested too deeply"),
        ("p.json", b'{"a": ' + b"[" * 90 + b"]" * 90 + b"}", "nested more than 64 levels deep"),
        ("p.json", b'{"a": ' + b"1" * 5000 + b"}", "not valid JSON"),
        ("p.toml", b"a = " + b"[" * 20_000, "nested too deeply"),
        ("p.toml", b"a = 1\nb = '\xff'\n", r"p\.toml:2: not UTF-8"),
        ("p.yaml", b"a: 1", r"ends in \.toml or \.json, not in '\.yaml'"),
        ("p", b"a: 1", r"ends in \.toml or \.json, not in ''"),
    ],
)
def test_a_file_that_is_not_valid(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load_config(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load_config(tmp_path)


@pytest.mark.parametrize("key", [1, None, "", "  "])
def test_keys_are_non_empty_strings(key: Any) -> None:
    with pytest.raises(ConfigError, match="non-empty string") as caught:
        load_config({"retrievers": {key: {"use": "leg"}}})
    assert caught.value.where == "retrievers"


@pytest.mark.parametrize("section", ["resources", "ablations"])
@pytest.mark.parametrize("value", [None, 3, [], {"x": 3}, {"x": [1]}])
def test_resources_and_ablations_are_tables_of_tables(section: str, value: Any) -> None:
    with pytest.raises(ConfigError, match="stands where a table is expected") as caught:
        load_config({section: value})
    assert caught.value.where.startswith(section)


def test_nothing_is_mutated() -> None:
    config = {
        "resources": {"t": {"use": "tok"}},
        "retrievers": {"a": {"use": "leg", "tokenizer": "@t", "fields": ["x"]}, "b": {"use": "leg"}},
        "ablations": {"less": {"retrievers.b": False, "retrievers.a.weights.x": 2, "resources.t.stem": "e"}},
    }
    before = copy.deepcopy(config)
    loaded = load_config(config)
    loaded["retrievers"]["a"]["fields"].append("y")
    build(config, ablation="less")
    assert config == before


# The schema is the constructors'


def test_top_level_keys_are_the_parameters_of_the_pipeline() -> None:
    names = list(inspect.signature(Pipeline).parameters)
    with pytest.raises(UnknownNameError, match="pipeline: 'recal'; did you mean 'recall'"):
        build({**leg(), "recal": 3})
    with pytest.raises(UnknownNameError) as caught:
        build({**leg(), "zzz": 3})
    assert caught.value.known == tuple(sorted(names))


def test_every_kind_of_part_at_its_place() -> None:
    built = build(
        {
            **leg(tokenizer={"use": "tok", "stem": "english"}, query_embedder={"use": "emb", "size": 2}),
            "fuser": {"use": "fus", "weights": {"a": 2}},
            "rerankers": {"z": {"use": "rer"}, "b": {"use": "rer", "depth": 3}},
            "validator": {"use": "val"},
            "recall": 30,
            "validate_depth": 4,
            "on_error": "degrade",
        }
    )
    a = built["retrievers"]["a"]
    assert (type(a).__name__, a.given["tokenizer"].given["stem"]) == ("Leg", "english")
    assert a.given["query_embedder"].given["size"] == 2
    assert built["fuser"].given["weights"] == {"a": 2}
    assert [(name, part.given["depth"]) for name, part in built["rerankers"].items()] == [
        ("z", None),
        ("b", 3),
    ]
    assert type(built["validator"]).__name__ == "Val"
    assert (built["recall"], built["validate_depth"], built["on_error"]) == (30, 4, "degrade")
    assert "normalizer" not in built


def test_rerankers_in_a_list_keep_their_order() -> None:
    built = build({**leg(), "rerankers": [{"use": "rer", "depth": 2}, {"use": "rer", "depth": 1}]})
    assert [part.given["depth"] for part in built["rerankers"]] == [2, 1]
    with pytest.raises(ConfigError, match="'x'") as caught:
        build({**leg(), "rerankers": [{"use": "rer"}, {"use": "rer", "depth": "x"}]})
    assert caught.value.where == "rerankers.1.depth"


def test_a_part_is_known_by_its_type_where_the_name_does_not_tell() -> None:
    config = {"retrievers": {"e": {"use": "ensemble", "first": {"use": "leg"}, "others": [{"use": "leg"}]}}}
    ensemble = build(config)["retrievers"]["e"]
    assert type(ensemble.given["first"]).__name__ == "Leg"
    assert [type(part).__name__ for part in ensemble.given["others"]] == ["Leg"]


def test_false_and_null_stand_for_none() -> None:
    for nothing in (False, None):
        built = build({**leg(tokenizer=nothing), "normalizer": nothing, "validator": nothing})
        assert built["normalizer"] is None
        assert built["validator"] is None
        assert built["retrievers"]["a"].given["tokenizer"] is None


def test_the_pipeline_takes_what_was_built() -> None:
    pipeline = Pipeline.from_config({**leg(), "normalizer": False, "recall": 7})
    assert list(pipeline.retrievers) == ["a"]
    assert pipeline.recall == 7
    assert pipeline.normalizer is None


@pytest.mark.parametrize(
    ("option", "value", "taken"),
    [
        ("number", 2, 2),
        ("number", 2.5, 2.5),
        ("count", 0, 0),
        ("name", "x", "x"),
        ("name", None, None),
        ("on", True, True),
        ("mode", "exact", "exact"),
        ("mode", 2, 2),
        ("weights", {"x": 1, "use": 2.5}, {"x": 1, "use": 2.5}),
        ("weights", {}, {}),
        ("fields", ["a", "b"], ("a", "b")),
        ("fields", [], ()),
        ("pair", [3, "b"], (3, "b")),
        ("names", ["a"], ["a"]),
        ("noted", 4, 4),
        ("mystery", "anything", "anything"),
        ("free", {"deep": [1, {"er": None}]}, {"deep": [1, {"er": None}]}),
        ("name", "@nobody", "@nobody"),
    ],
)
def test_a_value_of_the_right_type(option: str, value: Any, taken: Any) -> None:
    result = given(leg(**{option: value}))[option]
    assert result == taken
    assert type(result) is type(taken)


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("number", "2", "float"),
        ("number", True, "float"),
        ("number", None, "float"),
        ("number", [1.0], "float"),
        ("count", 2.0, "int"),
        ("count", True, "int"),
        ("count", "3", "int"),
        ("name", 3, "str | None"),
        ("on", 1, "bool"),
        ("on", "true", "bool"),
        ("mode", "slow", "'fast' or 'exact' or 2"),
        ("mode", 2.0, "'fast' or 'exact' or 2"),
        ("weights", {"x": "1"}, "Mapping[str, float] | None"),
        ("weights", [1.0], "Mapping[str, float] | None"),
        ("fields", "text", "tuple[str, ...]"),
        ("fields", ["a", 1], "tuple[str, ...]"),
        ("pair", [3], "tuple[int, str]"),
        ("pair", [3, 4], "tuple[int, str]"),
        ("names", "text", "Sequence[str]"),
        ("names", {"a": 1}, "Sequence[str]"),
        ("noted", "4", "Annotated[int, 'documented']"),
    ],
)
def test_a_value_of_the_wrong_type(option: str, value: Any, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(leg(**{option: value}))
    assert caught.value.where == f"retrievers.a.{option}"
    message = str(caught.value)
    assert message.startswith(f"retrievers.a.{option}: {value!r}")
    assert message.replace('"', "'").endswith(f"is not what {option} of retriever 'leg' takes: {expected}")


@pytest.mark.parametrize(("key", "value"), [("recall", "80"), ("recall", True), ("on_error", "ignore")])
def test_a_top_level_value_of_the_wrong_type(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match="of the pipeline takes") as caught:
        build({**leg(), key: value})
    assert caught.value.where == key


def test_unknown_option_with_its_path_and_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError) as caught:
        build(leg(query_embedder={"use": "emb", "sise": 2}))
    assert str(caught.value) == (
        "retrievers.a.query_embedder.sise: unknown option of embedder 'emb': 'sise'; did you mean 'size'?"
    )
    assert caught.value.where == "retrievers.a.query_embedder.sise"


def test_a_required_option_that_is_missing() -> None:
    with pytest.raises(
        ConfigError, match=r"^retrievers\.a\.query_embedder: embedder 'emb' needs size \(int\)$"
    ):
        build(leg(query_embedder={"use": "emb"}))
    with pytest.raises(ConfigError, match="the pipeline needs retrievers"):
        build({})


def test_what_a_constructor_refuses_carries_the_path() -> None:
    with pytest.raises(ConfigError, match=r"^retrievers\.a: number is -1; give 0 or more$") as caught:
        build(leg(number=-1))
    assert isinstance(caught.value.__cause__, InvalidValueError)
    with pytest.raises(ConfigError, match=r"^retrievers\.a: retriever 'leg' .* RuntimeError: unlucky$"):
        build(leg(count=13))
    with pytest.raises(MissingExtraError):
        build(leg(count=14))


def test_a_path_with_odd_keys_is_quoted() -> None:
    with pytest.raises(ConfigError) as caught:
        build({"retrievers": {"a.b c": {"use": "leg", "on": 3}}})
    assert caught.value.where == 'retrievers."a.b c".on'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"number": 2}, "a table without use is no retriever"),
        ({"use": 3}, r"\{'use': 3\} is no retriever"),
        ("leg", r"'leg' is no retriever; write \{ use = .* leg"),
        (False, "False is no retriever"),
        (None, "None is no retriever"),
        ([], r"\[\] is no retriever"),
    ],
)
def test_a_leg_that_is_no_part(value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        build({"retrievers": {"a": value}})
    assert caught.value.where == "retrievers.a"


@pytest.mark.parametrize("value", [{"use": "leg"}, "leg", False, 3])
def test_legs_have_names(value: Any) -> None:
    with pytest.raises(ConfigError, match="is no table of parts") as caught:
        build({"retrievers": value})
    assert caught.value.where == "retrievers"


@pytest.mark.parametrize("option", ["tokenizer", "query_embedder"])
@pytest.mark.parametrize("value", ["tok", 3, True, ["tok"], {"stem": "x"}])
def test_a_plain_value_is_no_part(option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=r"write \{ use = ") as caught:
        build(leg(**{option: value}))
    assert caught.value.where == f"retrievers.a.{option}"


@pytest.mark.parametrize("option", ["number", "weights", "free", "names"])
def test_a_part_where_none_stands(option: str) -> None:
    with pytest.raises(ConfigError, match="names a part") as caught:
        build(leg(**{option: {"use": "tok"}}))
    assert caught.value.where == f"retrievers.a.{option}"


# Names


def test_an_unknown_part_carries_the_path_and_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown retriever 'legg'; did you mean 'leg'\?") as caught:
        build({"retrievers": {"a": {"use": "legg"}}})
    assert caught.value.where == "retrievers.a.use"


@pytest.mark.parametrize("use", ["parts_for_config:Leg", "a.b:c", "a.b.C", "a.b", "pkg:Leg"])
def test_an_import_path_is_explained(use: str) -> None:
    with pytest.raises(ConfigError, match=r"looks like an import path.*hybridrank\.retrievers") as caught:
        build({"retrievers": {"a": {"use": use}}})
    assert caught.value.where == "retrievers.a.use"
    assert not isinstance(caught.value, UnknownNameError)


def test_a_distribution_selects(site: Site) -> None:
    site.install("two-dist", {"retrievers": {"leg": "other_part:Leg"}}, {"other_part": PARTS})
    with pytest.raises(PluginError, match="'parts-dist:leg', 'two-dist:leg'"):
        build(leg())
    part = build({"retrievers": {"a": {"use": "two-dist:leg", "number": 3}}})["retrievers"]["a"]
    assert type(part).__module__ == "other_part"
    with pytest.raises(UnknownNameError, match=r"did you mean 'two-dist:leg'\?"):
        build({"retrievers": {"a": {"use": "two-dist:legg"}}})


# PL-03
def test_a_built_in_that_hides_a_plug_in_is_told(site: Site) -> None:
    site.install("rival", {"fusers": {"rrf": "parts_for_config:Fus"}})
    with pytest.warns(PluginWarning, match="rival"):
        built = build({**leg(), "fuser": {"use": "rrf"}})
    assert type(built["fuser"]).__name__ == "RRF"


# PL-01
def test_a_broken_part_harms_only_the_configuration_that_names_it(site: Site) -> None:
    site.install(
        "broken", {"rerankers": {"broken": "broken_part:Part"}}, {"broken_part": "raise SystemExit\n"}
    )
    build({**leg(), "rerankers": {"fine": {"use": "rer"}}})
    with pytest.raises(PluginError, match="broken"):
        build({**leg(), "rerankers": {"bad": {"use": "broken"}}})


# Resources


def test_a_resource_is_one_instance_wherever_it_is_used() -> None:
    config = {
        "resources": {
            "words": {"use": "tok", "stem": "e"},
            "vectors": {"use": "emb", "size": 3, "tokenizer": "@words"},
        },
        "retrievers": {
            "a": {"use": "leg", "query_embedder": "@vectors", "tokenizer": "@words"},
            "b": {"use": "leg", "query_embedder": "@vectors"},
        },
    }
    legs = build(config)["retrievers"]
    embedder = legs["a"].given["query_embedder"]
    assert embedder is legs["b"].given["query_embedder"]
    assert embedder.given["tokenizer"] is legs["a"].given["tokenizer"]
    assert build(config)["retrievers"]["a"].given["query_embedder"] is not embedder


def test_a_whole_leg_can_be_a_resource() -> None:
    built = build({"resources": {"l": {"use": "leg"}}, "retrievers": {"a": "@l", "b": "@l"}})
    assert built["retrievers"]["a"] is built["retrievers"]["b"]


def test_an_unknown_resource() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown resource 'word'; did you mean 'words'\?") as caught:
        build({"resources": {"words": {"use": "tok"}}, **leg(tokenizer="@word", free="@words")})
    assert caught.value.where == "retrievers.a.tokenizer"


def test_an_error_inside_a_resource_has_the_path_of_the_resource() -> None:
    with pytest.raises(ConfigError) as caught:
        build({"resources": {"w": {"use": "tok", "stem": 3}}, **leg(tokenizer="@w")})
    assert caught.value.where == "resources.w.stem"


def test_a_resource_cannot_be_two_kinds() -> None:
    config = {"resources": {"w": {"use": "tok"}}, **leg(tokenizer="@w", query_embedder="@w")}
    with pytest.raises(ConfigError, match="used as tokenizer elsewhere and cannot be the embedder here"):
        build(config)


def test_a_resource_where_no_part_stands() -> None:
    with pytest.raises(ConfigError, match="'@w' names a part, but name of retriever 'leg' takes none"):
        build({"resources": {"w": {"use": "tok"}}, **leg(name="@w")})


@pytest.mark.parametrize("links", [{"x": "x"}, {"x": "y", "y": "x"}, {"x": "y", "y": "z", "z": "x"}])
@pytest.mark.parametrize("used", [True, False])
def test_resources_in_a_circle(links: dict[str, str], used: bool) -> None:
    resources = {name: {"use": "emb", "size": 1, "tokenizer": f"@{other}"} for name, other in links.items()}
    with pytest.raises(ConfigError, match="in a circle: @") as caught:
        build({"resources": resources, **leg(**({"query_embedder": "@x"} if used else {}))})
    assert caught.value.where.startswith("resources.")
    circle = str(caught.value).partition("circle: ")[2].replace("@", "").split(" → ")
    assert circle[0] == circle[-1]
    assert all(links[one] == next_one for one, next_one in pairwise(circle))


def test_many_resources_in_diamonds_are_no_problem() -> None:
    resources = {
        f"r{i}": {"use": "ensemble", "first": f"@r{i + 1}", "others": [f"@r{i + 1}"]} for i in range(40)
    }
    resources["r40"] = {"use": "leg"}
    build({"resources": resources, "retrievers": {"a": "@r0"}})


def test_a_resource_that_nothing_refers_to() -> None:
    with pytest.raises(ConfigError, match='nothing refers to it; put "@w"') as caught:
        build({"resources": {"w": {"use": "tok"}}, **leg()})
    assert caught.value.where == "resources.w"


@pytest.mark.parametrize("written", ["@wrods", "@tok"])
def test_a_misspelt_reference_comes_before_the_resource_that_it_leaves_unused(written: str) -> None:
    config = {"resources": {"words": {"use": "tok"}}, **leg(tokenizer=written)}
    with pytest.raises(UnknownNameError, match=f"unknown resource '{written[1:]}'.*'?words") as caught:
        build(config)
    assert caught.value.where == "retrievers.a.tokenizer"
    assert caught.value.known == ("words",)


def test_a_resource_that_only_an_ablation_uses() -> None:
    config = {
        "resources": {"w": {"use": "tok"}, "v": {"use": "tok"}},
        **leg(tokenizer="@v"),
        "ablations": {"other": {"retrievers.a.tokenizer": "@w"}},
    }
    assert given(config)["tokenizer"] is not None
    build(config, ablation="other")


def test_a_resource_is_a_part() -> None:
    with pytest.raises(ConfigError, match="a resource is a part") as caught:
        build({"resources": {"w": {"stem": "x"}}, **leg(tokenizer="@w")})
    assert caught.value.where == "resources.w"


# Ablations

VARIED = {
    "recall": 80,
    "resources": {"words": {"use": "tok"}},
    "retrievers": {
        "a": {"use": "leg", "on": True, "number": 2.0},
        "dense": {"use": "leg", "tokenizer": "@words"},
    },
    "fuser": {"use": "fus"},
    "rerankers": {"definition": {"use": "rer"}, "a.b": {"use": "rer"}},
    "validator": {"use": "val"},
}


def varied(**patches: Any) -> dict[str, Any]:
    return {**VARIED, "ablations": {"x": patches}}


def built_with(path: str, value: Any) -> dict[str, Any]:
    return build(varied(**{path: value}), ablation="x")


def test_names_of_ablations_in_the_order_of_the_file() -> None:
    assert ablations({"ablations": {"b": {}, "a": {}}}) == ("b", "a")
    assert ablations({}) == ()


def test_unknown_ablation() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown ablation 'no-dens'; did you mean 'no-dense'\?"):
        build({**leg(), "ablations": {"no-dense": {}}}, ablation="no-dens")
    with pytest.raises(UnknownNameError, match="there are none"):
        build(leg(), ablation="x")


def test_an_ablation_applies_only_when_it_is_asked_for() -> None:
    assert list(build(varied(**{"retrievers.dense": False}))["retrievers"]) == ["a", "dense"]
    assert list(built_with("retrievers.dense", False)["retrievers"]) == ["a"]


def leg_with(path: str, value: Any, name: str = "a") -> dict[str, Any]:
    options: dict[str, Any] = built_with(path, value)["retrievers"][name].given
    return options


def test_false_takes_out_but_sets_true_or_false_options() -> None:
    assert list(built_with("rerankers.definition", False)["rerankers"]) == ["a.b"]
    assert list(built_with("rerankers.a.b", False)["rerankers"]) == ["definition"]
    assert leg_with("retrievers.a.on", False)["on"] is False
    assert leg_with("retrievers.dense.on", False, "dense")["on"] is False
    assert leg_with("retrievers.a.number", False)["number"] == 1.5
    assert leg_with("retrievers.dense.tokenizer", False, "dense")["tokenizer"] is None
    assert "recall" not in built_with("recall", False)
    assert "rerankers" not in built_with("rerankers", False)
    for stage in ("validator", "normalizer", "fuser"):
        assert built_with(stage, False)[stage] is None


def test_values_are_replaced_and_added_below_parts() -> None:
    assert leg_with("retrievers.a.number", 9.0)["number"] == 9.0
    assert leg_with("retrievers.dense.count", 9, "dense")["count"] == 9
    assert leg_with("resources.words.stem", "x", "dense")["tokenizer"].given["stem"] == "x"
    assert leg_with("retrievers.a", {"use": "leg", "count": 8})["count"] == 8
    assert built_with("fuser.weights.a", 2.0)["fuser"].given["weights"] == {"a": 2.0}
    assert built_with("fuser.weights", {"a": 3.0})["fuser"].given["weights"] == {"a": 3.0}
    assert built_with("recall", 9)["recall"] == 9
    assert built_with("validate_depth", 9)["validate_depth"] == 9
    assert built_with("rerankers", {})["rerankers"] == {}
    assert built_with("rerankers.a.b.depth", 4)["rerankers"]["a.b"].given["depth"] == 4
    legs = {"only": {"use": "leg"}, "words": {"use": "leg", "tokenizer": "@words"}}
    assert list(built_with("retrievers", legs)["retrievers"]) == ["only", "words"]


def test_patches_apply_in_their_order() -> None:
    config = varied(**{"retrievers": {"z": {"use": "leg"}}, "retrievers.z.count": 4})
    assert build(config, ablation="x")["retrievers"]["z"].given["count"] == 4


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("retrievers.dens", False, r"unknown path 'retrievers\.dens'; did you mean 'retrievers\.dense'\?"),
        ("retrievers.dens", {"use": "leg"}, r"did you mean 'retrievers\.dense'\?"),
        ("retrievers.dens.count", 3, r"did you mean 'retrievers\.dense'\?"),
        ("retriever.dense", False, r"unknown path 'retriever'; did you mean 'retrievers'\?"),
        ("recal", 3, r"did you mean 'recall'\?"),
        ("rerankers.defs", False, "unknown path"),
        ("resources.word.stem", "x", r"did you mean 'resources\.words'\?"),
        ("retrievers..count", 3, "unknown path"),
        ("normalizer.use", "x", "unknown path 'normalizer'"),
        ("validator.x.y", 3, "unknown option of validator 'val': 'x'"),
        ("retrievers.a.cuont", 3, r"unknown option of retriever 'leg': 'cuont'; did you mean 'count'\?"),
    ],
)
def test_a_patch_of_what_does_not_exist(path: str, value: Any, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message) as caught:
        built_with(path, value)
    assert caught.value.where in (f'ablations.x."{path}"', f"ablations.x.{path}")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("retrievers.dense.tokenizer.stem", "x", "retrievers.dense.tokenizer is '@words'; there is nothing"),
        ("recall.x", 3, "recall is 80; there is nothing below it"),
        ("retrievers.a.count", "3", "'3'"),
        ("retrievers.a.count", {"use": "tok"}, "names a part"),
        ("retrievers", {"dense": False}, r'quote the path: "retrievers\.dense" = '),
        ("fuser", {"weights": {"a": 2.0}}, r'quote the path: "fuser\.weights" = '),
        ("recall", 2.5, "2.5"),
        ("resources", 3, "3 stands where a table is expected"),
    ],
)
def test_a_patch_that_does_not_fit(path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        built_with(path, value)
    assert caught.value.where in (f'ablations.x."{path}"', f"ablations.x.{path}")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("retrievers", False, "the pipeline needs retrievers"),
        ("resources.words", 3, "a resource is a part"),
        ("resources.words", False, "unknown resource 'words'"),
        ("resources.words.stem", "@words", "in a circle: @words → @words"),
    ],
)
def test_a_patch_that_breaks_something_else(path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        built_with(path, value)


def test_a_path_is_never_empty() -> None:
    with pytest.raises(ConfigError, match="non-empty string"):
        built_with("", 3)


def test_an_error_below_a_patch_has_the_path_of_the_ablation() -> None:
    with pytest.raises(ConfigError) as caught:
        built_with("retrievers.a", {"use": "leg", "weights": {"x": "heavy"}})
    assert caught.value.where == 'ablations.x."retrievers.a".weights'


def test_names_of_an_unknown_top_level_path_are_listed_once() -> None:
    with pytest.raises(UnknownNameError) as caught:
        built_with("zzz", 3)
    assert {"fuser", "rerankers", "resources", "normalizer"} <= set(caught.value.known)
    assert len(caught.value.known) == len(set(caught.value.known))


def weighted(weights: dict[str, float], patch: dict[str, Any], *, shared: bool = False) -> Pipeline:
    fuser = {"use": "rrf", "weights": weights}
    config = {
        "retrievers": {"bm25": {"use": "bm25"}, "dense": {"use": "dense"}},
        "fuser": "@f" if shared else fuser,
        "ablations": {"x": patch},
        **({"resources": {"f": fuser}} if shared else {}),
    }
    return Pipeline.from_config(config, ablation="x")


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "patch",
    [{"retrievers.dense": False}, {"retrievers": {"bm25": {"use": "bm25"}}}],
)
def test_with_a_leg_goes_its_weight(patch: dict[str, Any], shared: bool) -> None:
    made = weighted({"bm25": 1.5, "dense": 2.0}, patch, shared=shared)
    assert list(made.retrievers) == ["bm25"]
    assert isinstance(made.fuser, Weighted)
    assert dict(made.fuser.weights) == {"bm25": 1.5}


def test_a_weight_may_be_taken_out_with_its_leg() -> None:
    made = weighted({"dense": 2.0}, {"retrievers.dense": False, "fuser.weights.dense": False})
    assert isinstance(made.fuser, Weighted)
    assert not made.fuser.weights


@pytest.mark.parametrize("shared", [False, True])
def test_a_misspelt_weight_stays_an_error(shared: bool) -> None:
    with pytest.raises(UnknownNameError, match="unknown leg 'bm52'; did you mean 'bm25'") as caught:
        weighted({"bm52": 1.0, "dense": 2.0}, {"retrievers.dense": False}, shared=shared)
    assert caught.value.where == ("resources.f" if shared else "fuser") + ".weights.bm52"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("fuser.weights.dense", 3.0),
        ("fuser.weights", {"dense": 3.0}),
        ("fuser", {"use": "rrf", "weights": {"dense": 3.0}}),
    ],
)
def test_an_ablation_that_weights_the_leg_it_takes_out(path: str, value: Any) -> None:
    with pytest.raises(UnknownNameError, match="unknown leg 'dense'") as caught:
        weighted({"dense": 2.0}, {"retrievers.dense": False, path: value})
    assert caught.value.where.startswith("ablations.x.")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("recall", 0, "recall is 0; give 1 or more"),
        ("recall", -1, "recall is -1; give an int of 0 or more"),
        ("validate_depth", -1, "validate_depth is -1"),
    ],
)
def test_a_count_out_of_range_has_its_path(key: str, value: int, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{key}: {message}") as caught:
        build({**leg(), key: value})
    assert caught.value.where == key
    with pytest.raises(ConfigError) as caught:
        build({**leg(), "ablations": {"x": {key: value}}}, ablation="x")
    assert caught.value.where == f"ablations.x.{key}"


def test_an_ablation_may_leave_a_resource_unused() -> None:
    assert list(built_with("retrievers.dense", False)["retrievers"]) == ["a"]


def test_default_configurations_build() -> None:
    for name in ("code", "text"):
        assert "bm25" in build(default_config(name))["retrievers"]
    with pytest.raises(UnknownNameError, match=r"unknown default configuration 'cod'; did you mean 'code'\?"):
        default_config("cod")
