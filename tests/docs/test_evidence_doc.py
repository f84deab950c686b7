"""The commands of docs/evidence.md print what the page says, and its figures hold."""

from __future__ import annotations

import re
import shutil
import sysconfig
from math import log
from pathlib import Path

from doc_blocks import blocks, run_console
from hybridrank.text.api_tokens import api_tokens

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/evidence.md"


def test_commands_print_what_the_page_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/evidence", tmp_path, dirs_exist_ok=True)
    env = {
        "PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin",
        "HYBRIDRANK_CACHE": str(tmp_path.parent / "cache-of-evidence"),
    }
    found = [block for block in blocks(PAGE) if block.language == "console"]
    assert len(found) == 2
    for block in found:
        run_console(block, tmp_path, env)


def test_the_table_of_tokens_is_what_is_found() -> None:
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"^\| \| from `(.+)` \|$", text, re.MULTILINE)
    rows = text.split(code)[1].split("\n\n")[0].splitlines()[2:]
    tokens = {token for row in rows for token in re.findall(r"`([^`]+)`", row.split("|")[2])}
    assert tokens == set(api_tokens(code))


def test_the_weights_are_those_of_the_formula() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    (shown,) = re.findall(
        r"that is ([\d.]+) for a token in one of them, ([\d.]+) in two, ([\d.]+) in five", text
    )
    assert shown == tuple(f"{log((10 - n + 1) / n) ** 2:.2f}" for n in (1, 2, 5))
