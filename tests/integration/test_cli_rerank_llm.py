"""`search --rerank-llm` and `ablate --rerank-llm` as a user types them, against a server on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main
from ollama_server import SMOLLM, Answer, OllamaServer

REPORT = (
    'Reply received: "[2, 0, 1]" (Filtered: 0 duplicates, 0 out-of-bounds). '
    "Fallback triggered: NO (clean parse)"
)


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    monkeypatch.setattr("hybridrank.http.PAUSE", 0.001)
    with OllamaServer() as running:
        monkeypatch.setenv("OLLAMA_HOST", running.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        running.replies.append("[2, 0, 1]")
        yield running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Four functions that all hold the word of the query, the shorter the better for BM25."""
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(4):
        body = "".join(f"    step_{n} = {n}\n" for n in range(number))
        (root / f"f{number}.py").write_text(f"def f{number}(redirect):\n{body}    return redirect\n", "utf-8")
    return root


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "pipeline.toml"
    path.write_text('[retrievers.bm25]\nuse = "bm25"\nfields = ["text"]\n', encoding="utf-8")
    return path


def prompts(server: OllamaServer) -> list[str]:
    return [body["messages"][-1]["content"] for body in server.requests_to("/api/chat")]


def test_hits_are_marked_with_their_ranks_before_and_after(
    run: Run, server: OllamaServer, tree: Path, config: Path
) -> None:
    before = run("search", "redirect", tree, "--config", config, "-q").out.splitlines()
    ran = run("search", "redirect", tree, "--config", config, "--rerank-llm", SMOLLM, "--rerank-depth", 3)
    assert ran.code == 0
    lines = [re.sub(r"^\[.*?\] ", "", line) for line in ran.out.splitlines()]
    plain = [re.sub(r"^\[.*?\] ", "", line) for line in before]
    assert lines == [
        f"{plain[2]}  (Reranked #1, was #3)",
        f"{plain[0]}  (Reranked #2, was #1)",
        f"{plain[1]}  (Reranked #3, was #2)",
        plain[3],
    ]
    assert REPORT in ran.err.splitlines()
    (prompt,) = prompts(server)
    assert "between 0 and 2;" in prompt
    assert server.requests_to("/api/chat")[0]["format"]["items"]["enum"] == [0, 1, 2]


def test_the_ranks_are_in_the_json(run: Run, server: OllamaServer, tree: Path, config: Path) -> None:
    flags = ("--config", config, "--rerank-llm", f"openai:{SMOLLM}", "--rerank-depth", 3, "--json")
    data = run("search", "redirect", tree, *flags).data
    assert [hit["reranked"] for hit in data["hits"]] == [
        {"stage": "llm", "before": 3, "after": 1},
        {"stage": "llm", "before": 1, "after": 2},
        {"stage": "llm", "before": 2, "after": 3},
        None,
    ]
    (event,) = [event for event in data["events"] if event["stage"] == "llm"]
    assert (event["code"], event["message"]) == ("rerank-parsed", REPORT)
    assert event["data"]["prompt"].startswith("listwise-v1@")
    assert len(server.requests_to("/v1/chat/completions")) == 1
    plain = run("search", "redirect", tree, "--config", config, "--json").data
    assert "reranked" not in plain["hits"][0]


def test_the_depth_is_the_model_s_and_the_other_rerankers_keep_theirs(
    run: Run, server: OllamaServer, tree: Path
) -> None:
    data = run(
        "search", "redirect", tree, "--rerank-llm", SMOLLM, "--rerank-depth", 3, "--json", "--explain"
    ).data
    stages = {step["stage"]: step["of"] for step in data["hits"][0]["explanation"]}
    assert stages["llm"] == 3
    assert stages["definition"] == 4
    assert data["hits"][0]["reranked"]["stage"] == "llm"


