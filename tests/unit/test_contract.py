"""Contracts: how they are read, and that inputs which moved are refused, all of them at once."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridrank import BM25, RRF, Document, Query, Ranking, Tokenizer
from hybridrank.errors import ConfigError, ContractError, InvalidValueError, UnknownNameError
from hybridrank.evaluation.breaches import ContractMismatchError
from hybridrank.evaluation.cases import Case
from hybridrank.evaluation.checks import checked_inputs
from hybridrank.evaluation.contract import Contract
from hybridrank.evaluation.field_checks import forbidden_fields, required_values
from hybridrank.evaluation.locking import lock
from hybridrank.evaluation.measures import parse_measures
from hybridrank.evaluation.results import aggregated, judged

EXAMPLE = Path(__file__).parents[2] / "examples" / "contract"
SHA = "0" * 64

Change = Callable[[str, Callable[[list[dict[str, Any]]], None]], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example, to be changed."""
    shutil.copytree(EXAMPLE, tmp_path / "x", ignore=shutil.ignore_patterns("runs"))
    return tmp_path / "x"


@pytest.fixture
def change(folder: Path) -> Change:
    """Change the records of a file and lock its new hash, so that only what was changed is wrong."""

    def apply(name: str, edit: Callable[[list[dict[str, Any]]], None]) -> None:
        path = folder / name
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        edit(records)
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        relock(folder, name)

    return apply


def relock(folder: Path, name: str) -> None:
    from hybridrank.evaluation.inputs import hashed

    contract = json.loads((folder / "contract.json").read_text("utf-8"))
    source = {"passages.jsonl": "corpus", "cases.jsonl": "cases", "pipeline.toml": "config"}[name]
    contract["sources"][f"{source}_sha256"] = hashed(source, name, folder / name).sha256
    (folder / "contract.json").write_text(json.dumps(contract), "utf-8")


def refused(folder: Path) -> list[str]:
    with pytest.raises(ContractMismatchError) as caught:
        checked_inputs(Contract.load(folder / "contract.json"), base=folder)
    return [str(breach) for breach in caught.value.breaches]


def minimal(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "experiment_id": "e",
        "scope": "s",
        "sources": {
            "corpus_path": "d.jsonl",
            "corpus_sha256": SHA,
            "cases_path": "c.jsonl",
            "cases_sha256": SHA,
        },
        "input_contract": {
            "expected_document_count": 2,
            "expected_case_count": 2,
            "expected_supported_case_count": 1,
            "expected_gap_case_count": 1,
        },
        "methods": {"bm25": {"k1": 1.2}},
        "evaluation": {"cutoffs": [1, 3]},
        **changes,
    }


# What a benchmark of dense, BM25 and their fusion relies on


def test_words_numbers_and_chinese_pairs_are_tokens() -> None:
    tokens = Tokenizer(parts=False)("SpO2=91.0 與 qwen3-embedding 的血糖")
    for token in ("spo2", "91.0", "qwen3-embedding", "血", "糖", "血糖"):
        assert token in tokens


def test_a_rare_word_puts_its_document_first() -> None:
    documents = [Document("a", "一般流程與照護順序"), Document("b", "血糖與脫水程度")]
    ranking = BM25(complete=True).index(documents).retrieve(Query("脫水"), k=2)
    assert ranking.ids == ("b", "a")
    assert ranking[0].score > ranking[1].score == 0


@pytest.mark.parametrize(("option", "value"), [("k1", 0), ("k1", float("inf")), ("b", 1.1), ("b", -0.1)])
def test_parameters_of_bm25_outside_their_range(option: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=f"^{option} is"):
        BM25(**{option: value})  # type: ignore[arg-type]


def ranking(*ids: str) -> Ranking:
    return Ranking.from_order(Query("q"), [Document(id, "") for id in ids])


def test_reciprocal_ranks_add_up_and_ties_go_by_id() -> None:
    fused = RRF(same_candidates=True).fuse({"dense": ranking("a", "b"), "bm25": ranking("b", "a")}, k=2)
    assert fused.ids == ("a", "b")
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)


def test_other_candidates_are_not_fused() -> None:
    with pytest.raises(ContractError, match="same candidates"):
        RRF(same_candidates=True).fuse({"dense": ranking("a"), "bm25": ranking("b")}, k=2)


