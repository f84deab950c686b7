"""Packages of JavaScript that are in the repository itself, which their `package.json` tell.

In a repository of several packages these import each other by name, and tests import what they test so. The
files that `exports` and `main` name are often built ones that are not there; then the source is looked for.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

_BUILT = frozenset({"dist", "lib", "build", "out", "es", "esm", "cjs"})
_FIELDS = ("source", "types", "typings", "module", "main")
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_MAJOR = re.compile(r"[\^~=v\s]*(\d+)\b")
_MAX_DEPTH = 8
_NODE = """
assert buffer child_process cluster console constants crypto dgram dns domain events fs http http2
https inspector module net os path perf_hooks process punycode querystring readline repl stream
string_decoder timers tls tty url util v8 vm wasi worker_threads zlib
"""
_OF_NODE = frozenset(_NODE.split())


class Package(NamedTuple):
    """A `package.json`: the folder that it is in, and what it says."""

    folder: str
    said: Mapping[str, Any]


class Packages:
    """The packages of a repository, by name.

    Args:
        configs: texts of `package.json` files by path; other files are left alone.
    """

    def __init__(self, configs: Mapping[str, str]) -> None:
        self._named: dict[str, list[Package]] = {}
        self._in: dict[str, Package] = {}
        for path, text in sorted(configs.items()):
            folder, _, file = path.rpartition("/")
            if file != "package.json" or "node_modules" in folder.split("/"):
                continue
            try:
                said = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(said, dict):
                self._in[folder] = Package(folder, said)
                name = said.get("name")
                if isinstance(name, str) and name:
                    self._named.setdefault(name, []).append(self._in[folder])

    def places(self, folder: str, module: str) -> Iterator[str] | None:
        """Where a module may be, the likeliest first; None where no package here has its name.

        Args:
            folder: of the file that imports it.
        """
        parts = module.split("/")
        if module[:1] == "#":
            around = self._around(folder)
            return _fitting(around, "imports", module) if around is not None else None
        name = "/".join(parts[: 2 if module[:1] == "@" else 1])
        package = None if name in _OF_NODE else self._nearest(name, folder)
        if package is None or _asks_for_another(self._around(folder), name, package):
            return None
        return _places(package, "/".join(parts[name.count("/") + 1 :]))

    def _around(self, folder: str) -> Package | None:
        while folder and folder not in self._in:
            folder = posixpath.dirname(folder)
        return self._in.get(folder)

    def _nearest(self, name: str, folder: str) -> Package | None:
        """Of several packages of one name the one that shares most of the way; None where two do."""
        found = self._named.get(name, [])
        steps = folder.split("/")

        def shared(package: Package) -> int:
            pairs = zip(steps, package.folder.split("/"), strict=False)
            return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

        best = sorted(found, key=shared, reverse=True)
        if len(best) > 1 and shared(best[0]) == shared(best[1]):
            return None
        return best[0] if best else None


def _asks_for_another(asking: Package | None, name: str, package: Package) -> bool:
    """Whether who imports a package depends on another major version than the one that is here."""
    version = _MAJOR.match(str(package.said.get("version", "")))
    for field in _DEPENDENCIES if asking is not None and version else ():
        listed = asking.said.get(field) if asking is not None else None
        asked = _MAJOR.match(str(listed.get(name, ""))) if isinstance(listed, dict) else None
        if asked and version and asked[1] != version[1]:
            return True
    return False


def _places(package: Package, rest: str) -> Iterator[str]:
    yield from _fitting(package, "exports", f"./{rest}" if rest else ".")
    if rest:
        yield from (posixpath.join(package.folder, "src", rest), posixpath.join(package.folder, rest))
        return
    for field in _FIELDS:
        named = package.said.get(field)
        if isinstance(named, str):
            yield from _source_of(package.folder, named)
    yield from (posixpath.join(package.folder, "src/index"), posixpath.join(package.folder, "index"))


def _fitting(package: Package, field: str, key: str) -> Iterator[str]:
    """The places that `exports` or `imports` names for a key: its own, or by the longest pattern with `*`."""
    table = package.said.get(field)
    if not isinstance(table, dict) or not any(str(one)[:1] in ".#" for one in table):
        table = {".": table}  # the conditions of the package itself
    best, star = (key, "") if key in table else ("", "")
    for pattern in table if not best else ():
        before, found, after = str(pattern).partition("*")
        fits = found and key.startswith(before) and key.endswith(after) and len(key) >= len(pattern) - 1
        if fits and len(before) > len(best.partition("*")[0]):
            best, star = pattern, key[len(before) : len(key) - len(after)]
    for named in _strings(table.get(best)) if best else ():
        yield from _source_of(package.folder, named.replace("*", star))


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """The files among conditions, in their order."""
    if isinstance(value, str):
        if value.startswith("./"):
            yield value
    elif depth < _MAX_DEPTH and isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one, depth + 1)


def _source_of(folder: str, named: str) -> Iterator[str]:
    """A file that a package names, and the source that it may be built of."""
    named = posixpath.normpath(named)
    yield posixpath.join(folder, named)
    first, _, rest = named.partition("/")
    if first in _BUILT and rest:
        yield posixpath.join(folder, "src", rest)