def test_a_fallback_is_told_and_marks_nothing(
    run: Run, server: OllamaServer, tree: Path, config: Path
) -> None:
    plain = run("search", "redirect", tree, "--config", config, "-q").out
    server.replies[0] = "The answer is 2."
    ran = run("search", "redirect", tree, "--config", config, "--rerank-llm", SMOLLM)
    assert ran.code == 0
    assert [line.split("] ")[1] for line in ran.out.splitlines()] == [
        line.split("] ")[1] for line in plain.splitlines()
    ]
    warnings = [line for line in ran.err.splitlines() if line.startswith("warning: ")]
    assert warnings == [
        'warning: Reply received: "The answer is 2." (Filtered: 0 duplicates, 0 out-of-bounds). '
        "Fallback triggered: YES (no array with a candidate's id)"
    ]
    assert run("search", "redirect", tree, "--config", config, "--rerank-llm", SMOLLM, "-q").err == ""


def test_a_missing_model_is_a_fallback_that_says_what_to_do(
    run: Run, server: OllamaServer, tree: Path, config: Path
) -> None:
    ran = run("search", "redirect", tree, "--config", config, "--rerank-llm", "qwen3")
    assert ran.code == 0
    assert "Fallback triggered: YES (model 'qwen3' is not on" in ran.err
    assert "ollama pull qwen3" in ran.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--rerank-llm", "two words"], "ollama:NAME"),
        (["--rerank-llm", "m", "--rerank-depth", 0], "--rerank-depth 0"),
        (["--rerank-llm", "m", "--rerank-depth", 1], "--rerank-depth 1 leaves --rerank-llm nothing"),
    ],
)
def test_flags_that_mean_nothing_are_refused(run: Run, tree: Path, flags: list[object], told: str) -> None:
    ran = run("search", "redirect", tree, *flags)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_a_stage_of_that_name_is_not_replaced(
    run: Run, server: OllamaServer, tree: Path, config: Path
) -> None:
    own = '\n[rerankers.llm]\nuse = "listwise"\nchat = { use = "scripted", replies = "[1, 0]" }\n'
    config.write_text(config.read_text("utf-8") + own, "utf-8")
    ran = run("search", "redirect", tree, "--config", config, "--rerank-llm", SMOLLM)
    assert ran.code == 2
    assert "has a stage 'llm' already" in ran.err
    # Without the flag the configuration's own model orders the hits.
    assert "(Reranked #1, was #2)" in run("search", "redirect", tree, "--config", config).out


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    rows = [{"id": f"q{n}", "query": "redirect", "relevant": [f"f{n}.py:1-{n + 2}"]} for n in (2, 3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_ablate_compares_hybrid_with_hybrid_and_a_model(
    run: Run, server: OllamaServer, tree: Path, config: Path, cases: Path
) -> None:
    def best_last(body: Any) -> str:
        last = len(re.findall(r"^\[ID \d+\]", body["messages"][-1]["content"], re.M)) - 1
        return json.dumps([*range(last, -1, -1)])

    server.replies[0] = best_last
    files = ("--config", config, "--cases", cases, "--root", tree)
    flags = ("--rerank-llm", SMOLLM, "--rerank-depth", 4, "--measure", "MRR@5")
    ran = run("ablate", *files, *flags, "--json")
    assert ran.code == 0
    hybrid, llm = ran.data["methods"]
    assert [hybrid["name"], llm["name"]] == ["baseline", f"with ollama:{SMOLLM}"]
    # Of four, the third and the fourth are relevant; turned round, the second and the first.
    assert hybrid["means"]["MRR@5"] == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert llm["means"]["MRR@5"] == pytest.approx((1 / 2 + 1) / 2)
    assert 0 < hybrid["latency"]["p50"] < llm["latency"]["p50"]
    text = run("ablate", *files, *flags).out
    assert f"with ollama:{SMOLLM}" in text
    # The model was asked once for each question and run, never for the baseline.
    assert len(server.requests_to("/api/chat")) == 4


def test_ablate_tells_how_often_a_model_fell_back(
    run: Run, server: OllamaServer, tree: Path, config: Path, cases: Path
) -> None:
    server.script("/api/chat", Answer({"error": "boom"}, 500))
    files = ("--config", config, "--cases", cases, "--root", tree, "--rerank-llm", SMOLLM)
    ran = run("ablate", *files)
    assert ran.code == 0
    assert f"warning: with ollama:{SMOLLM}: rerank-fallback 1 times in 2 searches" in ran.err.splitlines()
    assert run("ablate", *files[:-2], "--rerank-depth", 5).code == 2
