"""Runs: what their folder holds, that it is written whole or not at all, that a check finds what moved."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridrank import BM25, RRF, Case, Document, HybridRankError, Pipeline, Query, Ranking, StoreError
from hybridrank.evaluation import run_plan
from hybridrank.evaluation.breaches import ContractMismatchError
from hybridrank.evaluation.facts import method_facts
from hybridrank.evaluation.manifest import event_counts, git_state, run_id, seal, sealed
from hybridrank.evaluation.method_rankings import MethodRankings, rank_methods
from hybridrank.evaluation.run_folder import RunFolder
from hybridrank.evaluation.runs import evaluate_config, evaluate_contract
from hybridrank.evaluation.summary import rounded
from hybridrank.evaluation.vectors import vector_sha256
from hybridrank.evaluation.verifying import verify_run
from hybridrank.types import Event, Filter

EXAMPLE = Path(__file__).parents[2] / "examples" / "contract"
FILES = {
    "contract.json",
    "manifest.json",
    "public-summary.json",
    "private/cases.jsonl",
    "private/documents.jsonl",
    "private/rankings.jsonl",
    "private/measures.jsonl",
    "private/document-vectors.jsonl",
    "private/query-vectors.jsonl",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the example."""
    run = evaluate_contract(EXAMPLE / "contract.json", output=tmp_path_factory.mktemp("runs"), command=["x"])
    assert run.path is not None
    return run.path


@pytest.fixture
def run(written: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(written, tmp_path / written.name))


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from floats(item)


def test_a_run_holds_all_of_its_files(written: Path) -> None:
    assert files_of(written) == FILES
    config = sha256((EXAMPLE / "pipeline.toml").read_bytes()).hexdigest()
    assert re.fullmatch(rf"\d{{8}}T\d{{12}}Z-{config[:8]}", written.name)
    assert (written / "contract.json").read_bytes() == (EXAMPLE / "contract.json").read_bytes()


def test_rankings_are_whole_for_every_case_and_method(written: Path) -> None:
    rankings = lines(written / "private/rankings.jsonl")
    assert len(rankings) == 8 * 3
    ids = {record["id"] for record in lines(EXAMPLE / "passages.jsonl")}
    names = {"dense": "cosine_similarity", "bm25": "bm25_score", "hybrid": "rrf_score"}
    for ranking in rankings:
        assert {hit["id"] for hit in ranking["hits"]} == ids
        assert [hit["rank"] for hit in ranking["hits"]] == list(range(1, 10))
        scores = [hit[names[ranking["method"]]] for hit in ranking["hits"]]
        assert scores == sorted(scores, reverse=True)
    for ranking in rankings:
        if ranking["method"] == "hybrid":
            for hit in ranking["hits"]:
                expected = sum(1 / (60 + rank) for rank in hit["component_ranks"].values())
                assert hit["rrf_score"] == pytest.approx(expected, abs=1e-15)
                assert set(hit["component_ranks"]) == {"dense", "bm25"}


def test_measures_follow_from_the_rankings(written: Path) -> None:
    relevant = {case["id"]: case["relevant"] for case in lines(EXAMPLE / "cases.jsonl")}
    ranks: dict[str, list[int]] = {}
    for ranking in lines(written / "private/rankings.jsonl"):
        for id in relevant[ranking["case_id"]]:
            place = [hit["id"] for hit in ranking["hits"]].index(id) + 1
            ranks.setdefault(ranking["method"], []).append(place)
    aggregate = read(written / "public-summary.json")["evaluation"]["aggregate"]
    for method, of_method in ranks.items():
        assert len(of_method) == aggregate[method]["cases"] == 5
        means = aggregate[method]["means"]
        assert means["MRR"] == round(math.fsum(1 / rank for rank in of_method) / 5, 8)
        for k in (1, 3, 5):
            assert means[f"Recall@{k}"] == sum(rank <= k for rank in of_method) / 5


