"""What was accepted for a source and what was rejected, with reasons and evidence, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..types import Component, Document, Hit, Quote, Result, Verdict
from .data import plain, result_data
from .escape import clip, printable, width
from .text import WIDTH, code_text, hit_line

MATCH_SCHEMA = 1
"""Raised when a field changes its meaning or goes away; new fields do not raise it."""
REJECTED = 5
"""How many of the rejected are listed where not all are asked for."""
_QUOTES = 8


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate that was judged."""

    hit: Hit
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Matches:
    """What a source was matched with.

    Attributes:
        source: where it is from, for people: a path, `""` for standard input.
        first_line: 1-based number of its first line there.
        result: the search; its query is the source.
        accepted: the hits, best first. A verdict of None: the validator failed and was left out.
        rejected: in the order in which they were judged.
        candidates: how many the legs found together.
    """

    source: str
    first_line: int
    result: Result
    accepted: tuple[tuple[Hit, Verdict | None], ...]
    rejected: tuple[Match, ...]
    candidates: int

    @classmethod
    def of(cls, result: Result, documents: Sequence[Document], source: str, first_line: int) -> Matches:
        """Sort a result's hits and verdicts; the documents are those that were searched."""
        verdicts = {verdict.id: verdict for verdict in result.verdicts}
        gone = [verdict for verdict in result.verdicts if not verdict.accepted]
        by_id = _found(documents, {verdict.id for verdict in gone})
        places = _components(result)
        return cls(
            source,
            first_line,
            result,
            tuple((hit, verdicts.get(hit.id)) for hit in result.hits),
            tuple(Match(_hit(by_id[verdict.id], places), verdict) for verdict in gone),
            max((len(stage.ids_out) for stage in result.trace.stages if stage.kind == "fuser"), default=0),
        )

    def text(self, *, all: bool = False, code: bool = False) -> str:
        """Lines for people: what was accepted, what was rejected, and how many of each.

        Args:
            all: list every rejected candidate, not the first few that share something.
            code: with the text of what was accepted.
        """
        blocks = []
        for hit, verdict in self.accepted:
            blocks.append(self._block("accepted", hit, verdict))
            if code and hit.document.text:
                blocks[-1] += f"\n{code_text(hit)}"
        shown = [one for one in self.rejected if all or one.verdict.quotes]
        shown = shown if all else shown[:REJECTED]
        blocks += [self._block("rejected", one.hit, one.verdict) for one in shown]
        return "\n".join([*blocks, self._counts(len(shown))])

    def data(self, *, text: bool = False) -> dict[str, Any]:
        """The same in JSON's types, documented in docs/cli.md."""
        told = result_data(self.result, text=text)
        hits = [one.hit for one in self.rejected]
        gone = result_data(replace(self.result, hits=tuple(_falling(hits))), text=text)["hits"]
        return {
            "source": {
                "path": self.source,
                "start_line": self.first_line,
                "end_line": self.first_line + _breaks(self.result.query.typed),
            },
            "candidates": self.candidates,
            "accepted": [
                {**hit, "verdict": None if verdict is None else self._verdict(verdict, of)}
                for hit, (of, verdict) in zip(told["hits"], self.accepted, strict=True)
            ],
            "rejected": [
                {
                    **{name: value for name, value in hit.items() if name != "rank"},
                    "score": float(one.hit.score),
                    "verdict": self._verdict(one.verdict, one.hit),
                }
                for hit, one in zip(gone, self.rejected, strict=True)
            ],
            "events": told["events"],
        }

    def _block(self, state: str, hit: Hit, verdict: Verdict | None) -> str:
        head = f"{state}  {hit_line(hit)}"
        if verdict is None:
            return f"{head}\n    not judged"
        answer = "undecided: " if verdict.answer == "undecided" else ""
        lines = [head]
        if answer or verdict.reason:
            lines.append(f"    {clip(answer + printable(' '.join(verdict.reason.split())), WIDTH - 4)}")
        if verdict.quotes:
            lines += _wrapped([self._quoted(quote) for quote in verdict.quotes[:_QUOTES]], verdict.quotes)
        return "\n".join(lines)

    def _quoted(self, quote: Quote) -> str:
        shown = clip(printable(" ".join(quote.text.split())), WIDTH // 2)
        line = self._line(self.result.query.text, quote.in_source, self.first_line)
        return shown if line is None else f"{shown} (line {line})"

    def _counts(self, listed: int) -> str:
        accepted, rejected = len(self.accepted), len(self.rejected)
        left = self.candidates - accepted - rejected
        told = [f"{accepted} accepted", f"{rejected} rejected"]
        undecided = sum(one.verdict.answer == "undecided" for one in self.rejected)
        details = [f"{undecided} undecided"] if undecided else []
        details += [f"{listed} shown"] if listed < rejected else []
        if details:
            told[-1] += f" ({', '.join(details)})"
        if left > 0:
            told.append(f"{left} not judged")
        more = "; --all shows all" if left > 0 or listed < rejected else ""
        return f"{self.candidates} candidate{'' if self.candidates == 1 else 's'}: {', '.join(told)}{more}"

    def _verdict(self, verdict: Verdict, hit: Hit) -> dict[str, Any]:
        source, document = self.result.query.text, hit.document
        return {
            "answer": verdict.answer,
            "accepted": verdict.accepted,
            "reason": verdict.reason,
            "evidence": [
                {
                    "text": quote.text,
                    "in_source": plain(quote.in_source),
                    "source_line": self._line(source, quote.in_source, self.first_line),
                    "in_document": plain(quote.in_document),
                    "document_line": self._line(document.text, quote.in_document, document.start_line or 1),
                }
                for quote in verdict.quotes
            ],
        }

    @staticmethod
    def _line(text: str, span: tuple[int, int] | None, first: int) -> int | None:
        return None if span is None else first + _breaks(text[: span[0]])


def _found(documents: Sequence[Document], ids: set[str]) -> dict[str, Document]:
    """The documents of these ids; stored ones are looked up rather than read one after the other."""
    places: Mapping[str, int] | None = getattr(documents, "positions", None)
    if places is not None:
        return {id: documents[places[id]] for id in ids}
    return {document.id: document for document in documents if document.id in ids}


def _components(result: Result) -> dict[str, dict[str, Component]]:
    """Rank and score of every candidate in every stage before the validator."""
    found: dict[str, dict[str, Component]] = {}
    for stage in result.trace.stages:
        if stage.kind in ("retriever", "fuser", "reranker"):
            for rank, (id, score) in enumerate(zip(stage.ids_out, stage.scores, strict=True), 1):
                found.setdefault(id, {})[stage.name] = Component(rank, score)
    return found


def _hit(document: Document, places: Mapping[str, Mapping[str, Component]]) -> Hit:
    components = places[document.id]
    return Hit(document, list(components.values())[-1].score, components)


def _falling(hits: Sequence[Hit]) -> Iterator[Hit]:
    """The hits, with scores that do not matter to who reads their other fields."""
    return (replace(hit, score=0.0) for hit in hits)


def _breaks(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _wrapped(pieces: Sequence[str], every: Sequence[object]) -> Iterator[str]:
    """The pieces, comma separated, below each other where they do not fit."""
    more = len(every) - len(pieces)
    line = "    shared:"
    for number, piece in enumerate([*pieces, *([f"{more} more"] if more else [])]):
        joint = ", " if number else " "
        if width(line + joint + piece) >= WIDTH:
            yield line + joint.rstrip()
            line = " " * 12 + piece
        else:
            line += joint + piece
    yield line
