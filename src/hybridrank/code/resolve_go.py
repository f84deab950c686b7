"""What the files of a package of Go define together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from .imports import Modules
from .references.facts import TOP, Binding, ImportedName
from .references.go import default_name
from .resolve_values import File

Named = Mapping[str, list[tuple[str, Binding | int]]]
"""By name the files, each with a binding there, or with the number of a method."""


class GoPackages:
    """The packages among files, each read when it is asked for."""

    def __init__(self, modules: Modules, file: Callable[[str], File]) -> None:
        self._modules = modules
        self._file = file
        self._names: dict[tuple[str, str], Named] = {}

    @cached_property
    def folders(self) -> Mapping[str, list[str]]:
        """The files of each folder that holds Go, sorted."""
        found: dict[str, list[str]] = {}
        for path in sorted(self._modules.files):
            if path.endswith(".go"):
                found.setdefault(path.rpartition("/")[0], []).append(path)
        return found

    def imported(self, path: str, name: str) -> str:
        """The place of the package that a file imports and that calls itself so, unlike its path."""
        for fact in self._file(path).facts.imports:
            place, _ = self._modules.find(path, "go", fact.module)
            if place and fact.names[:1] == (ImportedName("", default_name(fact.module)),):
                files = [one for one in self.folders.get(place[:-1], ()) if not one.endswith("_test.go")]
                if any(self._file(one).facts.package == name for one in files):
                    return place
        return ""

    def names(self, folder: str, package: str) -> Named:
        """Names at the top level, and methods as `Type.method`.

        Args:
            package: what the files say that their package is; `""` for that of all but tests.
        """
        key = (folder, package)
        if key not in self._names:
            found: dict[str, list[tuple[str, Binding | int]]] = {}
            for path in self.folders.get(folder, ()):
                facts = self._file(path).facts
                if (package and facts.package != package) or (not package and path.endswith("_test.go")):
                    continue
                for binding in facts.bindings:
                    if binding.scope == TOP and binding.how in ("definition", "value"):
                        found.setdefault(binding.name, []).append((path, binding))
                for number, one in enumerate(facts.definitions):
                    if one.bound == TOP and one.qualified != one.name:
                        found.setdefault(one.qualified, []).append((path, number))
            self._names[key] = found
        return self._names[key]
