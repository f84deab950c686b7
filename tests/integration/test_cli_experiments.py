"""`ablate`, `sweep` and `diagnose` as a user meets them: tables, JSON, pages, exit codes, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main

CONFIG = """
[retrievers.text]
use = "bm25"
fields = ["text"]

[retrievers.name]
use = "bm25"
fields = ["name"]

[fuser]
use = "rrf"
weights = { name = 2.0 }

[ablations.no-name]
"retrievers.name" = false
"fuser.weights.name" = false

[ablations.no-text]
"retrievers.text" = false
"""
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


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
def files(tmp_path: Path) -> list[object]:
    """Records that only their names tell apart, a question for each, and the options that name them."""
    records = [{"key": name, "body": "some text", "name": name} for name in NAMES]
    cases: list[dict[str, Any]] = [
        {"id": f"q-{n}", "query": n, "relevant": [n], "category": n[0]} for n in NAMES
    ]
    cases.append({"id": "gap", "query": "omega", "expected": "disclose_gap", "gap_id": "end"})
    for name, rows in (("records", records), ("cases", cases)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text(CONFIG, encoding="utf-8")
    contract = {"evaluation": {"selection_policy": "do_not_select_on_eight_cases"}}
    (tmp_path / "contract.json").write_text(json.dumps(contract), encoding="utf-8")
    return [
        *("--config", tmp_path / "pipeline.toml", "--cases", tmp_path / "cases.jsonl"),
        *("--records", tmp_path / "records.jsonl", "--id-field", "key", "--text-field", "body"),
    ]


def test_ablate_runs_the_variants_of_the_configuration(run: Run, files: list[object]) -> None:
    ran = run("ablate", *files, "--measure", "Recall@1")
    assert (ran.code, ran.err) == (0, "")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert lines[0] == "Comparison of 3 methods: 8 cases scored, 1 gap"
    assert any(line.startswith("no-name 0.0000") for line in lines)
    assert any(line.startswith("no-text 1.0000") for line in lines)
    # 2 of 2^8 sign flips, times two tests.
    assert "no-name: Recall@1 falls by 1.0000, p = 0.0156 after Holm's correction" in lines
    assert "gap end baseline nothing, which is right" in lines


def test_ablate_takes_variants_from_the_command_line(run: Run, files: list[object]) -> None:
    parts = ["--without", "name", "--ablation", "no-text"]
    values = ["--set", "retrievers.text.k1=2.5", "--set", "fuser.use=rrf"]
    data = run("ablate", *files, "--json", "--measure", "MRR@5", *parts, *values).data
    assert data["schema"] == 1
    assert data["changes"] == {
        "no-text": {"retrievers.text": False},
        "without name": {"retrievers.name": False},
        "retrievers.text.k1=2.5": {"retrievers.text.k1": 2.5},
        "fuser.use=rrf": {"fuser.use": "rrf"},
    }
    assert [method["name"] for method in data["methods"]] == ["baseline", *data["changes"]]
    assert data["gaps"][0]["scored"] is False


def test_a_policy_silences_ablate_and_makes_sweep_refuse(
    run: Run, files: list[object], tmp_path: Path
) -> None:
    contract = ["--contract", tmp_path / "contract.json"]
    ablated = run("ablate", *files, *contract, "--measure", "Recall@1")
    assert ablated.code == 0
    assert "do_not_select_on_eight_cases" in ablated.out
    assert "Holm" not in ablated.out
    assert run("ablate", *files, *contract, "--json").data["differences"] == []
    swept = run("sweep", *files, *contract, "--weight", "name=1,2")
    assert (swept.code, swept.out) == (2, "")
    assert "the contract's policy is 'do_not_select_on_eight_cases', and a sweep would choose" in swept.err


def test_sweep_prints_a_row_a_setting(run: Run, files: list[object], tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    knobs = ["--weight", "name=0,1", "--recall", "1,5", "--grid"]
    ran = run("sweep", *files, "--measure", "Recall@1", *knobs, "--html", page)
    assert (ran.code, ran.err) == (0, f"wrote {page}\n")
    lines = [line.split() for line in ran.out.splitlines()[2:-1]]
    assert [line[:3] for line in lines] == [
        ["as", "configured", "1.0000"],
        ["1", "0", "0.0000"],
        ["1", "1", "1.0000"],
        ["5", "0", "0.0000"],
        ["5", "1", "1.0000"],
    ]
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    data = run("sweep", *files, "--vary", 'retrievers.text.fields=["text"],["name"]', "--json").data
    assert data["knobs"] == {"retrievers.text.fields": [["text"], ["name"]]}
    assert data["points"][0]["name"] == "baseline"


def test_diagnose_names_the_stage(run: Run, files: list[object], tmp_path: Path) -> None:
    page = tmp_path / "losses.html"
    ran = run("diagnose", *files, "--ablation", "no-name", "-k", 3, "--html", page)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "Diagnosis: 0 of 8 targets are in the first 3; 8 of 8 cases lost something"
    assert lines[1] == "  q-alpha  [recall] alpha: text does not have it (recall 80)"
    assert "text does not have it" in page.read_text(encoding="utf-8")
    data = run("diagnose", *files, "-k", 1, "--json").data
    assert (data["schema"], data["targets"], data["found"], data["losses"]) == (1, 8, 8, [])


def test_a_folder_and_an_index_are_read_too(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def load_ledger():\n    return 1\n", encoding="utf-8")
    (tree / "b.py").write_text("def print_report():\n    return 2\n", encoding="utf-8")
    case = {"id": "q", "query": "load_ledger", "relevant": [{"path": "a.py", "lines": [1, 2]}]}
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([case]), encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text('[retrievers.bm25]\nuse = "bm25"\n', encoding="utf-8")
    config = ["--config", tmp_path / "pipeline.toml"]
    by_root = run("diagnose", *config, "--cases", cases, "--root", tree, "--json").data
    assert by_root["found"] == 1
    assert run("index", tree, "--index", tmp_path / "index", *config).code == 0
    stored = ["--cases", cases, "--index", tmp_path / "index"]
    assert run("diagnose", *stored, "--json").data == by_root
    ablated = run("ablate", *stored, "--set", "retrievers.bm25.k1=2.0", "--measure", "MRR", "--json").data
    assert [method["means"] for method in ablated["methods"]] == [{"MRR": 1.0}, {"MRR": 1.0}]
    chunks = run("sweep", *stored, "--chunk-chars", "100,200")
    assert chunks.code == 2
    assert "documents were given; give a folder" in chunks.err


# EV-17
def test_failed_searches_are_told_and_all_failing_fails(
    run: Run, files: list[object], tmp_path: Path
) -> None:
    plugin = tmp_path / "moody_parts.py"
    plugin.write_text(
        "from hybridrank import Ranking\n\n\nclass Moody:\n"
        "    def __init__(self, fails: tuple[str, ...] = ()):\n        self.fails = fails\n\n"
        "    def retrieve(self, query, /, *, k, where=None):\n"
        "        if query.text in self.fails or 'all' in self.fails:\n"
        "            raise TimeoutError('the server is down')\n"
        "        return Ranking(query)\n",
        encoding="utf-8",
    )
    info = tmp_path / "moody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moody\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hybridrank.retrievers]\nmoody = moody_parts:Moody\n")
    config = tmp_path / "moody.toml"
    config.write_text(
        '[retrievers.moody]\nuse = "moody"\nfails = ["beta"]\n\n[retrievers.name]\nuse = "bm25"\n'
        'fields = ["name"]\n',
        encoding="utf-8",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        others = files[2:]
        ran = run("ablate", "--config", config, *others, "--without", "moody", "--measure", "Recall@1")
        assert ran.code == 3
        assert ran.err == (
            "warning: baseline: 1 search failed and scored 0; case 'q-beta': TimeoutError: the server is "
            "down\n"
        )
        assert any(line.split()[:2] == ["baseline", "0.8750"] for line in ran.out.splitlines())
        diagnosed = run("diagnose", "--config", config, *others)
        assert diagnosed.code == 3
        assert "  q-beta  [search] beta: TimeoutError: the server is down" in diagnosed.out.splitlines()
        failing = ["--set", 'retrievers.moody.fails=["all"]']
        down = run("ablate", "--config", config, *others, *failing)
        assert (down.code, down.out) == (1, "")
        assert "the searches of all 8 cases to score failed" in down.err
        assert "in variant 'retrievers.moody.fails=[\"all\"]'" in down.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ablate", "--root", "."], "--root and --records exclude each other"),
        (["ablate", "--set", "k1"], "'k1' is no NAME=VALUE"),
        (["ablate", "--set", "recall=5", "--set", "recall=6"], "'recall' is given twice"),
        (["ablate", "--set", "recal=5"], "did you mean 'recall'"),
        (["ablate", "--without", "nam"], "did you mean 'name'"),
        (["ablate", "--ablation", "no-nam"], "did you mean 'no-name'"),
        (["ablate", "--measure", "nDGC@10"], "did you mean 'nDCG'"),
        (["ablate", "--alpha", "1"], "--alpha"),
        (["ablate", "--html", "no/such/folder/x.html"], "there is no folder"),
        (["sweep"], "nothing is varied"),
        (["sweep", "--recall", ","], "no values were given for recall"),
        (["sweep", "--recall", "many"], "recall is 'many'"),
        (["sweep", "--recall", "5"], "nDCG@10 looks at 10 hits, but recall=5"),
        (["sweep", "--weight", "1,2"], "'1,2' is no NAME=VALUE"),
        (["sweep", "--weight", "nam=1"], "did you mean 'name'"),
        (["diagnose", "-k", "0"], "0 is not in the range"),
        (["diagnose", "-k", "90"], "k=90 is above recall=80"),
        (["diagnose", "--max-bytes", "5"], "--max-bytes goes with --root"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    run: Run, files: list[object], args: list[str], message: str
) -> None:
    ran = run(args[0], *files, *args[1:])
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_an_unwritable_page_is_a_failure_after_the_fact(
    run: Run, files: list[object], tmp_path: Path
) -> None:
    (tmp_path / "page.html").symlink_to("/proc/none/page.html")
    ran = run("diagnose", *files, "--html", tmp_path / "page.html")
    assert ran.code == 1
    assert "cannot write" in ran.err
