"""What the methods of a pipeline are: the facts that contracts lock and manifests record.

Methods are the legs of a pipeline, each alone, under their names; `hybrid`, their fusion, where there are two
or more; and `pipeline`, the whole, where there are rerankers or a validator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, NotIndexedError
from ..options import options_of
from ..registry import GROUPS, name_of
from ..report.data import plain
from .breaches import Breach, shown

if TYPE_CHECKING:
    from ..pipeline import Pipeline

HYBRID, WHOLE = "hybrid", "pipeline"

# What an embedder may call it, in the order in which it is looked for.
_MODEL = {
    "model_digest": ("model_digest", "digest"),
    "parameter_size": ("parameter_size",),
    "quantization_level": ("quantization_level", "quantization"),
    "query_instruction": ("query_instruction", "instruction"),
    "document_instruction": ("document_instruction",),
    "truncate": ("truncate",),
}
_SCORES = {"dense": "cosine_similarity"}
_OWN = ("k1", "b", "rrf_k", "fields", "complete", "weights")
_SECRET = re.compile(r"(^|_)(key|token|secret|password|credentials?|headers?|auth)$")
_ELSEWHERE = ("embedder", "tokenizer", "query_terms", "same_candidates")


def method_facts(pipeline: Pipeline) -> dict[str, dict[str, Any]]:
    """The facts of each method, as plain lists, dicts, strings and numbers.

    An embedder tells `model`, `digest` (or `model_digest`), `parameter_size`, `quantization_level` (or
    `quantization`), `query_instruction` (or `instruction`), `document_instruction` and `truncate` by
    attributes of these names; one that it lacks is None. The model of one that learns from the corpus has no
    digest: it follows from corpus and configuration.

    Raises:
        ConfigError: a leg is named `hybrid` or `pipeline`.
    """
    for name in (HYBRID, WHOLE):
        if name in pipeline.retrievers:
            raise ConfigError(f"a leg is named {name!r}, which is the name of a method of its own; rename it")
    weights = getattr(pipeline.fuser, "weights", {})
    legs = [name for name in pipeline.retrievers if weights.get(name, 1) != 0]
    normalizer = None if pipeline.normalizer is None else name_of("normalizer", pipeline.normalizer)
    shared = {"normalizer": normalizer, "reranker_enabled": False}
    facts = {name: {**_leg(pipeline.retrievers[name]), **shared} for name in legs}
    if len(legs) > 1:
        complete = all(getattr(pipeline.retrievers[name], "complete", False) is True for name in legs)
        demanded = getattr(pipeline.fuser, "same_candidates", False) is True
        facts[HYBRID] = {
            **_described("fuser", pipeline.fuser),
            "inputs": legs,
            "same_candidate_set_required": complete and demanded,
            "reranker_enabled": False,
        }
    if pipeline.rerankers or pipeline.validator is not None:
        validator = pipeline.validator
        facts[WHOLE] = {
            "inputs": [HYBRID] if len(legs) > 1 else legs,
            "reranker_enabled": bool(pipeline.rerankers),
            "rerankers": {name: _part("reranker", part) for name, part in pipeline.rerankers.items()},
            "validator": None if validator is None else _part("validator", validator),
        }
    return facts


def score_fields(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The name of each method's score: no two kinds of score share one."""
    uses = {name: str(fact.get("use", name)) for name, fact in facts.items()}
    return {name: _SCORES.get(use, f"{use.replace('-', '_')}_score") for name, use in uses.items()}