def test_the_public_summary_is_fit_to_be_shown(written: Path) -> None:
    summary = read(written / "public-summary.json")
    assert summary["experiment_id"] == "library-railway-bicycle"
    assert summary["scope"]
    assert summary["inputs"] == {"documents": 9, "cases": 8, "supported": 5, "gaps": 3}
    assert all(value is True for value in summary["checks"].values())
    assert "no common scale" in summary["score_interpretation"]
    assert "5 scored cases and 3 gaps" in summary["warning"]
    assert "do_not_select" in summary["warning"]
    assert all(number == round(number, 8) for number in floats(summary))
    assert '"vector"' not in json.dumps(summary)
    assert set(summary["query_vector_sha256"]["dense"]) == {c["id"] for c in lines(EXAMPLE / "cases.jsonl")}
    text = (written / "public-summary.json").read_text("utf-8")
    for record in lines(EXAMPLE / "passages.jsonl"):
        assert record["text"] not in text
    fields = {"dense": "cosine_similarity", "bm25": "bm25_score", "hybrid": "rrf_score"}
    for of_case in summary["top_rankings"].values():
        for method, hits in of_case.items():
            assert len(hits) == 5
            assert all(set(hit) & set(fields.values()) == {fields[method]} for hit in hits)


def test_gaps_are_shown_and_not_scored(written: Path) -> None:
    gaps = read(written / "public-summary.json")["evaluation"]["gaps"]
    assert [gap["gap_id"] for gap in gaps] == ["library-fees", "actual-departures", "tyre-data"]
    for gap in gaps:
        assert gap["scored"] is False
        assert "methods" not in gap
        assert "cannot answer" in gap["reason"]
        assert {method: len(ids) for method, ids in gap["first_ids"].items()} == {
            "dense": 3,
            "bm25": 3,
            "hybrid": 3,
        }


def test_vectors_have_hashes_of_their_own(written: Path) -> None:
    for name, count in (("document-vectors", 9), ("query-vectors", 8)):
        records = lines(written / f"private/{name}.jsonl")
        assert len(records) == count
        for record in records:
            vector = np.asarray(record["vector"], "<f4")
            assert sha256(vector.tobytes()).hexdigest() == record["vector_sha256"] == vector_sha256(vector)
            assert len(vector) == record["dimensions"] == 9
            assert record["model"] == "lsa"
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()
    documents = {record["id"]: record for record in lines(written / "private/document-vectors.jsonl")}
    queries = {record["case_id"]: record for record in lines(written / "private/query-vectors.jsonl")}
    # The vectors are those that the ranking was made with.
    for ranking in lines(written / "private/rankings.jsonl"):
        if ranking["method"] == "dense":
            query = np.asarray(queries[ranking["case_id"]]["vector"])
            for hit in ranking["hits"]:
                cosine = query @ np.asarray(documents[hit["id"]]["vector"])
                assert hit["cosine_similarity"] == pytest.approx(float(cosine), abs=2e-5)


def test_the_manifest_tells_how_the_run_came_about(written: Path) -> None:
    manifest = read(written / "manifest.json")
    assert manifest["run_id"] == written.name
    assert manifest["command"] == ["x"]
    assert manifest["started_at_utc"].endswith("Z")
    assert manifest["started_at_utc"] < manifest["finished_at_utc"]
    assert set(manifest["versions"]) >= {"hybridrank", "python", "numpy", "scipy"}
    assert manifest["parameters"]["methods"]["hybrid"]["rrf_k"] == 60
    assert manifest["parameters"]["measures"] == ["Recall@1", "Recall@3", "Recall@5", "MRR"]
    assert manifest["seeds"] == {"dense.options.embedder.seed": 0}
    assert [file["name"] for file in manifest["inputs"]] == ["contract", "corpus", "cases", "config"]
    for file in manifest["inputs"][1:]:
        assert file["sha256"] == sha256((EXAMPLE / file["path"]).read_bytes()).hexdigest()
    assert {file["path"] for file in manifest["outputs"]} == FILES - {"manifest.json"}
    for file in manifest["outputs"]:
        assert file["sha256"] == sha256((written / file["path"]).read_bytes()).hexdigest()
    assert manifest["counts"]["searches_failed"] == 0
    assert manifest["events"]["fallbacks"] == 0
    assert manifest["timings_seconds"]["search_p95"] > 0
    assert manifest["manifest_sha256"] == seal(manifest)


