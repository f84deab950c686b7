"""Brings a graph in step with source files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .code.corpus import How
from .code.decode import decode
from .code.generated import generated_text
from .code.imports import CONFIGS, Modules
from .code.languages import language_of
from .code.references import RESOLVED, facts_of
from .code.references.facts import CallFact
from .code.resolve import Resolver
from .code.walk import MAX_BYTES
from .store import files
from .store.files import Changes, Entry
from .store.graph import GraphStore, Lead
from .types import SourceFile

if TYPE_CHECKING:
    from .code.corpus import Progress

_HEAD = 256
_NO_ENTRY = Entry(0, 0, 0, 0, "", False, "", How())


def from_sources(store: GraphStore, sources: Iterable[SourceFile]) -> None:
    """Fill a graph with source files in memory."""
    with store.writing():
        for source in sources:
            language = source.language or language_of(source.path, source.text)
            _put(store, SourceFile(source.path, source.text, language), _NO_ENTRY)
        _resolve(store, set(store.languages()), set(), everything=True)


def from_disk(store: GraphStore, root: Path, max_bytes: int | None, progress: Progress | None) -> Changes:
    """Read what changed below a root; only rows of files that did are written."""
    limit = MAX_BYTES if max_bytes is None else max_bytes
    package = _package_of(root)
    about = {
        "root": str(root),
        "package": package,
        "max_bytes": str(limit),
        "made_by": __version__,
        "grammars": _grammars(),
    }
    before = store.about()
    anew = any(before.get(name) != value for name, value in about.items())
    look = files.look(root, {} if anew else store.entries(), max_bytes=limit)
    if not anew and not look.unsure and not look.gone:
        return Changes()
    added: list[str] = []
    changed: list[str] = []
    fresh: set[str] = set()
    seen: set[str] = set()  # files that others see otherwise than before, and folders with other files
    configs = False
    with store.writing():
        if anew:
            store.clear()
            store.set_about(about)
        for path in look.gone:
            configs = configs or _is_config(path)
            store.remove(path)
            seen |= _places_of(path)
        for done, item in enumerate(look.unsure, 1):
            known = look.table.get(item.path)
            data = _bytes(item.file, limit)
            digest = "" if data is None else _digest(data)
            entry = files.entry_of(item.stat, digest, look.started_ns)
            if known is not None and known.digest == digest:
                store.touch(item.path, entry)
            else:
                (added if known is None else changed).append(item.path)
                fresh.add(item.path)
                configs = configs or _is_config(item.path)
                if _put(store, _source(item.path, data), entry):
                    seen |= {item.path} if known is not None else _places_of(item.path)
                    if item.path.endswith(".go"):
                        seen.add(f"{item.path.rpartition('/')[0]}/")
            if progress is not None:
                progress("graph", done, len(look.unsure))
        if fresh or look.gone:
            _resolve(store, fresh, seen, everything=bool(added or look.gone or configs))
    return Changes(tuple(added), tuple(changed), look.gone)


def text_of(store: GraphStore, root: Path, path: str) -> str | None:
    """The text of a file as it was read, None where it has changed."""
    entry = store.entry(path)
    data = _bytes(str((root if root.is_dir() else root.parent) / path), entry.size) if entry else None
    if data is None or entry is None or _digest(data) != entry.digest:
        return None
    return _source(path, data).text


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]


def _put(store: GraphStore, source: SourceFile, entry: Entry) -> bool:
    facts = facts_of(source)
    symbols = [one.symbol(source.path, source.language) for one in facts.definitions]
    config = source.text if _is_config(source.path) else None
    return store.put(source.path, entry, facts, symbols, config)


def _resolve(store: GraphStore, fresh: set[str], seen: set[str], *, everything: bool) -> None:
    """Find where imports and calls lead to: those of new files, and of all that depend on what changed.

    Args:
        seen: what others see otherwise than before.
        everything: whether imports of any file may lead elsewhere, since there are other files.
    """
    languages = store.languages()
    modules = Modules(languages, store.configs(), store.about().get("package", ""))
    for path in languages if everything else sorted(fresh):
        facts = store.facts(path)
        imports = [modules.imported(path, facts.language, one) for one in facts.imports]
        if store.put_imports(path, imports):
            seen.add(path)
            fresh.add(path)
    resolver = Resolver(modules, store.facts)
    for path in sorted(fresh | store.dependants(seen)):
        if languages[path] in RESOLVED:
            resolver.consulted = {path}
            leads = [_lead(resolver, path, one) for one in store.facts_of_calls(path)]
            store.put_leads(path, leads, resolver.consulted)


def _lead(resolver: Resolver, path: str, call: CallFact) -> Lead:
    targets, external, unknown = resolver.targets(path, call.scope, call.path)
    if targets:
        return "ambiguous" if external or unknown or len(targets) > 1 else "resolved", targets
    return "external" if external and not unknown else "unresolved", ()


def _places_of(path: str) -> set[str]:
    """What is not what it was when a file comes or goes: itself, and the folders that it is seen in."""
    places = {path}
    for folder in (posixpath.dirname(path), posixpath.dirname(posixpath.dirname(path))):
        base = f"{folder}/" if folder else ""
        places |= {f"{folder}/", f"{base}__init__.py", f"{base}__init__.pyi"}
    return places


def _source(path: str, data: bytes | None) -> SourceFile:
    """A file as text; without its text where it cannot be read, or should not be."""
    if data is None:
        return SourceFile(path, "", "")
    language = language_of(path, data[:_HEAD].decode("latin-1"))
    decoded = decode(data, cookie=language == "python")
    if decoded is None or generated_text(decoded.text, language):
        return SourceFile(path, "", "")
    return SourceFile(path, decoded.text, language)


def _bytes(file: str, limit: int) -> bytes | None:
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(limit + 1)
    except OSError:
        return None
    return data if len(data) <= limit else None


def _is_config(path: str) -> bool:
    return path.rpartition("/")[2] in CONFIGS


def _package_of(root: Path) -> str:
    """The dotted name of the package of Python that a folder is."""
    parts: list[str] = []
    while (root / "__init__.py").is_file() and root.name:
        parts.append(root.name)
        root = root.parent
    return ".".join(reversed(parts))


def _grammars() -> str:
    """The grammars that are installed: with another one there is more to read."""
    from importlib.util import find_spec

    from .code.grammars import GRAMMARS

    modules = sorted({grammar.module for grammar in GRAMMARS.values()})
    return " ".join(module for module in modules if find_spec(module) is not None)
