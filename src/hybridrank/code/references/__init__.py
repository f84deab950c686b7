"""What files say of imports and calls: a reader for each language, and one by names for the others."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...types import SourceFile
from ..chunk import PARSE_SECONDS, TreeSitterChunker, parse
from ..grammar import NoGrammarError, load
from ..grammars import GRAMMARS
from . import go, javascript, javascript_names, python
from .draft import Draft, Shapes
from .facts import Facts
from .names import NAMES, read_names

if TYPE_CHECKING:
    from tree_sitter import Node

_LONE_RETURN = re.compile(rb"\r(?!\n)")
_READERS: Mapping[str, tuple[Shapes, Callable[[Draft, Node], None]]] = {
    "python": (python.SHAPES, python.read),
    "go": (go.SHAPES, go.read),
    "javascript": (javascript_names.SHAPES, javascript.read),
    "typescript": (javascript_names.SHAPES, javascript.read),
    "tsx": (javascript_names.SHAPES, javascript.read),
}
RESOLVED = frozenset(_READERS)
"""Languages whose names are followed; of the others names are all that is known."""
KNOWN = RESOLVED | frozenset(NAMES)


def facts_of(source: SourceFile) -> Facts:
    """What a file says; nothing where it cannot be parsed, what is intact where it has errors."""
    grammar = GRAMMARS.get(source.language)
    if source.language not in KNOWN or grammar is None or "\0" in source.text:
        return Facts(source.language)
    try:
        language = load(grammar)
    except NoGrammarError:
        return Facts(source.language)
    data = _LONE_RETURN.sub(b"\n", source.text.encode("utf-8", "surrogatepass"))
    if grammar.prepare:
        data = grammar.prepare(data)
    root = parse(language, data, time.thread_time() + PARSE_SECONDS)
    if root is None:
        return Facts(source.language)
    if source.language in NAMES:
        symbols = TreeSitterChunker().outline(source)[1]
        return read_names(root, data, source.language, symbols)
    shapes, read = _READERS[source.language]
    draft = Draft(data, source.path, shapes)
    read(draft, root)
    return draft.facts(source.language)
