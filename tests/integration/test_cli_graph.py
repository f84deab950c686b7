"""`hybridrank imports`, `importers`, `callers`, `callees` and `index --graph` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main
from hybridrank.store.graph import GRAPH

FILES = {
    "app/a.py": (
        "import json\nfrom .b import f as g, gone\nfrom .nowhere import x\n\n"
        "def run(q):\n    g()\n    q.f()\n"
    ),
    "app/b.py": "def f(): ...\n\nclass Box:\n    def open(self):\n        f()\n",
    "app/__init__.py": "",
    "evil\x1b.py": "import app.b\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "code"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main(list(args))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("args", "out", "err"),
    [
        (
            ("imports", "app/a.py"),
            "app/a.py:1  json  -> external\n"
            "app/a.py:2  .b  f as g, gone  -> app/b.py\n"
            "app/a.py:3  .nowhere  x  -> unresolved\n",
            "",
        ),
        (("imports", "app/b.py"), "", "app/b.py imports nothing\n"),
        (
            ("importers", "app.b"),
            "[1] app/a.py:2  .b  f as g, gone  -> app/b.py\n[1] evil\\x1b.py:1  app.b  -> app/b.py\n",
            "",
        ),
        (("importers", "app/a.py"), "", "nothing imports app/a.py\n"),
        (
            ("callers", "f"),
            "app/a.py:6  run  g  -> app/b.py:1 f\napp/b.py:5  Box.open  f  -> app/b.py:1 f\n",
            "where 1 more of that name lead is not known: --unresolved lists them\n",
        ),
        (("callers", "f", "--unresolved", "-q"), None, ""),
        (("callers", "Box.open"), "", "no call is known to lead to Box.open\n"),
        (("callers", "nope"), "", "nothing of the name 'nope' is defined there\n"),
        (
            ("callees", "run"),
            "app/a.py:6  run  g  -> app/b.py:1 f\napp/a.py:7  run  q.f  -> unresolved\n",
            "",
        ),
        (("callees", "app/b.py::f"), "", "app/b.py::f calls nothing\n"),
    ],
)
def test_what_is_printed(
    root: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], out: str | None, err: str
) -> None:
    code, printed, told = run(capsys, *args)
    assert (code, told) == (0, err)
    assert out is None or printed == out
    assert out is not None or "app/a.py:7  run  q.f  -> unresolved" in printed


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("imports", "nope.py"), "there is no file 'nope.py'"),
        (("importers", "nope"), "nothing imports a module 'nope'"),
        (("importers", "app.b", "--depth", "-1"), "--depth"),
        (("callers", " "), "the name of a symbol is ' '"),
        (("callees", "f", "nowhere"), "nowhere"),
        (
            ("index", ".", "--graph", "--id-field", "a", "--text-field", "b"),
            "--graph does not go with --id-field",
        ),
    ],
)
def test_what_is_wrong(
    root: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], says: str
) -> None:
    code, out, err = run(capsys, *args)
    assert (code, out) == (2, "")
    assert says in err


def test_json(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def data(*args: str) -> Any:
        code, out, _ = run(capsys, *args, "--json")
        assert code == 0
        return json.loads(out)

    found = data("imports", "app/a.py")
    assert (found["schema"], found["file"]) == (1, "app/a.py")
    assert found["imports"][1] == {
        "path": "app/a.py",
        "line": 2,
        "end_line": 2,
        "module": "b",
        "level": 1,
        "names": [{"name": "f", "bound": "g"}, {"name": "gone", "bound": "gone"}],
        "reexport": False,
        "state": "file",
        "targets": ["app/b.py"],
        "language": "python",
    }
    found = data("importers", "app/b.py", "--depth", "0")
    assert [(one["distance"], one["path"]) for one in found["imports"]] == [
        (1, "app/a.py"),
        (1, "evil\x1b.py"),
    ]
    found = data("callers", "f")
    assert found["unresolved"] == 1
    assert [one["qualified_name"] for one in found["definitions"]] == ["f"]
    call = found["calls"][0]
    assert call["targets"] == found["definitions"]
    assert {key: call[key] for key in call if key != "targets"} == {
        "path": "app/a.py",
        "line": 6,
        "column": 5,
        "caller": "run",
        "caller_line": 5,
        "name": "g",
        "expression": "g",
        "state": "resolved",
    }
    assert [one["state"] for one in data("callees", "run")["calls"]] == ["resolved", "unresolved"]


def test_a_file_as_it_is_typed_from_here(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "app")
    code, out, _ = run(capsys, "imports", "a.py", "..")
    assert (code, out.count("\n")) == (0, 3)
    assert run(capsys, "importers", str(root / "app/b.py"), str(root))[0] == 0


def test_without_an_index_nothing_is_written(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "callers", "f")[0] == 0
    assert not (tmp_path / "cache").exists()


def test_the_graph_is_kept_in_the_index(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "p.toml"
    config.write_text('[retrievers.bm25]\nuse = "bm25"\n', encoding="utf-8")
    index = tmp_path / "index"
    options = ("--index", str(index), "--config", str(config), "-q")
    assert run(capsys, "index", ".", *options)[0] == 0
    assert not (index / GRAPH).exists()
    expected = run(capsys, "callers", "f")
    assert run(capsys, "callers", "f", "--index", str(index)) == expected  # PATH is that of the index
    assert (index / GRAPH).exists()

    (root / "app/b.py").write_text("# below\ndef f(): ...\n", encoding="utf-8")
    stale = run(capsys, "callers", "f", "--index", str(index), "--no-update")
    assert stale == expected
    _, fresh, _ = run(capsys, "callers", "f", "--index", str(index))
    assert fresh == "app/a.py:6  run  g  -> app/b.py:2 f\n"

    (index / GRAPH).write_bytes(b"damaged" * 1000)
    code, _, err = run(capsys, "callers", "f", "--index", str(index))
    assert code == 1
    assert "hybridrank index --graph" in err
    code, _, err = run(capsys, "index", ".", *options[:-1], "--graph")
    assert code == 0
    assert "graph made anew" in err
    assert run(capsys, "callers", "f", "--index", str(index))[1] == fresh
    # The index is as it was, and a search finds it.
    assert run(capsys, "search", "f", "--index", str(index))[0] == 0

    code, _, err = run(capsys, "callers", "f", str(root / "app"), "--index", str(index))
    assert code == 2
    assert "the index in" in err
    assert run(capsys, "callers", "f", "--index", str(tmp_path / "none"))[0] == 1


def test_an_index_of_records_has_no_graph(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "r.jsonl"
    records.write_text('{"a": "1", "b": "text"}\n', encoding="utf-8")
    index = str(tmp_path / "index")
    assert (
        run(capsys, "index", str(records), "--index", index, "--id-field", "a", "--text-field", "b", "-q")[0]
        == 0
    )
    code, _, err = run(capsys, "callers", "f", "--index", index)
    assert code == 2
    assert "is not of source code" in err
