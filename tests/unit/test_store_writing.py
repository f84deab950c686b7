"""A writer that dies, waits, or cannot write leaves the index of before."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hybridrank import BM25, Document, LockError, Pipeline, StoreError
from hybridrank.store import writing
from hybridrank.store.lock import Lock

OLD = Pipeline([BM25()]).index([Document("a", "alpha")])
NEW = Pipeline([BM25()]).index([Document("a", "alpha"), Document("b", "beta " * 50_000)])


def run(code: str, *args: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    OLD.save(tmp_path / "index")
    return tmp_path / "index"


def is_old(index: Path) -> bool:
    return Pipeline.load(index).fingerprint() == OLD.fingerprint()


KILLED = """
    import os, random, signal, sys, time
    from pathlib import Path
    from hybridrank import Pipeline
    from hybridrank.store import layout
    from hybridrank.store.opening import open_index
    from hybridrank.store.sources import CodeSource

    root, index = Path(sys.argv[1]) / "root", Path(sys.argv[1]) / "index"
    root.mkdir()
    config = {
        "retrievers": {
            "bm25": {"use": "bm25"},
            "dense": {"use": "dense", "embedder": {"use": "lsa", "dimensions": 4}},
        }
    }

    def edit(number):
        for name in range(4):
            text = f"def f{name}_{number % 2}():\\n    return {name}\\n"
            (root / f"m{name}.py").write_text(text * (name + 1))

    def built(where):
        return open_index(CodeSource(root), where, Pipeline, config=config).pipeline.fingerprint()

    known = set()
    for number in range(2):
        edit(number)
        known.add(Pipeline.for_code(root, config=config).fingerprint())
        built(index)
    random.seed(7)
    killed = finished = new = 0
    longest = None
    for number in range(-1, 50):
        edit(number)
        before = layout.read(index).manifest["generation"]
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            try:
                built(index)
            finally:
                os._exit(0)
        if longest is None:
            os.waitpid(child, 0)
            longest = 1.6 * (time.monotonic() - started)
            continue
        time.sleep(random.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        else:
            finished += 1
        stored = layout.read(index)
        stored.verify()
        new += stored.manifest["generation"] > before
        assert stored.manifest["generation"] - before in (0, 1)
        loaded = Pipeline.load(index)
        assert loaded.fingerprint() == stored.manifest["fingerprint"]
        assert loaded.fingerprint() in known, (number, loaded.fingerprint(), known)
        assert len(loaded.search("return", k=5))
        defined = sorted((one.path, one.name) for one in loaded.symbols)
        assert defined == sorted((one.path, one.name) for one in loaded.documents)
        loaded.close()
    assert built(index) in known
    left = {path.name for path in (index / "data").iterdir()}
    assert left == {entry["file"] for entry in layout.read(index).manifest["arrays"].values()}
    print(killed, finished, new)
"""


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    ran = run(KILLED, tmp_path)
    assert ran.returncode == 0, ran.stderr
    killed, finished, new = map(int, ran.stdout.split())
    assert killed + finished == 50
    assert killed >= 5
    assert new >= 1


HOLDER = """
    import sys, time
    from pathlib import Path
    from hybridrank.store.lock import Lock
    with Lock(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def holder(index: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(index), "60"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_writer_gets_an_error_that_names_the_first(
    index: Path, holder: subprocess.Popen[str]
) -> None:
    with (
        pytest.raises(LockError, match=f"process {holder.pid} is writing the index") as caught,
        Lock(index, timeout=0),
    ):
        pass
    assert caught.value.pid == holder.pid
    assert is_old(index)  # readers never wait


def test_a_second_writer_waits_with_a_note(index: Path, holder: subprocess.Popen[str]) -> None:
    told: list[str] = []

    def waiting(message: str) -> None:
        told.append(message)
        holder.kill()

    with Lock(index, timeout=60, waiting=waiting):
        assert told == [f"waiting for process {holder.pid}, which is writing the index"]


def test_two_locks_in_one_process_exclude_each_other(index: Path) -> None:
    with Lock(index), pytest.raises(LockError), Lock(index, timeout=0.1):
        pass
    with Lock(index, timeout=0):
        pass


def test_two_builds_at_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for number in range(20):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")
    code = (
        "import sys\nfrom hybridrank import Pipeline\n"
        "p = Pipeline.for_code(sys.argv[1], index=sys.argv[2])\nprint(p.fingerprint())"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(root), str(tmp_path / "index")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    assert answers[0][0] == answers[1][0]
    assert Pipeline.load(tmp_path / "index").fingerprint() == answers[0][0].strip()


@pytest.mark.parametrize("after", [0, 1, 5, 10])
@pytest.mark.parametrize("real", [writing._write, writing._sync])
def test_a_full_disk_leaves_the_old_index(
    index: Path, monkeypatch: pytest.MonkeyPatch, real: Callable[..., Any], after: int
) -> None:
    calls = 0

    def full(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    monkeypatch.setattr(writing, real.__name__, full)
    with pytest.raises(
        StoreError, match=r"No space left on device; an index of before is as it was; make room"
    ):
        NEW.save(index)
    monkeypatch.undo()
    assert is_old(index)
    NEW.save(index)
    assert Pipeline.load(index).fingerprint() == NEW.fingerprint()


LIMITED = """
    import resource, sys
    from hybridrank import BM25, Document, Pipeline, StoreError
    new = Pipeline([BM25()]).index([Document("a", "alpha"), Document("b", "beta " * 50_000)])
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        new.save(sys.argv[1])
    except StoreError as error:
        print(error)
"""


def test_a_write_that_the_system_refuses_half_way(index: Path) -> None:
    ran = run(LIMITED, index)
    assert "cannot write the index" in ran.stdout, ran.stderr
    assert is_old(index)
    named = {path.name for path in (index / "data").iterdir()}
    Pipeline.load(index)
    assert not any(name.startswith("000002") for name in named)


def test_a_small_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a file system of its own cannot be mounted here")
    try:
        OLD.save(disk / "index")
        with pytest.raises(StoreError, match="No space left on device"):
            NEW.save(disk / "index")
        assert is_old(disk / "index")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot"):
        OLD.save(tmp_path / "file/index")
    with pytest.raises(StoreError):
        Pipeline.load(tmp_path / "file")


@pytest.fixture
def read_only(index: Path) -> Iterator[Path]:
    """The index where nothing can be written; root ignores modes but not the immutable flag."""
    if os.geteuid():
        for place in (index, index / "data"):
            place.chmod(0o500)
        (index / "lock").chmod(0o400)
        yield index
        for place in (index, index / "data"):
            place.chmod(0o700)
        return
    places = [str(index), str(index / "data"), str(index / "lock")]
    chattr = shutil.which("chattr")
    if chattr is None or subprocess.run([chattr, "+i", *places], capture_output=True, check=False).returncode:
        pytest.skip("root can write everywhere, and this file system has no immutable flag")
    yield index
    subprocess.run([chattr, "-i", *places], check=True)


def test_a_read_only_index_can_be_read_and_is_not_written(read_only: Path) -> None:
    assert is_old(read_only)
    with pytest.raises(StoreError, match="cannot write the index"):
        NEW.save(read_only)
    assert is_old(read_only)


def test_nobody_else_can_read_a_new_index(index: Path) -> None:
    assert index.stat().st_mode & 0o077 == 0


def test_a_reader_holds_the_generation_that_it_opened(index: Path) -> None:
    reader = Pipeline.load(index)
    NEW.save(index)
    assert reader.search("alpha").ids == ("a",)
    assert [document.text for document in reader.documents or ()] == ["alpha"]
    assert Pipeline.load(index).search("beta").ids == ("b",)


def test_a_reader_that_meets_a_writer_opens_the_next_generation(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hybridrank.store import layout

    real = layout._opened

    def late(*args: Any) -> Any:
        monkeypatch.setattr(layout, "_opened", real)
        NEW.save(index)  # deletes what the manifest that was just read names
        return real(*args)

    monkeypatch.setattr(layout, "_opened", late)
    assert Pipeline.load(index).fingerprint() == NEW.fingerprint()
