"""A chunker that follows the syntax: one document a function, method, class head, import run or rest."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from ..types import Document, FrozenDict, SourceFile
from .definitions import symbols_in
from .grammar import Grammar, NoGrammarError, load
from .grammars import GRAMMARS
from .languages import language_of
from .lines import by_lines
from .outline import Outliner, cover
from .recover import recover
from .spans import MAX_CHARS, check_limit, documents, split_lines
from .symbols import Symbol

if TYPE_CHECKING:
    from tree_sitter import Language, Node

PARSE_SECONDS = 10.0
"""CPU seconds after which a parse is given up; source takes 0.2 s a megabyte, odd input may take hours."""

# Parsers go back a little again and again, and each time what follows is copied.
_READ_BYTES = 4096
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_PARSED: FrozenDict[str, object] = FrozenDict(parser="tree-sitter")
_PARSED_WITH_ERRORS: FrozenDict[str, object] = FrozenDict(parser="tree-sitter", has_error=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TreeSitterChunker:
    """Cuts source files along their syntax, and files of languages without a grammar by lines.

    Kinds: `function`, `method`, `class` (to the line before the first member; whole where there is none),
    `class_body` (what stands between and after members), `import` (a run of them at the top level, named if
    it binds one name), `module` (what else stands at the top level). Decorators, and comments directly above,
    belong to the definition. What is inside a function is no document of its own. A definition of more than
    `max_chars` characters is cut at blank or shallow lines; the piece with the definition's own line (below
    comments and decorators) keeps the kind, the others are `part`, all keep the name.

    Every line that is not blank is in exactly one document, but for a line of more than `max_chars`
    characters: that one is cut, and its documents share it. A document's text is its lines as they stand in
    the file, without the end of the last one.

    `metadata` holds `parser`: `"tree-sitter"`, or `"lines"` where the file was cut by lines; then `fallback`
    says why, unless the language has no grammar at all. `has_error` is True where the file holds a syntax
    error; definitions that are intact are found all the same.

    Args:
        max_chars: characters in a document, at most.

    Raises:
        InvalidValueError: `max_chars` is no int of 1 or more.
    """

    max_chars: int = MAX_CHARS

    def __post_init__(self) -> None:
        check_limit("max_chars", self.max_chars)

    def chunk(self, source: SourceFile, /) -> tuple[Document, ...]:
        """The documents of a file, in the order of its lines; none when all of it is blank."""
        return self.outline(source)[0]

    def outline(self, source: SourceFile, /) -> tuple[tuple[Document, ...], tuple[Symbol, ...]]:
        """The documents of a file, and its symbols by their lines; a file that is cut by lines has none.

        Symbols stand inside functions too, for Python, JavaScript, TypeScript and the other languages whose
        grammar names the words that such definitions begin with.
        """
        language = source.language or language_of(source.path, source.text)
        source = SourceFile(source.path, source.text, language)
        grammar = GRAMMARS.get(language)
        if grammar is None:
            return self._by_lines(source), ()
        try:
            return self._by_syntax(source, grammar)
        except NoGrammarError as error:
            return self._by_lines(source, str(error)), ()
        except Exception as error:  # whatever a grammar does, the file can still be cut by lines
            return self._by_lines(source, f"{type(error).__name__}: {error}"), ()

    def _by_lines(self, source: SourceFile, fallback: str = "") -> tuple[Document, ...]:
        given = {"fallback": fallback} if fallback else {}
        return by_lines(source, max_chars=self.max_chars, metadata=FrozenDict(parser="lines", **given))

    def _by_syntax(
        self, source: SourceFile, grammar: Grammar
    ) -> tuple[tuple[Document, ...], tuple[Symbol, ...]]:
        if "\0" in source.text:
            return self._by_lines(source, "it holds a NUL character"), ()
        language, deadline = load(grammar), time.thread_time() + PARSE_SECONDS
        # Grammars end a line at a line feed only; a lone carriage return takes as many bytes.
        data = _LONE_RETURN.sub(b"\n", _encoded(source.text))
        if grammar.prepare:
            data = grammar.prepare(data)
        root = parse(language, data, deadline)
        if root is None:
            return self._by_lines(source, f"parsing it took over {PARSE_SECONDS:g} s"), ()
        lines = split_lines(source.text)
        sizes = map(len, lines if source.text.isascii() else map(_encoded, lines))
        starts = [0, *accumulate(sizes)]
        outliner = Outliner(data, starts, grammar)
        outliner.read(root.children, outliner.top)
        if root.has_error:
            again = Outliner(data, starts, grammar)
            recover(root, again, lines, lambda part: parse(language, part, deadline))
            if len(again.items) >= len(outliner.items) and time.thread_time() < deadline:
                outliner = again
        spans = cover(outliner.top, outliner.items, lines)
        metadata = _PARSED_WITH_ERRORS if root.has_error else _PARSED
        cut = documents(source, lines, spans, max_chars=self.max_chars, metadata=metadata)
        return cut, symbols_in(outliner, source.path, source.language)

    def __repr__(self) -> str:
        return f"TreeSitterChunker({'' if self.max_chars == MAX_CHARS else f'max_chars={self.max_chars}'})"


def parse(language: Language, data: bytes, deadline: float) -> Node | None:
    """The root of the tree of a source, or None when this thread's CPU time passes the deadline.

    Only a parse that reads through a callable can be stopped, so the bytes are handed over in one piece.
    Each parse has its own parser: one that was stopped would go on with the old source.
    """
    from tree_sitter import Parser

    stopped = False

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + _READ_BYTES] if offset else data

    def stop(*_: object) -> bool:
        nonlocal stopped
        stopped = time.thread_time() > deadline
        return stopped

    try:
        return Parser(language).parse(read, progress_callback=stop).root_node
    except ValueError:
        if stopped:
            return None
        raise


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
