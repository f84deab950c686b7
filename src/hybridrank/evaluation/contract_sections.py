"""The sections of a contract, and how each is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError, UnknownNameError
from ..records import ID_FIELD, TEXT_FIELD
from ..types import FrozenDict
from .case_files import nearest
from .contract_fields import Fields, count, cutoffs, one_of, sha256_hex, table, text, texts, wrong
from .measures import Measure, parse_measures

GAP_POLICY = "diagnostic_only_not_scored"
METHOD_FIELDS = tuple(
    "name use model model_digest dimensions parameter_size quantization_level query_instruction "  # noqa: SIM905
    "query_instruction_source document_instruction truncate tokenizer k1 b query_term_frequency rrf_k inputs "
    "weights same_candidate_set_required complete fields normalizer reranker_enabled rerankers validator "
    "options".split()
)
_NEEDED = ("corpus", "cases")


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file or folder that an experiment reads: its path, relative to the contract, and its SHA-256."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class InputContract:
    """What the inputs must be.

    Attributes:
        documents, cases, supported, gaps: how many there must be; supported cases can be answered.
        forbidden_fields: names that no key at any depth of a document, a case or the configuration may have,
            such as labels that would leak.
        required_values: by `documents` and `cases` the values that fields of each must have; a field is
            looked for at any depth.
        id_field, text_field: where records hold id and text.
    """

    documents: int
    cases: int
    supported: int
    gaps: int
    forbidden_fields: tuple[str, ...] = ()
    required_values: Mapping[str, Mapping[str, Any]] = FrozenDict()
    id_field: str = ID_FIELD
    text_field: str = TEXT_FIELD


@dataclass(frozen=True, slots=True)
class EvaluationContract:
    """What is measured, and what may be concluded from it.

    Attributes:
        cutoffs: of the measures whose name ends in `@k`.
        measures: names such as `Recall@k`, `MRR`, `nDCG@10`.
        methods: their order in tables; that of the contract's methods when empty.
        gap_policy: begins with `diagnostic_only` or `not_scored`; gaps are never scored.
        selection_policy: one that begins with `do_not_select` or `no_selection` forbids choosing a method by
            what these cases show.
        online_reranker: a word on rerankers; one that begins with `disabled` forbids them.
    """

    cutoffs: tuple[int, ...]
    measures: tuple[str, ...] = ("Recall@k", "MRR")
    methods: tuple[str, ...] = ()
    gap_policy: str = GAP_POLICY
    selection_policy: str = ""
    online_reranker: str = ""


def expanded(measures: Iterable[str], cutoffs: Iterable[int]) -> tuple[Measure, ...]:
    """The measures of these names; one that ends in `@k` stands once for each cutoff.

    Raises:
        UnknownNameError, InvalidValueError, DuplicateIdError: as `parse_measures`.
    """
    given, names = tuple(cutoffs), []
    for name in measures:
        names += [f"{name[:-1]}{cutoff}" for cutoff in given] if name.endswith("@k") else [name]
    return parse_measures(names)


def read_sources(path: str, value: Any) -> FrozenDict[str, LockedFile]:
    fields = Fields(value, path)
    names: dict[str, None] = {}
    for key in fields.names():
        name = key.removesuffix("_path").removesuffix("_sha256")
        if not name or name == key:
            known = [f"{one}_{end}" for one in ("corpus", "cases", "config") for end in ("path", "sha256")]
            raise UnknownNameError("field", key, known, where=path)
        names[name] = None
    for needed in _NEEDED:
        if needed not in names:
            near = next((name for name in names if nearest(name, [needed])), None)
            if near is not None:
                raise UnknownNameError("field", f"{near}_path", [f"{needed}_path"], where=path)
            raise ConfigError(f"expected '{needed}_path' and '{needed}_sha256', found neither", where=path)
    return FrozenDict(
        (name, LockedFile(fields.take(f"{name}_path", text), fields.take(f"{name}_sha256", sha256_hex)))
        for name in names
    )


def read_inputs(path: str, value: Any) -> InputContract:
    fields = Fields(value, path)
    fields.take("supported_behavior", one_of("retrieve"), "retrieve")
    fields.take("gap_behavior", one_of("disclose_gap"), "disclose_gap")
    made = InputContract(
        documents=fields.take("expected_document_count", count),
        cases=fields.take("expected_case_count", count),
        supported=fields.take("expected_supported_case_count", count),
        gaps=fields.take("expected_gap_case_count", count),
        forbidden_fields=fields.take("forbidden_fields", texts, ()),
        required_values=fields.take("required_values", _required, FrozenDict[str, Mapping[str, Any]]()),
        id_field=fields.take("id_field", text, ID_FIELD),
        text_field=fields.take("text_field", text, TEXT_FIELD),
    )
    fields.end()
    if made.supported + made.gaps != made.cases:
        expected = f"expected_supported_case_count and expected_gap_case_count to sum to {made.cases}"
        raise ConfigError(f"expected {expected}, found {made.supported} + {made.gaps}", where=path)
    return made


def _required(path: str, value: Any) -> FrozenDict[str, Mapping[str, Any]]:
    fields = Fields(value, path)
    nothing: dict[str, Any] = {}
    read = {name: FrozenDict(fields.take(name, table, nothing)) for name in ("documents", "cases")}
    fields.end()
    return FrozenDict((name, values) for name, values in read.items() if values)


def read_methods(path: str, value: Any) -> FrozenDict[str, Mapping[str, Any]]:
    given = table(path, value)
    if not given:
        raise wrong(path, "at least one method", value)
    read: dict[str, Mapping[str, Any]] = {}
    for name, method in given.items():
        fields = table(f"{path}.{name}", method)
        for field in fields:
            if field not in METHOD_FIELDS:
                raise UnknownNameError("field", field, METHOD_FIELDS, where=f"{path}.{name}")
        read[name] = FrozenDict(fields)
    return FrozenDict(read)


def read_evaluation(path: str, value: Any) -> EvaluationContract:
    fields = Fields(value, path)
    made = EvaluationContract(
        cutoffs=fields.take("cutoffs", cutoffs),
        measures=fields.take("measures", texts, ("Recall@k", "MRR")),
        methods=fields.take("methods", texts, ()),
        gap_policy=fields.take("gap_policy", _gap_policy, GAP_POLICY),
        selection_policy=fields.take("selection_policy", text, ""),
        online_reranker=fields.take("online_reranker", text, ""),
    )
    fields.end()
    try:
        expanded(made.measures, made.cutoffs)
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"expected names of measures: {error}", where=f"{path}.measures") from error
    return made


def _gap_policy(path: str, value: Any) -> str:
    policy = text(path, value)
    if not policy.startswith(("diagnostic_only", "not_scored")):
        expected = "a policy that begins with 'diagnostic_only' or 'not_scored', since gaps are never scored"
        raise wrong(path, expected, value)
    return policy


def read_prompts(path: str, value: Any) -> FrozenDict[str, str]:
    given = table(path, value)
    return FrozenDict((name, sha256_hex(f"{path}.{name}", digest)) for name, digest in given.items())


def read_outputs(path: str, value: Any) -> dict[str, str]:
    fields = Fields(value, path)
    read = {name: fields.take(name, text, "") for name in ("run_output_root", "public_summary_path")}
    fields.end()
    return {name: given for name, given in read.items() if given}