def test_the_example_keeps_its_contract(folder: Path) -> None:
    contract = Contract.load(folder / "contract.json")
    inputs = checked_inputs(contract, base=folder)
    assert len(inputs.pipeline.documents or ()) == 9
    assert [case.is_gap for case in inputs.cases].count(False) == 5
    assert [case.is_gap for case in inputs.cases].count(True) == 3
    assert contract.same_candidates
    assert contract.forbids_selection
    assert contract.method_names == ("dense", "bm25", "hybrid")


@pytest.mark.parametrize("name", ["cases.jsonl", "passages.jsonl"])
@pytest.mark.parametrize("deep", [False, True])
def test_a_label_that_leaks_is_refused_at_any_depth(
    folder: Path, change: Change, name: str, deep: bool
) -> None:
    def leak(records: list[dict[str, Any]]) -> None:
        label = {"notes": [[{"label": None}]]} if deep else {"label": 1}
        records[3].setdefault("metadata", {}).update(label)

    change(name, leak)
    (breach,) = refused(folder)
    assert "no field 'label' in any input" in breach
    assert f"{name}:4 (metadata." in breach
    assert breach.endswith(".label)")


def test_a_label_in_the_configuration_is_refused(folder: Path) -> None:
    config = folder / "pipeline.toml"
    config.write_text(
        config.read_text("utf-8") + '[ablations.x]\n"retrievers.dense" = false\nlabel = 1\n', "utf-8"
    )
    relock(folder, "pipeline.toml")
    assert any("the configuration (ablations.x.label)" in breach for breach in refused(folder))


def test_a_blank_text_is_refused(folder: Path, change: Change) -> None:
    change("passages.jsonl", lambda records: records[0].update(text=" \n"))
    assert "corpus: expected a text that is not blank in each document, found blank: library-loan" in refused(
        folder
    )


def test_a_gap_cannot_have_something_relevant(folder: Path, change: Change) -> None:
    change("cases.jsonl", lambda records: records[5].update(relevant=["library-loan"]))
    (breach,) = refused(folder)
    assert "'gap-late-fee': a gap has nothing relevant" in breach


@pytest.mark.parametrize("gap_id", ["", " ", None])
def test_a_gap_needs_an_id(folder: Path, change: Change, gap_id: str | None) -> None:
    change("cases.jsonl", lambda records: records[6].update(gap_id=gap_id))
    (breach,) = refused(folder)
    assert "'gap-last-train': gap_id is" in breach


def test_gaps_are_in_no_denominator() -> None:
    cases = [Case("positive", "q", ["a"]), Case("gap", "q", expected="disclose_gap", gap_id="g")]
    of = {"dense": hits("b", "a"), "bm25": hits("a", "b"), "hybrid": hits("a", "b")}
    measures = parse_measures(["Recall@1", "MRR"])
    documents = {id: Document(id, "") for id in "ab"}
    entries = judged(
        cases, {"positive": of, "gap": of}, documents, methods=tuple(of), measures=measures, errors={}
    )
    told = aggregated(entries, of, measures)
    assert told["dense"] == {"cases": 1, "means": {"Recall@1": 0.0, "MRR": 0.5}}
    assert told["bm25"]["means"]["MRR"] == 1
    assert entries[1]["scored"] is False
    assert entries[1]["first_ids"]["dense"] == ["b", "a"]
    assert entries[1]["gap_id"] == "g"
    assert "methods" not in entries[1]
    with pytest.raises(InvalidValueError, match="no case can be scored"):
        aggregated(entries[1:], of, measures)


@pytest.mark.parametrize("held", [("dense",), ("dense", "bm25", "other")])
def test_every_case_needs_a_ranking_of_every_method_and_of_no_other(held: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValueError, match="case 'p' has rankings of"):
        judged(
            [Case("p", "q", ["a"])],
            {"p": {method: hits("a") for method in held}},
            {"a": Document("a", "")},
            methods=("dense", "bm25"),
            measures=parse_measures("MRR"),
            errors={},
        )


def hits(*ids: str) -> list[dict[str, Any]]:
    return [{"rank": rank, "id": id} for rank, id in enumerate(ids, 1)]


# EV-01: an id twice in a ranking must not earn twice; a run refuses it.
def test_a_ranking_with_an_id_twice_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="an id twice: 'a'"):
        judged(
            [Case("p", "q", ["a"])],
            {"p": {"bm25": hits("a", "a")}},
            {"a": Document("a", "")},
            methods=("bm25",),
            measures=parse_measures("MRR"),
            errors={},
        )


# Reading


