"""`--html` of the commands that search."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridrank.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "evidence"


def test_search_writes_a_page_and_answers_as_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "ledger.py").write_text("def load_ledger(path):\n    return open(path)\n", encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["search", "load_ledger", str(tree), "--html", str(page)]) == 0
    with_page = capsys.readouterr()
    assert f"wrote {page}" in with_page.err
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "load_<wbr>ledger" in text
    assert main(["search", "load_ledger", str(tree)]) == 0
    assert capsys.readouterr().out == with_page.out


def test_match_writes_a_page_with_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    options = ["--records", EXAMPLE / "records.jsonl", "--id-field", "meta.id", "--text-field", "body", "-q"]
    source = ["match", "--source", EXAMPLE / "player.gd"]
    assert main([*map(str, [*source, *options, "--html", page])]) == 0
    with_page = capsys.readouterr()
    assert with_page.err == ""
    text = page.read_text(encoding="utf-8")
    assert "<mark>position.clamp</mark>" in text
    assert "no, rejected" in text
    lines = str(EXAMPLE / "player.gd") + ":12-30"
    assert main(["match", "--source", lines, *map(str, options), "--html", str(page)]) == 0
    assert "<i>12  </i>func _process" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().out
    assert main([*map(str, [*source, *options])]) == 0
    assert capsys.readouterr().out == with_page.out


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "x", str(tmp_path), "--html", str(tmp_path / "no" / "page.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    long = tmp_path / ("x" * 300)
    assert main(["search", "x", str(tmp_path), "--html", str(long)]) == 1
    assert f"cannot write {str(long)!r}: " in capsys.readouterr().err
