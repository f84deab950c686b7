"""What is kept on disk is what was there, and an index that follows its files is one made afresh."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridrank import (
    BM25,
    LSA,
    RRF,
    DefinitionFirst,
    Dense,
    Document,
    Pipeline,
    Query,
    SymbolRetriever,
    SymbolTable,
    Tokenizer,
)
from hybridrank.store.documents import StoredDocuments
from hybridrank.store.opening import Opened, open_index
from hybridrank.store.sources import CodeSource, RecordSource
from hybridrank.testing import strategies
from hybridrank.text.strings import Blob, Strings
from hybridrank.types import tie_key

CONFIG: dict[str, Any] = {
    "retrievers": {
        "bm25": {"use": "bm25", "fields": ["path", "qualified_name", "text"]},
        "dense": {"use": "dense", "embedder": {"use": "lsa", "dimensions": 4}},
        "symbol": {"use": "symbol"},
    },
    "rerankers": {"definition": {"use": "definition"}},
}
LINES = (
    "def open_ledger(path):",
    "    return read(path)",
    "class Ledger:",
    "    def balance(self): ...",
    "# café 血糖與脫水",
    "",
    "value = open_ledger('x')",
)
NAMES = ("a.py", "b.py", "sub/c.py", "sub/d.txt", "连.md")
wide_texts = st.text(st.characters(), max_size=12)


@contextmanager
def folder() -> Iterator[Path]:
    # In memory where there is such a place: waiting for a disk is most of the time that writing takes.
    memory = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(prefix="hybridrank-", dir=memory if memory.is_dir() else None))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def answers(pipeline: Pipeline, queries: Sequence[Query]) -> list[Any]:
    found = []
    for query in queries:
        result = pipeline.search(query, k=9, explain=True)
        hits = [(hit.document, hit.score, dict(hit.components)) for hit in result]
        found.append((hits, result.events, result.explanations))
    return found


def pipelines() -> st.SearchStrategy[Pipeline]:
    tokenizers = st.sampled_from((Tokenizer(), Tokenizer(parts=False), Tokenizer(stem="english")))
    bm25 = st.builds(
        BM25,
        k1=st.sampled_from((0.5, 1.2)),
        tokenizer=tokenizers,
        complete=st.booleans(),
        fields=st.sampled_from((("text",), ("path", "text"))),
    )
    dense = st.builds(Dense, st.builds(LSA, dimensions=st.integers(1, 4), tokenizer=tokenizers))
    composed = st.builds(
        lambda one, other, k, recall: Pipeline(
            {"words": one, "dense": other}, RRF(rrf_k=k), [DefinitionFirst()], recall=recall
        ),
        bm25,
        dense,
        st.integers(0, 60),
        st.integers(9, 20),
    )
    return st.one_of(composed, st.just(CONFIG).map(Pipeline.from_config))


@settings(max_examples=30)
@given(pipelines(), strategies.corpora(), st.lists(strategies.queries(), max_size=3))
def test_a_saved_pipeline_is_loaded_as_it_was(
    pipeline: Pipeline, documents: tuple[Document, ...], queries: list[Query]
) -> None:
    indexed = pipeline.index(documents)
    with folder() as directory:
        indexed.save(directory / "index")
        loaded = Pipeline.load(directory / "index")
        assert loaded.documents == indexed.documents
        assert loaded.fingerprint() == indexed.fingerprint()
        assert repr(loaded) == repr(indexed)
        assert answers(loaded, queries) == answers(indexed, queries)
        loaded.save(directory / "again")
        assert Pipeline.load(directory / "again").fingerprint() == indexed.fingerprint()


@given(
    st.lists(
        st.builds(
            Document,
            id=st.text(st.characters(), min_size=1, max_size=4),
            text=strategies.texts(surrogates=True),
            path=wide_texts,
            name=wide_texts,
            metadata=st.dictionaries(
                wide_texts,
                st.recursive(
                    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | wide_texts,
                    lambda inner: (
                        st.lists(inner, max_size=3) | st.dictionaries(wide_texts, inner, max_size=3)
                    ),
                    max_leaves=4,
                ),
                max_size=3,
            ),
        ),
        unique_by=lambda document: document.id,
        max_size=8,
    ),
    st.data(),
)
def test_documents_are_kept_whole_and_found_by_id(documents: list[Document], data: st.DataObject) -> None:
    stored = StoredDocuments.of(documents)
    ordered = sorted(documents, key=tie_key)
    assert list(stored) == ordered == [stored[place] for place in range(len(stored))]
    assert [type(one.metadata) for one in stored] == [type(one.metadata) for one in ordered]
    assert [stored.find(document.id) for document in ordered] == list(range(len(ordered)))
    assert stored.find("no such id") == -1
    kept = data.draw(st.sets(st.sampled_from(range(len(ordered))))) if ordered else set()
    rest = [document for place, document in enumerate(ordered) if place not in kept]
    merged, places = stored.merged(np.array(sorted(kept), np.int64), rest)
    assert list(merged) == ordered
    assert [int(place) if place >= 0 else None for place in places] == [
        place if place in kept else None for place in range(len(ordered))
    ]
    assert merged.digest == stored.digest


@given(st.sets(st.text(st.characters(), max_size=3)), st.text(st.characters(), max_size=3))
def test_sorted_strings_are_found(strings: set[str], other: str) -> None:
    ordered = sorted(strings)
    kept = Strings.of(ordered)
    assert list(kept) == ordered
    assert [kept.find(string) for string in ordered] == list(range(len(ordered)))
    assert (other in kept.places) == (other in strings)
    assert kept.places.get(other, -1) == (ordered.index(other) if other in strings else -1)


@given(st.lists(st.binary(max_size=3)), st.lists(st.binary(max_size=3)), st.data())
def test_chosen_byte_strings(ours: list[bytes], theirs: list[bytes], data: st.DataObject) -> None:
    pool = [*range(len(ours)), *(-1 - place for place in range(len(theirs)))]
    places = data.draw(st.lists(st.sampled_from(pool))) if pool else []
    chosen = Blob.of(ours).chosen(np.array(places, np.int64), Blob.of(theirs))
    assert list(chosen) == [ours[place] if place >= 0 else theirs[-1 - place] for place in places]


edits = st.lists(
    st.tuples(
        st.sampled_from(("write", "write", "append", "remove", "rename", "touch")),
        st.sampled_from(NAMES),
        st.lists(st.sampled_from(LINES), max_size=6),
    ),
    min_size=1,
    max_size=3,
)


def apply(root: Path, edit: tuple[str, str, list[str]]) -> None:
    what, name, lines = edit
    file, text = root / name, "\n".join(lines)
    file.parent.mkdir(exist_ok=True)
    if what == "write":
        file.write_text(text, encoding="utf-8")
    elif what == "append":
        with file.open("a", encoding="utf-8") as opened:
            opened.write("\n" + text)
    elif file.exists() and what == "remove":
        file.unlink()
    elif file.exists() and what == "rename":
        file.replace(root / "renamed.py")
    elif file.exists():
        os.utime(file)


@settings(max_examples=20)
@given(st.lists(edits, min_size=2, max_size=4), st.booleans())
def test_an_index_that_follows_its_files_is_a_fresh_one(rounds: list[list[Any]], refit: bool) -> None:
    with folder() as above:
        root = above / "root"
        root.mkdir()
        for round in rounds:
            for edit in round:
                apply(root, edit)
            opened = followed(root, above / "index", refit)
            assert not [note for note in opened.notes if "anew:" in note]
        fresh = Pipeline.for_code(root, config=CONFIG)
        loaded = Pipeline.load(above / "index")
        for pipeline in (opened.pipeline, loaded):
            assert pipeline.documents == fresh.documents
            assert pipeline.corpus is not None
            assert fresh.corpus is not None
            for told in ("root", "files", "skipped", "notes"):
                assert getattr(pipeline.corpus, told) == getattr(fresh.corpus, told)
            same_bm25(leg(pipeline), leg(fresh))
            assert list(pipeline.symbols) == list(fresh.symbols)
            assert rows(pipeline.symbols) == rows(fresh.symbols)
            assert names_of(pipeline).fingerprint() == names_of(fresh).fingerprint()
            pipeline.close()
            if refit:
                assert pipeline.fingerprint() == fresh.fingerprint()
        queries = [Query("open_ledger"), Query("Ledger balance"), Query("脫水"), Query("renamed value")]
        words = [pipeline.without("dense") for pipeline in (opened.pipeline, loaded, fresh)]
        assert answers(words[0], queries) == answers(words[1], queries) == answers(words[2], queries)


def followed(root: Path, directory: Path, refit: bool) -> Opened[Pipeline]:
    return open_index(CodeSource(root), directory, Pipeline, config=CONFIG, refit=refit)


def rows(symbols: SymbolTable) -> list[Any]:
    """What the database holds, whatever the order in which it was written."""
    database = sqlite3.connect(":memory:")
    database.deserialize(symbols.data.tobytes())
    found = sorted(database.execute("SELECT * FROM symbols").fetchall(), key=repr)
    database.close()
    return found


def leg(pipeline: Pipeline) -> BM25:
    found = pipeline.retrievers["bm25"]
    assert isinstance(found, BM25)
    return found


def names_of(pipeline: Pipeline) -> SymbolRetriever:
    found = pipeline.retrievers["symbol"]
    assert isinstance(found, SymbolRetriever)
    return found


def same_bm25(one: BM25, other: BM25) -> None:
    """Every array and number is the same to the bit; fingerprints are made of them."""
    assert one.fingerprint() == other.fingerprint()
    ours, theirs = one.state(), other.state()
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if isinstance(value, np.ndarray):
            assert ours[name].dtype == value.dtype
            assert ours[name].tobytes() == value.tobytes()
        else:
            assert ours[name] == value


records = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(("alpha beta", "gamma", "alpha alpha 血糖", ""))), max_size=6
)


@settings(max_examples=15)
@given(st.lists(records, min_size=2, max_size=3))
def test_an_index_of_records_follows_its_file(rounds: list[list[tuple[int, str]]]) -> None:
    import json

    config = {"retrievers": {"bm25": {"use": "bm25"}}}
    with folder() as above:
        file = above / "records.jsonl"
        for number, lines in enumerate(rounds):
            rows = [json.dumps({"id": id, "body": {"text": text}, "n": number % 2}) for id, text in lines]
            file.write_text("\n".join(rows), encoding="utf-8")
            source = RecordSource(file, "id", "body.text")
            opened = open_index(source, above / "index", Pipeline, config=config)
        fresh = open_index(source, above / "fresh", Pipeline, config=config)
        assert opened.pipeline.documents == fresh.pipeline.documents
        same_bm25(leg(opened.pipeline), leg(fresh.pipeline))


# BM-14: means and frequencies after documents came one by one
def test_bm25_that_grew_has_the_mean_of_all() -> None:
    texts = ("a b c q", "q", "z")
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    grown = BM25().index(StoredDocuments.of(documents[:1]))
    for count in (2, 3):
        ordered = StoredDocuments.of(documents[:count])
        grown = grown.update(ordered, np.array([*range(count - 1), -1]))
    assert grown.average_length == 2.0
    assert grown.scores(["q"]).tolist() == pytest.approx([0.151614 * 2.2, 0.268574 * 2.2, 0], abs=1e-5)
    same_bm25(grown, BM25().index(documents))
