"""Import statements, and the files of a repository that they lead to.

Where a module is depends on which files there are and on a few configuration files, never on what source
files hold: `go.mod` tells what a Go module is called, `tsconfig.json` and `jsconfig.json` have `paths`,
`package.json` tells the name of a package.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .imports_config import PathRules, go_module, path_rules
from .imports_packages import Packages
from .references.facts import ImportedName, ImportFact

ImportState = Literal["file", "external", "unresolved"]
"""Whether an import leads to a file of the repository, out of it, or nowhere that could be found."""

CONFIGS = frozenset({"go.mod", "tsconfig.json", "jsconfig.json", "package.json"})
"""Names of files that say where modules are."""

_PYTHON = (".py", ".pyi")
_TYPED = (".ts", ".tsx", ".d.ts", ".mts", ".cts")
_PLAIN = (".js", ".jsx", ".mjs", ".cjs")
_OTHER = (".json", ".vue", ".svelte")
_COMPILED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})


@dataclass(frozen=True, slots=True, order=True)
class Import:
    """An import statement; one that names several modules is one a module. Imports sort by path and line.

    Attributes:
        path: of the file that it stands in.
        line, end_line: 1-based, inclusive.
        module: as it is written, without the dots of a relative import of Python: `""` in
            `from . import name`.
        level: how many dots those are.
        names: what it binds, each as (name in the module, name here). The former is `""` for the module
            itself, `*` for all its names; the latter `""` where nothing is bound.
        reexport: whether it hands names on: `export ... from`; in Python a `from` import at the top level
            of an `__init__.py`, or `import a as a`.
        state: `file`, `external`, or `unresolved`: it should be here, but no file of that name is.
        targets: the files that it leads to, relative to the root, in the order of the names; for Go the
            folder of the package, `"."` for the root.
    """

    path: str
    line: int
    end_line: int
    module: str
    level: int = 0
    names: tuple[ImportedName, ...] = ()
    reexport: bool = False
    state: ImportState = "unresolved"
    targets: tuple[str, ...] = ()
    language: str = ""


class Modules:
    """Finds modules among the files of a repository.

    A place is the path of a file, or of a folder with `/` at its end.

    Args:
        paths: all files, relative to the root.
        configs: the texts of those that `CONFIGS` names.
        package: the dotted name of the package of Python that the root itself is in, if it is in one.
    """

    def __init__(
        self, paths: Collection[str], configs: Mapping[str, str] | None = None, package: str = ""
    ) -> None:
        self.files = frozenset(paths)
        self.package = tuple(package.split(".")) if package else ()
        self._configs = configs or {}
        self._rules: dict[str, PathRules | None] = {}
        self._found: dict[tuple[str, str, str, int], tuple[str, ImportState]] = {}

    def imported(self, path: str, language: str, fact: ImportFact) -> Import:
        """An import with where it leads to."""
        place, state = self.find(path, language, fact.module, fact.level)
        targets: list[str] = []
        if place and language == "python":
            modules = [self.submodule(place, name) for name, _ in fact.names if name]
            whole = len(modules) < len(fact.names) or not all(modules)
            targets = ([place] if whole and not place.endswith("/") else []) + [m for m in modules if m]
            targets = [target for target in targets if not target.endswith("/")]
            if not targets:
                state = "unresolved" if any(name for name, _ in fact.names) else state
        elif place:
            targets = [place.rstrip("/") or "."]
        return Import(
            path,
            fact.line,
            fact.end_line,
            fact.module,
            fact.level,
            fact.names,
            fact.reexport,
            state,
            tuple(dict.fromkeys(targets)),
            language,
        )

    def find(self, path: str, language: str, module: str, level: int = 0) -> tuple[str, ImportState]:
        """The place of a module that a file imports, `""` where it is none of the repository."""
        # Where a module is depends on the folder only.
        key = (posixpath.dirname(path), language, module, level)
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def submodule(self, place: str, name: str) -> str:
        """The place of a module in a package of Python, `""` where there is none."""
        folder, _, file = place.rpartition("/")
        if name == "*" or (file and not file.startswith("__init__.")):
            return ""
        return self._module(folder, (name,))

    def _find(self, folder: str, language: str, module: str, level: int) -> tuple[str, ImportState]:
        if language == "python":
            return self._python(folder, module, level)
        if language in _SCRIPTS:
            return self._script(folder, language, module)
        if language == "go":
            return self._go(folder, module)
        return self._named(folder, language, module)

    # Python

    def _python(self, folder: str, module: str, level: int) -> tuple[str, ImportState]:
        parts = tuple(module.split(".")) if module else ()
        if level:
            steps = folder.split("/") if folder else []
            up = level - 1
            if up > len(steps):
                return "", "external" if up - len(steps) < len(self.package) else "unresolved"
            base = "/".join(steps[: len(steps) - up])
            place = self._module(base, parts)
            return place, "file" if place else "unresolved"
        if self.package and parts[: len(self.package)] == self.package:
            place = self._module("", parts[len(self.package) :])
            return place, "file" if place else "unresolved"
        started = False
        for root in self._roots(folder, parts[0]):
            top = self._module(root, parts[:1])
            if parts[0] in sys.stdlib_module_names and not _holds(top, folder):
                continue
            place = self._module(root, parts) if top else ""
            if place:
                return place, "file"
            started = started or bool(top)
        return "", "unresolved" if started else "external"

    def _roots(self, folder: str, name: str) -> list[str]:
        """Folders in which a file looks for modules: above its package, above that, where packages are."""
        above = folder
        while above and self._is_package(above):
            above = posixpath.dirname(above)
        roots = [above] if above or not self._is_package("") else []
        while above:
            above = posixpath.dirname(above)
            if not self._is_package(above):
                roots.append(above)
        shared = sorted(
            self._packages.get(name, ()), key=lambda one: (-len(posixpath.commonprefix([one, folder])), one)
        )
        return list(dict.fromkeys([*roots, *shared]))

    @cached_property
    def _packages(self) -> Mapping[str, Collection[str]]:
        """For each top-level package or module in a source folder, the folders that it is in."""
        found: dict[str, set[str]] = {}
        for path in self.files:
            folder, _, file = path.rpartition("/")
            if file == "__init__.py":
                above, _, name = folder.rpartition("/")
                if name and not self._is_package(above):
                    found.setdefault(name, set()).add(above)
            elif file.endswith(".py") and folder.rpartition("/")[2] in ("src", "lib", "python"):
                found.setdefault(file[:-3], set()).add(folder)
        return found

    def _is_package(self, folder: str) -> bool:
        at = f"{folder}/" if folder else ""
        return f"{at}__init__.py" in self.files or f"{at}__init__.pyi" in self.files

    def _module(self, folder: str, parts: Sequence[str]) -> str:
        base = "/".join([*([folder] if folder else []), *parts])
        for suffix in _PYTHON:
            if (place := f"{base}/__init__{suffix}" if base else f"__init__{suffix}") in self.files:
                return place
        for suffix in _PYTHON:
            if base and f"{base}{suffix}" in self.files:
                return base + suffix
        return f"{base}/" if base in self._python_folders else ""

    @cached_property
    def _python_folders(self) -> Collection[str]:
        folders: set[str] = set()
        for path in self.files:
            if path.endswith(_PYTHON):
                folder = posixpath.dirname(path)
                while folder not in folders:
                    folders.add(folder)
                    folder = posixpath.dirname(folder)
        return folders

    # JavaScript and TypeScript

    def _script(self, folder: str, language: str, module: str) -> tuple[str, ImportState]:
        relative = module.startswith(("./", "../")) or module in (".", "..")
        if relative:
            place = self._script_file(posixpath.normpath(posixpath.join(folder, module)), language)
            return place, "file" if place else "unresolved"
        rules = self._rules_of(folder)
        for base, sure in rules.places(module) if rules else ():
            place = self._script_file(base, language)
            if place:
                return place, "file"
            if sure:
                return "", "unresolved"
        candidates = self._script_packages.places(folder, module)
        if candidates is not None:
            found = (self._script_file(posixpath.normpath(base), language) for base in candidates)
            place = next((one for one in found if one), "")
            return place, "file" if place else "unresolved"
        return "", "unresolved" if module.startswith("/") or not module else "external"

    @cached_property
    def _script_packages(self) -> Packages:
        return Packages(self._configs)

    def _script_file(self, base: str, language: str) -> str:
        if base == ".." or base.startswith(("../", "/")):
            return ""
        base = "" if base == "." else base.partition("?")[0]
        suffixes = _PLAIN + _TYPED if language == "javascript" else _TYPED + _PLAIN
        stem, suffix = posixpath.splitext(base)
        tried = [base, *(stem + other for other in _COMPILED.get(suffix, ()))]
        if base:
            tried += [base + suffix for suffix in (*suffixes, *_OTHER)]
        index = f"{base}/index" if base else "index"
        tried += [index + suffix for suffix in suffixes]
        return next((one for one in tried if one in self.files), "")

    def _rules_of(self, folder: str) -> PathRules | None:
        """What the nearest configuration says about paths."""
        if folder not in self._rules:
            rules = None
            at = folder
            while True:
                for name in ("tsconfig.json", "jsconfig.json"):
                    place = posixpath.join(at, name)
                    if rules is None and place in self._configs:
                        rules = path_rules(place, self._configs)
                if rules is not None or not at:
                    break
                at = posixpath.dirname(at)
            self._rules[folder] = rules
        return self._rules[folder]

    # Go

    def _go(self, folder: str, module: str) -> tuple[str, ImportState]:
        if module.startswith(("./", "../")):
            base = posixpath.normpath(posixpath.join(folder, module))
            return (f"{base}/", "file") if base in self._go_folders else ("", "unresolved")
        for name, at in self._go_modules:
            if module == name or module.startswith(f"{name}/"):
                base = posixpath.join(at, module[len(name) + 1 :]).rstrip("/")
                return (f"{base}/", "file") if base in self._go_folders else ("", "unresolved")
        for _, at in self._go_modules:
            vendored = posixpath.join(at, "vendor", module)
            if vendored in self._go_folders:
                return f"{vendored}/", "file"
        return "", "external"

    @cached_property
    def _go_modules(self) -> Sequence[tuple[str, str]]:
        """The names of modules and their folders, the longest name first."""
        named = [
            (go_module(text), posixpath.dirname(path))
            for path, text in sorted(self._configs.items())
            if posixpath.basename(path) == "go.mod"
        ]
        return sorted((one for one in named if one[0]), key=lambda one: (-len(one[0]), one))

    @cached_property
    def _go_folders(self) -> Collection[str]:
        return {posixpath.dirname(path) for path in self.files if path.endswith(".go")}

    # Other languages: what is written as a path, or as names with dots that only one file fits

    def _named(self, folder: str, language: str, module: str) -> tuple[str, ImportState]:
        system = module.startswith("<")  # #include <stdio.h>
        module = module.strip("<>")
        suffixes = ("", *_SUFFIXES.get(language, ()))
        for at in (folder, "", "include", "src"):
            base = posixpath.normpath(posixpath.join(at, module))
            for suffix in suffixes:
                if base + suffix in self.files:
                    return base + suffix, "file"
        dotted = module.replace("::", "/").replace("\\", "/")
        dotted = dotted if "/" in dotted else dotted.replace(".", "/")
        if "/" in dotted:
            for suffix in suffixes[1:]:
                fitting = [
                    path
                    for path in self._by_name.get(posixpath.basename(dotted) + suffix, ())
                    if path == dotted + suffix or path.endswith(f"/{dotted}{suffix}")
                ]
                if len(fitting) == 1:
                    return fitting[0], "file"
        return "", "external" if system else "unresolved"

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            found.setdefault(posixpath.basename(path), []).append(path)
        return found


_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "bash": (".sh",),
    "csharp": (".cs",),
    "haskell": (".hs",),
    "java": (".java",),
    "kotlin": (".kt", ".java"),
    "lua": (".lua", "/init.lua"),
    "php": (".php",),
    "ruby": (".rb",),
    "rust": (".rs", "/mod.rs"),
    "scala": (".scala", ".java"),
    "zig": (".zig",),
}


def _holds(place: str, folder: str) -> bool:
    """Whether a package holds a folder."""
    package, _, file = place.rpartition("/")
    return (
        bool(package)
        and file in ("", "__init__.py", "__init__.pyi")
        and f"{folder}/".startswith(f"{package}/")
    )