def test_a_contract_comes_back_as_it_was_written() -> None:
    contract = Contract.load(EXAMPLE / "contract.json")
    assert Contract.from_dict(contract.to_dict()).to_dict() == contract.to_dict()
    assert pickle.loads(pickle.dumps(contract)) == contract  # noqa: S301
    assert [repr(measure) for measure in contract.measures] == ["Recall@1", "Recall@3", "Recall@5", "MRR"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": 2}, "schema_version: expected 1, found 2"),
        ({"schema_version": True}, "schema_version: expected 1, found true"),
        ({"scope": " "}, "scope: expected a str that is not blank"),
        ({"experiment": "x"}, "unknown field 'experiment'; did you mean 'experiment_id'?"),
        ({"sources": {}}, "sources: expected 'corpus_path' and 'corpus_sha256'"),
        (
            {"sources": {"corpuss_path": "x"}},
            "sources: unknown field 'corpuss_path'; did you mean 'corpus_path'?",
        ),
        ({"sources": {"corpus": "x"}}, "sources: unknown field 'corpus'; did you mean 'corpus_path'?"),
        (
            {"sources": {**minimal()["sources"], "cases_sha256": "00"}},
            'sources.cases_sha256: expected a SHA-256 of 64 lower-case hex digits, found "00"',
        ),
        ({"methods": {}}, "methods: expected at least one method"),
        ({"methods": {"bm25": {"rrfk": 1}}}, "methods.bm25: unknown field 'rrfk'; did you mean 'rrf_k'?"),
        (
            {"methods": {"d": {"query_instruction_source": "x"}}},
            "methods.d.query_instruction_source: unknown source",
        ),
        ({"evaluation": {"cutoffs": [3, 1]}}, "evaluation.cutoffs: expected a list of rising ints"),
        ({"evaluation": {"cutoffs": [True]}}, "evaluation.cutoffs: expected"),
        ({"evaluation": {"cutoffs": []}}, "evaluation.cutoffs: expected"),
        ({"evaluation": {"cutoffs": [1], "measures": ["Recal@k"]}}, "did you mean 'Recall'"),
        (
            {"evaluation": {"cutoffs": [1], "methods": ["dense"]}},
            "evaluation.methods: unknown method 'dense'",
        ),
        ({"evaluation": {"cutoffs": [1], "gap_policy": "score_as_hit"}}, "evaluation.gap_policy: expected"),
        (
            {"input_contract": {"expected_document_count": -1}},
            "input_contract.expected_document_count: expected",
        ),
        (
            {"input_contract": {**minimal()["input_contract"], "expected_case_count": 3}},
            "input_contract: expected .* to sum to 3, found 1 \\+ 1",
        ),
        ({"outputs": {"runs": "x"}}, "outputs: unknown field 'runs'"),
        ({"prompts": {"x": "y"}}, "prompts.x: expected a SHA-256"),
    ],
)
def test_what_is_wrong_is_told_with_its_path(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message if "\\" in message else message.replace("(", r"\(")):
        Contract.from_dict(minimal(**changes))


def test_every_missing_field_is_named() -> None:
    for field in (
        "schema_version",
        "experiment_id",
        "scope",
        "sources",
        "methods",
        "evaluation",
        "input_contract",
    ):
        data = minimal()
        del data[field]
        with pytest.raises(ConfigError, match=f"expected a field '{field}'"):
            Contract.from_dict(data)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "1", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000, "\ufeff{}", "\udcff"]
)
def test_a_file_that_is_no_contract(tmp_path: Path, content: str) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError):
        Contract.load(path)
    with pytest.raises(ConfigError, match="there is no file"):
        Contract.load(tmp_path / "none.json")
    with pytest.raises(ConfigError):
        Contract.load(tmp_path)


