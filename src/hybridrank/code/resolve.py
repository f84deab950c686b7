"""What the names in a file mean: values that a path of names may have, followed through files and classes.

The answers depend on the facts of the files that were consulted, and on nothing else; which these were is
told, so that who keeps answers knows when they may be others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .imports import Modules
from .references.facts import CALLED, EXPORTS, INSTANCE, PART, SELF, TOP, Binding, Facts, Path
from .resolve_go import GoPackages
from .resolve_outside import gives_anything, holds_anything, is_head, outside_member
from .resolve_values import EXTERNAL_NAMES, UNKNOWN, VAGUE, File, Value, Values, linear

_MAX_DEPTH = 60
_MAX_FILES = 4000
"""Files whose facts are held at a time."""
_MAX_VALUES = 16
_MAX_BINDINGS = 64
_MAX_STEPS = 4000
"""Names looked up for one question; what takes more is not known."""


_Order = tuple[tuple[tuple[str, int], ...], Values]


class Resolver:
    """Answers what is called where.

    Args:
        modules: the files there are.
        read: gives the facts of a file.
    """

    def __init__(self, modules: Modules, read: Callable[[str], Facts]) -> None:
        self._modules = modules
        self._read = read
        self._files: dict[str, File] = {}
        self._go = GoPackages(modules, self.file)
        self._orders: dict[tuple[str, int], tuple[_Order, frozenset[str]]] = {}
        self._known: dict[tuple[str, int, str], Values] = {}
        self._opened: set[tuple[str, int]] = set()
        self._asked: set[tuple[str, int, str]] = set()
        self._circular = False
        self._steps = 0
        self.consulted: set[str] = set()
        """Files, and folders with `/` at their end, whose change may change the answers given so far."""

    def file(self, path: str) -> File:
        self.consulted.add(path)
        if path not in self._files:
            if len(self._files) >= _MAX_FILES:
                self._files.clear()
            self._files[path] = File(self._read(path))
        return self._files[path]

    def targets(self, path: str, scope: int, called: Path) -> tuple[tuple[tuple[str, int], ...], bool, bool]:
        """The definitions that a call leads to, whether it may lead outside, whether that is not known."""
        self._known, self._steps, self._circular = {}, 0, False
        found: dict[tuple[str, int], None] = {}
        external = unknown = False
        for value in self._callable(self.value(path, scope, called)):
            if value.kind == "definition":
                found[value.path, value.number] = None
            elif value.kind == "external":
                external = True
            else:
                unknown = True
        return tuple(found), external, unknown or not (found or external)

    def _callable(self, values: Values) -> Iterable[Value]:
        """The definitions behind what is called."""
        for value in values:
            if value.kind == "instance":
                yield from self._member(value, "__call__")
            elif value.kind == "module":
                yield from self._exported(value.path, "default")
            elif value.kind == "super":
                order, beyond = self._order(value.path, value.number)
                yield from [Value("definition", *one) for one in order[1:2]] or beyond or [UNKNOWN]
            else:
                yield UNKNOWN if is_head(value.path) else value

    # Paths

    def value(self, path: str, scope: int, names: Path) -> Values:
        """What a path of names may mean in a scope of a file."""
        self._steps += 1
        if not names or self._steps > _MAX_STEPS:
            return (UNKNOWN,)
        head, rest = names[0], names[1:]
        if head[:1] == "<":
            values = self._special(path, scope, head)
        elif head == "super" and (self.file(path).language != "python" or rest[:1] == (CALLED,)):
            around = self.file(path).class_around(scope)
            values = (Value("super", path, around),) if around >= 0 else (UNKNOWN,)
            rest = rest[1:] if self.file(path).language == "python" else rest
        else:
            values = self._lookup(path, scope, head)
        for part in rest:
            values = self._step(values, part)
        return values

    def _special(self, path: str, scope: int, head: str) -> Values:
        if head in ("<self>", "<cls>"):
            around = self.file(path).class_around(scope)
            kind = "instance" if head == "<self>" else "definition"
            return (Value(kind, path, around),) if around >= 0 else (UNKNOWN,)
        return (UNKNOWN,) if head == "<?>" else (Value("external", head),)

    def _step(self, values: Values, part: str) -> Values:
        found: dict[Value, None] = {}
        for value in values:
            if part == CALLED:
                found.update(dict.fromkeys(self._called(value)))
            elif part == INSTANCE:
                found.update(dict.fromkeys(self._instance(value)))
            elif part == PART:
                outside = value.kind == "external" and not holds_anything(value.path)
                of_type = outside or self._is_class(value)
                found[value if of_type else UNKNOWN] = None
            else:
                found.update(dict.fromkeys(self._member(value, part)))
        return tuple(found) if len(found) <= _MAX_VALUES else (UNKNOWN,)

    def _called(self, value: Value) -> Values:
        """What a call of a value gives."""
        if value.kind == "external":
            return (UNKNOWN,) if gives_anything(value.path) else (value,)
        if value.kind == "module":
            return self._step(self._exported(value.path, "default"), CALLED)
        if value.kind == "instance":
            return self._step(self._member(value, "__call__"), CALLED)
        if value.kind != "definition":
            return (UNKNOWN,)
        if self._is_class(value):
            return (Value("instance", value.path, value.number),)
        defined = self.file(value.path).facts.definitions[value.number]
        found: dict[Value, None] = {}
        for path in defined.returns:
            if path == SELF and value.receiver:
                found[Value("instance", *value.receiver)] = None
            else:
                scope = defined.body if path[:1] == SELF else defined.bound
                found.update(dict.fromkeys(self.value(value.path, scope, path)))
        return tuple(found) or (UNKNOWN,)

    def _instance(self, value: Value) -> Values:
        """What a value of a type is."""
        if value.kind == "external":
            vague = any(value.path == one or value.path.startswith(f"{one}.") for one in VAGUE)
            return (UNKNOWN,) if vague else (value,)
        if value.kind == "definition":
            return (Value("instance", value.path, value.number),) if self._is_class(value) else (UNKNOWN,)
        return (value,)

    def _is_class(self, value: Value) -> bool:
        return (
            value.kind == "definition"
            and self.file(value.path).facts.definitions[value.number].kind == "class"
        )

    def _member(self, value: Value, name: str) -> Values:
        """What a member of a value may be."""
        if value.kind == "module":
            return self._exported(value.path, name)
        if value.kind == "external":
            return outside_member(value, name)
        if value.kind in ("instance", "super") or self._is_class(value):
            if name == "__class__" and value.kind == "instance":
                return (Value("definition", value.path, value.number),)
            return self._class_member(value, name)
        if value.kind == "definition":
            defined = self.file(value.path).facts.definitions[value.number]
            inner = self.file(value.path).named(defined.body, name) if defined.kind == "module" else ()
            return self._bound(value.path, defined.body, name, inner) if inner else (UNKNOWN,)
        return (UNKNOWN,)

    # Names

    def _lookup(self, path: str, scope: int, name: str) -> Values:
        file = self.file(path)
        at = scope
        stars: list[Binding] = []
        while at >= 0:
            visible = at == scope or not file.facts.scopes[at].members
            found = file.named(at, name) if visible else ()
            if found:
                return self._bound(path, at, name, found)
            stars += file.names.get((at, "*"), ())
            at = file.facts.scopes[at].parent
        if file.language == "go":
            shared = self._package_member(path.rpartition("/")[0], file.facts.package, name)
            if shared:
                return shared
            place = self._go.imported(path, name)
            if place:
                return (Value("module", place),)
        values = [value for star in stars for value in self._imported(path, star, name)]
        known = [value for value in values if value.kind != "unknown"]
        if known:
            return tuple(dict.fromkeys(known))
        if name in EXTERNAL_NAMES.get(file.language, ()):
            return (Value("external", f"builtins.{name}"),)
        return (UNKNOWN,)

    def _bound(self, path: str, scope: int, name: str, bindings: Sequence[Binding]) -> Values:
        """What bindings of one name in one scope may mean together."""
        key = (path, scope, name)
        if key in self._known:
            return self._known[key]
        if len(bindings) > _MAX_BINDINGS:
            return (UNKNOWN,)
        if key in self._asked:
            self._circular = True
            return ()
        if len(self._asked) > _MAX_DEPTH or self._steps > _MAX_STEPS:
            self._circular = True
            return (UNKNOWN,)
        self._asked.add(key)
        before, self._circular = self._circular, False
        found: dict[Value, None] = {}
        try:
            for binding in bindings:
                if binding.how == "definition":
                    found[Value("definition", path, binding.number)] = None
                elif binding.how == "import":
                    found.update(dict.fromkeys(self._imported(path, binding, binding.member)))
                elif binding.how == "star":
                    found.update(dict.fromkeys(self._imported(path, binding, binding.name)))
                else:
                    for names in binding.paths:
                        found.update(dict.fromkeys(self.value(path, binding.at, names)))
        finally:
            self._asked.discard(key)
        values = tuple(found) if len(found) <= _MAX_VALUES else (UNKNOWN,)
        # What was cut short while something around was still open may be incomplete.
        if not self._circular or not self._asked:
            self._known[key] = values
        self._circular = self._circular or before
        return values

    # Modules

    def _imported(self, path: str, binding: Binding, name: str) -> Values:
        """A name of an imported module, or with `""` the module itself."""
        file = self.file(path)
        fact = file.facts.imports[binding.number]
        module = fact.module
        if not name and file.language == "python" and binding.name == module.partition(".")[0]:
            module = binding.name
        place, state = self._modules.find(path, file.facts.language, module, fact.level)
        if state == "external":
            return (Value("external", f"{module}.{name}" if name else module),)
        if not place:
            return (UNKNOWN,)
        if place == path and name and file.language == "python":
            # `from . import name` in a package binds the very name that it would be looked up by.
            inner = self._modules.submodule(place, name)
            return (Value("module", inner),) if inner else ()
        if binding.how == "star" and place.endswith((".py", ".pyi")) and not self.file(place).hands_on(name):
            return (UNKNOWN,)
        return self._exported(place, name) if name else (Value("module", place),)

    def _exported(self, place: str, name: str) -> Values:
        """A name of a module of the repository."""
        self.consulted.add(place)
        if place.endswith(".go") or (place.endswith("/") and place[:-1] in self._go.folders):
            return self._package_member(place.rpartition("/")[0], "", name) or (UNKNOWN,)
        if place.endswith("/"):
            inner = self._modules.submodule(place, name)
            return (Value("module", inner),) if inner else (UNKNOWN,)
        file = self.file(place)
        if file.language == "python":
            found = file.named(TOP, name)
            if found:
                return self._bound(place, TOP, name, found)
            inner = self._modules.submodule(place, name)
            if inner:
                return (Value("module", inner),)
            return self._from_stars(place, TOP, name)
        found = file.named(EXPORTS, name)
        if found:
            return self._bound(place, EXPORTS, name, found)
        whole = file.named(EXPORTS, "=")
        if whole:
            values = self._bound(place, EXPORTS, "=", whole)
            return values if name == "default" else self._step(values, name)
        if name == "default":  # no `export *` hands it on
            whole_of = any(key[0] == EXPORTS for key in file.names) and not file.names.get((EXPORTS, "*"))
            return (Value("module", place),) if whole_of else (UNKNOWN,)
        return self._from_stars(place, EXPORTS, name)

    def _from_stars(self, place: str, scope: int, name: str) -> Values:
        stars = self.file(place).names.get((scope, "*"), ())
        found = self._bound(place, scope, f"*{name}", [s._replace(name=name) for s in stars]) if stars else ()
        known = tuple(value for value in found if value.kind != "unknown")
        return known or (UNKNOWN,)

    def _package_member(self, folder: str, package: str, name: str) -> Values:
        self.consulted.add(f"{folder}/")
        found: dict[Value, None] = {}
        for path, one in self._go.names(folder, package).get(name, ()):
            if isinstance(one, int):
                found[Value("definition", path, one)] = None
            else:
                found.update(dict.fromkeys(self._bound(path, TOP, name, self.file(path).named(TOP, name))))
        return tuple(found)

    # Classes

    def _class_member(self, value: Value, name: str) -> Values:
        """A member of a class, by the order in which its bases are asked."""
        order, beyond = self._order(value.path, value.number)
        for path, number in order[1:] if value.kind == "super" else order:
            file = self.file(path)
            defined = file.facts.definitions[number]
            found: Values = ()
            bindings = file.named(defined.body, name)
            if bindings:
                found = self._bound(path, defined.body, name, bindings)
            elif file.language == "go":
                folder = path.rpartition("/")[0]
                found = self._package_member(folder, file.facts.package, f"{defined.qualified}.{name}")
            if bindings or found:
                return self._taken(found, value)
        if beyond:
            known = [Value("external", f"{one.path}.{name}") for one in beyond if one.kind == "external"]
            return tuple(known) if len(known) == len(beyond) else (UNKNOWN,)
        return (UNKNOWN,)

    def _taken(self, found: Values, of: Value) -> Values:
        """Members as they are when they are taken of an instance: methods know it, properties are called."""
        receiver = of.receiver if of.kind == "super" else (of.path, of.number)
        taken: dict[Value, None] = {}
        for one in found:
            if one.kind != "definition":
                taken[one] = None
                continue
            role = self.file(one.path).facts.definitions[one.number].role
            with_it = one._replace(receiver=receiver)
            if role == "property":
                taken.update(dict.fromkeys(self._called(with_it) if of.kind != "definition" else (UNKNOWN,)))
            else:
                taken[with_it] = None
        return tuple(taken)

    def _order(self, path: str, number: int) -> _Order:
        """The classes that a class takes members of, itself first, and what it is from outside.

        A base that several others have comes after all of them, as in Python.
        """
        key = (path, number)
        if key in self._orders:
            self.consulted |= self._orders[key][1]
            return self._orders[key][0]
        if key in self._opened or len(self._opened) > _MAX_DEPTH:
            return (key,), (UNKNOWN,)
        self._opened.add(key)
        consulted, self.consulted = self.consulted, set()
        # What a class is from must not depend on who asks.
        state = self._known, self._asked, self._circular, self._steps
        bases: dict[tuple[str, int], list[tuple[str, int]]] = {}
        beyond: dict[Value, None] = {}
        todo = [key]
        while todo:
            one = todo.pop()
            if one not in bases:
                self._known, self._asked, self._circular, self._steps = {}, set(), False, 0
                bases[one] = self._bases(one, beyond)
                todo += bases[one]
        self._known, self._asked, self._circular, self._steps = state
        self._opened.discard(key)
        order = (tuple(linear(key, bases)), tuple(beyond))
        if not self._opened:
            self._orders[key] = order, frozenset(self.consulted)
        self.consulted |= consulted
        return order

    def _bases(self, key: tuple[str, int], beyond: dict[Value, None]) -> list[tuple[str, int]]:
        """The classes of the repository that a class names as its bases; notes what else it names."""
        path, number = key
        defined = self.file(path).facts.definitions[number]
        classes: dict[tuple[str, int], None] = {}
        for base in defined.bases:
            for value in self.value(path, defined.bound, base):
                if self._is_class(value):
                    classes[value.path, value.number] = None
                elif value.path not in ("builtins.object", "typing.Generic", "typing.Protocol"):
                    beyond[value if value.kind == "external" else UNKNOWN] = None
        return list(classes)
