"""Collects the facts of one file while its tree is walked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..symbols import signature_of
from .facts import (
    CALLED,
    INSTANCE,
    PART,
    TOP,
    UNKNOWN,
    Binding,
    CallFact,
    Definition,
    Facts,
    ImportedName,
    ImportFact,
    Path,
    Paths,
    Scope,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PARTS = 30
"""Parts of a path; what is longer begins with `<?>`."""
MAX_ALTERNATIVES = 8
"""Values that a name may have; with more it is not known which."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """How a grammar writes expressions; keys are kinds of nodes.

    Attributes:
        names: what is a name by itself.
        members: fields of the object and of the name.
        calls: the field of what is called.
        through: the field that has the same value; `""` for the first named child.
        either: fields of alternatives, or their places among the named children.
        parts: the field of what an element is taken of.
        made: the field of the type that an instance is made of.
        maker: the function that makes an instance of the type that it is given.
        casts: what says of an expression that it has the type behind it, and which types have members.
        literals: the name of their type.
        nothing: what has no members at all, as None.
    """

    names: frozenset[str]
    members: Mapping[str, tuple[str, str]]
    calls: Mapping[str, str]
    through: Mapping[str, str] = field(default_factory=dict)
    either: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    maker: str = ""
    casts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    literals: Mapping[str, str] = field(default_factory=dict)
    nothing: frozenset[str] = frozenset()


Todo = list[tuple["Node", int]]
"""Nodes to walk, each with the scope that it is in."""


class Draft:
    """Collects the facts of one file."""

    def __init__(self, source: bytes, path: str, shapes: Shapes) -> None:
        self.source = source
        self.path = path
        self.shapes = shapes
        self.package = ""
        self.imports: list[ImportFact] = []
        self.definitions: list[Definition] = []
        self.scopes: list[Scope] = [Scope(-1, -1, False)]
        self.bindings: list[Binding] = []
        self.calls: list[CallFact] = []
        self.bound: set[tuple[int, str]] = set()
        self.receivers: dict[tuple[int, str], int] = {}  # scope of the members of what `self` is, there
        self.entered: set[int] = set()  # scopes of types whose own body has begun
        self.redirected: dict[tuple[int, str], int] = {}  # scope in which a name of a scope is bound instead

    def walk(self, root: Node, handlers: Mapping[str, Callable[[Draft, Node, int], Todo]]) -> None:
        """Visit all nodes in their order; a handler says what to go on with, and in which scope."""
        todo: Todo = [(root, TOP)]
        while todo:
            node, scope = todo.pop()
            handler = handlers.get(node.type)
            further = handler(self, node, scope) if handler else inside(node, scope)
            further.reverse()
            todo += further

    def facts(self, language: str) -> Facts:
        return Facts(
            language,
            self.package,
            False,
            tuple(self.imports),
            tuple(self.definitions),
            tuple(self.scopes),
            tuple(self.bindings),
            tuple(sorted(self.calls)),
        )

    def text(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def scope(self, parent: int, *, definition: int | None = None, members: bool = False) -> int:
        """A new scope; that of a definition, or one inside of the same definition."""
        inner = self.scopes[parent].definition if definition is None else definition
        self.scopes.append(Scope(parent, inner, members))
        return len(self.scopes) - 1

    def bind(self, scope: int, name: str, paths: Paths, at: int | None = None) -> None:
        """A name has one of these values; with none it has no value that has members."""
        if name and name != "_":
            known = paths if len(paths) <= MAX_ALTERNATIVES else (UNKNOWN,)
            self._note(Binding(scope, name, "value", -1, "", known, scope if at is None else at))

    def import_(
        self,
        node: Node,
        scope: int,
        module: str,
        names: Sequence[ImportedName],
        *,
        level: int = 0,
        reexport: bool = False,
    ) -> int:
        """Note an import and bind its names; returns its number."""
        number = len(self.imports)
        fact = ImportFact(*lines_of(node), module, level, tuple(names), reexport)
        self.imports.append(fact)
        for name, bound in names:
            if name == "*" and not bound:
                self._note(Binding(scope, "*", "star", number, "", (), scope))
            elif bound:
                self._note(Binding(scope, bound, "import", number, name, (), scope))
        return number

    def define(
        self,
        node: Node,
        scope: int,
        name: str,
        kind: str,
        *,
        body: Node | None = None,
        bases: Paths = (),
        returns: Paths = (),
        role: str = "",
        container: str | None = None,
        bound: bool = True,
    ) -> int:
        """Note a definition, bind its name, and open the scope inside; returns its number.

        Args:
            node: from which on it counts, below decorators.
            container: the qualified name of what it is in, if not the definition around.
            bound: whether its name is bound in the scope.
        """
        number = len(self.definitions)
        around = self.scopes[scope].definition
        above = (
            (self.definitions[around].qualified if around >= 0 else "") if container is None else container
        )
        first, last = node.start_point.row + 1, _last_line(node)
        head = self.source[node.start_byte : node.end_byte if body is None else body.start_byte]
        inner = self.scope(scope, definition=number, members=kind == "class")
        self.definitions.append(
            Definition(
                name,
                f"{above}.{name}" if above else name,
                kind,
                first,
                last,
                scope,
                inner,
                bases,
                returns,
                role,
                signature_of(head[:1000].decode("utf-8", "replace")),
            )
        )
        if bound and name:
            self._note(Binding(scope, name, "definition", number, "", (), scope))
        return number

    def give(self, scope: int, name: str, number: int) -> None:
        """A name stands for a definition."""
        if name:
            self._note(Binding(scope, name, "definition", number, "", (), scope))

    def function_scope(self, scope: int) -> int:
        """The scope of the function around, where names of `var` belong."""
        while self.scopes[scope].parent >= 0:
            parent = self.scopes[scope].parent
            if self.scopes[parent].definition != self.scopes[scope].definition:
                break
            scope = parent
        return scope

    def scope_binding(self, name: str, scope: int) -> int:
        """The scope that a name is bound in so far, the file's if it is in none."""
        at = scope
        while at > TOP and (at, name) not in self.bound:
            at = self.scopes[at].parent
        return max(at, TOP)

    def members_around(self, scope: int) -> int:
        """The scope of the members of the class around, -1 where there is none."""
        while scope >= 0 and not self.scopes[scope].members:
            scope = self.scopes[scope].parent
        return scope

    def _note(self, binding: Binding) -> None:
        self.bindings.append(binding)
        self.bound.add((binding.scope, binding.name))

    def call(self, function: Node | None, scope: int) -> None:
        """Note a call, if what is called has a name."""
        if function is None:
            return
        path = self.path_of(function)
        name = next((part for part in reversed(path) if part != PART), "")
        if name[:1] not in "(@<[":
            row, column = function.end_point
            self.calls.append(CallFact(row + 1, column, name, path, scope))

    def path_of(self, node: Node) -> Path:
        """The one thing that an expression may mean, or `UNKNOWN` with what is taken of it."""
        found = self.paths(node)
        if len(found) == 1:
            return found[0]
        tails = {path[-1] for path in found}
        return (*UNKNOWN, *tails) if len(tails) == 1 else UNKNOWN

    def paths(self, node: Node | None) -> Paths:
        """All that an expression may mean; none where it is nothing."""
        shapes = self.shapes
        found: dict[Path, None] = {}
        todo: list[tuple[Node | None, Path]] = [(node, ())]
        while todo and len(found) <= MAX_ALTERNATIVES:
            node, rest = todo.pop()
            kind = node.type if node is not None else ""
            if node is None or len(rest) > MAX_PARTS:
                found[(*UNKNOWN, *rest[-1:])] = None
            elif kind in shapes.names:
                found[(self.text(node), *rest)] = None
            elif kind in shapes.members:
                of, name = shapes.members[kind]
                todo.append(
                    (node.child_by_field_name(of), (self.text(node.child_by_field_name(name)), *rest))
                )
            elif made := self._made(node):
                todo.append((made, (INSTANCE, *rest)))
            elif kind in shapes.calls:
                todo.append((node.child_by_field_name(shapes.calls[kind]), (CALLED, *rest)))
            elif kind in shapes.parts:
                todo.append((node.child_by_field_name(shapes.parts[kind]), (PART, *rest)))
            elif kind in shapes.made:
                todo.append((node.child_by_field_name(shapes.made[kind]), (INSTANCE, *rest)))
            elif (
                kind in shapes.casts
                and rest[:1] != (CALLED,)
                and (node.named_children[-1].type in shapes.casts[kind])
            ):
                todo.append((node.named_children[-1], (INSTANCE, *rest)))
            elif kind in shapes.through:
                name = shapes.through[kind]
                of_it = node.child_by_field_name(name) if name else next(iter(node.named_children), None)
                todo.append((of_it, rest))
            elif kind in shapes.either:
                todo += [(_child(node, place), rest) for place in reversed(shapes.either[kind])]
            elif kind in shapes.literals:
                found[(f"<{shapes.literals[kind]}>", *rest)] = None
            elif kind not in shapes.nothing or rest:
                found[(*UNKNOWN, *rest)] = None
        return tuple(found) if len(found) <= MAX_ALTERNATIVES else (UNKNOWN,)

    def _made(self, node: Node) -> Node | None:
        """The type in a call like `new(T)` of Go."""
        if not self.shapes.maker or node.type not in self.shapes.calls:
            return None
        function = node.child_by_field_name(self.shapes.calls[node.type])
        given = node.child_by_field_name("arguments")
        is_maker = function is not None and self.text(function) == self.shapes.maker
        return given.named_children[0] if is_maker and given is not None and given.named_children else None


def _child(node: Node, place: str | int) -> Node | None:
    return node.child_by_field_name(place) if isinstance(place, str) else node.named_child(place)


def inside(node: Node, scope: int) -> Todo:
    """All that stands in a node, in the same scope."""
    return [(child, scope) for child in node.named_children]


def _last_line(node: Node) -> int:
    """The last line of a definition; comments that trail inside of it are not part of it."""
    while node.child_count:
        last = next((child for child in reversed(node.children) if child.type != "comment"), None)
        if last is None:
            break
        node = last
    return node.end_point.row + 1


def lines_of(node: Node) -> tuple[int, int]:
    return node.start_point.row + 1, node.end_point.row + 1


def field_of(node: Node | None, *names: str) -> Node | None:
    """What stands in a field of a field of a node."""
    for name in names:
        node = node.child_by_field_name(name) if node is not None else None
    return node
