"""An index of source files: what is opened, read again, kept, and why something is built anew."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridrank import BM25, Dense, InvalidValueError, Pipeline
from hybridrank.code import corpus as corpus_module
from hybridrank.store import files, layout
from hybridrank.store.opening import Opened, open_index
from hybridrank.store.places import index_directory
from hybridrank.store.sources import CodeSource

BM25_ONLY: dict[str, Any] = {"retrievers": {"bm25": {"use": "bm25", "fields": ["path", "text"]}}}
BOTH: dict[str, Any] = {
    "retrievers": {
        **BM25_ONLY["retrievers"],
        "dense": {"use": "dense", "embedder": {"use": "lsa", "dimensions": 4}},
    }
}
Open = Callable[..., Opened[Pipeline]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    (made / "sub").mkdir(parents=True)
    (made / "a.py").write_text("def alpha():\n    return 1\n\n\ndef beta():\n    return alpha()\n")
    (made / "sub/b.py").write_text("def gamma():\n    return 2\n")
    (made / "picture.bin").write_bytes(b"\0\1\2")
    return made


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files were written long ago, as seen from the build."""
    monkeypatch.setattr(files, "clock", lambda: time.time_ns() + 10 * files.RACY_NS)


@pytest.fixture
def opened(tmp_path: Path, root: Path, later: None) -> Open:
    def call(**options: Any) -> Opened[Pipeline]:
        options = {"config": BM25_ONLY, **options}
        source = CodeSource(root, options.pop("max_bytes", 1_000_000))
        return open_index(source, tmp_path / "index", options.pop("kind", Pipeline), **options)

    return call


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of files that are cut into documents."""
    seen: list[str] = []
    real = corpus_module.chunk_bytes

    def chunk(path: str, *args: Any, **options: Any) -> Any:
        seen.append(path)
        return real(path, *args, **options)

    monkeypatch.setattr(files, "chunk_bytes", chunk)
    return seen


@pytest.fixture
def tokenised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that BM25 tokenises."""
    from hybridrank.retrievers import bm25
    from hybridrank.text.counts import count_terms as real

    seen: list[str] = []

    def count(texts: Any, tokenizer: Any) -> Any:
        seen.extend(texts)
        return real(texts, tokenizer)

    monkeypatch.setattr(bm25, "count_terms", count)
    return seen


def test_the_first_run_reads_all_the_second_nothing(opened: Open, read: list[str], root: Path) -> None:
    first = opened()
    assert (first.outcome, first.changes.added) == ("built", ("a.py", "picture.bin", "sub/b.py"))
    assert read == ["a.py", "picture.bin", "sub/b.py"]
    read.clear()
    second = opened()
    assert (second.outcome, read, bool(second.changes)) == ("unchanged", [], False)
    assert second.pipeline.fingerprint() == first.pipeline.fingerprint()
    assert second.pipeline.corpus is not None
    assert second.pipeline.corpus.skipped == first.pipeline.corpus.skipped  # type: ignore[union-attr]
    assert {path.name for path in root.rglob("*")} == {"a.py", "b.py", "picture.bin", "sub"}


AUDITED = """
    import sys, time
    from hybridrank import Pipeline
    from hybridrank.store import files

    root, index = sys.argv[1:3]
    files.clock = lambda: time.time_ns() + 10 * files.RACY_NS
    seen, on = [], False

    def hook(event, args):
        if on and event == "open" and str(args[0]).startswith(root + "/"):
            seen.append(args[0])

    sys.addaudithook(hook)
    on = True
    started = time.perf_counter()
    Pipeline.for_code(root, index=index)
    first = time.perf_counter() - started
    assert seen, "the hook sees nothing"
    seen.clear()
    started = time.perf_counter()
    pipeline = Pipeline.for_code(root, index=index)
    second = time.perf_counter() - started
    on = False
    print(len(pipeline.documents), seen, first, second)
"""


def test_an_unchanged_tree_is_not_opened(tmp_path: Path) -> None:
    """Twice over a real package; listing folders is no opening of files."""
    import httpx

    root = Path(httpx.__file__).parent
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AUDITED), str(root), str(tmp_path / "index")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    count, seen, *_ = ran.stdout.split(" ", 2)
    assert int(count) > 100
    assert seen == "[]"


