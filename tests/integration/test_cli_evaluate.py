"""lock, evaluate and verify as a user meets them: streams, exit codes, files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main

SCRIPT = Path(sysconfig.get_path("scripts")) / "hybridrank"
EXAMPLE = Path(__file__).parents[2] / "examples" / "contract"


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
    """The command in this process."""

    def call(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, as the working directory."""
    path = Path(shutil.copytree(EXAMPLE, tmp_path / "x", ignore=shutil.ignore_patterns("runs")))
    monkeypatch.chdir(path)
    return path


INPUTS = ("--config", "pipeline.toml", "--cases", "cases.jsonl", "--records", "passages.jsonl")


def test_the_example_runs_as_its_readme_says(tmp_path: Path) -> None:
    command = [str(SCRIPT), "evaluate", "--contract", "examples/contract/contract.json", "-o", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLE.parents[1], check=True)
    assert ran.stderr == ""
    out = ran.stdout.splitlines()
    readme = (EXAMPLE / "README.md").read_text("utf-8").splitlines()
    shown = [line.removeprefix("    ") for line in readme if line.startswith("    ")][1:-1]
    assert out[: len(shown)] == shown
    head = out[1].split()
    assert head == ["Recall@1", "Recall@3", "Recall@5", "MRR"]
    assert [line.split()[0] for line in out[2:5]] == ["dense", "bm25", "hybrid"]
    rows = [line.split() for line in out if line.startswith("  gap-")]
    assert [(row[0], row[2]) for row in rows] == [
        (gap, method)
        for gap in ("gap-late-fee", "gap-last-train", "gap-tyre-pressure")
        for method in ("dense", "bm25", "hybrid")
    ]
    (path,) = tmp_path.iterdir()
    assert out[-1] == f"run: {path}"
    manifest = json.loads((path / "manifest.json").read_text("utf-8"))
    assert manifest["command"] == ["hybridrank", *command[1:]]


