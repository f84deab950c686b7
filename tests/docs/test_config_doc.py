"""docs/config.md, from top to bottom in one folder: every file, command and line of Python in it works."""

from __future__ import annotations

import inspect
import re
import sysconfig
from pathlib import Path

import pytest

from doc_blocks import blocks, run_console, run_python, sample_repository
from hybridrank import ConfigError, Pipeline
from hybridrank.config import ablations

PAGE = Path(__file__).parents[2] / "docs" / "config.md"


@pytest.mark.slow
def test_the_page_works_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    env = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin"}
    namespace: dict[str, object] = {}
    seen = set()
    for block in blocks(PAGE):
        seen.add(block.language)
        if block.language in ("toml", "json"):
            path = tmp_path / (block.file or "pipeline.toml")
            path.write_text(block.text, encoding="utf-8")
            if path.name == "wrong.toml":
                with pytest.raises(ConfigError):
                    Pipeline.from_config(path)
            else:
                for ablation in (None, *ablations(path)):
                    Pipeline.from_config(path, ablation=ablation)
        elif block.language == "python":
            run_python(PAGE, [block], namespace)
        else:
            assert block.language == "console"
            run_console(block, tmp_path, env)
    assert seen == {"toml", "json", "python", "console"}


def test_every_key_is_described_with_its_default() -> None:
    text = PAGE.read_text(encoding="utf-8").split("## What a configuration holds")[1].split("\n## ")[0]
    keys = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    arguments = list(inspect.signature(Pipeline).parameters)
    assert keys == [*arguments, "resources", "ablations"]
    assert "| 80 |" in text
