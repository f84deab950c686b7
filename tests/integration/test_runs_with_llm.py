"""A chat model that reranks, in contracts, run folders and manifests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main
from hybridrank.prompts import load_prompt

CONFIG = """
[retrievers.bm25]
use = "bm25"
fields = ["text"]

[rerankers.llm]
use = "listwise"
chat = {{ use = "scripted", replies = {replies} }}
{more}
"""
INPUTS = ("--config", "pipeline.toml", "--cases", "cases.jsonl", "--records", "records.jsonl")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three records that hold the word of every question, and three questions."""
    monkeypatch.chdir(tmp_path)
    records = [{"id": n, "text": f"token {'more ' * place}{n}"} for place, n in enumerate("abc")]
    cases = [
        {"id": "q0", "query": "token one", "relevant": ["c"]},
        {"id": "q1", "query": "token two", "relevant": ["c"]},
        {"id": "q2", "query": "token three", "relevant": ["a"]},
    ]
    for name, rows in (("records", records), ("cases", cases)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    return tmp_path


def configure(folder: Path, replies: str, more: str = "") -> None:
    (folder / "pipeline.toml").write_text(CONFIG.format(replies=replies, more=more), "utf-8")


def test_the_manifest_tells_prompt_fallbacks_and_what_was_dropped(run: Run, folder: Path) -> None:
    configure(
        folder,
        '{ "token one" = "[2, 0, 1, 1, 7]", "token two" = "[2, 1, 0]", "token three" = "The answer is b." }',
    )
    code, _, err = run("evaluate", *INPUTS, "--measure", "MRR", "-o", "runs")
    assert code == 0
    assert "Fallback triggered: YES (no array" in err
    (path,) = (folder / "runs").iterdir()
    manifest: Any = json.loads((path / "manifest.json").read_text("utf-8"))
    assert manifest["events"] == {
        "fallbacks": 1,
        "guardrail_events": 0,
        "events_by_code": {"rerank-fallback": 1, "rerank-parsed": 2},
        "dropped_from_replies": {"duplicates": 1, "out_of_bounds": 1},
    }
    assert manifest["parameters"]["prompts"] == {"llm.listwise-v1": load_prompt("listwise-v1").sha256}
    methods = manifest["parameters"]["methods"]["pipeline"]
    assert methods["rerankers"]["llm"]["chat"]["model"] == "scripted"
    assert run("verify", path)[0] == 0


def test_a_contract_holds_the_prompt(run: Run, folder: Path) -> None:
    configure(folder, '"[2, 1, 0]"')
    assert run("lock", *INPUTS, "--id", "x", "-o", "contract.json")[0] == 0
    contract = json.loads((folder / "contract.json").read_text("utf-8"))
    assert contract["prompts"] == {"llm.listwise-v1": load_prompt("listwise-v1").sha256}
    assert run("evaluate", "--contract", "contract.json", "--no-save")[0] == 0
    configure(folder, '"[2, 1, 0]"', 'prompt = "{query} {candidates} Ranked JSON Array:"')
    code, _, err = run("evaluate", "--contract", "contract.json", "--no-save")
    assert code != 0
    assert "prompts.llm" in err
