"""Context assembly with what a graph says belongs to the hits."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridrank import CodeGraph, Document, Hit, InvalidValueError, assemble_context, load_code

SOURCES = {
    "shop.py": (
        "from mail import send, Mailer\n"
        "\n"
        "class Order(\n"
        "    Base,\n"
        "):\n"
        '    """An order."""\n'
        "\n"
        "    def close(self):\n"
        "        send(1)\n"
        "        Mailer().deliver()\n"
        "        unknown()\n"
        "        self.close()\n"
    ),
    "mail.py": ("def send(text):\n    return text\n\nclass Mailer:\n    def deliver(self):\n        pass\n"),
}
CLOSE = Document(
    "shop.py:8-12",
    "\n".join(SOURCES["shop.py"].split("\n")[7:12]),
    "shop.py",
    8,
    12,
    "method",
    "close",
    "Order.close",
)
RELATED = ("shop.py:3-5", "mail.py:1-2", "mail.py:4-4", "mail.py:5-6")


def test_what_belongs_to_a_method() -> None:
    with CodeGraph.of(SOURCES) as graph:
        found = graph.related(CLOSE)
        assert tuple(one.id for one in found) == RELATED
        assert [one.text for one in found] == [
            "class Order(\n    Base,\n):",
            "def send(text):\n    return text",
            "class Mailer:",
            "    def deliver(self):\n        pass",
        ]
        assert [one.kind for one in found] == ["class", "function", "class", "method"]
        assert graph.related(Document("x", "text")) == ()


def test_it_stands_behind_the_hits_within_the_budget() -> None:
    with CodeGraph.of(SOURCES) as graph:
        hits = [Hit(CLOSE, 1.0)]
        plain = assemble_context(hits)
        assert plain.related == ()
        context = assemble_context(hits, graph=graph)
        assert context.related == RELATED
        assert context.included == plain.included
        assert context.to_dict()["related"] == list(RELATED)
        assert context.used == len(context.text) <= context.budget
        assert [block.label for block in context.blocks] == [
            "shop.py:3-5",
            "shop.py:8-12",
            *RELATED[1:],
        ]
        for budget in range(0, len(context.text) + 50, 7):
            some = assemble_context(hits, budget, graph=graph)
            alone = assemble_context(hits, budget)
            assert len(some.text) <= budget
            assert (some.included, some.cut, some.left_out) == (alone.included, alone.cut, alone.left_out)


def test_what_a_hit_shows_is_not_added_again() -> None:
    with CodeGraph.of(SOURCES) as graph:
        send = Document(
            "mail.py:1-2", "def send(text):\n    return text", "mail.py", 1, 2, "function", "send"
        )
        context = assemble_context([Hit(CLOSE, 1.0), Hit(send, 0.5)], graph=graph)
        assert "mail.py:1-2" not in context.related
        assert context.text.count("def send") == 1


def test_a_file_that_has_changed_adds_nothing(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with CodeGraph.for_code(tmp_path) as graph:
        (hit,) = (one for one in load_code(tmp_path).documents if one.name == "close")
        assert tuple(one.id for one in graph.related(hit)) == RELATED
        (tmp_path / "mail.py").write_text("# other\n", encoding="utf-8")
        assert [one.path for one in graph.related(hit)] == ["shop.py"]


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="graph is 'graph'"):
        assemble_context([Hit(CLOSE, 1.0)], graph="graph")  # type: ignore[arg-type]
