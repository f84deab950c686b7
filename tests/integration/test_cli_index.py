"""`hybridrank index`, `info`, and `search` on what they are about."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybridrank import Pipeline
from hybridrank.cli import main
from hybridrank.store import files
from hybridrank.store.lock import Lock


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]
CONFIG = '[retrievers.bm25]\nuse = "bm25"\nfields = ["path", "text"]\n'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "clock", lambda: time.time_ns() + 10 * files.RACY_NS)

    def call(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "ledger.py").write_text("def load_ledger(path):\n    return read(path)\n")
    (root / "report.py").write_text("def print_report(ledger):\n    print(load_ledger(ledger))\n")
    (root / "picture.bin").write_bytes(b"\0\1\2")
    return root


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "pipeline.toml"
    file.write_text(CONFIG)
    return file


def test_index_then_search_then_index(run: Run, tree: Path, config: Path) -> None:
    first = run("index", tree, "--config", config)
    assert first.code == 0
    built, place = first.out.splitlines()
    assert re.fullmatch(r"built: 2 files, 2 documents, 1 skipped; \d+\.\d s", built)
    assert Path(place).is_dir()
    assert first.err == "1 file skipped (binary); --verbose shows more\n"
    second = run("index", tree, "--config", config, "-q")
    assert (second.out.split(":")[0], second.err) == ("unchanged", "")
    found = run("search", "load_ledger", tree)
    assert found.out.startswith("[0.0164] ledger.py:1-2  load_ledger (function)")
    assert found.err == "1 file skipped (binary); --verbose shows more\n"
    assert found.out == run("search", "load_ledger", tree, "--config", config).out


def test_without_an_index_search_keeps_nothing(run: Run, tree: Path, tmp_path: Path) -> None:
    assert run("search", "load_ledger", tree).code == 0
    assert not (tmp_path / "cache").exists()
    assert sorted(path.name for path in tree.iterdir()) == ["ledger.py", "picture.bin", "report.py"]


def test_search_updates_a_stale_index_and_says_so(run: Run, tree: Path, config: Path) -> None:
    run("index", tree, "--config", config)
    (tree / "report.py").write_text("def summarise():\n    pass\n")
    (tree / "new.py").write_text("def fresh():\n    pass\n")
    (tree / "ledger.py").unlink()
    stale = run("search", "summarise", tree, "--no-update")
    assert (stale.code, stale.out) == (0, "")
    assert (
        "warning: the index is stale (1 new, 1 changed, 1 removed); this answer is from what is in it"
        in stale.err
    )
    found = run("search", "summarise", tree)
    assert "report.py:1-2  summarise" in found.out
    note, *_ = found.err.splitlines()
    assert re.fullmatch(r"index updated: 1 new, 1 changed, 1 removed, \d+\.\d s", note)
    assert "index updated" not in run("search", "summarise", tree).err
    assert "stale" not in run("search", "summarise", tree, "--no-update").err


def test_an_index_in_a_directory_of_its_own(run: Run, tree: Path, config: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    assert run("index", tree, "--index", place, "--config", config).code == 0
    assert not (tmp_path / "cache").exists()
    assert "ledger.py:1-2" in run("search", "load_ledger", "--index", place).out
    assert "ledger.py:1-2" in run("search", "load_ledger", tree, "--index", place).out
    (tmp_path / "other").mkdir()
    other = run("search", "load_ledger", tmp_path / "other", "--index", place)
    assert (other.code, "is of" in other.err) == (2, True)
    missing = run("search", "load_ledger", tree, "--index", tmp_path / "none")
    assert (missing.code, "there is no index" in missing.err) == (1, True)
    inside = run("index", tree, "--index", tree / "index")
    assert inside.code == 2
    assert "where nothing is written" in inside.err
    foreign = run("index", tree, "--index", tmp_path)
    assert foreign.code == 1
    assert "is no index of hybridrank: it holds" in foreign.err


def test_index_as_json(run: Run, tree: Path, config: Path) -> None:
    data = run("index", tree, "--config", config, "--json", "-v").data
    assert list(data) == [
        "schema",
        "outcome",
        "index",
        "root",
        "added",
        "changed",
        "removed",
        "remarks",
        "fingerprint",
        "seconds",
        "corpus",
    ]
    assert (data["schema"], data["outcome"], data["root"]) == (1, "built", str(tree))
    assert data["added"] == ["ledger.py", "picture.bin", "report.py"]
    assert data["corpus"]["skipped_files"] == [{"path": "picture.bin", "reason": "binary"}]
    (tree / "ledger.py").write_text("value = 1\n")
    assert run("index", tree, "--config", config, "--json").data["changed"] == ["ledger.py"]


def test_other_options_are_told(run: Run, tree: Path, config: Path) -> None:
    run("index", tree, "--config", config)
    config.write_text(CONFIG + "k1 = 2.0\n")
    found = run("search", "load_ledger", tree, "--config", config, "--json")
    assert "the index was made with other options; this answer is with yours" in found.err
    stays = run("info", tree, "--json").data
    assert "k1" not in stays["config"]["retrievers"]["bm25"]
    assert found.data["hits"][0]["components"]["bm25"]["score"] > 0
    again = run("index", tree, "--config", config)
    assert "bm25 was indexed anew: its options changed" in again.err
    assert run("search", "load_ledger", tree, "--json").data == found.data


def test_a_search_with_other_options_equals_one_without_an_index(run: Run, tree: Path, config: Path) -> None:
    run("index", tree)
    ours = run("search", "load_ledger", tree, "--config", config, "--json", "--max-bytes", 50)
    theirs = Pipeline.for_code(tree, config=config, max_bytes=50).search("load_ledger")
    assert [hit["id"] for hit in ours.data["hits"]] == list(theirs.ids)
    assert ours.data["corpus"]["files"] == 1


def test_a_wrong_flag_is_refused_before_the_index_is_touched(run: Run, tree: Path, config: Path) -> None:
    run("index", tree, "--config", config)
    (tree / "ledger.py").unlink()
    wrong = run("search", "x", tree, "--weight", "nope=2")
    assert (wrong.code, "nope" in wrong.err, "updated" in wrong.err) == (2, True, False)
    assert run("info", tree, "--json").data["stale"]


# CL-04
def test_info_tells_what_is_in_an_index(run: Run, tree: Path, config: Path, tmp_path: Path) -> None:
    run("index", tree, "--config", config)
    before = sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "cache").rglob("*"))
    data = run("info", tree, "--json", "--verify", "-v").data
    assert (data["stale"], data["verified"], data["kind"], data["format"]) == (False, True, "code", 2)
    assert (data["seen"], data["files"], data["skipped"], data["documents"]) == (3, 2, 1, 2)
    assert data["skipped_by_reason"] == {"binary": 1}
    assert data["skipped_files"] == [{"path": "picture.bin", "reason": "binary"}]
    assert data["build_seconds"] >= 0
    assert data["bytes"] > 1000
    (part,) = data["parts"]
    assert part["name"] == "bm25"
    assert part["fingerprint"] == Pipeline.for_code(tree, config=config).retrievers["bm25"].fingerprint()  # type: ignore[attr-defined]
    assert part["tokenizer"].startswith("unicode_nfkc")
    (tree / "report.py").write_text("x = 1\n")
    (tree / "picture.bin").unlink()
    os.utime(tree / "ledger.py")
    data = run("info", tree, "--json").data
    assert data["stale"]
    assert data["changes"] == {"added": [], "changed": ["report.py"], "removed": ["picture.bin"]}
    shown = run("info", tree)
    assert "state        stale: 1 changed, 1 removed" in shown.out
    assert "files        3 seen, 2 indexed, 1 skipped" in shown.out
    assert "skipped      1 binary" in shown.out
    assert re.search(r"^written      .* by hybridrank .*, format 2, in .* s", shown.out, re.MULTILINE)
    after = sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "cache").rglob("*"))
    assert after == before


def test_info_tells_how_far_lsa_lags(run: Run, tree: Path, config: Path) -> None:
    config.write_text('[retrievers.dense]\nuse = "dense"\n')
    for number in range(20):
        (tree / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")
    run("index", tree, "--config", config)
    (tree / "m1.py").write_text("def g():\n    return 1\n")
    run("index", tree, "--config", config)
    assert "dense" in run("info", tree).out
    assert ", 1 documents changed since it was fitted" in run("info", tree).out
    assert "dense was fitted anew" in run("index", tree, "--config", config, "--refit").err
    assert run("info", tree, "--json").data["parts"][0]["lag"] == 0


def test_info_without_an_index(run: Run, tree: Path) -> None:
    ran = run("info", tree)
    assert (ran.code, ran.out) == (1, "")
    assert "there is no index in" in ran.err


def test_info_finds_damage(run: Run, tree: Path, config: Path) -> None:
    place = Path(run("index", tree, "--config", config, "--json").data["index"])
    file = next((place / "data").glob("*documents.texts.npy"))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert run("info", tree).code == 0
    ran = run("info", tree, "--verify")
    assert (ran.code, "is not as it was written; index again" in ran.err) == (1, True)
    file.write_bytes(content[:-1])
    again = run("search", "load_ledger", tree)
    assert again.code == 0
    assert "warning: built anew: the index in" in again.err
    assert run("info", tree, "--verify").code == 0


def test_a_newer_index_is_left_alone(run: Run, tree: Path, config: Path) -> None:
    place = Path(run("index", tree, "--config", config, "--json").data["index"])
    manifest = place / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 2', '"version": 3'))
    for command in (["index", tree], ["search", "x", tree], ["info", tree]):
        ran = run(*command)
        assert (ran.code, "upgrade hybridrank" in ran.err) == (1, True)


def test_while_another_process_writes(
    run: Run, tree: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(run("index", tree, "--config", config, "--json").data["index"])
    (tree / "report.py").write_text("def summarise():\n    pass\n")
    with Lock(place):
        found = run("search", "load_ledger", tree)
        assert found.out.startswith("[0.0164] ledger.py:1-2")
        assert "is writing the index" in found.err
        assert "the index is stale (1 changed)" in found.err
        monkeypatch.setattr("hybridrank.store.opening.TIMEOUT", 0.1)
        ran = run("index", tree, "--config", config)
    assert ran.code == 1
    assert f"waiting for process {os.getpid()}" in ran.err
    assert f"error: process {os.getpid()} is writing the index" in ran.err


def test_an_index_that_cannot_be_written_still_answers(
    run: Run, tree: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    from hybridrank.store import writing

    run("index", tree, "--config", config)
    (tree / "report.py").write_text("def summarise():\n    pass\n")

    def full(*_: object) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing, "_write", full)
    found = run("search", "summarise", tree)
    assert "report.py:1-2" in found.out
    assert "warning: cannot write the index in" in found.err
    ran = run("index", tree, "--config", config)
    assert (ran.code, ran.out) == (1, "")
    assert "No space left on device" in ran.err


def test_records(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    lines = [
        '{"meta": {"id": 1}, "text": "alpha beta", "year": 2020}',
        "broken",
        '{"meta": {"id": 1}, "text": "a second one"}',
        '{"meta": {"id": "b"}, "text": "gamma"}',
    ]
    file.write_text("\n".join(lines))
    first = run("index", file, "--id-field", "meta.id", "--text-field", "text", "-v")
    assert first.out.startswith("built: 2 documents, 2 lines skipped;")
    assert "skipped notes.jsonl:2: it is no JSON" in first.err
    assert "skipped notes.jsonl:3: its id '1' is that of line 1" in first.err
    found = run("search", "alpha", file, "--json", "--weight", "dense=0")
    assert [hit["id"] for hit in found.data["hits"]] == ["1"]
    assert found.data["hits"][0]["kind"] == "record"
    place = run("info", file, "--json").data["index"]
    assert run("search", "alpha", "--index", place, "--json", "--weight", "dense=0").data == found.data
    file.write_text("\n".join([*lines, '{"meta": {"id": "c"}, "text": "delta"}']))
    assert "index updated: 1 changed" in run("search", "delta", file).err
    assert run("index", file).out.startswith("unchanged: 3 documents")
    other = run("index", file, "--id-field", "text", "--text-field", "meta.id")
    assert other.out.startswith("built: 2 documents")
    assert "other fields" in other.err


def test_options_that_do_not_go_together(run: Run, tree: Path) -> None:
    for wrong in (["--id-field", "id"], ["--text-field", "text"], ["-q", "-v"]):
        assert run("index", tree, *wrong).code == 2
    ran = run("index", tree / "ledger.py", "--id-field", "id", "--text-field", "t", "--max-bytes", "1")
    assert (ran.code, "--max-bytes" in ran.err) == (2, True)
    assert run("index", tree / "none").code == 2


def test_a_saved_pipeline_is_searched_and_told(run: Run, tree: Path, config: Path, tmp_path: Path) -> None:
    Pipeline.for_code(tree, config=config).save(tmp_path / "saved")
    (tree / "ledger.py").unlink()
    assert "ledger.py:1-2" in run("search", "load_ledger", "--index", tmp_path / "saved").out
    shown = run("info", "--index", tmp_path / "saved").out
    assert "of           pipeline" in shown
    assert "state        kept as it was saved" in shown


def test_a_root_that_is_gone_is_told(run: Run, tree: Path, config: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    run("index", tree, "--config", config, "--index", place)
    tree.rename(tmp_path / "moved")
    found = run("search", "load_ledger", "--index", place, "--no-update")
    assert "ledger.py:1-2" in found.out
    assert "whether the index is stale cannot be told: cannot read" in found.err
    assert run("search", "load_ledger", "--index", place).code == 2
    assert run("info", "--index", place, "--json").data["stale"] is None
