"""The sections of docs/evaluation.md on cases, measures, runs and contracts work as they stand."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from doc_blocks import blocks, run_console, run_python, write

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
LAST = "## Ablations"


@pytest.mark.slow
def test_files_commands_and_python_work_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin"}
    end = PAGE.read_text(encoding="utf-8").splitlines().index(LAST)
    namespace: dict[str, object] = {}
    seen = []
    for block in blocks(PAGE):
        if block.line > end:
            break
        seen.append(block.language)
        if block.file:
            write(block, tmp_path)
        elif block.language == "python":
            run_python(PAGE, [block], namespace)
        else:
            assert block.language == "console"
            run_console(block, tmp_path, env)
    assert set(seen) == {"json", "toml", "python", "console"}
    assert len(list((tmp_path / "runs").iterdir())) == 2
