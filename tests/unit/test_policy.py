"""Selection policies of contracts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hybridrank import ConfigError
from hybridrank.evaluation.policy import contract_policy, forbids_selection, refuse_selection


@pytest.mark.parametrize(
    "policy",
    [
        "do_not_select",
        "do_not_select_or_tune_method_from_eight_probe_results",
        "no_selection",
        "no_selection_on_these_cases",
        "Do not select",
        "NO-SELECTION",
        "  no_selection ",
    ],
)
def test_a_policy_that_forbids(policy: str) -> None:
    assert forbids_selection({"evaluation": {"selection_policy": policy}}) == policy


@pytest.mark.parametrize(
    "contract",
    [
        {},
        {"evaluation": {}},
        {"evaluation": {"selection_policy": ""}},
        {"evaluation": {"selection_policy": "select_on_development_cases"}},
        {"evaluation": {"selection_policy": "may select; there is no_selection bias here"}},
        {"selection_policy": "no_selection"},
    ],
)
def test_a_contract_that_allows(contract: dict[str, Any]) -> None:
    assert forbids_selection(contract) == ""


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        ({"evaluation": {"selection_policy": True}}, "the policy is True; give a str"),
        ({"evaluation": {"selection_policy": None}}, "the policy is None; give a str"),
        ({"evaluation": "no_selection"}, "'no_selection' stands where a table is expected"),
    ],
)
def test_a_malformed_policy_does_not_pass_for_none(contract: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        forbids_selection(contract)


def test_a_contract_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "contract.json"
    file.write_text(json.dumps({"evaluation": {"selection_policy": "no_selection"}}), encoding="utf-8")
    assert contract_policy(file) == "no_selection"
    with pytest.raises(ConfigError, match=r"there is no file .*none\.json"):
        contract_policy(tmp_path / "none.json")
    for content in ("{", "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"contract\.json"):
            contract_policy(file)
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match="a contract is a JSON object, not list"):
        contract_policy(file)


def test_refusal_names_policy_and_deed() -> None:
    refuse_selection("", "a sweep")
    with pytest.raises(ConfigError, match="'no_selection', and a sweep would choose") as caught:
        refuse_selection("no_selection", "a sweep")
    assert caught.value.where == "evaluation.selection_policy"
