"""Experiments from files: with a contract that locks them, or without."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from ..errors import InvalidValueError, StoreError
from .breaches import Breach, ContractMismatchError
from .cases import check_cases
from .checks import checked_inputs
from .contract import Contract
from .contract_sections import GAP_POLICY, expanded
from .experiment import checked_cases
from .facts import method_facts
from .inputs import Progress, hashed, load_inputs
from .run_plan import Plan, Run, carry_out

UNLOCKED_SCOPE = "exploratory_no_contract"
CUTOFFS, MEASURE_NAMES = (1, 3, 5, 10), ("Recall@k", "MRR", "nDCG@10")


def evaluate_contract(
    path: str | Path,
    *,
    base: str | Path | None = None,
    config: str | Path | None = None,
    output: str | Path | None = None,
    save: bool = True,
    command: Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Run the experiment that a contract locks.

    Args:
        base: the folder that the contract's paths are relative to; its own when None.
        config: the configuration, for a contract that locks none.
        output: the folder of runs; the contract's when None.
        save: False writes nothing.
        command: what the manifest tells as the command.

    Raises:
        ContractMismatchError: something is not as the contract says; all of it is listed.
        ConfigError: the contract itself is not sound.
        StoreError: the folder cannot be written, or the copy of the summary would replace another file.
        HybridRankError: every search failed.
    """
    began = datetime.now(UTC), perf_counter()
    contract = Contract.load(path)
    folder = Path(path).parent if base is None else Path(base)
    inputs = checked_inputs(contract, base=folder, config=config, progress=progress)
    facts = method_facts(inputs.pipeline)
    plan = Plan(
        inputs,
        facts,
        contract.method_names,
        contract.measures,
        contract.evaluation_dict(),
        {"experiment_id": contract.experiment_id, "scope": contract.scope},
        contract.same_candidates or _demands_same(facts),
        hashed("contract", path, Path(path)),
    )
    root = folder / contract.run_output_root if output is None else Path(output)
    public = folder / contract.public_summary_path if contract.public_summary_path else None
    content = Path(path).read_bytes()
    if sha256(content).hexdigest() != contract.sha256:
        raise ContractMismatchError([Breach("contract", contract.sha256, "a file that changed meanwhile")])
    if public is not None and save:
        _refuse_foreign(public, contract.experiment_id)
    with inputs.pipeline:
        return carry_out(plan, root if save else None, public, content, command, began, progress)


def evaluate_config(
    config: str | Path,
    cases: str | Path,
    corpus: str | Path,
    *,
    id_field: str = "id",
    text_field: str = "text",
    measures: Sequence[str] = (),
    cutoffs: Sequence[int] = (),
    output: str | Path | None = "runs",
    command: Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Run every method of a configuration on cases, without a contract.

    Args:
        config, cases, corpus, id_field, text_field: as for `load_inputs`.
        measures: names; `@k` stands for each of the cutoffs. Recall@k, MRR and nDCG@10 when empty.
        cutoffs: 1, 3, 5 and 10 when empty.
        output: the folder of runs; None writes nothing.
        command: what the manifest tells as the command.

    Raises:
        HybridRankError: an input is not sound, a measure looks deeper than recall, every search failed, or
            the folder cannot be written.
    """
    began = datetime.now(UTC), perf_counter()
    given = tuple(cutoffs) or CUTOFFS
    made = expanded(tuple(measures) or MEASURE_NAMES, given)
    inputs = load_inputs(
        config=config, cases=cases, corpus=corpus, id_field=id_field, text_field=text_field, progress=progress
    )
    checked_cases(inputs.cases)
    check_cases(inputs.cases, tuple(inputs.pipeline.documents or ()))
    facts = method_facts(inputs.pipeline)
    same = _demands_same(facts)
    told = {
        "cutoffs": list(given),
        "measures": list(measures or MEASURE_NAMES),
        "methods": list(facts),
        "gap_policy": GAP_POLICY,
        "selection_policy": "",
    }
    about = {"experiment_id": None, "scope": UNLOCKED_SCOPE}
    plan = Plan(inputs, facts, tuple(facts), made, told, about, same)
    if not same and plan.deepest > inputs.pipeline.recall:
        recall = inputs.pipeline.recall
        raise InvalidValueError(
            f"a measure looks at {plan.deepest} hits, but recall={recall} gives no more; raise it"
        )
    with inputs.pipeline:
        return carry_out(plan, None if output is None else Path(output), None, b"", command, began, progress)


def _demands_same(facts: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(fact.get("same_candidate_set_required") is True for fact in facts.values())


def _refuse_foreign(public: Path, experiment_id: str) -> None:
    """A contract may name any path; only a summary of its own experiment is replaced there."""
    try:
        there = json.loads(public.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError):
        there = None
    if not isinstance(there, dict) or there.get("experiment_id") != experiment_id:
        told = f"{str(public)!r} is no summary of {experiment_id!r}"
        raise StoreError(f"{told}; move it away, or name another public_summary_path")
