"""Pipelines to disk and back: configurations from parts, parts with and without a state, encodings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from hybridrank import (
    BM25,
    LSA,
    RRF,
    ConfigError,
    DefinitionFirst,
    Dense,
    Document,
    Filter,
    IndexFormatError,
    InvalidValueError,
    LineChunker,
    MismatchError,
    NotIndexedError,
    Pipeline,
    Query,
    QueryNormalizer,
    Ranking,
    Tokenizer,
    registry,
)
from hybridrank.registry import ComponentInfo
from hybridrank.store.describe import describe_pipeline
from stubs import Contains

DOCUMENTS = [
    Document("a", "alpha beta", path="a.py", name="alpha", kind="function", metadata={"team": 1}),
    Document("b", "beta gamma", path="b.py", metadata={"team": 2}),
    Document("c", "", path="c.md"),
]


@dataclass
class Stateful:
    """A leg that keeps a state: how often each document was counted."""

    factor: float = 1.0
    scores: Any = None
    documents: Sequence[Document] = ()
    bad: Mapping[str, Any] = field(default_factory=dict)

    def index(self, documents: Sequence[Document], /) -> Self:
        scores = np.arange(len(documents), dtype=np.float64)
        return type(self)(self.factor, scores, tuple(documents), self.bad)

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        scored = zip(self.documents, (self.scores * self.factor).tolist(), strict=True)
        return Ranking.from_scores(query, scored, source="stateful", k=k)

    def state(self) -> Mapping[str, Any]:
        return {"scores": self.scores, "note": "kept", **self.bad}

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        if state["note"] != "kept":
            raise ZeroDivisionError("what a plug-in may raise")
        return type(self)(self.factor, state["scores"], documents, self.bad)


@dataclass
class Constant:
    """An embedder without a state."""

    width: int = 2
    name: str = "constant"

    def embed(self, texts: Sequence[str], /, *, role: str) -> Any:
        return np.ones((len(texts), self.width), np.float32)

    def fingerprint(self) -> str:
        return self.name


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of this module, as an installed distribution would offer them."""
    sys.modules.setdefault("saved_parts", sys.modules[__name__])
    real = registry._scan
    mine = [
        ComponentInfo("retriever", "stateful", "mine", "1", "saved_parts:Stateful"),
        ComponentInfo("retriever", "contains", "mine", "1", "stubs:Contains"),
        ComponentInfo("embedder", "constant", "mine", "1", "saved_parts:Constant"),
    ]
    monkeypatch.setattr(registry, "_scan", lambda: [*real(), *mine])


def test_parts_are_described_by_name_and_attributes() -> None:
    pipeline = Pipeline(
        {
            "words": BM25(k1=2.0, tokenizer=Tokenizer(stem="english"), fields=("path", "text")),
            "dense": Dense(),
        },
        RRF(weights={"words": 2.0}),
        {"first": DefinitionFirst(depth=3)},
        normalizer=None,
        chunker=LineChunker(max_lines=5),
        recall=30,
        on_error="degrade",
    )
    config, ablation = describe_pipeline(pipeline)
    assert ablation is None
    assert json.loads(json.dumps(config)) == config
    assert config["retrievers"]["words"] == {
        "use": "bm25",
        "k1": 2.0,
        "b": 0.75,
        "tokenizer": {"use": "standard", "parts": True, "stem": "english"},
        "query_terms": "unique",
        "complete": False,
        "fields": ["path", "text"],
    }
    assert config["retrievers"]["dense"]["embedder"]["use"] == "lsa"
    assert config["normalizer"] is None
    again = Pipeline.from_config(config)
    assert repr(again) == repr(pipeline)
    assert (again.recall, again.on_error, again.chunker) == (30, "degrade", LineChunker(max_lines=5))
    assert isinstance(
        Pipeline.from_config(describe_pipeline(Pipeline([BM25()]))[0]).normalizer, QueryNormalizer
    )


