"""What is defined where, who imports whom, and who calls what in a repository."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .code.calls import Call
from .code.imports import Import, Modules
from .code.references import RESOLVED
from .code.spans import split_lines
from .code.symbols import Symbol, SymbolName
from .errors import InvalidValueError
from .graph_calls import ends_with, kept_in
from .graph_context import around, called, document_of
from .graph_reading import from_disk, from_sources, text_of
from .store.files import Changes
from .store.graph import GRAPH, GraphStore
from .types import Document, SourceFile

if TYPE_CHECKING:
    from .code.corpus import Progress


class CodeGraph:
    """Definitions, imports and calls of a repository. Made by `for_code`, `open` and `of`.

    Imports are resolved to files and calls to definitions, for Python, JavaScript, TypeScript and Go; calls
    of other languages are known by name. After a change those that depended on it are resolved anew.

    Definitions are asked for by name as in `hybridrank symbols`: `send`, `Client.send`, `sen*`, `Client.*`,
    and also `path/to/file.py::Client.send`. A name that several definitions have stands for all of them.

    It can be closed, and used in a `with` statement. It is not for use by several threads at a time.
    """

    def __init__(self, store: GraphStore, root: Path | None = None, max_bytes: int | None = None) -> None:
        self._store = store
        self._root = root
        self._max_bytes = max_bytes
        self._texts: dict[str, str] = {}
        self._forget()

    def _forget(self) -> None:
        self._modules: Modules | None = None
        self._languages: Mapping[str, str] | None = None

    @classmethod
    def of(cls, sources: Mapping[str, str] | Iterable[SourceFile]) -> Self:
        """The graph of source files in memory: texts by path, or `SourceFile`s."""
        if isinstance(sources, Mapping):
            sources = [SourceFile(path, text) for path, text in sources.items()]
        given = list(sources)
        graph = cls(GraphStore())
        from_sources(graph._store, given)
        graph._texts = {source.path: source.text for source in given}
        return graph

    @classmethod
    def for_code(
        cls,
        root: str | os.PathLike[str],
        *,
        index: str | os.PathLike[str] | bool = False,
        max_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """The graph of the source files below a folder, or of one file.

        Args:
            index: the directory of an index in which the graph is kept, True for that in the user's cache;
                the next one opens it and reads the files that changed. False keeps it in memory.
            max_bytes: larger files are not read.
            progress: called with ("graph", files done, number of files).

        Raises:
            InvalidValueError: the root cannot be read, or `index` lies in it.
            IndexFormatError: what is kept is damaged, or of a newer format.
            StoreError: it cannot be written.
        """
        place = Path(root).resolve()
        if not place.exists():
            raise InvalidValueError(f"cannot read {str(root)!r}: there is no such folder or file")
        store = GraphStore() if index is False else kept_in(place, index)
        graph = cls(store, place, max_bytes)
        try:
            graph.update(progress=progress)
        except BaseException:
            graph.close()
            raise
        return graph

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> Self:
        """The graph that is kept in the directory of an index, as it is; `update` brings it up to date.

        Raises:
            InvalidValueError: there is none.
            IndexFormatError: it is damaged, or of a newer format.
        """
        file = Path(directory).expanduser() / GRAPH
        store = GraphStore(file) if file.exists() else None
        about = store.about() if store is not None else {}
        if store is None or "root" not in about:  # one that has just been made holds nothing yet
            if store is not None:
                store.close()
            raise InvalidValueError(
                f"there is no graph in {str(directory)!r}; make one: hybridrank index --graph"
            )
        return cls(store, Path(about["root"]), int(about["max_bytes"]))

    def update(self, *, progress: Progress | None = None) -> Changes:
        """Read the files that came or changed since they were read last, and forget those that are gone.

        Only their own rows change. Files whose size, times and inode are as before are not opened.

        Raises:
            InvalidValueError: it was made of sources, or its root cannot be read.
        """
        if self._root is None:
            raise InvalidValueError("this graph was made of sources in memory; make a new one: CodeGraph.of")
        changes = from_disk(self._store, self._root, self._max_bytes, progress)
        self._forget()
        return changes

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = self._store.file or self._root or f"{len(self.files())} files"
        return f"CodeGraph({str(where)!r})"

    # Asking

    def files(self) -> tuple[str, ...]:
        """All files, sorted; those of no known language too, since imports may lead to them."""
        return tuple(self._language_of())

    def symbols(self, name: str | None = None, *, path: str | None = None) -> tuple[Symbol, ...]:
        """The definitions of that name, or in that file; all of them without either. Sorted.

        Raises:
            InvalidValueError: the name is blank.
        """
        if name is None:
            found = self._store.symbols() if path is None else self._store.symbols("f.path = ?", (path,))
            return tuple(sorted(symbol for symbol, _ in found))
        return tuple(sorted(symbol for symbol, _ in self._named(name) if path in (None, symbol.path)))

    def imports(self, path: str) -> tuple[Import, ...]:
        """The imports of a file, in its order.

        Raises:
            InvalidValueError: there is no such file.
        """
        return self._store.imports(self._file(path))

    def importers(self, target: str, *, depth: int = 1) -> tuple[tuple[int, Import], ...]:
        """The imports that lead to a file or module, each with its distance: 1 for those that do so directly.

        Args:
            target: a file, a folder of Go, a module of the repository by its name (`httpx._models`), or one
                from outside (`json`, `os.path`, `react`); the latter stands for what is in it too.
            depth: how many steps to follow: 2 also gives the importers of the importers. 0 follows all.

        Returns:
            Sorted by distance, path and line; each import once, with its least distance.

        Raises:
            InvalidValueError: `depth` is no int of 0 or more, or nothing imports a module of that name and no
                file is called so.
        """
        if type(depth) is not int or depth < 0:
            raise InvalidValueError(f"depth is {depth!r}; give an int of 0 or more, 0 for all")
        start, first = self._imported_as(target)
        found: dict[Import, int] = dict.fromkeys(first, 1)
        seen = {*start}
        step = 1
        frontier = sorted({one.path for one in first} - seen)
        while frontier and (depth == 0 or step < depth):
            step += 1
            seen.update(frontier)
            more: list[Import] = []
            for path in frontier:
                for one in self._imports_of(path):
                    if one not in found:
                        found[one] = step
                        more.append(one)
            frontier = sorted({one.path for one in more} - seen)
        return tuple(sorted((step, one) for one, step in found.items()))

    def calls(self, path: str) -> tuple[Call, ...]:
        """All calls in a file, sorted by line.

        Raises:
            InvalidValueError: there is no such file.
        """
        return tuple(call for call, _ in self._store.calls("f.path = ?", (self._file(path),)))

    def callers(self, name: str, *, unresolved: bool = False) -> tuple[Call, ...]:
        """The calls of a definition, or of several that have that name, sorted by path and line.

        A call of a class is one of the class, not of its constructor. Where nothing of that name is defined,
        the calls of what is external are given by their last name.

        Args:
            unresolved: also the calls of which no more than the name is known to fit.
        """
        wanted = self._named(name)
        if not wanted:
            asked = SymbolName.of(name)
            calls = [call for call, _ in self._store.calls("c.name = ?", (asked.name,))]
            return tuple(one for one in calls if ends_with(one.expression, asked))
        found: set[Call] = set()
        for symbol, number in wanted:
            found.update(self._store.calls_to(symbol.path, number))
            if symbol.language not in RESOLVED:
                named = self._store.calls("c.name = ? AND c.state = 'by-name'", (symbol.name,))
                found.update(call for call, _ in named if symbol in call.targets)
            if unresolved:
                named = self._store.calls("c.name = ? AND c.state = 'unresolved'", (symbol.name,))
                found.update(call for call, _ in named)
        return tuple(sorted(found))

    def callees(self, name: str) -> tuple[Call, ...]:
        """The calls in a definition, those in what is defined inside of it too, sorted by path and line."""
        found: set[Call] = set()
        inside: dict[str, set[int]] = {}
        for symbol, number in self._named(name):
            inside.setdefault(symbol.path, set()).add(number)
        for path, numbers in inside.items():
            around = self._store.around(path)
            for call, at in self._store.calls("f.path = ?", (path,)):
                while at >= 0 and at not in numbers:
                    at = around[at]
                if at >= 0:
                    found.add(call)
        return tuple(sorted(found))

    def related(self, document: Document) -> tuple[Document, ...]:
        """What belongs to a document: the heads of the classes around it, then the definitions that it calls.

        Of a class that it calls the head is given, of a function or method all of it; only calls that are
        resolved count. Nothing for a document of a file that the graph does not know, or that has changed
        since the graph was brought up to date.
        """
        path, start, end = document.path, document.start_line, document.end_line
        if path not in self._language_of() or not start:
            return ()
        found = [(one, True) for one in around(self.symbols(path=path), start, end)]
        found += [(one, one.kind == "class") for one in called(self.calls(path), start, end)]
        made = (document_of(one, self._lines(one.path), head=head) for one, head in found)
        return tuple(one for one in made if one is not None)

    # How

    def _lines(self, path: str) -> list[str]:
        """The lines of a file as it was read, none where it has changed."""
        text = self._texts.get(path)
        if text is None and self._root is not None:
            text = text_of(self._store, self._root, path)
        return split_lines(text or "")

    def _language_of(self) -> Mapping[str, str]:
        if self._languages is None:
            self._languages = self._store.languages()
        return self._languages

    def _file(self, path: str) -> str:
        plain = path.replace(os.sep, "/").removeprefix("./")
        if plain not in self._language_of():
            raise InvalidValueError(
                f"there is no file {path!r} in {self!r}; give a path relative to the root"
            )
        return plain

    def _finding(self) -> Modules:
        if self._modules is None:
            package = self._store.about().get("package", "")
            self._modules = Modules(self._language_of(), self._store.configs(), package)
        return self._modules

    def _named(self, name: str) -> list[tuple[Symbol, int]]:
        """The definitions of a name, each with its number in its file."""
        path, joint, inner = name.rpartition("::")
        if not joint or path not in self._language_of():
            path, inner = "", name
        wanted = SymbolName.of(inner)
        for fold in (False, True):
            column = "folded" if fold else "name"
            first = wanted.name.casefold() if fold else wanted.name
            if wanted.prefix:
                condition = f"d.{column} >= ? AND d.{column} < ?"
                values = [first, f"{first}\U0010ffff"]
            else:
                condition, values = f"d.{column} = ?", [first]
            if wanted.container and not wanted.prefix and not fold:
                condition += " AND d.holder = ?"
                values.append(wanted.container.rpartition(".")[2])
            if path:
                condition, values = f"f.path = ? AND {condition}", [path, *values]
            found = [one for one in self._store.symbols(condition, values) if wanted.fits(one[0], fold)]
            if found:
                return found
        return []

    def _imported_as(self, target: str) -> tuple[list[str], list[Import]]:
        """The files that a target is, and the imports that lead to it."""
        plain = target.replace(os.sep, "/").removeprefix("./").rstrip("/") or "."
        if plain in self._language_of():
            return [plain], self._imports_of(plain)
        direct = list(self._store.imports_of(plain))
        if direct:
            return [], direct
        place = self._finding().find("", "python", target)[0] if not target.startswith(".") else ""
        if place and not place.endswith("/"):
            return [place], self._imports_of(place)
        external = list(self._store.imports_named(target))
        if not external and not place:
            raise InvalidValueError(
                f"nothing imports a module {target!r}, and no file is called so; "
                "give a path relative to the root, or the name of a module"
            )
        return [], external

    def _imports_of(self, path: str) -> list[Import]:
        targets = [path]
        if self._language_of().get(path) == "go":
            targets.append(path.rpartition("/")[0] or ".")
        return [one for target in targets for one in self._store.imports_of(target) if one.path != path]
