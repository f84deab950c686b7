"""What a search tells beside its hits: what was indexed, what was not, what a filter missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..report.escape import clip
from .output import Notes

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..types import Filter, Result


def is_degraded(result: Result) -> bool:
    """Whether a leg or stage failed and was left out."""
    from ..search import FAILED

    return any(event.code == FAILED for event in result.events)


def corpus_data(pipeline: Pipeline, *, files: bool) -> dict[str, Any]:
    """What was indexed and what was not; the skipped files by name only when asked for, they may be many."""
    corpus = pipeline.corpus
    if corpus is None:
        return {}
    skipped = sorted((str(path), reason) for path, reason in corpus.skipped)
    reasons = Counter(reason for _, reason in skipped)
    data: dict[str, Any] = {
        "files": len(corpus.files),
        "documents": len(corpus.documents),
        "skipped": len(skipped),
        "skipped_by_reason": dict(sorted(reasons.items())),
    }
    if files:
        data["skipped_files"] = [{"path": path, "reason": reason} for path, reason in skipped]
    return {**data, "notes": list(corpus.notes)}


def is_of_records(pipeline: Pipeline) -> bool:
    """Whether what was skipped are lines of one file."""
    corpus = pipeline.corpus
    if corpus is None or len(corpus.files) != 1:
        return False
    return all(path.startswith(f"{corpus.files[0]}:") for path, _ in corpus.skipped)


def unmatched(pipeline: Pipeline, where: Filter | None) -> list[str]:
    """What no document fits at all: most often a misspelt name in the filter, or an empty tree."""
    found: list[str] = []
    documents = pipeline.documents or ()
    if not documents:
        return ["there was nothing to index"]
    if where is None:
        return found
    for what in ("language", "kind"):
        known = {getattr(document, what) for document in documents}
        for name in getattr(where, what):
            if name not in known:
                found.append(
                    f"no document has {what} {name!r} (there are: {', '.join(sorted(known - {''}))})"
                )
    for glob in where.path:
        if not glob.startswith("!") and not any(
            replace(where, path=glob, language=(), kind=()).select(documents)
        ):
            found.append(f"no path matches {glob!r}")
    return found


def tell(notes: Notes, result: Result, corpus: Mapping[str, Any], unmatched: list[str]) -> None:
    said = [event.message for event in result.events if event.level != "warning"]
    for event in result.events:
        if event.level == "warning":
            notes.warning(event.message)
    if not result.hits:
        why = "; ".join([*said, *unmatched])
        typed = clip(" ".join(result.query.typed.split()), 60)
        notes.note(f"no hits for {typed!r}" + (f": {why}" if why else ""))
    elif unmatched:
        notes.note("; ".join(unmatched))
    if notes.verbose:
        for message in said if result.hits else ():
            notes.note(message)
    tell_files(notes, corpus)


def tell_files(notes: Notes, corpus: Mapping[str, Any]) -> None:
    """How many files (of records: lines) were skipped and why; all of them if that is asked for."""
    told = []
    if corpus.get("skipped"):
        counts = corpus["skipped_by_reason"]
        reasons = "; ".join(
            f"{reason}: {count}" if len(counts) > 1 else reason for reason, count in counts.items()
        )
        told.append(f"{_count(corpus['skipped'], corpus.get('unit', 'file'))} skipped ({reasons})")
    if corpus.get("notes") and not notes.verbose:
        told.append(f"{_count(len(corpus['notes']), 'note')} on how files were read")
    if told:
        notes.note("; ".join([*told, *(() if notes.verbose else ("--verbose shows more",))]))
    if notes.verbose:
        for message in corpus.get("notes", ()):
            notes.note(message)
        for skipped in corpus.get("skipped_files", ()):
            notes.note(f"skipped {skipped['path']}: {skipped['reason']}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