def test_a_changed_file_alone_is_cut_and_tokenised(
    opened: Open, read: list[str], tokenised: list[str], root: Path
) -> None:
    opened()
    (root / "sub/b.py").write_text("def delta():\n    return 3\n")
    read.clear()
    tokenised.clear()
    again = opened()
    assert (again.outcome, again.changes.changed, read) == ("updated", ("sub/b.py",), ["sub/b.py"])
    assert tokenised == ["sub/b.py\ndef delta():\n    return 3"]
    assert again.pipeline.search("delta").ids == ("sub/b.py:1-2",)
    assert not again.pipeline.search("gamma").ids


def test_removed_and_renamed_files_vanish(opened: Open, root: Path) -> None:
    opened()
    (root / "a.py").rename(root / "z.py")
    (root / "sub/b.py").unlink()
    again = opened()
    assert (again.changes.added, again.changes.removed) == (("z.py",), ("a.py", "sub/b.py"))
    assert {document.path for document in again.pipeline.documents or ()} == {"z.py"}


def test_a_touched_file_is_hashed_but_not_cut(opened: Open, read: list[str], root: Path) -> None:
    opened()
    read.clear()
    os.utime(root / "a.py")
    again = opened()
    assert (again.outcome, read) == ("unchanged", [])
    table = files.unpacked_table(opening_json(again, "table"))
    assert table["a.py"].mtime_ns == (root / "a.py").stat().st_mtime_ns


def opening_json(opened: Opened[Pipeline], name: str) -> Any:
    from hybridrank.store.saving import unpacked_json

    return unpacked_json(layout.read(opened.directory).arrays[name])