def test_the_same_lock_gives_the_same_bytes(written: Path, tmp_path: Path) -> None:
    again = evaluate_contract(EXAMPLE / "contract.json", output=tmp_path, command=["x"]).path
    assert again is not None
    assert again.name != written.name
    for name in FILES - {"manifest.json"}:
        assert (again / name).read_bytes() == (written / name).read_bytes(), name
    timed = {"run_id", "started_at_utc", "finished_at_utc", "timings_seconds", "manifest_sha256", "git"}
    one, other = read(written / "manifest.json"), read(again / "manifest.json")
    assert {k: v for k, v in one.items() if k not in timed} == {
        k: v for k, v in other.items() if k not in timed
    }


def test_the_same_bytes_under_another_hash_seed(written: Path, tmp_path: Path) -> None:
    code = (
        "from hybridrank.evaluation.runs import evaluate_contract\n"
        f"evaluate_contract({str(EXAMPLE / 'contract.json')!r}, output={str(tmp_path)!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    (again,) = tmp_path.iterdir()
    for name in FILES - {"manifest.json"}:
        assert (again / name).read_bytes() == (written / name).read_bytes(), name


# Writing


def test_a_run_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_plan, "run_id", lambda *_: "one")
    evaluate_contract(EXAMPLE / "contract.json", output=tmp_path)
    before = (tmp_path / "one/manifest.json").read_bytes()
    with pytest.raises(StoreError, match="never overwritten"):
        evaluate_contract(EXAMPLE / "contract.json", output=tmp_path)
    assert (tmp_path / "one/manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_run_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    with RunFolder(tmp_path, "r") as folder:
        folder.write("a", b"1")
        (tmp_path / "r").mkdir()
        with pytest.raises(StoreError, match="never overwritten"):
            folder.commit()
    assert files_of(tmp_path) == set()


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(run_plan, "sealed", fail)
    with pytest.raises(RuntimeError):
        evaluate_contract(EXAMPLE / "contract.json", output=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["public-summary.json", "private/rankings.jsonl", "manifest.json"])
def test_a_killed_run_leaves_no_folder_of_its_name(tmp_path: Path, name: str) -> None:
    code = (
        "import os, signal\n"
        "from hybridrank.evaluation.run_folder import RunFolder\n"
        "from hybridrank.evaluation.runs import evaluate_contract\n"
        "write = RunFolder.write_blocks\n"
        "def killed(self, name, blocks):\n"
        "    write(self, name, blocks)\n"
        f"    if name == {name!r}:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "RunFolder.write_blocks = killed\n"
        f"evaluate_contract({str(EXAMPLE / 'contract.json')!r}, output={str(tmp_path)!r})"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot write runs in"):
        evaluate_contract(EXAMPLE / "contract.json", output=tmp_path / "file")


def test_a_copy_of_the_public_summary(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "x", ignore=shutil.ignore_patterns("runs")))
    contract = read(folder / "contract.json")
    contract["outputs"] = {"run_output_root": "results/runs", "public_summary_path": "results/public.json"}
    (folder / "contract.json").write_text(json.dumps(contract), "utf-8")
    path = evaluate_contract(folder / "contract.json").path
    assert path is not None
    assert path.parent == folder / "results/runs"
    assert (folder / "results/public.json").read_bytes() == (path / "public-summary.json").read_bytes()
    assert verify_run(path) == ()
    assert evaluate_contract(folder / "contract.json").path is not None


@pytest.mark.parametrize("content", ["", "notes", "[]", '{"experiment_id": "another"}'])
def test_the_copy_replaces_no_other_file(tmp_path: Path, content: str) -> None:
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "x", ignore=shutil.ignore_patterns("runs")))
    contract = read(folder / "contract.json")
    contract["outputs"] = {"public_summary_path": "../mine"}
    (folder / "contract.json").write_text(json.dumps(contract), "utf-8")
    (tmp_path / "mine").write_text(content, "utf-8")
    with pytest.raises(StoreError, match="is no summary of"):
        evaluate_contract(folder / "contract.json")
    assert (tmp_path / "mine").read_text("utf-8") == content
    assert not (folder / "runs").exists()


