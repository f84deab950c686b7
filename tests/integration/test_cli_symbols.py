"""`hybridrank symbols`, and what the other commands tell of symbols."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridrank.cli import main
from hybridrank.store import files

Ran = tuple[int, str, str]
Run = Callable[..., Ran]
CONFIG = '[retrievers.symbol]\nuse = "symbol"\n'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "clock", lambda: time.time_ns() + 10 * files.RACY_NS)

    def call(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "ledger.py").write_text(
        "class Ledger:\n    def load(self, path: str) -> int:\n        return 1\n\n\ndef load(): ...\n"
    )
    (root / "src" / "main.go").write_text("package main\n\nfunc Load(path string) error {\n\treturn nil\n}\n")
    return root


LINES = """\
ledger.py:2-3  Ledger.load (method)  def load(self, path: str) -> int:
ledger.py:6-6  load (function)  def load():
"""
GO = "src/main.go:3-5  Load (function)  func Load(path string) error\n"


@pytest.fixture(params=["on the fly", "from an index"])
def place(request: pytest.FixtureRequest, run: Run, tree: Path, tmp_path: Path) -> Path:
    if request.param == "from an index":
        (tmp_path / "pipeline.toml").write_text(CONFIG)
        assert run("index", tree, "--config", tmp_path / "pipeline.toml")[0] == 0
    return tree


@pytest.mark.parametrize(
    ("args", "out", "err"),
    [
        (["load"], LINES, ""),
        (["Ledger.load"], LINES.splitlines(True)[0], ""),
        (["Ledger::*"], LINES.splitlines(True)[0], ""),
        (["lo*", "--kind", "function"], LINES.splitlines(True)[1], ""),
        (["load", "--path", "src/"], GO, "nothing is written 'load'; these are in another case\n"),
        (["Load"], GO, ""),
        (["*", "--lang", "go"], GO, ""),
        (["LOAD"], LINES + GO, "nothing is written 'LOAD'; these are in another case\n"),
        (["store"], "", "nothing of the name 'store' is defined there\n"),
        (["load", "--kind", "class"], "", "nothing of the name 'load' is defined there and passes\n"),
        (["LOAD", "-q"], LINES + GO, ""),
    ],
)  # fmt: skip
def test_symbols(run: Run, place: Path, args: list[str], out: str, err: str) -> None:
    assert run("symbols", args[0], place, *args[1:]) == (0, out, err)


def test_json(run: Run, place: Path) -> None:
    code, out, err = run("symbols", "Ledger.load", place, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "schema": 1,
        "name": "Ledger.load",
        "symbols": [
            {
                "path": "ledger.py",
                "start_line": 2,
                "end_line": 3,
                "qualified_name": "Ledger.load",
                "name": "load",
                "kind": "method",
                "language": "python",
                "parent": "Ledger",
                "signature": "def load(self, path: str) -> int:",
            }
        ],
    }
    assert json.loads(run("symbols", "none", place, "--json")[1])["symbols"] == []


def test_wrong_use_ends_with_2(run: Run, tree: Path, tmp_path: Path) -> None:
    assert run("symbols", " ", tree) == (
        2,
        "",
        "error: the name of a symbol is ' '; give one, or its beginning: parse*\n",
    )
    assert run("symbols", "load", tree, "--kind", "section")[0] == 2
    assert run("symbols", "load", tmp_path / "none")[0] == 2
    assert run("symbols", "load", tree, "--path", "!src/")[0] == 2
    code, _, err = run("symbols", "load", "--index", tmp_path / "none")
    assert (code, "make one: hybridrank index" in err) == (1, True)
    record = tmp_path / "records.jsonl"
    record.write_text('{"id": "1", "text": "alpha"}\n')
    run("index", record, "--id-field", "id", "--text-field", "text")
    code, _, err = run("symbols", "load", record, "--no-update")
    assert (code, err.endswith("is not of source code\n")) == (2, True)


def test_a_stale_index_is_brought_up_to_date(run: Run, tree: Path, tmp_path: Path) -> None:
    config = tmp_path / "pipeline.toml"
    config.write_text(CONFIG)
    run("index", tree, "--config", config, "--index", tmp_path / "index")
    (tree / "ledger.py").write_text("def store(): ...\n")
    stale = run("symbols", "load", tree, "--index", tmp_path / "index", "--no-update")
    assert stale == (0, LINES, "")
    code, out, err = run("symbols", "store", "--index", tmp_path / "index")
    assert (code, out) == (0, "ledger.py:1-1  store (function)  def store():\n")
    assert err.startswith("index updated: 1 changed")
    assert run("symbols", "load", tree, "--index", tmp_path / "index", "-q")[1] == GO
    (file,) = (tmp_path / "index" / "data").glob("*.sqlite")
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    assert database.execute("SELECT path, name FROM symbols ORDER BY path").fetchall() == [
        ("ledger.py", "store"),
        ("src/main.go", "Load"),
    ]
    database.close()


def test_info_counts_symbols(run: Run, tree: Path, tmp_path: Path) -> None:
    config = tmp_path / "pipeline.toml"
    config.write_text(CONFIG)
    run("index", tree, "--config", config)
    assert "symbols      4: 1 class, 2 function, 1 method\n" in run("info", tree)[1]
    assert json.loads(run("info", tree, "--json", "--verify")[1])["symbols"] == {
        "class": 1,
        "function": 2,
        "method": 1,
    }


def test_names_of_files_cannot_steer_a_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a\x1b[31m.py").write_text("def f(): ...\n")
    assert run("symbols", "f", tmp_path / "tree")[1] == "a\\x1b[31m.py:1-1  f (function)  def f():\n"


def test_the_leg_can_be_left_out_like_any(run: Run, tree: Path, tmp_path: Path) -> None:
    config = tmp_path / "pipeline.toml"
    config.write_text(
        f'{CONFIG}[retrievers.bm25]\nuse = "bm25"\n[ablations.no-symbol]\n"retrievers.symbol" = false\n'
    )
    with_leg = json.loads(run("search", "load", tree, "--config", config, "--json")[1])
    assert set(with_leg["hits"][0]["components"]) >= {"symbol", "bm25"}
    without = json.loads(
        run("search", "load", tree, "--config", config, "--ablation", "no-symbol", "--json")[1]
    )
    assert "symbol" not in without["hits"][0]["components"]
