"""Laws of the graph: nothing depends on order or history, whatever files hold."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hybridrank import CodeGraph

NAMES = st.sampled_from(["a", "b", "f", "g", "C", "D", "p"])
MODULES = st.sampled_from(["a", "b", "p", "p.a", "json", ".", ".a", "..b", "p.gone"])


@st.composite
def statements(draw: st.DrawFn, indent: int = 0) -> str:
    pad = "    " * indent
    one, two, three, module = draw(NAMES), draw(NAMES), draw(NAMES), draw(MODULES)
    kinds = ["import", "from", "from", "call", "call", "value", "self", "global"]
    kinds += ["star"] if indent == 0 else []
    kinds += ["def", "class", "if"] if indent < 2 else []
    kind = draw(st.sampled_from(kinds))
    if kind in ("def", "class", "if"):
        body = "\n".join(draw(st.lists(statements(indent + 1), min_size=1, max_size=2)))
        head = {"def": f"def {one}(self, {two}=1)", "class": f"class {one}({two})", "if": f"if {one}()"}
        return f"{pad}{head[kind]}:\n{body}"
    plain = {
        "import": f"import {module.lstrip('.') or 'p'} as {one}",
        "from": f"from {module} import {one} as {two}",
        "star": f"from {module} import *",
        "value": f"{one} = {two}.{three}()",
        "call": f"{one}({two}.{three})",
        "self": f"self.{one} = {two}",
        "global": f"global {one}",
    }
    return pad + plain[kind]


SOURCES = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "p/__init__.py", "p/a.py", "q/b.py"]),
    st.lists(statements(), max_size=4).map(lambda lines: "\n".join(lines) + "\n"),
    min_size=1,
)
TEXT = """( ) { } [ ] . , ; = => : * ' " ` / # @ def class function import from export default const let f g x
return new this self super async await package func type struct"""
WORDS = [*TEXT.split(), "\n", "\n\t", "\0"]
ANY_TEXT = st.dictionaries(
    st.sampled_from(["a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.rs", "a.rb"]),
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(WORDS),
            max_size=40,
        ).map(" ".join),
    ),
    min_size=1,
)


def answers(graph: CodeGraph) -> object:
    return (
        graph.symbols(),
        [graph.imports(path) for path in graph.files()],
        [graph.importers(path, depth=0) for path in graph.files()],
        [graph.calls(path) for path in graph.files()],
    )


@settings(max_examples=settings().max_examples // 2)
@given(SOURCES)
def test_the_order_of_files_does_not_count(sources: dict[str, str]) -> None:
    backwards = dict(reversed(sources.items()))
    with CodeGraph.of(sources) as one, CodeGraph.of(backwards) as other:
        assert answers(one) == answers(other)


@settings(max_examples=settings().max_examples // 2)
@given(SOURCES)
def test_what_was_asked_before_does_not_count(sources: dict[str, str]) -> None:
    with CodeGraph.of(sources) as graph:
        forwards = [graph.calls(path) for path in graph.files()]
    with CodeGraph.of(sources) as graph:
        backwards = [graph.calls(path) for path in reversed(graph.files())]
    assert forwards == backwards[::-1]


@settings(max_examples=settings().max_examples // 2)
@given(SOURCES)
def test_callers_and_calls_agree(sources: dict[str, str]) -> None:
    """Each call that leads to a definition is one of its callers, and the other way round."""
    with CodeGraph.of(sources) as graph:
        led = {
            (call, target) for path in graph.files() for call in graph.calls(path) for target in call.targets
        }
        for symbol in graph.symbols():
            found = set(graph.callers(f"{symbol.path}::{symbol.qualified_name}"))
            assert {call for call, target in led if target == symbol} <= found
            assert all(any(t.qualified_name == symbol.qualified_name for t in c.targets) for c in found)


@given(SOURCES)
def test_imports_of_python_are_those_of_ast(sources: dict[str, str]) -> None:
    with CodeGraph.of(sources) as graph:
        for path, text in sources.items():
            try:
                tree = ast.parse(text)
            except SyntaxError:
                continue
            expected = [
                (node.lineno, alias.name)
                for node in ast.walk(tree)
                if isinstance(node, ast.Import | ast.ImportFrom)
                for alias in node.names
            ]
            found = [(one.line, name or one.module) for one in graph.imports(path) for name, _ in one.names]
            assert sorted(found) == sorted(expected)


@settings(max_examples=settings().max_examples // 5)
@given(SOURCES, SOURCES)
def test_an_update_equals_a_fresh_graph(before: dict[str, str], after: dict[str, str]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "code"
        root.mkdir()
        for path, text in before.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        with CodeGraph.for_code(root) as graph:
            for path in before.keys() - after.keys():
                (root / path).unlink()
            for path, text in after.items():
                (root / path).parent.mkdir(exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
                os.utime(root / path)
            graph.update()
            with CodeGraph.for_code(root) as fresh:
                assert answers(graph) == answers(fresh)


@given(ANY_TEXT)
def test_any_text_is_read(sources: dict[str, str]) -> None:
    with CodeGraph.of(sources) as graph:
        answers(graph)
        for path in graph.files():
            count = sources[path].count("\n") + sources[path].count("\r") + 1
            assert all(1 <= call.line <= count for call in graph.calls(path))
            assert all(1 <= one.line <= one.end_line <= count for one in graph.imports(path))
