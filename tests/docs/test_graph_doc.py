"""docs/graph.md: its commands print what it says, on the files that it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from doc_blocks import blocks, write
from hybridrank.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "graph.md"


def test_the_page_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.chdir(folder)
    ran = 0
    for block in blocks(PAGE):
        if block.file:
            write(block, folder)
        elif block.language == "console":
            for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, expected = entry.partition("\n")
                program, *args = shlex.split(command)
                assert program == "hybridrank"
                assert main(args) == 0
                assert capsys.readouterr().out == expected, command
                ran += 1
    assert ran == 5
