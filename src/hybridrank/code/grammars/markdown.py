"""Markdown: one document a heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Define, Grammar, Text
from .common import each

if TYPE_CHECKING:
    from tree_sitter import Node


def _heading(node: Node, _: Text) -> Define | None:
    """A heading; its section lasts to the next of its rank or a higher one."""
    marker = next((c.type for c in node.children if c.type.endswith(("_marker", "_underline"))), "")
    rank = next((int(c) for c in marker if c.isdigit()), 6)
    return Define("section", _name, rank=rank)


def _name(node: Node, text: Text) -> tuple[str, ...]:
    content = node.child_by_field_name("heading_content")
    return (text(content).strip("# \t"),) if content else ()


MARKDOWN = Grammar(
    module="tree_sitter_markdown",
    definitions=each(_heading, "atx_heading", "setext_heading"),
    through=frozenset({"section"}),
    comments=frozenset(),
    separator=" > ",
    rest="section",
)
