"""The sections of docs/evaluation.md on ablations, sweeps, diagnosis and the page work as they stand."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from doc_blocks import blocks, run_console, run_python, sample_repository, write

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
SECTIONS = ("Ablations", "Sweeps", "Diagnosis", "Report")


@pytest.mark.slow
def test_files_commands_and_python_work_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    env = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin"}
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    heads = [
        (number, line.removeprefix("## ")) for number, line in enumerate(lines) if line.startswith("## ")
    ]
    ours = [
        range(number, following)
        for (number, title), (following, _) in zip(heads, [*heads[1:], (len(lines), "")], strict=True)
        if title in SECTIONS
    ]
    assert len(ours) == len(SECTIONS)
    namespace: dict[str, object] = {}
    seen = []
    for block in blocks(PAGE):
        if not any(block.line in section for section in ours):
            continue
        seen.append(block.language)
        if block.file:
            write(block, tmp_path)
        elif block.language == "python":
            run_python(PAGE, [block], namespace)
        else:
            assert block.language == "console"
            run_console(block, tmp_path, env)
    assert {"toml", "json", "python", "console"} <= set(seen)
    for page in ("sweep.html", "losses.html", "evaluation.html"):
        assert (tmp_path / page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
