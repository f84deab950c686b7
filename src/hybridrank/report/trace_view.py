"""A search's candidates and their places in every stage: what its page is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from ..types import Contribution, Document, Result, Stage, Verdict, location
from .escape import printable
from .explanation import Step, stages, steps_of

RESULT = "result"
"""The name of the last column: what the search gave."""
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One document that some leg found.

    Attributes:
        number: from 0: the hits, then what was rejected, then the others, each by place.
        document: None where the result does not hold it.
        rank: 1-based place among the hits, None where it is none.
        verdict: the validator's, None where it was not judged.
        legs: names of the legs that found it.
    """

    number: int
    id: str
    document: Document | None
    rank: int | None
    verdict: Verdict | None
    legs: tuple[str, ...]

    @property
    def state(self) -> str:
        """`hit`, `rejected`, or `left` for what was not taken and not judged."""
        if self.rank is not None:
            return "hit"
        return "rejected" if self.verdict is not None and not self.verdict.accepted else "left"

    @property
    def where(self) -> str:
        return self.id if self.document is None else location(self.document)

    @property
    def symbol(self) -> str:
        return "" if self.document is None else self.document.qualified_name or self.document.name

    @property
    def kind(self) -> str:
        return "" if self.document is None else self.document.kind


class View:
    """A result, looked up by candidate and stage.

    Args:
        query_line: number of the first line of a query of several lines.
    """

    def __init__(self, result: Result, query_line: int = 1) -> None:
        self.result = result
        self.query_line = query_line if "\n" in result.query.typed.strip() else 0
        self.stages: Sequence[Stage] = stages(result)
        self._places = {
            stage.name: {id: place for place, id in enumerate(stage.ids_out, 1)} for stage in self.stages
        }
        self._places[RESULT] = {id: place for place, id in enumerate(result.ids, 1)}

    def of_kind(self, kind: str) -> list[Stage]:
        return [stage for stage in self.stages if stage.kind == kind]

    def place(self, stage: str, id: str) -> int | None:
        """Its 1-based place in what a stage gave."""
        return self._places[stage].get(id)

    def told(self, id: str, stage: str) -> tuple[Contribution, ...]:
        return self.result.explanations.get(id, {}).get(stage, ())

    def steps(self, id: str) -> list[Step]:
        return steps_of(self.result, id)

    @cached_property
    def candidates(self) -> Mapping[str, Candidate]:
        """All of them by id, in the order of their numbers."""
        verdicts = {verdict.id: verdict for verdict in self.result.verdicts}
        documents = {**self.result.trace.documents, **{hit.id: hit.document for hit in self.result.hits}}
        ranks = self._places[RESULT]
        # The hits, what was judged, then the stages from the last to the first.
        seen = dict.fromkeys([*ranks, *verdicts])
        for stage in reversed(self.stages):
            seen.update(dict.fromkeys(stage.ids_out))
        legs = self.of_kind("retriever")
        return {
            id: Candidate(
                number,
                id,
                documents.get(id),
                ranks.get(id),
                verdicts.get(id),
                tuple(stage.name for stage in legs if id in self._places[stage.name]),
            )
            for number, id in enumerate(seen)
        }


def safe(text: str, keep: str = "") -> str:
    return escape(printable(text, keep=keep))


def breakable(text: str) -> str:
    """A path or a name that may wrap behind a slash, a dot, an underscore or a colon."""
    return re.sub(r"([/.:_])", r"\1<wbr>", safe(text))


def marked_text(
    text: str,
    spans: Iterable[tuple[int, int]] = (),
    *,
    first: int = 1,
    limit: int = 60,
    around: int | None = None,
) -> str:
    """The text as the inside of a `<pre>`, with line numbers, and these spans of characters marked.

    Args:
        first: number of the first line; 0 for none.
        limit: lines shown at most.
        around: only marked lines, with so many around each; all lines when None or where nothing is marked.
    """
    wanted = sorted((start, end) for start, end in spans if start < end)
    lines = list(_lines(text))
    touched = {at for at, (start, end) in enumerate(lines) for a, b in wanted if a < end and start < b}
    kept = range(len(lines))
    shown = [
        at for at in kept if around is None or not touched or any(abs(at - one) <= around for one in touched)
    ]
    width = len(str(first + len(lines)))
    rows, before = [], -1
    for at in shown[:limit]:
        if at != before + 1:
            rows.append("<i>…</i>")
        number = f"<i>{first + at:>{width}}  </i>" if first else ""
        rows.append(number + _marked(text, *lines[at], wanted))
        before = at
    left = len(lines) - 1 - before
    if left:
        rows.append(f"<i>… {left:,} more line{'s' if left > 1 else ''}</i>")
    return "\n".join(rows)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for found in _LINE.finditer(text.rstrip("\r\n")):
        yield found.start(1), found.end(1)
        if not found[2]:
            return


def _marked(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> str:
    parts, at = [], start
    stop = min(end, start + _CHARACTERS)
    for a, b in spans:
        if b <= at or a >= stop:
            continue
        a = max(a, at)
        b = min(b, stop)
        parts += [safe(text[at:a], "\t"), f"<mark>{safe(text[a:b], chr(9))}</mark>"]
        at = b
    parts.append(safe(text[at:stop], "\t") + ("…" if stop < end else ""))
    return "".join(parts)
