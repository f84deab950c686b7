"""Targets that no search can find: those that no document holds, or that several share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..types import Document, Filter, location
from .cases import instead
from .targets import Target

if TYPE_CHECKING:
    from ..code.corpus import Corpus

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Held:
    """The documents that hold a target.

    Attributes:
        stage: where it was lost before any search: None where one document holds it whole.
        reason: why; a sentence without a full stop.
    """

    documents: tuple[Document, ...] = ()
    stage: Literal["corpus", "chunking"] | None = None
    reason: str = ""


class Holders:
    """Finds the documents that hold a target.

    Args:
        documents: those of the pipeline.
        corpus: which files were read and which were skipped, where that is known.
        where: the filter of the searches.
    """

    def __init__(self, documents: Sequence[Document], corpus: Corpus | None, where: Filter | None) -> None:
        self._by_path: dict[str, list[Document]] = {}
        for document in documents:
            if document.path:
                self._by_path.setdefault(document.path, []).append(document)
        self._by_id = {document.id: document for document in documents}
        self._skipped: Mapping[str, str] = {} if corpus is None else dict(corpus.skipped)
        self._read = frozenset(() if corpus is None else corpus.files)
        self._where = where

    def lost(self, target: Target) -> Held:
        """The documents that hold the target, and whether it was lost before any search."""
        in_file = self._by_path.get(target.path, [])
        found = [self._by_id[target.id]] if target.id in self._by_id else []
        held = tuple(found if target.id else filter(target.touches, in_file))
        if not held:
            return self._absent(target, in_file)
        if self._where and not any(self._where.select(held)):
            return Held((), "corpus", "the filter leaves it out")
        if not target.end_line or len(held) == 1 or any(_holds_all(one, target) for one in held):
            return Held(held)
        shown = ", ".join(location(document) for document in held[:_SHOWN])
        more = f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
        return Held(held, "chunking", f"split over {len(held)} chunks: {shown}{more}")

    def _absent(self, target: Target, in_file: Sequence[Document]) -> Held:
        if not in_file and target.path in self._read:
            return Held((), "chunking", f"{target.path} was read, but nothing in it became a document")
        if not in_file and target.path in self._skipped:
            return Held((), "corpus", f"{target.path} was skipped: {self._skipped[target.path]}")
        if not in_file:
            what = f"id {target.id!r}" if target.id else f"path {target.path!r}"
            hint = instead(target, self._by_path, self._by_id)
            return Held((), "corpus", f"no document has the {what}{hint}")
        last = max(document.end_line for document in in_file)
        if target.start_line > last:
            return Held((), "corpus", f"it begins behind line {last}, where its file ends")
        before = [document for document in in_file if document.end_line < target.start_line]
        after = [document for document in in_file if document.start_line > target.end_line]
        near = [max(before, key=lambda one: one.end_line)] if before else []
        near += [min(after, key=lambda one: one.start_line)] if after else []
        shown = " and ".join(location(document) for document in near)
        return Held((), "chunking", f"no chunk holds any of its lines; the nearest: {shown}")


def _holds_all(document: Document, target: Target) -> bool:
    lines = document.start_line, document.end_line
    return not document.end_line or (lines[0] <= target.start_line and target.end_line <= lines[1])