def test_a_configuration_is_kept_as_it_was_given(tmp_path: Path) -> None:
    config = {
        "resources": {"words": {"use": "standard"}},
        "retrievers": {"bm25": {"use": "bm25", "tokenizer": "@words"}, "dense": {"use": "dense"}},
        "ablations": {"no-dense": {"retrievers.dense": False}},
    }
    pipeline = Pipeline.from_config(config, ablation="no-dense").index(DOCUMENTS)
    assert describe_pipeline(pipeline) == (config, "no-dense")
    pipeline.save(tmp_path / "index")
    assert list(Pipeline.load(tmp_path / "index").retrievers) == ["bm25"]
    changed, ablation = describe_pipeline(pipeline.with_(recall=7))
    assert (changed["recall"], ablation, "resources" in changed) == (7, None, False)


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (
            Pipeline({"mine": Contains()}),
            "mine: Contains.*no registered retriever; register it by an entry point",
        ),
        (
            Pipeline([BM25(tokenizer=str.split)]),
            r"bm25\.tokenizer: .*method_descriptor is no registered tokenizer",
        ),
        (Pipeline([Dense(Constant())]), r"dense\.embedder: Constant.* cannot be saved"),
    ],
)
def test_a_part_that_cannot_be_described_is_named(pipeline: Pipeline, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        pipeline.index(DOCUMENTS).save(tmp_path / "index")
    with pytest.raises(Exception, match="there is no index"):
        Pipeline.load(tmp_path / "index")


@dataclass
class Forgetful:
    """A leg that does not keep its option."""

    def __init__(self, width: int = 3) -> None:
        pass

    retrieve = Contains.retrieve


def test_an_option_that_is_no_attribute_is_named(registered: None, monkeypatch: pytest.MonkeyPatch) -> None:
    info = ComponentInfo("retriever", "forgetful", "mine", "1", "saved_parts:Forgetful")
    real = registry._scan
    monkeypatch.setattr(registry, "_scan", lambda: [*real(), info])
    with pytest.raises(ConfigError, match=r"leg: .*has no attribute 'width'; a part keeps its options"):
        describe_pipeline(Pipeline({"leg": Forgetful()}))


def test_a_part_without_a_state_is_indexed_again(registered: None, tmp_path: Path) -> None:
    pipeline = Pipeline({"contains": Contains(option=1), "bm25": BM25()}).index(DOCUMENTS)
    with pytest.raises(ConfigError, match=r"contains.documents: .*is no plain value"):
        pipeline.save(tmp_path / "index")  # its constructor takes what index() should keep elsewhere
    config = {"retrievers": {"contains": {"use": "contains", "option": 1}}}
    pipeline = Pipeline.from_config(config).index(DOCUMENTS)
    pipeline.save(tmp_path / "index")
    loaded = Pipeline.load(tmp_path / "index")
    assert loaded.search("beta").ids == pipeline.search("beta").ids == ("a", "b")


def test_a_part_with_a_state_of_its_own(registered: None, tmp_path: Path) -> None:
    config = {"retrievers": {"mine": {"use": "stateful", "factor": 2.0}}}
    pipeline = Pipeline.from_config(config).index(DOCUMENTS)
    pipeline.save(tmp_path / "index")
    loaded = Pipeline.load(tmp_path / "index").retrievers["mine"]
    assert isinstance(loaded, Stateful)
    assert isinstance(loaded.scores.base, np.memmap)
    assert [hit.score for hit in loaded.retrieve(Query("x"), k=3)] == [4.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"a/b": 1}, "its state has the key 'a/b'"),
        ({"value": object()}, "its state holds <object"),
        ({"value": float("nan")}, "its state holds nan"),
    ],
)
def test_a_state_that_cannot_be_kept(
    registered: None, tmp_path: Path, bad: dict[str, Any], message: str
) -> None:
    pipeline = Pipeline.from_config({"retrievers": {"mine": {"use": "stateful"}}})
    leg = Stateful(bad=bad)
    pipeline = pipeline.index(DOCUMENTS)
    pipeline.retrievers = {"mine": leg.index(DOCUMENTS)}
    with pytest.raises(ConfigError, match=f"mine: {message}"):
        pipeline.save(tmp_path / "index")


def test_whatever_restore_raises_is_a_damaged_index(registered: None, tmp_path: Path) -> None:
    pipeline = Pipeline.from_config({"retrievers": {"mine": {"use": "stateful"}}}).index(DOCUMENTS)
    pipeline.retrievers["mine"].bad = {"note": "other"}  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="what a plug-in may raise"):
        pipeline.save(tmp_path / "index")


def test_an_embedder_without_a_state_keeps_the_vectors(registered: None, tmp_path: Path) -> None:
    config = {"retrievers": {"dense": {"use": "dense", "embedder": {"use": "constant", "width": 3}}}}
    pipeline = Pipeline.from_config(config).index(DOCUMENTS)
    pipeline.save(tmp_path / "index")
    loaded = Pipeline.load(tmp_path / "index")
    assert loaded.search("x").ids == pipeline.search("x").ids == ("a", "b")
    assert loaded.fingerprint() == pipeline.fingerprint()


def test_another_model_is_a_mismatch(
    registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"retrievers": {"dense": {"use": "dense", "embedder": {"use": "constant"}}}}
    Pipeline.from_config(config).index(DOCUMENTS).save(tmp_path / "index")
    monkeypatch.setattr(Constant, "fingerprint", lambda _: "another model")
    with pytest.raises(MismatchError, match="index again"):
        Pipeline.load(tmp_path / "index")


