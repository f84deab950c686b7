"""The graph as it is kept: file by file, whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hybridrank import CodeGraph, IndexFormatError, InvalidValueError, SourceFile, StoreError
from hybridrank.store.graph import GRAPH, GraphStore

FILES = {
    "a.py": "from b import f\n\ndef g():\n    f()\n",
    "b.py": "def f(): ...\n",
    "c.txt": "no source\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def answers(graph: CodeGraph) -> object:
    """Everything that a graph says."""
    return (
        graph.files(),
        graph.symbols(),
        [graph.imports(path) for path in graph.files()],
        [graph.importers(path, depth=0) for path in graph.files()],
        [graph.callers(symbol.name, unresolved=True) for symbol in graph.symbols()],
        [graph.callees(symbol.name) for symbol in graph.symbols()],
    )


def rows(file: Path) -> dict[str, object]:
    """The rows of each file, by table and path."""
    with closing(sqlite3.connect(file)) as database:
        paths = dict(database.execute("SELECT id, path FROM files"))
        found: dict[str, object] = {f"files {row[1]}": row for row in database.execute("SELECT * FROM files")}
        for table in ("definitions", "imports", "targets", "calls", "leads", "depends"):
            for file_id, path in paths.items():
                found[f"{table} {path}"] = list(
                    database.execute(f"SELECT * FROM {table} WHERE file = {file_id}")
                )
        return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    write(folder, FILES)
    old = 1_600_000_000
    for name in FILES:
        os.utime(folder / name, (old, old))
    return folder


def test_sources_folder_and_index_say_the_same(root: Path, tmp_path: Path) -> None:
    with (
        CodeGraph.of(FILES) as given,
        CodeGraph.of([SourceFile(path, text) for path, text in FILES.items()]) as sources,
        CodeGraph.for_code(root) as read,
        CodeGraph.for_code(root, index=tmp_path / "index") as made,
    ):
        expected = answers(given)
        assert expected == answers(sources) == answers(read) == answers(made)
    with CodeGraph.open(tmp_path / "index") as opened:
        assert answers(opened) == expected
        assert not opened.update()


def test_one_changed_file_changes_its_own_rows_only(root: Path, tmp_path: Path) -> None:
    with CodeGraph.for_code(root, index=tmp_path / "index") as graph:
        graph.update()
        before = rows(tmp_path / "index" / GRAPH)
        write(root, {"b.py": "# moved\n\ndef f(): print()\n"})
        assert graph.update().changed == ("b.py",)
        after = rows(tmp_path / "index" / GRAPH)
        touched = {
            key.partition(" ")[2] for key in before.keys() | after.keys() if before.get(key) != after.get(key)
        }
        assert touched == {"b.py"}
        # What others lead to is right all the same.
        (call,) = graph.callees("g")
        assert (call.targets[0].path, call.targets[0].start_line) == ("b.py", 3)


@pytest.mark.parametrize(
    ("change", "removed", "led"),
    [
        ({"b.py": "f = unknown\n"}, [], "unresolved"),
        ({"b.py": "from d import f\n", "d.py": "def f(): ...\n"}, [], "d.py"),
        ({}, ["b.py"], "external"),
        ({"b/__init__.py": "def f(): ...\n"}, [], "b/__init__.py"),
        ({"a.py": "def f(): ...\ndef g():\n    f()\n"}, [], "a.py"),
    ],
)
def test_others_follow_what_changed(
    root: Path, tmp_path: Path, change: dict[str, str], removed: list[str], led: str
) -> None:
    with CodeGraph.for_code(root, index=tmp_path / "index") as graph:
        write(root, change)
        for name in removed:
            (root / name).unlink()
        graph.update()
        (call,) = graph.callees("g")
        assert (call.targets[0].path if call.targets else call.state) == led
        with CodeGraph.for_code(root) as fresh:
            assert answers(graph) == answers(fresh)


def test_a_configuration_that_changes_moves_imports(root: Path) -> None:
    write(root, {"x.ts": 'import "@/y";', "code/y.ts": ""})
    with CodeGraph.for_code(root) as graph:
        assert graph.imports("x.ts")[0].state == "external"
        write(root, {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./code/*"]}}}'})
        graph.update()
        assert graph.imports("x.ts")[0].targets == ("code/y.ts",)


def test_a_root_in_a_package_knows_its_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "top/__init__.py": "",
            "top/sub/__init__.py": "",
            "top/sub/a.py": (
                "from top.sub.b import f\nfrom top.other import x\nfrom ..other import y\nimport b\n"
            ),
            "top/sub/b.py": "def f(): ...\n",
        },
    )
    with CodeGraph.for_code(tmp_path / "top" / "sub") as graph:
        assert [one.targets or one.state for one in graph.imports("a.py")] == [
            ("b.py",),
            *["external"] * 3,
        ]


def test_a_file_that_was_only_touched_is_not_read_again(root: Path, tmp_path: Path) -> None:
    with CodeGraph.for_code(root, index=tmp_path / "index") as graph:
        os.utime(root / "a.py", (1_600_000_001, 1_600_000_001))
        assert not graph.update()


def test_a_write_that_fails_leaves_what_was(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "index" / GRAPH
    CodeGraph.for_code(root, index=tmp_path / "index").close()
    before = rows(file)
    write(root, {"a.py": "import json\n", "b.py": "import os\n"})

    def stop(event: str, done: int, of: int | None) -> None:
        raise KeyboardInterrupt

    with CodeGraph.open(tmp_path / "index") as graph:
        with pytest.raises(KeyboardInterrupt):
            graph.update(progress=stop)
        assert rows(file) == before
        assert set(graph.update().changed) == {"a.py", "b.py"}


def test_what_is_damaged_newer_or_foreign_is_told(root: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    CodeGraph.for_code(root, index=index).close()
    whole = (index / GRAPH).read_bytes()

    with closing(sqlite3.connect(index / GRAPH)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexFormatError, match="format 99, this version reads formats up to 2") as caught:
        CodeGraph.open(index)
    assert not caught.value.replaceable

    (index / GRAPH).write_bytes(b"x" * 5000)
    with pytest.raises(IndexFormatError, match=r"damaged .* index --graph") as caught:
        CodeGraph.for_code(root, index=index)
    assert caught.value.replaceable

    (index / GRAPH).write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    with pytest.raises(IndexFormatError, match="damaged"), CodeGraph.open(index) as graph:
        answers(graph)

    (index / GRAPH).unlink()
    with closing(sqlite3.connect(index / GRAPH)) as database:
        database.execute("CREATE TABLE other (x)")
    with pytest.raises(IndexFormatError, match="no graph of hybridrank"):
        CodeGraph.open(index)


@pytest.mark.parametrize(
    "damage", ["UPDATE files SET facts = '[1]'", "UPDATE calls SET path = '['", "DROP TABLE leads"]
)
def test_rows_that_are_damaged_are_told(root: Path, tmp_path: Path, damage: str) -> None:
    index = tmp_path / "index"
    CodeGraph.for_code(root, index=index).close()
    with closing(sqlite3.connect(index / GRAPH)) as database:
        database.execute(damage)
        database.commit()
    (root / "b.py").write_text("def other(): ...\n", encoding="utf-8")
    with CodeGraph.open(index) as graph, pytest.raises(IndexFormatError, match="damaged"):
        raise_what_is_wrong(graph)


def raise_what_is_wrong(graph: CodeGraph) -> None:
    graph.update()
    graph.callees("g")


def test_a_graph_that_was_never_filled_is_none(root: Path, tmp_path: Path) -> None:
    GraphStore(tmp_path / GRAPH).close()  # what a process leaves that dies at once
    with pytest.raises(InvalidValueError, match="there is no graph"):
        CodeGraph.open(tmp_path)


def test_what_cannot_be_opened(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"no graph in .* hybridrank index --graph"):
        CodeGraph.open(tmp_path)
    with pytest.raises(InvalidValueError, match="no such folder"):
        CodeGraph.for_code(tmp_path / "nowhere")
    with pytest.raises(InvalidValueError, match="would lie in the indexed folder"):
        CodeGraph.for_code(root, index=root / "index")
    with CodeGraph.of(FILES) as graph, pytest.raises(InvalidValueError, match="made of sources"):
        graph.update()
    (tmp_path / "index" / GRAPH).mkdir(parents=True)
    (tmp_path / "index" / "manifest.json").write_text("{}")
    with pytest.raises(StoreError):
        CodeGraph.for_code(root, index=tmp_path / "index")


def test_names_that_are_asked_for(root: Path) -> None:
    sources = {"m.py": "class Client:\n    def send(self): ...\ndef Send(): ...\ndef sender(): ...\n"}
    with CodeGraph.of(sources) as graph:

        def names(asked: str) -> list[str]:
            return [symbol.qualified_name for symbol in graph.symbols(asked)]

        assert names("send") == ["Client.send"]
        assert names("Client.send") == names("Client::send") == names("m.py::send") == ["Client.send"]
        assert names("sen*") == ["Client.send", "sender"]
        assert names("SEND") == ["Client.send", "Send"]
        assert names("n.py::send") == names("nothing") == []
        assert [one.qualified_name for one in graph.symbols(path="m.py")] == [
            "Client",
            "Client.send",
            "Send",
            "sender",
        ]
        with pytest.raises(InvalidValueError, match="name of a symbol"):
            graph.callers(" ")


def test_texts_that_are_no_unicode_are_kept() -> None:
    with CodeGraph.of({"m.py": "def f():\n    x('\ud800')\nimport \ud800\n"}) as graph:
        assert [one.expression for one in graph.callees("f")] == ["x"]