def test_a_contract_of_rules_chunks_and_probes_is_read() -> None:
    contract = Contract.from_dict(
        {
            "schema_version": 1,
            "experiment_id": "dense-bm25-hybrid",
            "scope": "written_by_the_author_not_clinical",
            "sources": {
                "flat_chunks_path": "chunks.jsonl",
                "flat_chunks_sha256": SHA,
                "retrieval_probes_path": "probes.jsonl",
                "retrieval_probes_sha256": SHA,
                "embedding_config_path": "embedding.json",
                "embedding_config_sha256": SHA,
            },
            "input_contract": {
                "expected_document_count": 9,
                "expected_probe_count": 8,
                "expected_supported_probe_count": 5,
                "expected_gap_probe_count": 3,
                "supported_behavior": "retrieve",
                "gap_behavior": "disclose_gap",
                "forbidden_fields": ["KTAS_expert"],
            },
            "methods": {
                "dense": {"name": "cosine", "query_instruction_source": "embedding_config"},
                "bm25": {"k1": 1.2, "b": 0.75, "query_term_frequency": "binary_unique_terms"},
                "hybrid": {"rrf_k": 60, "same_candidate_set_required": True},
            },
            "evaluation": {
                "cutoffs": [1, 3, 5],
                "supported_probe_metrics": ["mean_recall_at_k", "mean_reciprocal_rank"],
                "gap_probe_policy": "diagnostic_only_not_scored_without_abstention_threshold",
                "primary_comparison_methods": ["dense", "bm25", "hybrid"],
                "selection_policy": "do_not_select_or_tune_method_from_eight_probe_results",
                "online_reranker": "disabled_until_later",
            },
            "outputs": {"public_summary_path": "public.json", "run_output_root": "results/runs"},
        }
    )
    assert contract.sources["corpus"].path == "chunks.jsonl"
    assert (contract.inputs.id_field, contract.inputs.text_field) == ("metadata.rule_id", "search_text")
    assert contract.inputs.required_values["documents"] == {"retrieval_role": "search_candidate"}
    assert contract.locked_facts("bm25")["query_term_frequency"] == "unique"
    assert contract.locked_facts("dense") == {}
    assert list(map(repr, contract.measures)) == ["Recall@1", "Recall@3", "Recall@5", "MRR"]
    assert contract.forbids_selection
    assert contract.same_candidates
    both = contract.to_dict()
    both["sources"]["flat_chunks_path"] = "again.jsonl"
    with pytest.raises(ConfigError, match="under two names"):
        Contract.from_dict(both)


# Checking


def test_everything_that_moved_is_listed(folder: Path) -> None:
    data = json.loads((folder / "contract.json").read_text("utf-8"))
    data["sources"]["corpus_sha256"] = SHA
    data["sources"]["prompt_path"], data["sources"]["prompt_sha256"] = "prompt.txt", SHA
    data["input_contract"]["expected_document_count"] = 10
    data["input_contract"]["required_values"]["cases"]["origin"] = "someone"
    data["methods"]["bm25"] |= {"k1": 1.5, "tokenizer": "other"}
    data["methods"]["dense"] |= {"model": "qwen3-embedding:4b", "model_digest": "ab", "dimensions": 2560}
    data["methods"]["hybrid"]["rrf_k"] = 10
    data["prompts"] = {"listwise": SHA}
    (folder / "contract.json").write_text(json.dumps(data), "utf-8")
    told = refused(folder)
    wheres = [line.partition(":")[0] for line in told]
    assert wheres == [
        "sources.corpus_sha256",
        "sources.prompt_path",
        "input_contract.expected_document_count",
        "input_contract.required_values.cases.origin",
        "methods.dense.model",
        "methods.dense.model_digest",
        "methods.dense.dimensions",
        "methods.bm25.k1",
        "methods.bm25.tokenizer",
        "methods.hybrid.rrf_k",
        "prompts.listwise",
    ]
    assert "input_contract.expected_document_count: expected 10, found 9" in told
    assert "methods.bm25.k1: expected 1.5, found 1.2" in told


def test_several_broken_cases_are_all_listed(folder: Path, change: Change) -> None:
    def spoil(records: list[dict[str, Any]]) -> None:
        records[0]["relevant"] = []
        records[5]["gap_id"] = None

    change("cases.jsonl", spoil)
    assert len(refused(folder)) == 2


def test_unknown_targets_and_double_ids_are_refused(folder: Path, change: Change) -> None:
    change("cases.jsonl", lambda records: records[0].update(relevant=["no-such"]))
    assert "no document has the id 'no-such'" in refused(folder)[0]
    change("cases.jsonl", lambda records: records[0].update(relevant=["library-loan"], id="call-number"))
    assert "the id stands for another case too" in refused(folder)[0]
    change("passages.jsonl", lambda records: records[0].update(id="bicycle-gear"))
    assert any("'bicycle-gear' stands already at" in breach for breach in refused(folder))


def test_legs_that_do_not_rank_all_are_refused(folder: Path) -> None:
    config = folder / "pipeline.toml"
    config.write_text(config.read_text("utf-8").replace("complete = true", "complete = false", 1), "utf-8")
    relock(folder, "pipeline.toml")
    assert [breach.partition(":")[0] for breach in refused(folder)] == [
        "methods.dense.complete",
        "methods.hybrid.same_candidate_set_required",
    ]


