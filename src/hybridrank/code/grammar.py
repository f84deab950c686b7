"""What a row about a grammar says, and how the grammar is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter


Text = Callable[["tree_sitter.Node"], str]
"""Gives the source of a node."""

NameOf = Callable[["tree_sitter.Node", Text], tuple[str, ...]]
"""Gives the name of a definition in its parts (`("Server", "Start")`), `()` when it has none."""


@dataclass(frozen=True, slots=True)
class Define:
    """A kind of node that defines a symbol.

    Attributes:
        kind: our kind; a function that is a member of a class becomes a method.
        name: fields that lead to the name: from the node on, the first of them that a node has is followed,
            until a node has none of them. Or a function, where it takes more to find it.
        members: whether definitions inside are documents of their own.
        one_with: definitions of one name that directly follow each other are one where this gives the same
            for them, as for the clauses of a function.
        rank: over 0 where all that follows is inside, up to the next of this rank or a lower one; headings
            and namespaces of a whole file do that.
        inside: whether it counts inside classes too.
    """

    kind: str
    name: tuple[str, ...] | NameOf = ("name",)
    members: bool = False
    one_with: Callable[[tree_sitter.Node], object] | None = None
    rank: int = 0
    inside: bool = True


@dataclass(frozen=True, slots=True)
class Import:
    """A kind of node that imports.

    Attributes:
        names: fields of the imported names; empty for what binds nothing.
        alias: field of such a name that renames it.
        part: which part of a dotted name is bound: 0 the first, -1 the last.
    """

    names: tuple[str, ...] = ("name",)
    alias: str = "alias"
    part: int = 0


DefineOf = Callable[["tree_sitter.Node", Text], Define | None]
ImportOf = Callable[["tree_sitter.Node", Text], Import | None]


@dataclass(frozen=True, slots=True)
class Grammar:
    """How to read the trees of one grammar. All keys and members are names of node kinds.

    Attributes:
        module, function: where the grammar is, as in `tree_sitter_python.language()`.
        extra: which of our extras installs it; empty for what is always there.
        definitions: what defines a symbol, or a function that tells of a node whether it does.
        wrappers: what stands around a definition and belongs to it, as decorators do.
        blocks: what to look into for definitions.
        through: blocks whose inside counts as if it stood outside of them.
        imports: statements of the top level that import, or a function that tells of a node whether it does.
        comments: comments, and attributes that stand beside a definition; those directly above belong to it.
        local: words that definitions inside functions begin with; without them these are not looked for.
        separator: between the parts of a qualified name.
        rest: kind of what else stands at the top level.
        prepare: blanks out what the grammar cannot read, byte for byte.
    """

    module: str
    definitions: Mapping[str, Define | DefineOf]
    function: str = "language"
    extra: str = "languages"
    wrappers: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    through: frozenset[str] = frozenset()
    imports: Mapping[str, Import | ImportOf] = field(default_factory=dict)
    comments: frozenset[str] = frozenset({"comment"})
    local: tuple[bytes, ...] = ()
    separator: str = "."
    rest: str = "module"
    prepare: Callable[[bytes], bytes] | None = None


class NoGrammarError(Exception):
    """Why a grammar cannot be used here."""


def load(grammar: Grammar) -> tree_sitter.Language:
    """The grammar, loaded once a process.

    Raises:
        NoGrammarError: it is not installed, or does not fit the installed tree-sitter.
    """
    loaded = _load(grammar.module, grammar.function, grammar.extra)
    if isinstance(loaded, str):
        raise NoGrammarError(loaded)
    return loaded


@cache
def _load(module: str, function: str, extra: str) -> tree_sitter.Language | str:
    package = module.replace("_", "-")
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(module), function)())
    except ImportError as error:
        if extra and error.name == module:
            return f"the extra {extra} is not installed; run: pip install 'hybridrank[{extra}]'"
        return f"{error.name or package} is not installed; run: pip install {package}"
    except Exception as error:  # a broken wheel must cost only its language
        return f"{package} cannot be loaded ({type(error).__name__}: {error})"