def test_lock_evaluate_verify(run: Run, folder: Path) -> None:
    (folder / "contract.json").unlink()
    locked = run("lock", *INPUTS, "--id", "mine", "--forbid", "label", "--json")
    assert (locked.code, locked.err) == (0, "wrote contract.json\n")
    assert locked.data == json.loads((folder / "contract.json").read_text("utf-8"))
    assert (
        locked.data["sources"]["config_sha256"] == sha256((folder / "pipeline.toml").read_bytes()).hexdigest()
    )
    ran = run("evaluate", "--contract", "contract.json", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.data["summary"]["experiment_id"] == "mine"
    path = folder / ran.data["run"]
    assert path.parent == folder / "runs"
    sound = run("verify", path)
    assert (sound.code, sound.out) == (0, "")
    assert "nothing is wrong" in sound.err
    (path / "private/measures.jsonl").write_text("", "utf-8")
    broken = run("verify", path, "--json")
    assert broken.code == 1
    assert broken.data["breaches"][0]["where"] == "private/measures.jsonl"
    assert broken.err.startswith("error: private/measures.jsonl: expected ")


def test_a_refused_contract_lists_everything_that_moved(run: Run, folder: Path) -> None:
    config = folder / "pipeline.toml"
    config.write_text(config.read_text("utf-8").replace("k1 = 1.2", "k1 = 1.3").replace("60", "10"), "utf-8")
    ran = run("evaluate", "--contract", "contract.json")
    assert (ran.code, ran.out) == (1, "")
    lines = ran.err.splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == [
        "sources.config_sha256",
        "methods.bm25.k1",
        "methods.hybrid.rrf_k",
    ]
    assert "error: methods.bm25.k1: expected 1.2, found 1.3" in lines
    assert lines[-1] == "3 things moved: nothing was run"
    assert not (folder / "runs").exists()
    as_json = run("evaluate", "--contract", "contract.json", "--json")
    assert as_json.data["breaches"][0]["where"] == "sources.config_sha256"


def test_without_a_contract(run: Run, folder: Path) -> None:
    ran = run("evaluate", *INPUTS, "--measure", "MRR", "--measure", "Recall@k", "--cutoff", 2, "--cutoff", 1)
    assert ran.code == 0
    assert ran.out.splitlines()[1].split() == ["MRR", "Recall@1", "Recall@2"]
    path = Path(ran.out.splitlines()[-1].removeprefix("run: "))
    assert path.parent == Path("runs")
    assert run("verify", path).code == 0
    unsaved = run("evaluate", *INPUTS, "--no-save", "--json")
    assert unsaved.data["run"] is None
    assert len(list((folder / "runs").iterdir())) == 1


def test_a_code_tree_with_paths_and_lines(run: Run, folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("def load():\n    pass\n\n\ndef save():\n    pass\n", "utf-8")
    case = {"id": "q", "query": "save", "relevant": [{"path": "a.py", "lines": [5, 6]}]}
    (folder / "c.jsonl").write_text(json.dumps(case), "utf-8")
    ran = run(
        "evaluate",
        "--config",
        "pipeline.toml",
        "--cases",
        "c.jsonl",
        "--root",
        "src",
        "--measure",
        "MRR",
        "--json",
    )
    assert ran.data["summary"]["evaluation"]["aggregate"]["hybrid"]["means"] == {"MRR": 1.0}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give --contract FILE, or"),
        (("--config", "pipeline.toml"), "give --contract FILE, or"),
        (
            ("--config", "pipeline.toml", "--cases", "cases.jsonl"),
            "give the corpus by --root DIR or by --records FILE",
        ),
        ((*INPUTS, "--root", "."), "give the corpus by --root DIR or by --records FILE"),
        (("--contract", "contract.json", "--cases", "cases.jsonl"), "--cases is locked by the contract"),
        (
            ("--contract", "contract.json", "--config", "pipeline.toml"),
            "locks a configuration; give no other",
        ),
        ((*INPUTS, "--base", "."), "--base goes with --contract"),
        ((*INPUTS, "--no-save", "-o", "x"), "exclude each other"),
        ((*INPUTS, "--measure", "Recal@3"), "did you mean 'Recall'"),
        ((*INPUTS, "--cutoff", 0), "is not in the range"),
        ((*INPUTS, "--text-field", "txt"), "there is no field 'txt' (text_field); did you mean 'text'"),
        (("--contract", "cases.jsonl"), "cannot be read as JSON"),
    ],
)
def test_wrong_flags_and_values(run: Run, folder: Path, args: tuple[object, ...], message: str) -> None:
    ran = run("evaluate", *args)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((), 2, "contract.json exists; --force replaces it"),
        (("--force", "--require", "role=x"), 2, "is none of documents.FIELD=VALUE and cases.FIELD=VALUE"),
        (("--force", "--source", "x"), 2, "is no NAME=FILE"),
        (("--force", "--source", "cases=cases.jsonl"), 2, "source 'cases'"),
        (("--force", "--source", "prompt=none.txt"), 2, "there is no file 'none.txt' (prompt)"),
        (("--force", "--forbid", "topic"), 1, "input_contract.forbidden_fields: expected no field 'topic'"),
        (("--force", "--require", "cases.origin=robot"), 1, 'expected "robot" in each of the cases'),
    ],
)
def test_what_lock_refuses(run: Run, folder: Path, args: tuple[str, ...], code: int, message: str) -> None:
    before = (folder / "contract.json").read_bytes()
    ran = run("lock", *INPUTS, "--id", "x", *args)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert (folder / "contract.json").read_bytes() == before


def test_an_unfinished_or_missing_run_is_refused(run: Run, folder: Path) -> None:
    ran = run("verify", folder)
    assert ran.code == 1
    assert "holds no manifest.json" in ran.err
    assert run("verify", folder / "none").code == 2


