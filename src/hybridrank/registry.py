"""Parts by name: what the installed distributions offer, found through their entry points.

A distribution offers a part by an entry point in the group of its kind, e.g. in its pyproject.toml

    [project.entry-points."hybridrank.rerankers"]
    freshness = "my_package.freshness:Freshness"

Listing reads metadata only; a part is imported when it is asked for by name, so a broken one harms nobody
else. Nothing is cached: what is installed now is what is found now.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import InvalidValueError, MissingExtraError, PluginError, UnknownNameError

if TYPE_CHECKING:
    from .options import Option

GROUPS = {
    "retriever": "hybridrank.retrievers",
    "fuser": "hybridrank.fusers",
    "reranker": "hybridrank.rerankers",
    "validator": "hybridrank.validators",
    "embedder": "hybridrank.embedders",
    "chat": "hybridrank.chat",
    "chunker": "hybridrank.chunkers",
    "measure": "hybridrank.measures",
    "tokenizer": "hybridrank.tokenizers",
    "normalizer": "hybridrank.normalizers",
}
"""Entry-point group by kind of part."""

_KINDS = {group: kind for kind, group in GROUPS.items()}
_BUILT_IN = "hybridrank"
_TARGET = re.compile(r"(?P<module>[\w.]+)\s*:\s*(?P<attributes>[\w.]+)\s*(\[.*\]\s*)?")


class PluginWarning(UserWarning):
    """A distribution's entry points were left out, or a name was taken by a built-in part."""


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """A part that can be asked for by name, as its distribution's metadata describe it.

    Attributes:
        kind: a key of `GROUPS`: retriever, fuser, reranker, …
        name: the name that configurations use.
        distribution, version: who brings it.
        target: where it is, `module:Class`.
    """

    kind: str
    name: str
    distribution: str
    version: str
    target: str

    @property
    def built_in(self) -> bool:
        """Whether it comes with hybridrank itself."""
        return _normal(self.distribution) == _BUILT_IN

    def load(self) -> Callable[..., Any]:
        """Import the part: its class, or a function that makes one.

        Raises:
            PluginError: its module cannot be imported, or holds nothing callable of that name.
            MissingExtraError: it needs an optional dependency that is not installed.
        """
        match = _TARGET.fullmatch(self.target.strip())
        if match is None:
            raise PluginError(
                f"{self._described} has the target {self.target!r}; it must read 'module:Class'"
            )
        try:
            part = import_module(match["module"])
            for attribute in match["attributes"].split("."):
                part = getattr(part, attribute)
        except MissingExtraError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"{self._described} cannot be loaded from {self.target}: {type(error).__name__}: {error}; "
                f"repair or uninstall {self.distribution}"
            ) from error
        if not callable(part):
            raise PluginError(f"{self._described} is {part!r} at {self.target}, which cannot be called")
        return part

    def options(self) -> tuple[Option, ...]:
        """The constructor's parameters; imports the part.

        Raises:
            PluginError: as `load`, or the constructor has no readable signature.
        """
        from .options import options_of

        try:
            return options_of(self.load())
        except (TypeError, ValueError) as error:
            raise PluginError(f"{self._described} has no readable signature: {error}") from error

    @property
    def _described(self) -> str:
        return f"{self.kind} {self.name!r} of distribution {self.distribution!r} ({self.version})"


def components(kind: str | None = None) -> tuple[ComponentInfo, ...]:
    """Every part that is offered, or those of one kind, sorted by kind, name and distribution.

    Imports no part. A part that a built-in of the same name hides is listed too.

    Raises:
        UnknownNameError: there is no such kind.
    """
    if kind is not None:
        _check_kind(kind)
    return tuple(info for info in _scan() if kind in (None, info.kind))


def load_component(kind: str, name: str) -> Callable[..., Any]:
    """The class of a part (or the function that makes one) by kind and name.

    Args:
        kind: a key of `GROUPS`.
        name: the part's name, or `distribution:name` to select among several of one name. A built-in wins
            over another distribution's part of its name; a `PluginWarning` tells.

    Raises:
        UnknownNameError: there is no such kind or part; the message offers the nearest name.
        PluginError: it cannot be loaded, or several distributions other than hybridrank offer that name.
        MissingExtraError: it needs an optional dependency that is not installed.
    """
    return find(kind, name).load()


