"""Results as plain text, at most 100 columns wide where it explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ..types import Contribution, Hit, Result, Verdict, location
from .escape import clip, code_lines, printable, width
from .explanation import Step, dropped_words, steps
from .reranked import Move, moves

WIDTH = 100
SHOWN = 8
"""How many contributions of one stage are spelt out; the others are summed."""
_STAGE = 24


def hit_line(hit: Hit, move: Move | None = None) -> str:
    """`[score] path:start-end  symbol (kind)`; symbol and kind are left out where there are none.

    Where a language model ordered the hits, `(Reranked #1, was #3)` follows.
    """
    document = hit.document
    symbol = printable(document.qualified_name or document.name)
    kind = f"({printable(document.kind)})" if document.kind else ""
    name = " ".join(part for part in (symbol, kind) if part)
    line = f"[{score_text(hit.score)}] {printable(location(document))}" + (f"  {name}" if name else "")
    return line if move is None else f"{line}  {move}"


def score_text(score: float) -> str:
    """Four decimals, or four digits and an exponent where those would run on."""
    return f"{score:.4f}" if abs(score) < 1e8 else f"{score:.4g}"


def code_text(hit: Hit) -> str:
    """The hit's code with its line numbers; without any where the document has no lines."""
    lines = code_lines(hit.document.text)
    first = hit.document.start_line
    if not first:
        return "\n".join(f"    {line}".rstrip() for line in lines)
    size = len(str(first + len(lines)))
    return "\n".join(f"    {number:>{size}}  {line}".rstrip() for number, line in enumerate(lines, first))


def result_text(result: Result, *, explain: bool = False, code: bool = False) -> str:
    """One line per hit; `""` without hits.

    Args:
        explain: with the query as it was searched, each hit's way through the stages, and the events. Terms
            and reasons need a result of `search(..., explain=True)`; ranks and scores do not.
        code: with the code of each hit.
    """
    blocks = [query_text(result)] if explain else []
    moved = moves(result)
    for hit in result.hits:
        lines = [hit_line(hit, moved.get(hit.id))]
        lines += [explain_hit(result, hit)] if explain else []
        lines += [code_text(hit)] if code else []
        blocks.append("\n".join(line for line in lines if line))
    if explain and result.events:
        blocks.append(events_text(result))
    return ("\n\n" if explain or code else "\n").join(blocks)


def explain_text(result: Result) -> str:
    """`result_text` with explanations."""
    return result_text(result, explain=True)


def query_text(result: Result) -> str:
    """What was typed and, where they differ, what was searched for and which words were dropped."""
    typed = printable(" ".join(result.query.typed.split()))
    lines = [f"query     {clip(typed, WIDTH - 10)}"]
    searched = result.trace.query if result.trace.stages else result.query
    if searched.text != result.query.typed:
        lines.append(f"searched  {clip(printable(' '.join(searched.text.split())), WIDTH - 10)}")
    dropped = dropped_words(result)
    if dropped:
        lines.append(f"dropped   {clip(printable(', '.join(dropped)), WIDTH - 10)}")
    return "\n".join(lines)


def explain_hit(result: Result, hit: Hit) -> str:
    """One block of lines per stage: place, score, and what they are made of."""
    rows = steps(result, hit)
    names = [clip(printable(step.stage), _STAGE) for step in rows]
    name_width = max(map(width, names), default=0)
    lines: list[str] = []
    for name, step in zip(names, rows, strict=True):
        head = f"    {name}{' ' * (name_width - width(name))}  {_place(step):<13}"
        head += f"{'' if step.score is None else score_text(step.score):>9}"
        lines += _wrap(head, reasons(step))
    for verdict in result.verdicts:
        if verdict.id == hit.id:
            lines += _wrap("    verdict", _verdict(verdict))
    return "\n".join(lines)


def reasons(step: Step) -> list[str]:
    """The contributions of a step as short pieces, weightiest first where there are many."""
    told = step.contributions
    if len(told) <= SHOWN:
        return [_reason(one) for one in told]
    ordered = sorted(told, key=lambda one: (-abs(one.value), one.name))
    rest = ordered[SHOWN:]
    total = sum(one.value for one in rest)
    return [*(_reason(one) for one in ordered[:SHOWN]), f"{len(rest)} more {total:+.4g}"]


def events_text(result: Result) -> str:
    """One line per event: `stage: message`."""
    return "\n".join(
        printable(
            f"{event.level}: {event.stage + ': ' if event.stage else ''}{' '.join(event.message.split())}"
        )
        for event in result.events
    )


def _place(step: Step) -> str:
    if step.rank is None:
        return f"not in top {step.size}"
    if step.rank_before is None or step.rank_before == step.rank:
        return f"#{step.rank}"
    return f"#{step.rank_before} -> #{step.rank}"


def _reason(one: Contribution) -> str:
    value = f" {one.value:+.4g}" if one.value else ""
    detail = f" ({' '.join(one.detail.split())})" if one.detail else ""
    return printable(f"{one.name}{value}{detail}")


def _verdict(verdict: Verdict) -> list[str]:
    kept = "accepted" if verdict.accepted else "rejected"
    quotes = [f'"{printable(" ".join(quote.text.split()))}"' for quote in islice(verdict.quotes, 3)]
    return [f"{verdict.answer}, {kept}", *([printable(verdict.reason)] if verdict.reason else []), *quotes]


def _wrap(head: str, pieces: Iterable[str]) -> Iterator[str]:
    """The pieces behind the head, comma separated, broken between pieces, each line below the first piece."""
    indent = min(width(head) + 2, WIDTH // 2)
    line = head
    for number, piece in enumerate(pieces):
        shown = clip(piece, WIDTH - indent - 1)
        joint = ", " if number else "  "
        if width(line + joint + shown) >= WIDTH:
            yield line + joint.rstrip()
            line = " " * indent + shown
        else:
            line += joint + shown
    yield line.rstrip()