# Checking


def test_a_run_is_sound_as_it_was_written(run: Path) -> None:
    assert verify_run(run) == ()


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_change_of_one_character_is_found(run: Path, name: str) -> None:
    content = (run / name).read_bytes()
    place = next(at for at in range(len(content) // 2, len(content)) if content[at : at + 1].isdigit())
    digit = b"1" if content[place : place + 1] != b"1" else b"2"
    (run / name).write_bytes(content[:place] + digit + content[place + 1 :])
    assert any(breach.where.startswith(name) for breach in verify_run(run))


def resealed(run: Path) -> None:
    """Make a manifest that agrees with the files as they are now."""
    manifest = read(run / "manifest.json")
    for file in manifest["outputs"]:
        content = (run / file["path"]).read_bytes()
        file |= {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    (run / "manifest.json").write_text(json.dumps(sealed(manifest)), "utf-8")


def edited(path: Path, edit: Callable[[list[dict[str, Any]]], Any]) -> None:
    records = lines(path)
    edit(records)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


@pytest.mark.parametrize(
    ("name", "edit", "found"),
    [
        ("rankings", lambda r: r[0]["hits"].reverse(), "ranks that count from 1"),
        ("rankings", lambda r: r[0]["hits"][0].update(id="no-such"), "ids of documents"),
        ("rankings", lambda r: r[0]["hits"].pop(), "all 9 documents in the ranking"),
        ("rankings", lambda r: r.pop(), "'gap-tyre-pressure' has rankings of"),
        ("rankings", lambda r: r[2]["hits"][0]["component_ranks"].update(dense=9), "public-summary.json"),
        ("cases", lambda r: r.pop(), "counts.cases: expected 8, found 7"),
        ("documents", lambda r: r.pop(), "counts.documents: expected 9, found 8"),
        ("measures", lambda r: r[0]["methods"]["dense"]["values"].update(MRR=0.25), "case 'renew-loan'"),
        ("measures", lambda r: r[5].update(scored=True), "case 'gap-late-fee'"),
        ("document-vectors", lambda r: r[0]["vector"].reverse(), "the vector of"),
        ("query-vectors", lambda r: r[0].update(vector_sha256="0" * 64), "the vector of 'renew-loan'"),
    ],
)
def test_what_does_not_follow_is_found_even_if_all_hashes_agree(
    run: Path, name: str, edit: Callable[[list[dict[str, Any]]], Any], found: str
) -> None:
    edited(run / f"private/{name}.jsonl", edit)
    resealed(run)
    assert any(found in str(breach) for breach in verify_run(run))


def test_a_better_number_in_the_summary_is_found(run: Path) -> None:
    summary = read(run / "public-summary.json")
    summary["evaluation"]["aggregate"]["dense"]["means"]["MRR"] = 1.0
    (run / "public-summary.json").write_text(json.dumps(summary), "utf-8")
    resealed(run)
    assert [breach.where for breach in verify_run(run)] == ["public-summary.json"]


def test_files_too_few_and_too_many_are_found(run: Path) -> None:
    (run / "private/query-vectors.jsonl").unlink()
    (run / "extra.txt").write_text("x")
    told = [str(breach) for breach in verify_run(run)]
    assert "private/query-vectors.jsonl: expected a file, found none" in told
    assert "extra.txt: expected no such file, found one that the manifest does not name" in told


def test_a_renamed_run_is_found(run: Path) -> None:
    renamed = run.rename(run.with_name("other"))
    assert "the run_id 'other' of the folder" in str(verify_run(renamed)[0])


def test_what_is_no_run(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none", "there is no run"), (tmp_path, "holds no manifest.json")):
        with pytest.raises(StoreError, match=message):
            verify_run(path)
    for content in ("", "[]", '{"manifest_schema_version": 2}', "[" * 100_000):
        (tmp_path / "manifest.json").write_text(content)
        with pytest.raises(StoreError):
            verify_run(tmp_path)
    (tmp_path / "manifest.json").write_text('{"manifest_schema_version": 1}')
    assert "contents" in [breach.where for breach in verify_run(tmp_path)]


# Methods


class Failing:
    """A leg that raises for one query, or for all."""

    def __init__(self, query: str = "") -> None:
        self.query = query

    def retrieve(self, query: Query, /, *, k: int, where: Filter | None = None) -> Ranking:
        if self.query in query.text:
            raise RuntimeError("no answer")
        return Ranking.from_order(query, [DOCUMENTS[0]])


DOCUMENTS = [Document("a", "alpha beta"), Document("b", "beta gamma"), Document("c", "delta")]
CASES = [Case("one", "alpha", ["a"]), Case("two", "gamma", ["b"])]


def test_legs_alone_and_their_fusion_are_what_pipelines_of_them_give() -> None:
    pipeline = Pipeline({"x": BM25(), "y": BM25(k1=3, b=0)}, RRF(rrf_k=1)).index(DOCUMENTS)
    cases = [Case(str(number), query, ["a"]) for number, query in enumerate(("beta", "alpha gamma delta"))]
    made = rank_methods(pipeline, cases, method_facts(pipeline), depth=5)
    for case in cases:
        of_case = made.rankings[case.id]
        for name, other in (("x", pipeline.without("y")), ("y", pipeline.without("x")), ("hybrid", pipeline)):
            assert [hit["id"] for hit in of_case[name]] == list(other.search(case.query, k=80).ids)


# EV-17: a search that raises counts as an empty ranking and is listed; if all do, the run fails.
def test_failed_searches_count_as_empty_and_are_listed() -> None:
    pipeline = Pipeline({"bm25": BM25(), "x": Failing("gamma")}).index(DOCUMENTS)
    made = rank_methods(pipeline, CASES, method_facts(pipeline), depth=5)
    assert set(made.errors) == {"two"}
    assert list(made.errors["two"]) == ["x", "hybrid"]
    assert "RuntimeError: no answer" in made.errors["two"]["x"]
    # The other leg alone is not to blame.
    assert [len(made.rankings["two"][method]) for method in ("bm25", "x", "hybrid")] == [1, 0, 0]
    all_fail = Pipeline({"x": Failing()}).index(DOCUMENTS)
    with pytest.raises(
        HybridRankError, match="the searches of all cases to score failed; the first: RuntimeError"
    ):
        rank_methods(all_fail, CASES, method_facts(all_fail), depth=5)


def test_a_leg_that_was_left_out_is_listed_and_counted() -> None:
    pipeline = Pipeline({"bm25": BM25(), "x": Failing()}, on_error="degrade").index(DOCUMENTS)
    made = rank_methods(pipeline, CASES, method_facts(pipeline), depth=5)
    assert list(made.errors["one"]) == ["x"]
    assert [hit["id"] for hit in made.rankings["one"]["hybrid"]] == ["a"]
    assert event_counts(made)["fallbacks"] == 2


def test_every_method_must_rank_all_where_the_contract_says_so() -> None:
    pipeline = Pipeline({"x": BM25(complete=True), "y": BM25()}).index(DOCUMENTS)
    with pytest.raises(ContractMismatchError) as caught:
        rank_methods(pipeline, CASES, method_facts(pipeline), depth=5, same_candidates=True)
    assert [breach.where for breach in caught.value.breaches] == ["methods.y.same_candidate_set_required"] * 2


def test_more_documents_than_recall_are_all_ranked() -> None:
    documents = [Document(f"d{number:03}", "alpha") for number in range(100)]
    legs = {"x": BM25(complete=True), "y": BM25(complete=True, k1=2)}
    pipeline = Pipeline(legs, RRF(same_candidates=True), recall=10).index(documents)
    made = rank_methods(pipeline, CASES[:1], method_facts(pipeline), depth=5, same_candidates=True)
    assert [len(hits) for hits in made.rankings["one"].values()] == [100, 100, 100]


def test_events_are_counted_by_kind() -> None:
    made = MethodRankings()
    for event in (
        Event("rank-fallback", "", level="warning"),
        Event("filtered-labels", "", level="warning"),
        Event("dropped-words", ""),
    ):
        made.events[event.level, event.code] += 2
    assert event_counts(made) == {
        "fallbacks": 2,
        "guardrail_events": 2,
        "events_by_code": {"dropped-words": 2, "filtered-labels": 2, "rank-fallback": 2},
    }


# Without a contract


def test_a_run_without_a_contract(tmp_path: Path) -> None:
    run = evaluate_config(
        EXAMPLE / "pipeline.toml",
        EXAMPLE / "cases.jsonl",
        EXAMPLE / "passages.jsonl",
        measures=["nDCG@3", "Hit@k"],
        cutoffs=[2],
        output=tmp_path,
    )
    assert run.path is not None
    assert files_of(run.path) == FILES - {"contract.json"}
    assert list(run.summary["evaluation"]["aggregate"]["bm25"]["means"]) == ["nDCG@3", "Hit@2"]
    assert run.summary["checks"]["source_hashes_match"] is None
    assert "No contract" in run.summary["warning"]
    assert verify_run(run.path) == ()


def test_source_code_and_targets_in_lines(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def load():\n    return 1\n\n\ndef save():\n    return 2\n", "utf-8")
    (tmp_path / "c.jsonl").write_text(
        json.dumps({"id": "q", "query": "save", "relevant": [{"path": "a.py", "lines": [5, 6]}]}), "utf-8"
    )
    (tmp_path / "p.toml").write_text('[retrievers.bm25]\nuse = "bm25"\n', "utf-8")
    run = evaluate_config(tmp_path / "p.toml", tmp_path / "c.jsonl", tree, output=tmp_path / "runs")
    assert run.summary["evaluation"]["aggregate"]["bm25"]["means"]["MRR"] == 1
    assert run.path is not None
    assert "private/document-vectors.jsonl" not in files_of(run.path)
    assert verify_run(run.path) == ()


def test_a_measure_deeper_than_recall_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "p.toml"
    config.write_text('recall = 5\n[retrievers.bm25]\nuse = "bm25"\n', "utf-8")
    with pytest.raises(HybridRankError, match="looks at 10 hits, but recall=5"):
        evaluate_config(config, EXAMPLE / "cases.jsonl", EXAMPLE / "passages.jsonl", output=None)


# Small things


def test_rounding() -> None:
    assert rounded({"a": [1 / 3, (2 / 3, 1)], "b": -1e-12, "c": True}) == {
        "a": [0.33333333, [0.66666667, 1]],
        "b": 0.0,
        "c": True,
    }
    assert math.copysign(1, rounded(-1e-12)) == 1


def test_run_ids() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)
    assert run_id(moment, "0123456789abcdef") == "20260102T030405000006Z-01234567"


def test_git_state(tmp_path: Path) -> None:
    assert git_state(tmp_path) is None or "commit" in (git_state(tmp_path) or {})
    assert git_state(tmp_path / "none") is None
