"""What a file says by itself, before anything is looked up elsewhere: imports, definitions, names, calls.

A reader walks the tree of a file into a `Draft`; what comes out are `Facts`, plain values that JSON can hold.
Whatever an expression means is told by paths: `("self", "client", "send")` is what was written, `"()"` a call
of what stands before it, `"@"` an instance of it, `"[]"` a part of it. Heads in angle brackets are ours:
`<self>` is an instance of the class around, `<cls>` that class, `<?>` is not known, `<str>` a literal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from ..symbols import Symbol

Path = tuple[str, ...]
Paths = tuple[Path, ...]

UNKNOWN: Path = ("<?>",)
SELF: Path = ("<self>",)
CLASS: Path = ("<cls>",)
CALLED, INSTANCE, PART = "()", "@", "[]"
ALL = "*all"
"""The name that binds what `__all__` of a module of Python lists, each list as a path."""

TOP = 0
"""The scope of a file."""
EXPORTS = -1
"""The scope of what a module of JavaScript exports."""


class ImportedName(NamedTuple):
    """One name that an import statement binds.

    Attributes:
        name: in the module: `""` for the module itself, `*` for all of its names, `default` for what an
            ECMAScript module exports without a name.
        bound: the name that it has here; `""` where nothing is bound, as by an import for its effects.
    """

    name: str
    bound: str


class ImportFact(NamedTuple):
    """An import statement as it is written; one that names several modules is one a module."""

    line: int
    end_line: int
    module: str
    level: int
    names: tuple[ImportedName, ...]
    reexport: bool


class Definition(NamedTuple):
    """A definition.

    Attributes:
        bound: the scope that its name is in.
        body: the scope inside.
        bases: what a class inherits from.
        returns: what a call of a function gives, as far as it is declared.
        role: property, static, class, overload, or `""`.
    """

    name: str
    qualified: str
    kind: str
    line: int
    end_line: int
    bound: int
    body: int
    bases: Paths
    returns: Paths
    role: str
    signature: str

    def symbol(self, path: str, language: str) -> Symbol:
        parent = self.qualified[: -len(self.name) - 1] if self.qualified != self.name else ""
        return Symbol(
            path,
            self.line,
            self.end_line,
            self.qualified,
            self.name,
            self.kind,
            language,
            parent,
            self.signature,
        )


class Scope(NamedTuple):
    """Where names are.

    Attributes:
        parent: the scope around, -1 for that of the file.
        definition: number of the innermost definition around, -1 at the top level.
        members: whether names are members of a class, which scopes inside do not see.
    """

    parent: int
    definition: int
    members: bool


class Binding(NamedTuple):
    """A name that a scope gives a meaning.

    Attributes:
        how: `definition` (number), `import` (number of the import, name in it), `star` (number of the
            import), `value` (paths, which are read in the scope `at`).
    """

    scope: int
    name: str
    how: str
    number: int
    member: str
    paths: Paths
    at: int


class CallFact(NamedTuple):
    """A call.

    Attributes:
        line, column: where the name of what is called ends; the column in bytes.
        name: the last part of what is called.
    """

    line: int
    column: int
    name: str
    path: Path
    scope: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says.

    Attributes:
        package: the package that the file says it is in, for Go.
        by_name: whether names are all that is known, as for languages without a reader of their own.
    """

    language: str = ""
    package: str = ""
    by_name: bool = False
    imports: tuple[ImportFact, ...] = ()
    definitions: tuple[Definition, ...] = ()
    scopes: tuple[Scope, ...] = ()
    bindings: tuple[Binding, ...] = ()
    calls: tuple[CallFact, ...] = ()

    def packed(self) -> str:
        """All but the calls, as JSON."""
        values = [self.language, self.package, self.by_name]
        values += [self.imports, self.definitions, self.scopes, self.bindings]
        return json.dumps(values, ensure_ascii=True, separators=(",", ":"))

    def interface(self) -> str:
        """A digest of all that other files may see: everything but lines, signatures and calls."""
        imports = [[one.module, one.level, one.names] for one in self.imports]
        definitions = [[*one[:3], *one[5:10]] for one in self.definitions]
        values = [self.language, self.package, imports, definitions, self.scopes, self.bindings]
        return sha256(json.dumps(values, ensure_ascii=True).encode("ascii")).hexdigest()[:32]

    @classmethod
    def unpacked(cls, packed: str) -> Facts:
        language, package, by_name, imports, definitions, scopes, bindings = json.loads(packed)
        return cls(
            language,
            package,
            by_name,
            tuple(
                ImportFact._make([*row[:4], tuple(ImportedName(*name) for name in row[4]), row[5]])
                for row in imports
            ),
            tuple(
                Definition._make([*row[:7], _paths(row[7]), _paths(row[8]), *row[9:]]) for row in definitions
            ),
            tuple(Scope(*row) for row in scopes),
            tuple(Binding._make([*row[:5], _paths(row[5]), row[6]]) for row in bindings),
        )


def _paths(rows: Sequence[Sequence[str]]) -> Paths:
    return tuple(map(tuple, rows))


def packed_path(path: Path) -> str:
    return json.dumps(path, ensure_ascii=True, separators=(",", ":"))


def unpacked_path(packed: str) -> Path:
    loaded: list[Any] = json.loads(packed)
    return tuple(loaded)
