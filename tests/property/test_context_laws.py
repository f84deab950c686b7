"""Laws of context assembly, over hits that overlap, nest, repeat, have no lines, or hold fences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Document, Hit, assemble_context
from hybridrank.context import Unit

FILES = {
    name: [f"{name} {number}" if number % 7 else ("```" if number % 2 else "") for number in range(1, 40)]
    for name in ("a.py", "src/b.md")
}
COUNTERS: dict[Unit, Callable[[str], int]] = {"chars": len, "tokens": lambda text: len(text.split())}


@st.composite
def ranked(draw: st.DrawFn) -> list[Hit]:
    documents: dict[str, Document] = {}
    for _ in range(draw(st.integers(0, 7))):
        path = draw(st.sampled_from(["a.py", "src/b.md", ""]))
        if path:
            start = draw(st.integers(1, 39))
            end = draw(st.integers(start, min(39, start + 20)))
            document = Document(
                f"{path}:{start}-{end}", "\n".join(FILES[path][start - 1 : end]), path, start, end, "lines"
            )
        else:
            text = draw(st.text(alphabet="xy \n`", max_size=60))
            document = Document(f"free {len(documents)}", text)
        documents[document.id] = document
    return [Hit(document, 0.0) for document in documents.values()]


BUDGETS = st.integers(0, 700)
UNITS = st.sampled_from(["chars", "tokens"])


@given(ranked(), BUDGETS, UNITS)
def test_the_budget_is_never_exceeded_and_every_hit_is_told(hits: list[Hit], budget: int, unit: Unit) -> None:
    counter = COUNTERS[unit]
    tokenizer = counter if unit == "tokens" else None
    context = assemble_context(hits, budget, unit, tokenizer=tokenizer)
    assert context.used == counter(context.text) <= budget
    told = Counter([*context.included, *context.cut, *context.left_out])
    assert told == Counter(hit.id for hit in hits)
    assert assemble_context(tuple(hits), budget, unit, tokenizer=tokenizer) == context
    assert len(context.cut) <= 1
    assert bool(context.cut) == any(block.cut for block in context.blocks)
    assert bool(context.cut) == ("… (cut)" in context.text)


@given(ranked(), BUDGETS)
def test_each_line_stands_once_below_a_header_that_names_it(hits: list[Hit], budget: int) -> None:
    context = assemble_context(hits, budget)
    lines = Counter(line for line in context.text.split("\n") if line.startswith(("a.py ", "src/b.md ")))
    assert set(lines.values()) <= {1}
    before: dict[str, int] = {}
    for block in context.blocks:
        if not block.path or block.text.startswith("(same text as"):
            continue
        shown = FILES[block.path][block.start_line - 1 : block.end_line]
        # Marks and closed fences stand around the lines.
        in_line = block.cut and len(shown) == 1 and shown[0].startswith(block.text.split("\n")[0])
        assert in_line or "\n".join(shown) in block.text
        assert block.start_line > before.get(block.path, 0)
        before[block.path] = block.end_line
        assert block.label == f"{block.path}:{block.start_line}-{block.end_line}"
    for hit in hits:
        if hit.id in context.included and hit.document.path:
            assert all(line in context.text for line in hit.document.text.split("\n"))


@given(ranked(), BUDGETS)
def test_files_stand_together_in_rank_order(hits: list[Hit], budget: int) -> None:
    context = assemble_context(hits, budget)
    order = [block.path or block.label for block in context.blocks]
    files = list(dict.fromkeys(order))
    assert [name for name in files for _ in range(order.count(name))] == order
    shown = [hit.document.path or hit.id for hit in hits if hit.document.text.strip()]
    ranks = [shown.index(name) for name in files]
    assert ranks == sorted(ranks)


@given(ranked(), BUDGETS, st.integers(0, 200))
def test_more_budget_includes_no_less(hits: list[Hit], budget: int, more: int) -> None:
    less = assemble_context(hits, budget)
    assert set(less.included) <= set(assemble_context(hits, budget + more).included)


@given(ranked(), BUDGETS)
def test_no_fence_stays_open(hits: list[Hit], budget: int) -> None:
    for block in assemble_context(hits, budget).blocks:
        if block.path:
            assert block.text.count("```") % 2 == 0
