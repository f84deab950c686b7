"""From hits to a context for a language model: within a budget, citable, each line once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from operator import index
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, runtime_checkable

from .context_blocks import ContextBlock, blocks_of, render, whole
from .context_plan import Plan
from .errors import InvalidValueError
from .types import Document, Hit, Result, check_k

Unit: TypeAlias = Literal["chars", "tokens"]
Counter: TypeAlias = Callable[[str], SupportsIndex | Sized]

_MOST_RELATED = 1000
SPREADING = ("spread", "spread-files")
"""The stages whose incoming order counts: names of `SpreadFiles` in the default and in plain pipelines."""


@runtime_checkable
class Related(Protocol):
    """Knows what belongs to a document, as `CodeGraph` does."""

    def related(self, document: Document, /) -> Sequence[Document]: ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a language model is given to answer from.

    Attributes:
        text: the context; `""` where nothing fits.
        blocks: what it is made of, in order; an answer cites their labels.
        included: ids of the documents that stand whole in it, best first.
        cut: ids of those that stand in it in part.
        left_out: ids of those that do not. The three together are the hits.
        related: ids of what stands in it beside the hits, since a graph says that it belongs to them.
        used: its length in `unit`, never above `budget`.
    """

    text: str = ""
    blocks: tuple[ContextBlock, ...] = ()
    included: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    used: int = 0
    budget: int = 0
    unit: Unit = "chars"
    related: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers."""
        blocks = [
            {
                "label": block.label,
                "path": block.path,
                "start_line": block.start_line,
                "end_line": block.end_line,
                "ids": list(block.ids),
                "cut": block.cut,
            }
            for block in self.blocks
        ]
        return {
            "text": self.text,
            "blocks": blocks,
            "included": list(self.included),
            "cut": list(self.cut),
            "left_out": list(self.left_out),
            "related": list(self.related),
            "used": self.used,
            "budget": self.budget,
            "unit": self.unit,
        }


def assemble_context(
    result: Sequence[Hit],
    budget: int = 6000,
    unit: Unit = "chars",
    *,
    tokenizer: Counter | None = None,
    matches: Mapping[str, tuple[int, int]] | None = None,
    spreading: Collection[str] = SPREADING,
    graph: Related | None = None,
) -> Context:
    """The hits as one text: blocks below headers `### path:start-end (kind symbol)`.

    The budget is spent in rank order: documents whole, the first that does not fit cut, nothing behind it. It
    is printed file by file, files in rank order, the blocks of a file in line order with `…` between them.
    Lines that several documents of a file share stand once; so do equal texts, to which later ones refer. A
    cut is marked `… (cut)` and made between lines; inside a line only where no whole one fits and
    nothing else is there. A fence that is open at the end of a block is closed.

    Args:
        result: a Result, a Ranking, or hits, best first. In a Result whose last reranker spreads over
            files, the order before it counts.
        budget: most that the text may measure, with headers and marks; 0 gives nothing.
        unit: `"chars"` counts characters, `"tokens"` what the tokenizer says.
        tokenizer: the number of tokens of a text, or the tokens.
        matches: by id the (start, end) characters of a document's text that a cut shall keep; by default
            the first quote of a validator, else the head is kept.
        spreading: names of the stages that spread over files.
        graph: where to look for what belongs to the hits: the head of the class around each, and the
            definitions that it calls. They stand behind the hits, as far as the budget reaches when these are
            in, and never in part.

    Raises:
        InvalidValueError: budget is negative or no int, the unit is unknown, a tokenizer is missing or there
            without need, or it counts no number.
    """
    check_k(budget, "budget")
    measure = _measure(unit, tokenizer)
    hits = _in_rank_order(result, spreading)
    plan = Plan(lambda blocks: measure(render(blocks)) <= budget)
    if budget:
        kept = _quoted(result) if matches is None else _checked(matches)
        for rank, hit in enumerate(hits):
            if not plan.add(whole(hit.document, rank)):
                plan.add_part(whole(hit.document, rank), kept.get(hit.id))
                break
    shown = {hit.id for hit in hits}
    related: dict[str, None] = {}
    if budget and graph is not None:
        for document in islice(_related(graph, plan, hits), _MOST_RELATED):
            new = document.id not in shown and not plan.is_shown(document)
            if new and plan.add(whole(document, len(hits) + len(related))):
                related[document.id] = None
    blocks = tuple(blocks_of(plan.pieces))
    text = render(blocks)
    ids: dict[str, list[str]] = {"included": [], "cut": [], "left_out": []}
    for hit in hits:
        ids[plan.state(hit.document) if budget else "left_out"].append(hit.id)
    told = {state: tuple(of_state) for state, of_state in ids.items()}
    used = measure(text) if text else 0
    return Context(text, blocks, **told, used=used, budget=budget, unit=unit, related=tuple(related))


def _related(graph: Related, plan: Plan, hits: Sequence[Hit]) -> Iterator[Document]:
    """What belongs to the hits that are in, best first."""
    if not isinstance(graph, Related):
        raise InvalidValueError(
            f"graph is {graph!r:.80}; give a CodeGraph, or what has a method related(document)"
        )
    for hit in hits:
        if plan.state(hit.document) == "included":
            yield from graph.related(hit.document)


def _in_rank_order(result: Sequence[Hit], spreading: Collection[str]) -> list[Hit]:
    hits = list(result)
    for hit in hits:
        if not isinstance(hit, Hit):
            raise InvalidValueError(f"result holds {hit!r:.80}; give a Result, a Ranking, or hits")
    stages = result.trace.stages if isinstance(result, Result) else ()
    last = [stage for stage in stages if stage.kind == "reranker"][-1:]
    if last and last[0].name in spreading:
        places = {id: place for place, id in enumerate(last[0].ids_in)}
        # What it did not see stands behind, in its order.
        hits.sort(key=lambda hit: places.get(hit.id, len(places)))
    return hits


def _quoted(result: Sequence[Hit]) -> dict[str, tuple[int, int]]:
    verdicts = result.verdicts if isinstance(result, Result) else ()
    found: dict[str, tuple[int, int]] = {}
    for verdict in verdicts:
        for quote in verdict.quotes:
            if quote.in_document is not None:
                found.setdefault(verdict.id, quote.in_document)
    return found


def _checked(matches: Mapping[str, tuple[int, int]]) -> Mapping[str, tuple[int, int]]:
    for id, place in matches.items():
        match place:
            case (int(start), int(end)) if 0 <= start <= end:
                continue
        raise InvalidValueError(f"match of {id!r} is {place!r:.80}; give (start, end), from 0")
    return matches


def _measure(unit: str, tokenizer: Counter | None) -> Callable[[str], int]:
    if unit == "chars":
        if tokenizer is not None:
            raise InvalidValueError('a tokenizer is given, but unit is "chars"; give unit="tokens"')
        return len
    if unit != "tokens":
        raise InvalidValueError(f'unit is {unit!r}; give "chars" or "tokens"')
    if tokenizer is None:
        raise InvalidValueError('unit is "tokens"; give a tokenizer, a function from text to its tokens')
    if not callable(tokenizer):
        raise InvalidValueError(f"tokenizer is {tokenizer!r:.80}; give a function from text to its tokens")
    count = tokenizer

    def tokens(text: str) -> int:
        told: Any = count(text)
        # The length of these counts no tokens: a dict of arrays has that of its keys.
        if isinstance(told, Sized) and not isinstance(told, (str, bytes, Mapping)):
            return len(told)
        try:
            number = told if isinstance(told, bool) else index(told)  # numpy's integers too
        except TypeError:
            raise InvalidValueError(
                f"the tokenizer gave {told!r:.80}; give a function from text to its tokens or to their number"
            ) from None
        return check_k(number, "the tokenizer's count")

    return tokens
