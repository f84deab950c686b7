"""Sweeps over settings whose effect is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hybridrank import Case, ConfigError, Document, InvalidValueError, Target, UnknownNameError, sweep

CONFIG: dict[str, Any] = {
    "retrievers": {
        "text": {"use": "bm25", "fields": ["text"]},
        "name": {"use": "bm25", "fields": ["name"]},
    },
    "fuser": {"use": "rrf", "weights": {"name": 1.0}},
    "rerankers": {"definition": {"use": "definition"}},
}
# By text "wanted" finds `a` first, by name it finds `b` alone.
DOCUMENTS = [
    Document("a", "wanted wanted"),
    Document("b", "other", name="wanted"),
    Document("c", "wanted x y"),
]
CASES = [Case("q", "wanted", ["b"])]


def run(vary: Any, **options: Any) -> dict[str, float]:
    made = sweep(CONFIG, DOCUMENTS, CASES, vary, measures="Recall@1", **options)
    return {point.name: point.evaluation.means["Recall@1"] for point in made.points}


def test_one_knob_at_a_time() -> None:
    assert run({"weight.text": [0, 3.0], "rerank_depth": [0, 1]}) == {
        "baseline": 1.0,
        "weight.text=0": 1.0,
        "weight.text=3": 1.0,  # the definition reranker puts the name first
        "rerank_depth=0": 0.0,
        "rerank_depth=1": 0.0,
    }


def test_a_grid_runs_every_combination() -> None:
    assert run({"weight.text": [0, 3.0], "rerank_depth": [0, 5]}, grid=True) == {
        "baseline": 1.0,
        "weight.text=0, rerank_depth=0": 1.0,
        "weight.text=0, rerank_depth=5": 1.0,
        "weight.text=3, rerank_depth=0": 0.0,
        "weight.text=3, rerank_depth=5": 1.0,
    }


def test_any_value_of_the_configuration_can_be_varied() -> None:
    assert run({"rerankers.definition": [False], "fuser.use": ["combsum"], "recall": [1, 2]}) == {
        "baseline": 1.0,
        "rerankers.definition=False": 0.0,
        "fuser.use=combsum": 1.0,
        "recall=1": 1.0,
        "recall=2": 1.0,
    }


def test_chunk_sizes_cut_anew(tmp_path: Path) -> None:
    lines = "".join(f"value_{number} = {number}\n" for number in range(100))
    (tmp_path / "a.py").write_text(lines, encoding="utf-8")
    case = Case("q", "value_77", [Target(path="a.py", start_line=78, end_line=78)])
    config = {"retrievers": {"bm25": {"use": "bm25"}}}
    made = sweep(config, tmp_path, [case], {"chunk_chars": [200, 100_000]}, measures="Precision@5")
    small, large = (point.evaluation.outcomes[0] for point in made.points[1:])
    assert large.ids == ("a.py:1-100",)
    assert len(small.ids) > 1
    assert dict(small.ranks) == dict(large.ranks) == {"a.py:78-78": 1}
    with pytest.raises(ConfigError, match="documents were given; give a folder"):
        run({"chunk_chars": [100]})


def test_a_policy_that_forbids_selection_makes_it_refuse() -> None:
    with pytest.raises(ConfigError, match="'do_not_select_x', and a sweep would choose"):
        run({"recall": [2]}, policy="do_not_select_x")


def test_what_is_told() -> None:
    made = sweep(CONFIG, DOCUMENTS, CASES, {"recall": [1, 3], "weight.name": [0.5]}, measures="Recall@1")
    lines = [" ".join(line.split()) for line in repr(made).splitlines()]
    assert lines[0] == "Sweep of 4 settings on 1 cases, one at a time: recall 1, 3; weight.name 0.5"
    assert lines[1].startswith("recall weight.name Recall@1 p50 ms")
    assert lines[2].startswith("as configured 1.0000")
    assert lines[-1].startswith("The highest of 4 settings on 1 cases is partly luck")
    assert [point.settings["recall"] for point in made.line("recall")] == [1, 3]
    told = json.loads(json.dumps(made.to_dict(timings=False)))
    assert told["knobs"] == {"recall": [1, 3], "weight.name": [0.5]}
    assert [point["settings"] for point in told["points"]] == [
        {},
        {"recall": 1},
        {"recall": 3},
        {"weight.name": 0.5},
    ]
    assert "as configured" in made._repr_html_()
    assert not any(word in repr(made).lower() for word in ("winner", "best "))


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ({}, "nothing is varied"),
        ({"recall": []}, "no values were given for recall"),
        ({"recall": "20"}, "recall is to be '20'; give a list"),
        ({"recall": 20}, "recall is to be 20; give a list"),
        ({"recall": [1, 1]}, "recall is to be 1 twice"),
        ({"recall": [True]}, "recall is True"),
        ({"recall": [0]}, "recall=0 gives no more"),
        ({"weight.text": [-1]}, "-1"),
        ({"weight.text": [float("nan")]}, "nan"),
        ({"fuser.rrf_k": ["many"]}, "'many'"),
        ({"rerankers.definition.deep": [1]}, "deep"),
        ({"weight.text": range(300)}, "300 points"),
    ],
)
def test_what_does_not_fit_is_refused(vary: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(vary)


def test_grids_that_are_too_large_and_legs_that_do_not_exist() -> None:
    with pytest.raises(ConfigError, match="the grid has 225 points, at most 200"):
        run({"weight.text": range(15), "weight.name": range(15)}, grid=True)
    with pytest.raises(UnknownNameError, match="unknown leg in weights 'txt'; did you mean 'text'"):
        run({"weight.txt": [1]})
    with pytest.raises(InvalidValueError, match="all weights are zero"):
        run({"weight.text": [0], "weight.name": [0]}, grid=True)
