"""A contract locks an experiment: inputs, methods, measures and policies, before anything is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from ..errors import ConfigError, UnknownNameError
from ..types import FrozenDict
from .contract_aliases import translated
from .contract_fields import Fields, one_of, text, wrong
from .contract_sections import (
    EvaluationContract,
    InputContract,
    LockedFile,
    expanded,
    read_evaluation,
    read_inputs,
    read_methods,
    read_outputs,
    read_prompts,
    read_sources,
)
from .measures import Measure
from .policy import forbids_selection

SCHEMA = 1
"""Raised when a field changes its meaning or goes away."""

_UNCHECKED = ("name", "query_instruction_source")


@dataclass(frozen=True, slots=True)
class Contract:
    """What an experiment is bound to.

    Attributes:
        experiment_id, scope: what it is, and what it may be taken for.
        sources: files by name: `corpus`, `cases`, `config` and any others, such as prompts or a model lock.
        inputs: what they must hold.
        methods: by name what each method must be; what is not given is not checked.
        evaluation: measures and policies.
        prompts: SHA-256 of the prompts that parts use, by stage and name.
        run_output_root: where runs are written, relative to the contract.
        public_summary_path: where a copy of the public summary is written; none when `""`.
        description: free.
        sha256: of the file that it was read from.
    """

    experiment_id: str
    scope: str
    sources: Mapping[str, LockedFile]
    inputs: InputContract
    methods: Mapping[str, Mapping[str, Any]]
    evaluation: EvaluationContract
    prompts: Mapping[str, str] = FrozenDict()
    run_output_root: str = "runs"
    public_summary_path: str = ""
    description: str = ""
    sha256: str = ""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A contract from a JSON file.

        Raises:
            ConfigError: the file cannot be read, or a field is missing or holds something else than it
                should; the message tells its path, what was expected and what was found.
            UnknownNameError: there is no field of that name; the message offers the nearest one.
        """
        try:
            content = Path(path).read_bytes()
            data = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_refuse)
        except FileNotFoundError:
            raise ConfigError(f"there is no file {str(path)!r}; give the path of a contract") from None
        except RecursionError:
            raise ConfigError(f"{path}: nested too deeply") from None
        except (OSError, ValueError) as error:
            raise ConfigError(f"{str(path)[:200]}: cannot be read as JSON: {error}") from error
        return cls.from_dict(data, sha256=sha256(content).hexdigest())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, sha256: str = "") -> Self:
        """A contract from plain dicts and lists, as `load`."""
        nothing: dict[str, str] = {}
        fields = Fields(translated(data))
        fields.take("schema_version", one_of(SCHEMA))
        read = cls(
            experiment_id=fields.take("experiment_id", text),
            scope=fields.take("scope", text),
            sources=fields.take("sources", read_sources),
            inputs=fields.take("input_contract", read_inputs),
            methods=fields.take("methods", read_methods),
            evaluation=fields.take("evaluation", read_evaluation),
            prompts=fields.take("prompts", read_prompts, FrozenDict[str, str]()),
            description=fields.take("description", text, ""),
            sha256=sha256,
            **fields.take("outputs", read_outputs, nothing),
        )
        fields.end()
        for name in read.evaluation.methods:
            if name not in read.methods:
                raise UnknownNameError("method", name, read.methods, where="evaluation.methods")
        left_out = [name for name in read.methods if name not in read.method_names]
        if left_out:
            raise wrong(
                "evaluation.methods", f"all methods, {left_out[0]!r} too", list(read.evaluation.methods)
            )
        for name, method in read.methods.items():
            source = method.get("query_instruction_source")
            if source is not None and source not in read.sources:
                raise UnknownNameError(
                    "source", str(source), read.sources, where=f"methods.{name}.query_instruction_source"
                )
        return read

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, with the cutoffs put in."""
        return expanded(self.evaluation.measures, self.evaluation.cutoffs)

    @property
    def method_names(self) -> tuple[str, ...]:
        """The methods in the order of the tables."""
        return self.evaluation.methods or tuple(self.methods)

    @property
    def forbids_selection(self) -> bool:
        """Whether no method may be chosen by what the cases show."""
        return bool(forbids_selection({"evaluation": {"selection_policy": self.evaluation.selection_policy}}))

    @property
    def same_candidates(self) -> bool:
        """Whether the legs must rank one and the same set of documents."""
        return any(method.get("same_candidate_set_required") is True for method in self.methods.values())

    def locked_facts(self, method: str) -> dict[str, Any]:
        """What a method must be, without what only describes it."""
        return {name: value for name, value in self.methods[method].items() if name not in _UNCHECKED}

    def to_dict(self) -> dict[str, Any]:
        """The contract as its file holds it."""
        inputs, evaluation = self.inputs, self.evaluation
        sources: dict[str, str] = {}
        for name, source in self.sources.items():
            sources |= {f"{name}_path": source.path, f"{name}_sha256": source.sha256}
        data: dict[str, Any] = {
            "schema_version": SCHEMA,
            "experiment_id": self.experiment_id,
            "scope": self.scope,
            "sources": sources,
            "input_contract": {
                "expected_document_count": inputs.documents,
                "expected_case_count": inputs.cases,
                "expected_supported_case_count": inputs.supported,
                "expected_gap_case_count": inputs.gaps,
                "supported_behavior": "retrieve",
                "gap_behavior": "disclose_gap",
                "id_field": inputs.id_field,
                "text_field": inputs.text_field,
                "required_values": {name: dict(values) for name, values in inputs.required_values.items()},
                "forbidden_fields": list(inputs.forbidden_fields),
            },
            "methods": {name: dict(method) for name, method in self.methods.items()},
            "prompts": dict(self.prompts),
            "evaluation": self.evaluation_dict(),
            "outputs": {"run_output_root": self.run_output_root},
        }
        if evaluation.online_reranker:
            data["evaluation"]["online_reranker"] = evaluation.online_reranker
        if self.public_summary_path:
            data["outputs"]["public_summary_path"] = self.public_summary_path
        return {**data, "description": self.description} if self.description else data

    def evaluation_dict(self) -> dict[str, Any]:
        evaluation = self.evaluation
        return {
            "cutoffs": list(evaluation.cutoffs),
            "measures": list(evaluation.measures),
            "methods": list(self.method_names),
            "gap_policy": evaluation.gap_policy,
            "selection_policy": evaluation.selection_policy,
        }


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} stands twice in one object")
    return made


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")