def test_a_disabled_reranker_is_refused(folder: Path) -> None:
    config = folder / "pipeline.toml"
    config.write_text(config.read_text("utf-8") + '\n[rerankers.definition]\nuse = "definition"\n', "utf-8")
    relock(folder, "pipeline.toml")
    data = json.loads((folder / "contract.json").read_text("utf-8"))
    data["evaluation"]["online_reranker"] = "disabled_for_now"
    (folder / "contract.json").write_text(json.dumps(data), "utf-8")
    told = refused(folder)
    assert "evaluation.online_reranker: expected no reranker and no validator, found definition" in told
    assert "methods: expected bm25, dense, hybrid, found bm25, dense, hybrid, pipeline" in told


@pytest.mark.parametrize("name", ["passages.jsonl", "cases.jsonl", "pipeline.toml"])
@pytest.mark.parametrize("content", [b"", b"\xff", b"{", None])
def test_a_file_that_cannot_be_read_is_one_of_the_breaches(
    folder: Path, name: str, content: bytes | None
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert any(breach.startswith("sources.") for breach in refused(folder))


def test_fields_are_looked_for_at_any_depth() -> None:
    inputs = {"one": {"a": {"b": [{"c": 1}, [{"secret": 2}]]}}, "two": {"secret": 1}}
    (breach,) = forbidden_fields(["secret", "none"], inputs)
    assert breach.found == "one (a.b[1][0].secret), two (secret)"
    assert forbidden_fields(["a.b", "1"], inputs) == []
    deep: Any = {"secret": 1}
    for _ in range(5000):
        deep = [deep]
    assert forbidden_fields(["secret"], {"deep": deep})


@pytest.mark.parametrize(
    ("record", "right"),
    [
        ({"used": False}, True),
        ({"metadata": {"used": False}}, True),
        ({"used": 0}, False),
        ({"used": None}, False),
        ({"used": "false"}, False),
        ({}, False),
        ({"used": False, "metadata": {"used": True}}, False),
    ],
)
def test_required_values(record: dict[str, Any], right: bool) -> None:
    assert (required_values({"used": False}, "cases", {"c:1": record}) == []) is right


# Locking


def test_a_lock_is_kept_by_what_it_was_made_of(folder: Path) -> None:
    made = lock(
        config=folder / "pipeline.toml",
        cases=folder / "cases.jsonl",
        corpus=folder / "passages.jsonl",
        base=folder,
        experiment_id="again",
        forbidden_fields=["label"],
        others={"prompt": folder / "README.md"},
    )
    assert made.sources["prompt"].path == "README.md"
    assert made.forbids_selection
    assert len(checked_inputs(made, base=folder).cases) == 8


@pytest.mark.parametrize(
    "options", [{"forbidden_fields": ["topic"]}, {"required_values": {"cases": {"x": 1}}}]
)
def test_what_breaks_the_contract_already_is_not_locked(folder: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ContractMismatchError, match="1 thing differs"):
        lock(
            config=folder / "pipeline.toml",
            cases=folder / "cases.jsonl",
            corpus=folder / "passages.jsonl",
            experiment_id="x",
            **options,
        )


def test_source_code_is_locked_by_what_is_searched(folder: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def load():\n    return 1\n", "utf-8")
    (folder / "c.jsonl").write_text(
        json.dumps({"id": "q", "query": "load", "relevant": [{"path": "a.py"}]}), "utf-8"
    )
    files = {"config": folder / "pipeline.toml", "cases": folder / "c.jsonl", "corpus": tree}
    contract = lock(**files, base=folder, experiment_id="code")  # type: ignore[arg-type]
    assert len(checked_inputs(contract, base=folder).cases) == 1
    (tree / "b.py").write_text("x = 1\n", "utf-8")
    with pytest.raises(ContractMismatchError) as caught:
        checked_inputs(contract, base=folder)
    wheres = [breach.where for breach in caught.value.breaches]
    assert wheres[:2] == ["sources.corpus_sha256", "input_contract.expected_document_count"]


def test_unknown_names_carry_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError) as caught:
        Contract.from_dict(minimal(evaluation={"cutoffs": [1], "cutof": 1}))
    assert caught.value.where == "evaluation"
    assert "did you mean 'cutoffs'" in str(caught.value)