def test_a_pipeline_without_documents_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(NotIndexedError, match="no documents yet"):
        Pipeline([BM25()]).save(tmp_path / "index")


def test_metadata_that_json_cannot_hold(tmp_path: Path) -> None:
    for value in ((1, 2), {1: 2}, {1, 2}, b"bytes", np.float64(1.0)):
        documents = [Document("a", "alpha", metadata={"key": value})]
        with pytest.raises(InvalidValueError, match="document 'a'"):
            Pipeline([BM25()]).index(documents).save(tmp_path / "index")


def test_a_loaded_pipeline_goes_on_as_any_other(tmp_path: Path) -> None:
    pipeline = Pipeline({"bm25": BM25(), "dense": Dense(LSA(dimensions=2))}, None, [DefinitionFirst()])
    pipeline = pipeline.index(DOCUMENTS)
    pipeline.save(tmp_path / "index")
    loaded = Pipeline.load(tmp_path / "index")
    more = Document("d", "delta alpha")
    assert loaded.add([more]).fingerprint() == pipeline.add([more]).fingerprint()
    assert loaded.remove(["a"]).fingerprint() == pipeline.remove(["a"]).fingerprint()
    with pytest.raises(InvalidValueError, match="no document with id 'x'"):
        loaded.remove(["x"])
    swapped = loaded.with_(retrievers={"bm25": BM25(k1=0.5)})
    assert swapped.fingerprint() == pipeline.with_(retrievers={"bm25": BM25(k1=0.5)}).fingerprint()
    for where in (
        Filter(path="*.py"),
        Filter(metadata={"team": 2}),
        Filter(kind="function"),
        Filter(path="x/"),
    ):
        ours, theirs = loaded.search("beta", where=where), pipeline.search("beta", where=where)
        assert [(hit.document, hit.score) for hit in ours] == [(hit.document, hit.score) for hit in theirs]
    assert (
        loaded.search("beta", explain=True).explanations == pipeline.search("beta", explain=True).explanations
    )
    assert loaded.without("dense").search("beta").ids == pipeline.without("dense").search("beta").ids
    assert [document.id for document in loaded.documents or ()] == ["a", "b", "c"]
    assert (loaded.documents or ())[0:2] == tuple(DOCUMENTS[:2])
    assert (loaded.documents or ())[-1] == DOCUMENTS[2]


def test_documents_that_are_damaged_are_an_error_when_met(tmp_path: Path) -> None:
    from hybridrank.store import layout

    Pipeline([BM25()]).index(DOCUMENTS).save(tmp_path / "index")
    entry = layout.read(tmp_path / "index").manifest["arrays"]["documents.heads"]
    file = tmp_path / "index/data" / entry["file"]
    file.write_bytes(file.read_bytes().replace(b'["a"', b'"a["'))
    with pytest.raises(IndexFormatError, match="document 0 of the index is damaged"):
        list(Pipeline.load(tmp_path / "index").documents or ())


ROUND_TRIP = """
    import sys
    from pathlib import Path
    from hybridrank import BM25, Dense, Document, LSA, Pipeline

    place = sys.argv[1]
    texts = ["caf\\u00e9 \\u6771\\u4eac", "na\\u00efve \\u03a9mega", "plain"]
    documents = [Document(f"\\u00e9{number}", text) for number, text in enumerate(texts)]
    pipeline = Pipeline({"bm25": BM25(), "dense": Dense(LSA(dimensions=2))}).index(documents)
    if len(sys.argv) > 2:
        pipeline.save(place)
    loaded = Pipeline.load(place)
    assert loaded.documents == pipeline.documents
    for query in ("caf\\u00e9", "\\u6771\\u4eac", "\\u03a9mega"):
        ours = [(hit.id, hit.score) for hit in loaded.search(query)]
        assert ours and ours == [(hit.id, hit.score) for hit in pipeline.search(query)]
    root = Path(place).parent / "root"
    if len(sys.argv) > 2:
        root.mkdir()
        (root / "a.py").write_text("def caf\\u00e9(): pass\\n", encoding="utf-8")
    found = Pipeline.for_code(root, index=Path(place).parent / "code")
    assert [hit.document.path for hit in found.search("caf\\u00e9")] == ["a.py"]
"""


# BM-10
@pytest.mark.parametrize("writer", ["plain", "utf-8"])
def test_no_locale_gets_into_the_files(tmp_path: Path, writer: str) -> None:
    """Written under one locale, read under another."""
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    utf8 = {"PYTHONUTF8": "1"}
    first, second = (plain, utf8) if writer == "plain" else (utf8, plain)
    for environment, more in ((first, ["write"]), (second, [])):
        arguments = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning:hybridrank", "-c"]
        ran = subprocess.run(
            [sys.executable, *arguments, textwrap.dedent(ROUND_TRIP), str(tmp_path / "index"), *more],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
