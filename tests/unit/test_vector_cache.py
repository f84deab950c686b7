"""Vectors on disk: what is kept, and what becomes of files that are damaged, foreign or out of reach."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hybridrank.embedders import vector_cache
from hybridrank.embedders.vector_cache import Cached, VectorCache, key_of, vector_directory

ONE = np.array([1.0, -2.5], np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache("digest", tmp_path / "vectors")


def test_what_is_put_can_be_got(cache: VectorCache) -> None:
    keys = [key_of(str(n)) for n in range(1200)]
    assert cache.get(keys) == {}
    cache.put({key: Cached(ONE * n, n or None) for n, key in enumerate(keys[:1100])})
    found = VectorCache("digest", cache.path.parent).get(keys)
    assert set(found) == set(keys[:1100])
    assert (found[keys[7]].vector == ONE * 7).all()
    assert (found[keys[7]].kept, found[keys[0]].kept) == (7, None)
    assert found[keys[7]].vector.dtype == np.float32
    assert VectorCache("other", cache.path.parent).get(keys) == {}


def test_keys_differ_by_all_that_matters() -> None:
    how = [
        ("a", "query", "p"),
        ("a", "document", "p"),
        ("a", "query", ""),
        ("b", "query", "p"),
        ("ap", "query", ""),
    ]
    assert len({key_of(text, *rest) for text, *rest in how}) == len(how)
    assert key_of("a\ud800", "query") == key_of("a\ud800", "query")


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"x" * 5000, b"\0" * 4096])
def test_a_damaged_file_is_put_aside(
    cache: VectorCache, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cache.path.parent.mkdir()
    cache.path.write_bytes(content)
    assert cache.get([b"k"]) == {}
    assert "put aside" in caplog.text
    cache.put({b"k": Cached(ONE)})
    assert (cache.get([b"k"])[b"k"].vector == ONE).all()
    assert cache.path.with_suffix(".aside").read_bytes() == content


def test_a_changed_bit_is_no_vector(cache: VectorCache) -> None:
    cache.put({b"k": Cached(ONE), b"l": Cached(ONE)})
    with closing(sqlite3.connect(cache.path)) as database, database:
        database.execute("UPDATE vectors SET vector = x'0000803f000020c000000000' WHERE key = ?", (b"k",))
    assert set(cache.get([b"k", b"l"])) == {b"l"}


def test_a_newer_file_is_left_alone(cache: VectorCache, caplog: pytest.LogCaptureFixture) -> None:
    cache.put({b"k": Cached(ONE)})
    with closing(sqlite3.connect(cache.path)) as database, database:
        database.execute("PRAGMA user_version = 99")
    before = cache.path.read_bytes()
    assert cache.get([b"k"]) == {}
    cache.put({b"l": Cached(ONE)})
    assert cache.path.read_bytes() == before
    assert caplog.text.count("it has version 99, this program reads 1; going on without it") == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    cache = VectorCache("digest", tmp_path / "file" / "vectors")
    cache.put({b"k": Cached(ONE)})
    assert cache.get([b"k"]) == {}
    assert "going on without it" in caplog.text


def test_several_threads_at_once(cache: VectorCache) -> None:
    def fill(name: bytes) -> None:
        for n in range(10):
            cache.put({name + bytes([n]): Cached(ONE)})

    threads = [threading.Thread(target=fill, args=(name,)) for name in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache.get([name + bytes([n]) for name in (b"a", b"b") for n in range(10)])) == 20


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path))
    assert vector_directory() == tmp_path / "vectors"
    monkeypatch.delenv("HYBRIDRANK_CACHE")
    assert vector_directory().name == "vectors"
    assert vector_cache.VectorCache("d").path.parent == vector_directory()