def seeds(value: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Every option named `seed` at any depth of the facts, by its dotted path."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        at = f"{path}.{key}" if path else key
        if key == "seed":
            found[at] = item
        elif isinstance(item, Mapping):
            found |= seeds(item, at)
    return found


def prompt_hashes(pipeline: Pipeline) -> dict[str, str]:
    """SHA-256 of the prompts of each stage: of a part's attribute `prompt`, or of each in `prompts`."""
    hashes: dict[str, str] = {}
    for stage, part in pipeline.parts().items():
        one, several = getattr(part, "prompt", None), getattr(part, "prompts", None)
        if isinstance(one, str):
            hashes[stage] = text_sha256(one)
        if isinstance(several, Mapping):
            hashes |= {f"{stage}.{name}": text_sha256(text) for name, text in several.items()}
    return hashes


def text_sha256(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def compare_facts(method: str, locked: Mapping[str, Any], found: Mapping[str, Any]) -> list[Breach]:
    """Where a method is not what the contract locks; of `options` only those that it names count."""
    breaches = []
    for name, expected in locked.items():
        value = _inner(found.get(name), expected) if name == "options" else found.get(name)
        if not same(expected, value):
            breaches.append(Breach(f"methods.{method}.{name}", shown(expected), shown(value)))
    return breaches


def same(expected: object, found: object) -> bool:
    """Equality that tells true from 1, and 1 from "1", but not 60 from 60.0."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return expected.keys() == found.keys() and all(same(expected[key], found[key]) for key in expected)
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return len(expected) == len(found) and all(map(same, expected, found))
    return expected == found


def _inner(found: object, expected: object) -> object:
    """Of the options only those that the contract names."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        return {key: found[key] for key in expected if key in found}
    return found


def _leg(leg: object) -> dict[str, Any]:
    facts = _described("retriever", leg)
    embedder = getattr(leg, "embedder", None)
    if embedder is not None:
        facts |= _model(leg, embedder)
    return facts


def _described(kind: str, part: object) -> dict[str, Any]:
    """The part's name and options, those that contracts know under their names there."""
    options = _options(part)
    facts: dict[str, Any] = {"use": name_of(kind, part)}
    facts |= {name: options.pop(name) for name in _OWN if name in options}
    tokenizer = getattr(part, "tokenizer", None) or getattr(
        getattr(part, "embedder", None), "tokenizer", None
    )
    if tokenizer is not None:
        facts["tokenizer"] = _tokenizer(tokenizer)
    if "query_terms" in options:
        facts["query_term_frequency"] = options["query_terms"]
    rest = {name: value for name, value in options.items() if name not in _ELSEWHERE}
    embedder = getattr(part, "embedder", None)
    if embedder is not None:
        rest["embedder"] = _part("embedder", embedder)
    return {**facts, "options": rest} if rest else facts


def _model(leg: object, embedder: object) -> dict[str, Any]:
    facts: dict[str, Any] = {"model": getattr(embedder, "model", None) or name_of("embedder", embedder)}
    for fact, names in _MODEL.items():
        values = [getattr(embedder, name) for name in names if hasattr(embedder, name)]
        # No instruction is none, be it written as "" or as null.
        facts[fact] = None if not values or values[0] == "" else plain(values[0])
    try:
        vectors = getattr(leg, "vectors", None)
    except NotIndexedError:
        vectors = None
    facts["dimensions"] = (
        int(vectors.shape[1]) if vectors is not None else getattr(embedder, "dimensions", None)
    )
    return facts


def _part(kind: str, part: object) -> dict[str, Any]:
    return {"use": name_of(kind, part), **_options(part)}


def _options(part: object) -> dict[str, Any]:
    """The constructor's options by their attributes, nested parts described in the same way."""
    try:
        options = options_of(type(part))
    except (TypeError, ValueError):
        return {}
    values = {one.name: getattr(part, one.name) for one in options if hasattr(part, one.name)}
    return {name: _value(name, value) for name, value in values.items()}


def _value(name: str, value: object) -> Any:
    if _SECRET.search(name) and value is not None:
        return "(not recorded)"
    if name == "tokenizer":
        return None if value is None else _tokenizer(value)
    kind = name.rpartition("_")[2]
    if (
        kind in GROUPS
        and value is not None
        and not isinstance(value, str | int | float | Mapping | list | tuple)
    ):
        return _part(kind, value)
    return plain(value)


def _tokenizer(tokenizer: object) -> str:
    known = getattr(tokenizer, "id", None)
    if isinstance(known, str):
        return known
    named: Any = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    return f"{getattr(named, '__module__', 'builtins')}.{named.__qualname__}"
