"""Checking a run's folder: that no file moved, and that its numbers follow from its rankings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import HybridRankError, StoreError
from ..types import Document
from .breaches import Breach, shown
from .cases import Case, load_cases
from .contract import Contract
from .inputs import hashed
from .manifest import MANIFEST_SCHEMA, seal
from .measures import parse_measures
from .method_rankings import Hits, other_candidates
from .results import judged
from .run_folder import (
    CASES,
    CONTRACT,
    DOCUMENT_VECTORS,
    DOCUMENTS,
    MANIFEST,
    MEASURES,
    QUERY_VECTORS,
    RANKINGS,
    SUMMARY,
    json_bytes,
    json_line,
)
from .summary import public_summary
from .vectors import vector_sha256

_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def verify_run(path: str | Path) -> tuple[Breach, ...]:
    """Everything in a run's folder that does not agree with its manifest, or with its own rankings.

    Checked are the manifest's digest, size and hash of every file, files too many, the hash of each vector,
    the counts, and per-query measures and public summary, which are made again of cases and rankings.

    Raises:
        StoreError: there is no run, or its manifest cannot be read.
    """
    folder = Path(path)
    manifest = _manifest(folder)
    breaches = list(_files(folder, manifest))
    try:
        breaches += _contents(folder, manifest)
    except (*_UNREADABLE, HybridRankError) as error:
        breaches.append(
            Breach("contents", "files that can be judged again", f"{type(error).__name__}: {error}")
        )
    return tuple(breaches)


def _manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise StoreError(f"there is no run {str(folder)!r}; give the folder of a run")
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        message = f"{str(folder)!r} holds no {MANIFEST}; it is no run, or one that was not finished"
        raise StoreError(message) from None
    except _UNREADABLE as error:
        raise StoreError(f"{MANIFEST} of {str(folder)!r} cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("manifest_schema_version") != MANIFEST_SCHEMA:
        raise StoreError(f"{MANIFEST} of {str(folder)!r} is not of a version that can be read")
    return manifest


def _files(folder: Path, manifest: Mapping[str, Any]) -> Iterator[Breach]:
    if manifest.get("manifest_sha256") != (digest := seal(manifest)):
        yield Breach(MANIFEST, f"manifest_sha256 {digest}", shown(manifest.get("manifest_sha256")))
    if manifest.get("run_id") != folder.resolve().name:
        name = folder.resolve().name
        yield Breach(MANIFEST, f"the run_id {name!r} of the folder", shown(manifest.get("run_id")))
    told: set[str] = set()
    for entry in manifest.get("outputs", ()):
        name = entry["path"]
        told.add(name)
        if not (folder / name).is_file():
            yield Breach(name, "a file", "none")
            continue
        file = hashed(name, name, folder / name)
        if file.bytes != entry["bytes"]:
            yield Breach(name, f"{entry['bytes']} bytes", str(file.bytes))
        if file.sha256 != entry["sha256"]:
            yield Breach(name, f"SHA-256 {entry['sha256']}", file.sha256)
    for file_path in sorted(folder.rglob("*")):
        name = file_path.relative_to(folder).as_posix()
        if not file_path.is_dir() and name not in told and name != MANIFEST:
            yield Breach(name, "no such file", "one that the manifest does not name")


def _contents(folder: Path, manifest: Mapping[str, Any]) -> list[Breach]:
    parameters, counts = manifest["parameters"], manifest["counts"]
    facts, policies = parameters["methods"], parameters["evaluation"]
    methods, measures = tuple(facts), parse_measures(parameters["measures"])
    cases = load_cases(folder / CASES)
    documents = {record["id"]: _document(record) for record in _lines(folder / DOCUMENTS)}
    entries = _lines(folder / MEASURES)
    rankings = _rankings(folder, cases, methods)
    breaches = list(_counts(counts, cases, documents))
    breaches += _unknown(rankings, documents)
    if breaches:
        return breaches
    errors = {entry["case_id"]: entry["errors"] for entry in entries if "errors" in entry}
    again = judged(cases, rankings, documents, methods=methods, measures=measures, errors=errors)
    for told, made in zip(entries, again, strict=False):
        if json_line(told) != json_line(made):
            expected = f"{_what(told, made)} of case {made['case_id']!r} as its rankings give"
            breaches.append(Breach(MEASURES, expected, "others"))
    if len(entries) != len(again):
        breaches.append(Breach(MEASURES, f"{len(again)} lines", str(len(entries))))
    failed = sum(map(bool, errors.values()))
    if failed != counts["searches_failed"]:
        breaches.append(Breach(MANIFEST, f"{counts['searches_failed']} searches that failed", str(failed)))
    if parameters["same_candidates"]:
        breaches += other_candidates(rankings, frozenset(documents), methods)
    locked = (folder / CONTRACT).is_file()
    breaches += _contract(folder, manifest) if locked else []
    hashes: dict[str, dict[str, str]] = {}
    for name in (DOCUMENT_VECTORS, QUERY_VECTORS):
        for line in _lines(folder / name) if (folder / name).is_file() else ():
            if vector_sha256(np.asarray(line["vector"], "<f4")) != line["vector_sha256"]:
                whose = line.get("id", line.get("case_id"))
                breaches.append(Breach(name, f"the vector of {whose!r} with the hash beside it", "another"))
            if name == QUERY_VECTORS:
                hashes.setdefault(line["leg"], {})[line["case_id"]] = line["vector_sha256"]
    summary = public_summary(
        about={"experiment_id": manifest["experiment_id"], "scope": manifest["scope"]},
        counts={name: counts[name] for name in ("documents", "cases", "supported", "gaps")},
        facts=facts,
        policies=policies,
        entries=again,
        rankings=rankings,
        measures=measures,
        methods=methods,
        top=parameters["top"],
        locked=locked,
        vector_hashes=hashes,
    )
    return breaches + _summary(folder, summary)


def _summary(folder: Path, made: Mapping[str, Any]) -> list[Breach]:
    content = (folder / SUMMARY).read_bytes()
    if content == json_bytes(made):
        return []
    told = json.loads(content)
    moved = [name for name in {**made, **told} if made.get(name) != told.get(name)]
    return [
        Breach(SUMMARY, f"{name} as cases and rankings give it", "another") for name in moved or ["its bytes"]
    ]


def _contract(folder: Path, manifest: Mapping[str, Any]) -> list[Breach]:
    contract = Contract.load(folder / CONTRACT)
    read = {entry["name"]: entry["sha256"] for entry in manifest["inputs"]}
    breaches = []
    if read.get("contract") != contract.sha256:
        breaches.append(Breach(CONTRACT, f"SHA-256 {read.get('contract')}", contract.sha256))
    for name, source in contract.sources.items():
        if read.get(name) != source.sha256:
            breaches.append(Breach(f"{MANIFEST} inputs.{name}", source.sha256, str(read.get(name))))
    return breaches


def _counts(
    counts: Mapping[str, int], cases: tuple[Case, ...], documents: Mapping[str, Document]
) -> Iterator[Breach]:
    gaps = sum(case.is_gap for case in cases)
    found = {
        "documents": len(documents),
        "cases": len(cases),
        "supported": len(cases) - gaps,
        "gaps": gaps,
    }
    for name, number in found.items():
        if counts[name] != number:
            yield Breach(f"{MANIFEST} counts.{name}", str(counts[name]), str(number))


def _rankings(folder: Path, cases: tuple[Case, ...], methods: tuple[str, ...]) -> dict[str, dict[str, Hits]]:
    rankings: dict[str, dict[str, Hits]] = {case.id: {} for case in cases}
    for line in _lines(folder / RANKINGS):
        rankings.setdefault(line["case_id"], {})[line["method"]] = tuple(line["hits"])
    return rankings


def _unknown(
    rankings: Mapping[str, Mapping[str, Hits]], documents: Mapping[str, Document]
) -> Iterator[Breach]:
    for case, of_case in rankings.items():
        for method, hits in of_case.items():
            where = f"{RANKINGS} case {case!r} method {method!r}"
            if [hit["rank"] for hit in hits] != list(range(1, len(hits) + 1)):
                yield Breach(where, "ranks that count from 1", shown([hit["rank"] for hit in hits]))
            unknown = [hit["id"] for hit in hits if hit["id"] not in documents]
            if unknown:
                yield Breach(where, "ids of documents", shown(unknown))


def _document(record: Mapping[str, Any]) -> Document:
    return Document(
        record["id"], "", path=record["path"], start_line=record["start_line"], end_line=record["end_line"]
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    # Not splitlines: a string may hold U+2028.
    return [json.loads(line) for line in path.read_bytes().decode().split("\n") if line]


def _what(told: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    return ", ".join(name for name in {**made, **told} if told.get(name) != made.get(name)) or "fields"
