"""What configuration files say about where modules are."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_GO_MODULE = re.compile(r"^[ \t]*module[ \t]+(\"[^\"\n]+\"|`[^`\n]+`|[^\s/]\S*)", re.MULTILINE)
_JSON_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*\n|/\*.*?\*/)\s*)*[\]}])', re.DOTALL
)
_MAX_EXTENDS = 5


def go_module(text: str) -> str:
    """The path of the module that a `go.mod` declares, `""` where it declares none."""
    found = _GO_MODULE.search(text)
    return found[1].strip('"`') if found else ""


class PathRules(NamedTuple):
    """`compilerOptions.paths` and `baseUrl`, paths relative to the root.

    Attributes:
        paths: pattern, with at most one `*`, and the places that it stands for.
        base: folder of `baseUrl`, None where there is none.
    """

    paths: tuple[tuple[str, tuple[str, ...]], ...]
    base: str | None

    def places(self, module: str) -> Iterator[tuple[str, bool]]:
        """Where a module may be, and whether it must be there if the next one is none of these.

        An exact pattern wins, then the one with the longest beginning before its `*`.
        """
        best: tuple[int, str, tuple[str, ...]] | None = None
        for pattern, places in self.paths:
            before, star, after = pattern.partition("*")
            fits = (
                module.startswith(before)
                and module.endswith(after)
                and len(module) >= len(before) + len(after)
                if star
                else module == pattern
            )
            weight = len(before) if star else len(module) + 1
            if fits and (best is None or weight > best[0]):
                best = (weight, module[len(before) : len(module) - len(after)] if star else "", places)
        if best is not None:
            for number, place in enumerate(best[2], 1):
                yield (
                    posixpath.normpath(place.replace("*", best[1], 1)),
                    number == len(best[2]) and best[0] > 0,
                )
        if self.base is not None:
            yield posixpath.normpath(posixpath.join(self.base, module)), False


def path_rules(path: str, configs: Mapping[str, str]) -> PathRules:
    """The rules of a `tsconfig.json`, and of what it extends; those that cannot be read have none."""
    paths: Any = None
    base: str | None = None
    paths_at = ""
    for _ in range(_MAX_EXTENDS):
        loaded = _json(configs.get(path, ""))
        folder = posixpath.dirname(path)
        options = loaded.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        if base is None and isinstance(options.get("baseUrl"), str):
            base = posixpath.normpath(posixpath.join(folder, options["baseUrl"]))
            base = "" if base == "." else base
        if paths is None and isinstance(options.get("paths"), dict):
            paths, paths_at = options["paths"], folder
        extended = loaded.get("extends")
        if not isinstance(extended, str) or not extended.startswith("."):
            break
        path = posixpath.normpath(posixpath.join(folder, extended))
        path = path if path.endswith(".json") else f"{path}.json"
    at = paths_at if base is None else base
    rules = [
        (str(pattern), tuple(posixpath.join(at, place) for place in places if isinstance(place, str)))
        for pattern, places in (paths or {}).items()
        if isinstance(places, list)
    ]
    return PathRules(tuple(rules), base)


def _json(text: str) -> dict[str, Any]:
    """JSON with comments and commas before closing brackets."""
    plain = _JSON_TOKEN.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
    try:
        loaded = json.loads(plain)
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