def find(
    kind: str, name: str, *, where: str = "", among: Sequence[ComponentInfo] | None = None
) -> ComponentInfo:
    """The part that `load_component` loads, not yet imported.

    Args:
        where: path of the name in a configuration, for the message.
        among: what `components()` gave; found anew when None.
    """
    _check_kind(kind)
    if not isinstance(name, str):
        raise InvalidValueError(f"name of a {kind} is {name!r}; give a str")
    installed = _scan() if among is None else among
    if not any(info.built_in for info in installed):
        raise PluginError(
            "the entry points of hybridrank itself are not installed; run: pip install hybridrank"
        )
    offered = [info for info in installed if info.kind == kind]
    same = [info for info in offered if info.name == name]
    if not same and ":" in name:
        return _selected(kind, name, offered, where)
    if not same:
        raise UnknownNameError(kind, name, {info.name for info in offered}, where=where)
    built_in = [info for info in same if info.built_in]
    if built_in:
        for info in same:
            if not info.built_in:
                warnings.warn(
                    f"{kind} {name!r} is the one of {built_in[0].distribution!r}; {info.distribution!r} "
                    f"offers another, to be had as {info.distribution + ':' + name!r}",
                    PluginWarning,
                    stacklevel=3,
                )
        same = built_in
    return _only(same, kind, name)


def name_of(kind: str, part: object) -> str:
    """The name under which the class of this part is registered; its lower-cased class name if it is not.

    Imports nothing.
    """
    _check_kind(kind)
    cls = type(part)
    names = [(not info.built_in, info.name) for info in components(kind) if loaded_part(info.target) is cls]
    return min(names)[1] if names else cls.__name__.lower()


def _selected(kind: str, name: str, offered: Sequence[ComponentInfo], where: str) -> ComponentInfo:
    distribution, _, short = name.partition(":")
    theirs = [info for info in offered if _normal(info.distribution) == _normal(distribution)]
    same = [info for info in theirs if info.name == short]
    if same:
        return _only(same, kind, name)
    known = theirs or list(offered)
    raise UnknownNameError(kind, name, {f"{info.distribution}:{info.name}" for info in known}, where=where)


def _only(same: Sequence[ComponentInfo], kind: str, name: str) -> ComponentInfo:
    if len(same) == 1:
        return same[0]
    ways = sorted({f"{info.distribution}:{info.name}" for info in same})
    targets = ", ".join(f"{info.target} of {info.distribution!r}" for info in same)
    advice = f"ask for one of {', '.join(map(repr, ways))}" if len(ways) > 1 else "uninstall or repair it"
    raise PluginError(f"{kind} {name!r} is offered more than once: {targets}; {advice}")


def _scan() -> list[ComponentInfo]:
    # importlib.metadata brings some 100 modules, sockets among them.
    from importlib.metadata import distribution, distributions

    names: dict[str, str] = {}
    for found in distributions():
        with _left_out(found):
            if "[hybridrank." in (found.read_text("entry_points.txt") or ""):
                names.setdefault(_normal(found.metadata["Name"]), found.metadata["Name"])
    infos = set()
    for name in names.values():
        # Of several copies on the path the first is the one that imports see.
        active = distribution(name)
        with _left_out(name):
            version = active.version  # parses the metadata each time
            infos |= {
                ComponentInfo(_KINDS[entry.group], entry.name, name, version, entry.value)
                for entry in active.entry_points
                if entry.group in _KINDS
            }
    return sorted(infos, key=lambda i: (i.kind, i.name, _normal(i.distribution), i.target))


@contextmanager
def _left_out(distribution: object) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # str() of a distribution is its class; the folder is what a user can find.
        place = getattr(distribution, "_path", distribution)
        warnings.warn(
            f"cannot read the metadata of {place}; left out its parts: {type(error).__name__}: {error}",
            PluginWarning,
            stacklevel=5,
        )


def loaded_part(target: str) -> object:
    match = _TARGET.fullmatch(target.strip())
    if match is None:
        return None
    part: object = sys.modules.get(match["module"])
    for attribute in match["attributes"].split("."):
        # Not getattr: a module may import something for an attribute that is not there yet.
        part = getattr(part, "__dict__", {}).get(attribute)
    return part


def _check_kind(kind: str) -> None:
    if kind not in GROUPS:
        raise UnknownNameError("kind of part", kind, GROUPS)


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