def test_a_change_that_leaves_size_and_mtime_is_seen(opened: Open, root: Path) -> None:
    """By the time of the inode's change, which nobody can set, and by the inode."""
    opened()
    file = root / "sub/b.py"
    before = file.stat()
    file.write_text("def omega():\n    return 2\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert opened().changes.changed == ("sub/b.py",)
    other = root.parent / "other.py"
    other.write_text("def theta():\n    return 2\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)
    assert opened().pipeline.search("theta").ids == ("sub/b.py:1-2",)


def test_files_that_changed_just_before_are_hashed_again(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within one tick of the file system's clock leaves every time as it was."""
    hashed: list[str] = []
    real = files._digest

    def digest(data: bytes) -> str:
        hashed.append(str(data))
        return real(data)

    monkeypatch.setattr(files, "_digest", digest)
    newest = max(path.stat().st_ctime_ns for path in root.rglob("*"))

    def run(after: int) -> str:
        hashed.clear()
        monkeypatch.setattr(files, "clock", lambda: newest + after)
        return open_index(CodeSource(root), tmp_path / "index", Pipeline, config=BM25_ONLY).outcome

    assert run(files.RACY_NS // 2) == "built"
    for entry in files.unpacked_table(
        opening_json(Opened(Pipeline([BM25()]), tmp_path / "index", "built"), "table")
    ).values():
        assert entry.racy
    assert (run(files.RACY_NS // 2), len(hashed)) == ("unchanged", 3)
    assert (run(files.RACY_NS + 1), len(hashed)) == ("unchanged", 3)
    assert (run(files.RACY_NS + 2), len(hashed)) == ("unchanged", 0)


def test_a_change_within_one_tick_is_found(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> Opened[Pipeline]:
        return open_index(CodeSource(root), tmp_path / "index", Pipeline, config=BM25_ONLY)

    seen = (root / "a.py").stat()
    run()
    (root / "a.py").write_text((root / "a.py").read_text().replace("alpha", "omega"))
    identity = files._identity
    monkeypatch.setattr(files, "_identity", lambda _: identity(seen))  # as if no time had passed
    assert "a.py" in run().changes.changed


def test_new_skipped_files_are_told_without_a_new_index(opened: Open, root: Path, read: list[str]) -> None:
    opened()
    generation = layout.read(opened().directory).manifest["generation"]
    (root / "large.py").write_text("x = 1\n" * 200_000)
    again = opened()
    assert again.outcome == "unchanged"
    assert again.pipeline.corpus is not None
    assert [item.path for item in again.pipeline.corpus.skipped] == ["large.py", "picture.bin"]
    stored = layout.read(again.directory)
    assert stored.manifest["generation"] == generation + 1
    assert stored.manifest["arrays"]["documents.texts"]["file"].startswith("000001-")
    assert opened().outcome == "unchanged"
    assert layout.read(again.directory).manifest["generation"] == generation + 1


def test_a_larger_limit_reads_what_was_too_large(opened: Open, root: Path, read: list[str]) -> None:
    (root / "large.py").write_text("value = 1\n" * 20)
    opened(max_bytes=100)
    read.clear()
    again = opened(max_bytes=1000)
    assert (again.outcome, again.changes.added, read) == ("updated", ("large.py",), ["large.py"])
    assert opened(max_bytes=100).changes.removed == ("large.py",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_is_tried_again(opened: Open, root: Path) -> None:
    (root / "a.py").chmod(0)
    assert "unreadable" in opened().pipeline.corpus.skipped[0].reason  # type: ignore[union-attr]
    assert opened().outcome == "unchanged"
    (root / "a.py").chmod(0o600)
    assert opened().changes.changed == ("a.py",)


def test_a_file_that_cannot_be_opened_is_tried_again(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.open

    def refuse(path: Path, *args: Any, **options: Any) -> Any:
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    first = opened()
    assert [tuple(item) for item in first.pipeline.corpus.skipped][0] == (  # type: ignore[union-attr]  # noqa: RUF015
        "a.py",
        "unreadable: Permission denied",
    )
    assert opened().outcome == "unchanged"
    monkeypatch.undo()
    monkeypatch.setattr(files, "clock", lambda: time.time_ns() + 10 * files.RACY_NS)
    assert opened().changes.changed == ("a.py",)


def test_other_options_rebuild_what_they_touch(opened: Open, read: list[str], tokenised: list[str]) -> None:
    opened(config=BOTH)
    read.clear()
    tokenised.clear()
    other = {"retrievers": {**BOTH["retrievers"], "bm25": {"use": "bm25", "k1": 2.0}}}
    again = opened(config=other)
    assert again.notes == ("bm25 was indexed anew: its options changed",)
    assert (again.outcome, read, len(tokenised)) == ("updated", [], 3)
    stored = layout.read(again.directory).manifest["arrays"]
    assert stored["part1.vectors"]["file"].startswith("000001-")
    assert stored["part0.impacts"]["file"].startswith("000002-")
    weights = {**other, "fuser": {"use": "rrf", "weights": {"bm25": 2.0}}}
    tokenised.clear()
    again = opened(config=weights)
    assert (again.notes, read, tokenised) == ((), [], [])
    assert layout.read(again.directory).manifest["config"] == weights
    assert opened(config=weights).outcome == "unchanged"


def test_another_tokenizer_rebuilds_its_part(opened: Open) -> None:
    opened()
    stemmed = {"retrievers": {"bm25": {"use": "bm25", "tokenizer": {"use": "standard", "stem": "english"}}}}
    assert opened(config=stemmed).notes == ("bm25 was indexed anew: its options changed",)


def test_another_chunker_reads_everything_anew(opened: Open, read: list[str]) -> None:
    opened()
    read.clear()
    again = opened(config={**BM25_ONLY, "chunker": {"use": "lines", "max_lines": 1}})
    assert (again.outcome, len(read)) == ("built", 3)
    assert "another chunker" in again.notes[0]
    assert all(document.kind == "lines" for document in again.pipeline.documents or ())


def test_another_version_reads_everything_anew(
    opened: Open, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened()
    read.clear()
    monkeypatch.setattr("hybridrank.store.sources.__version__", "99.0")
    assert (opened().outcome, len(read)) == ("built", 3)


def test_a_grammar_that_was_installed_reads_everything_anew(
    opened: Open, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hybridrank.store.sources.find_spec", lambda _: None)
    opened()
    monkeypatch.undo()
    monkeypatch.setattr(files, "clock", lambda: time.time_ns() + 10 * files.RACY_NS)
    assert opened().outcome == "built"


def dense(opened: Opened[Pipeline]) -> Dense:
    leg = opened.pipeline.retrievers["dense"]
    assert isinstance(leg, Dense)
    return leg


def test_lsa_lags_until_a_tenth_has_changed(opened: Open, root: Path) -> None:
    for number in range(20):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return alpha + {number}\n")
    fitted = dense(opened(config=BOTH)).embedder.fingerprint()  # type: ignore[attr-defined]
    documents = 23
    for number in range(2):
        (root / f"m{number}.py").write_text(f"def g{number}():\n    return beta + {number}\n")
        leg = dense(opened(config=BOTH))
        assert (leg.lag, leg.embedder.fingerprint()) == (number + 1, fitted)  # type: ignore[attr-defined]
        assert leg.lag <= 0.1 * documents
        assert leg.retrieve(query("beta"), k=30).ids
    (root / "m2.py").write_text("def g2():\n    return gamma\n")
    leg = dense(opened(config=BOTH))
    assert leg.lag == 0
    assert leg.embedder.fingerprint() != fitted  # type: ignore[attr-defined]
    fresh = Pipeline.for_code(root, config=BOTH)
    assert leg.fingerprint() == fresh.retrievers["dense"].fingerprint()  # type: ignore[attr-defined]


def query(text: str) -> Any:
    from hybridrank import Query

    return Query(text)


def test_refit_makes_lsa_fresh(opened: Open, root: Path) -> None:
    for number in range(20):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return alpha + {number}\n")
    opened(config=BOTH)
    (root / "m3.py").write_text("def h():\n    return beta\n")
    assert dense(opened(config=BOTH)).lag == 1
    refitted = opened(config=BOTH, refit=True)
    assert refitted.notes == ("dense was fitted anew",)
    assert refitted.pipeline.fingerprint() == Pipeline.for_code(root, config=BOTH).fingerprint()
    assert Pipeline.load(refitted.directory).fingerprint() == refitted.pipeline.fingerprint()
    assert opened(config=BOTH, refit=True).outcome == "unchanged"


def test_a_damaged_index_is_built_anew_with_a_note(opened: Open, read: list[str], root: Path) -> None:
    first = opened()
    entry = layout.read(first.directory).manifest["arrays"]["documents.heads"]
    file = first.directory / "data" / entry["file"]
    file.write_bytes(file.read_bytes()[:-1])
    again = opened()
    assert again.outcome == "built"
    assert "built anew: the index in" in again.notes[0]
    assert again.pipeline.fingerprint() == first.pipeline.fingerprint()
    assert opened().outcome == "unchanged"


def test_a_flipped_bit_does_not_get_into_the_next_generation(opened: Open, root: Path) -> None:
    first = opened()
    entry = layout.read(first.directory).manifest["arrays"]["documents.texts"]
    file = first.directory / "data" / entry["file"]
    content = bytearray(file.read_bytes())
    content[-2] ^= 1
    file.write_bytes(content)
    (root / "new.py").write_text("def fresh():\n    return 0\n")
    again = opened()
    assert "not as it was written" in again.notes[0]
    assert again.pipeline.fingerprint() == Pipeline.for_code(root, config=BM25_ONLY).fingerprint()
    layout.read(again.directory).verify()


def test_files_whose_chunks_share_an_id(
    tmp_path: Path, root: Path, later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of them counts depends on their order, as in a first build."""
    real = corpus_module.chunk_bytes

    def alike(path: str, data: bytes, chunker: Any, **options: Any) -> Any:
        from dataclasses import replace

        result = real(path, data, chunker, **options)
        if not data.startswith(b"# same"):
            return result
        return result._replace(documents=(replace(result.documents[0], id="same"),))

    monkeypatch.setattr(files, "chunk_bytes", alike)
    monkeypatch.setattr(corpus_module, "chunk_bytes", alike)

    def compare() -> Opened[Pipeline]:
        found = open_index(CodeSource(root), tmp_path / "index", Pipeline, config=BM25_ONLY)
        fresh = Pipeline.for_code(root, config=BM25_ONLY)
        assert found.pipeline.documents == fresh.documents
        assert found.pipeline.corpus.skipped == fresh.corpus.skipped  # type: ignore[union-attr]
        return found

    (root / "n.py").write_text("# same\nn = 1\n")
    compare()
    (root / "m.py").write_text("# same\nm = 1\n")
    assert compare().notes == ("built anew: two files make documents of one id",)
    (root / "o.py").write_text("# same\no = 1\n")
    compare()
    (root / "m.py").unlink()
    compare()
    (root / "n.py").write_text("n = 1\n")
    compare()


def test_one_file_can_be_a_root(tmp_path: Path, root: Path, later: None) -> None:
    for outcome in ("built", "unchanged"):
        found = open_index(CodeSource(root / "a.py"), tmp_path / "index", Pipeline, config=BM25_ONLY)
        assert found.outcome == outcome
    assert found.pipeline.search("beta").ids[0] == "a.py:5-6"
    assert found.pipeline.corpus.root == str(root)  # type: ignore[union-attr]


def test_in_python_one_line_opens_or_updates(root: Path, tmp_path: Path) -> None:
    first = Pipeline.for_code(root, index=tmp_path / "index")
    (root / "c.py").write_text("def delta():\n    pass\n")
    assert "c.py:1-2" in Pipeline.for_code(root, index=tmp_path / "index").search("delta").ids
    assert Pipeline.load(tmp_path / "index").search("delta").ids[0] == "c.py:1-2"
    assert type(first) is Pipeline


def test_where_an_index_lives(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    place = index_directory(root)
    assert place.parent == tmp_path / "cache"
    assert place.name.startswith("root-")
    link = tmp_path / "link"
    link.symlink_to(root)
    assert index_directory(link) == place
    assert index_directory(root / "sub") != place
    monkeypatch.delenv("HYBRIDRANK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert index_directory(root).is_relative_to(tmp_path)
    for inside in (root, root / "sub", root / "new/index"):
        with pytest.raises(InvalidValueError, match="would lie in the indexed folder"):
            index_directory(root, inside)
    assert index_directory(root, tmp_path / "else") == tmp_path / "else"


def test_an_index_below_the_root_never_indexes_itself(
    root: Path, monkeypatch: pytest.MonkeyPatch, later: None
) -> None:
    """As when one indexes the home folder, in which the cache lies."""
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(root / "cache"))
    first = Pipeline.for_code(root, config=BM25_ONLY, index=True)
    again = Pipeline.for_code(root, config=BM25_ONLY, index=True)
    assert again.documents == first.documents
    assert {document.path for document in again.documents or ()} == {"a.py", "sub/b.py"}


def test_a_root_that_is_gone(opened: Open, root: Path, tmp_path: Path) -> None:
    opened()
    root.rename(tmp_path / "moved")
    with pytest.raises(InvalidValueError, match="cannot read"):
        opened()
    with pytest.raises(InvalidValueError, match="no such folder or file"):
        Pipeline.for_code(root, index=tmp_path / "index")
    assert Pipeline.load(tmp_path / "index").search("alpha").ids


def test_a_moved_root_is_told(tmp_path: Path, root: Path, opened: Open) -> None:
    opened()
    moved = root.rename(tmp_path / "moved")
    found = open_index(CodeSource(moved), tmp_path / "index", Pipeline, config=BM25_ONLY)
    assert found.notes == (f"it was the index of {root}",)
    assert not found.changes


def test_a_saved_pipeline_makes_way_for_an_index(opened: Open, tmp_path: Path, root: Path) -> None:
    Pipeline.for_code(root, config=BM25_ONLY).save(tmp_path / "index")
    found = opened()
    assert (found.outcome, found.notes) == ("built", ("built anew: the index held a saved pipeline",))


def test_changes_read_well() -> None:
    assert str(files.Changes()) == "no changes"
    assert str(files.Changes(("a",), ("b", "c"), ("d",))) == "1 new, 2 changed, 1 removed"
