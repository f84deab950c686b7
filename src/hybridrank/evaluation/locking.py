"""Writing a contract from what is there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..config import load_config
from ..errors import InvalidValueError
from ..pipeline import Pipeline
from ..records import ID_FIELD, TEXT_FIELD
from ..types import FrozenDict
from .breaches import ContractMismatchError
from .case_files import read_records
from .cases import check_cases, load_cases
from .checks import blank_texts, input_breaches
from .contract import Contract
from .contract_sections import EvaluationContract, InputContract, LockedFile, expanded
from .experiment import checked_cases
from .facts import method_facts, prompt_hashes
from .inputs import Progress, hashed, load_corpus

POLICY = "do_not_select_or_tune_by_these_results"
SCOPE = "measures_these_methods_on_these_cases_only"


def lock(
    *,
    config: str | Path,
    cases: str | Path,
    corpus: str | Path,
    base: str | Path = ".",
    experiment_id: str,
    scope: str = SCOPE,
    id_field: str = ID_FIELD,
    text_field: str = TEXT_FIELD,
    forbidden_fields: Sequence[str] = (),
    required_values: Mapping[str, Mapping[str, Any]] = FrozenDict(),
    cutoffs: Sequence[int] = (1, 3, 5),
    measures: Sequence[str] = ("Recall@k", "MRR"),
    selection_policy: str = POLICY,
    others: Mapping[str, str | Path] = FrozenDict(),
    run_output_root: str = "runs",
    public_summary_path: str = "",
    description: str = "",
    progress: Progress | None = None,
) -> Contract:
    """The contract that locks these inputs and what the configuration makes of them.

    Args:
        config, cases, corpus, id_field, text_field, others: as for `load_inputs`; all files are locked by
            their hashes.
        base: the folder where the contract will stand; its paths are relative to it.
        forbidden_fields, required_values, cutoffs, measures, selection_policy: as in `InputContract` and
            `EvaluationContract`.
        run_output_root, public_summary_path: where runs write, relative to the base.

    Raises:
        ContractMismatchError: the inputs already hold a forbidden field, lack a required value, or hold a
            blank text.
        HybridRankError: an input is not sound.
    """
    expanded(measures, cutoffs)
    given = {"corpus": corpus, "cases": cases, "config": config}
    for name in others:
        if name in given or not name.isidentifier():
            raise InvalidValueError(
                f"source {name!r}; give it a name of letters and _, other than {', '.join(given)}"
            )
    settings = load_config(config)
    made = Pipeline.from_config(settings)
    read = load_corpus(Path(corpus), made, id_field=id_field, text_field=text_field, progress=progress)
    given_cases = checked_cases(load_cases(cases))
    check_cases(given_cases, tuple(read.documents))
    breaches = blank_texts(read.documents) + input_breaches(
        forbidden_fields,
        required_values,
        cases=dict(read_records(cases)),
        documents=read.records,
        settings=settings,
    )
    if breaches:
        raise ContractMismatchError(breaches)
    pipeline = made.index(read.documents, progress=progress)
    files = {name: hashed(name, path, Path(path)) for name, path in {**given, **others}.items()}
    gaps = sum(case.is_gap for case in given_cases)
    paths = {name: _relative(path, Path(base)) for name, path in {**given, **others}.items()}
    return Contract.from_dict(
        Contract(
            experiment_id=experiment_id,
            scope=scope,
            sources=FrozenDict((name, LockedFile(paths[name], file.sha256)) for name, file in files.items()),
            inputs=InputContract(
                documents=len(read.documents),
                cases=len(given_cases),
                supported=len(given_cases) - gaps,
                gaps=gaps,
                forbidden_fields=tuple(forbidden_fields),
                required_values=required_values,
                id_field=id_field,
                text_field=text_field,
            ),
            methods=FrozenDict(method_facts(pipeline)),
            evaluation=EvaluationContract(tuple(cutoffs), tuple(measures), selection_policy=selection_policy),
            prompts=FrozenDict(prompt_hashes(pipeline)),
            run_output_root=run_output_root,
            public_summary_path=public_summary_path,
            description=description,
        ).to_dict()
    )


def _relative(path: str | Path, base: Path) -> str:
    try:
        return Path(os.path.relpath(path, base)).as_posix()
    except ValueError:  # another drive
        return Path(path).resolve().as_posix()