def test_a_benchmark_of_rules_chunks_and_probes_runs_as_it_is(run: Run, folder: Path) -> None:
    chunks = [json.loads(line) for line in (folder / "passages.jsonl").read_text("utf-8").splitlines()]
    probes = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    texts = {
        "chunks.jsonl": [
            {
                "chunk_id": f"chunk-{number}",
                "retrieval_role": "search_candidate",
                "search_text": chunk["text"],
                "metadata": {"rule_id": chunk["id"], "topic": chunk["topic"]},
            }
            for number, chunk in enumerate(chunks)
        ],
        "probes.jsonl": [
            {
                "probe_id": probe["id"],
                "query": probe["query"],
                "origin": "author",
                "expected_behavior": probe["expected"],
                "expected_rule_ids": probe["relevant"],
                "expected_gap_id": probe["gap_id"],
                "uses_patient_record": False,
                "uses_reference_label": False,
            }
            for probe in probes
        ],
    }
    hashes = {}
    for name, records in texts.items():
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        hashes[name] = sha256((folder / name).read_bytes()).hexdigest()
    contract = {
        "schema_version": 1,
        "experiment_id": "dense-bm25-hybrid",
        "scope": "written_by_the_author",
        "sources": {
            "flat_chunks_path": "chunks.jsonl",
            "flat_chunks_sha256": hashes["chunks.jsonl"],
            "retrieval_probes_path": "probes.jsonl",
            "retrieval_probes_sha256": hashes["probes.jsonl"],
        },
        "input_contract": {
            "expected_document_count": 9,
            "expected_probe_count": 8,
            "expected_supported_probe_count": 5,
            "expected_gap_probe_count": 3,
            "supported_behavior": "retrieve",
            "gap_behavior": "disclose_gap",
            "forbidden_fields": ["KTAS_RN", "KTAS_expert"],
        },
        "methods": {
            "dense": {"name": "cosine", "document_instruction": None, "reranker_enabled": False},
            "bm25": {
                "name": "bm25",
                "tokenizer": "unicode_nfkc_lowercase_latin_number_cjk_unigram_bigram_v1",
                "k1": 1.2,
                "b": 0.75,
                "query_term_frequency": "binary_unique_terms",
                "reranker_enabled": False,
            },
            "hybrid": {
                "rrf_k": 60,
                "inputs": ["dense", "bm25"],
                "same_candidate_set_required": True,
                "reranker_enabled": False,
            },
        },
        "evaluation": {
            "cutoffs": [1, 3, 5],
            "supported_probe_metrics": ["mean_recall_at_k", "mean_reciprocal_rank"],
            "gap_probe_policy": "diagnostic_only_not_scored_without_abstention_threshold",
            "primary_comparison_methods": ["dense", "bm25", "hybrid"],
            "selection_policy": "do_not_select_or_tune_method_from_eight_probe_results",
            "online_reranker": "disabled_until_there_is_a_contract",
        },
        "outputs": {"public_summary_path": "public/summary.json", "run_output_root": "results"},
    }
    (folder / "configs").mkdir()
    (folder / "configs/c.json").write_text(json.dumps(contract), "utf-8")
    args = ("evaluate", "--contract", "configs/c.json", "--config", "pipeline.toml", "--base", ".", "--json")
    ran = run(*args)
    assert (ran.code, ran.err) == (0, "")
    ours = run("evaluate", "--contract", "contract.json", "--no-save", "--json").data["summary"]
    assert ran.data["summary"]["evaluation"]["aggregate"] == ours["evaluation"]["aggregate"]
    assert (folder / "public/summary.json").exists()
    texts["probes.jsonl"][2]["KTAS_expert"] = 3
    texts["probes.jsonl"][3]["uses_patient_record"] = True
    (folder / "probes.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in texts["probes.jsonl"]), "utf-8"
    )
    refused = run(*args)
    assert refused.code == 1
    assert [breach["where"] for breach in refused.data["breaches"]] == [
        "sources.cases_sha256",
        "input_contract.forbidden_fields",
        "input_contract.required_values.cases.uses_patient_record",
    ]
