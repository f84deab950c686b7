"""A folder of source code as documents: what was read, what was skipped, what a reader should know."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidValueError
from ..protocols import Chunker, SymbolChunker
from ..types import Document, SourceFile, tie_key
from .chunk import TreeSitterChunker
from .decode import decode
from .generated import generated_text
from .languages import language_of
from .symbols import Symbol, symbols_of
from .walk import IGNORED, MAX_BYTES, Found, Skipped, too_large, unreadable, walk
from .workers import each

Progress = Callable[[str, int, int | None], None]

BINARY = "binary"
_NAMED = 5
_HEAD = 256


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """The documents of a folder, or of one file.

    Attributes:
        root: absolute path of the folder that all paths are relative to.
        documents: sorted by path, start line, id.
        files: paths of the files that were read, sorted; a blank one has no documents.
        skipped: what was left out, with its reason, sorted by path; ignored files are counted in a note only.
        notes: a line for people for each kind of thing that is worth knowing about the files.
        symbols: what is defined in the files; None where nobody looked.
    """

    root: str
    documents: Sequence[Document] = ()
    files: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    symbols: Collection[Symbol] | None = None

    def __repr__(self) -> str:
        counts = f"{len(self.files)} files, {len(self.documents)} documents, {len(self.skipped)} skipped"
        return f"Corpus({self.root!r}: {counts})"


class How(NamedTuple):
    """How a file was read, as far as notes tell of it."""

    encoding: str = ""
    language: str = ""
    parser: str = ""
    fallback: str = ""
    has_error: bool = False


class FileResult(NamedTuple):
    """What became of one file.

    Attributes:
        symbols: what is defined in it, in any order.
        skipped: the reason why it has no documents.
        encoding: what it was read with, where that was a guess.
    """

    documents: tuple[Document, ...] = ()
    skipped: str = ""
    encoding: str = ""
    symbols: tuple[Symbol, ...] = ()

    @property
    def how(self) -> How:
        if not self.documents:
            return How(self.encoding)
        first = self.documents[0]
        told = first.metadata
        return How(
            self.encoding,
            first.language,
            str(told.get("parser", "")),
            str(told.get("fallback", "")),
            bool(told.get("has_error", False)),
        )


def load_code(
    root: str | os.PathLike[str],
    *,
    chunker: Chunker | None = None,
    max_bytes: int = MAX_BYTES,
    generated: bool = False,
    progress: Progress | None = None,
) -> Corpus:
    """Walk a folder of source code and cut each file into documents.

    A file that cannot be read or cut is skipped with its reason and never stops the others.

    Args:
        root: a folder, or one file.
        chunker: `TreeSitterChunker()` when None; it cuts by lines what has no grammar.
        max_bytes: larger files are skipped.
        generated: whether to read files that say of themselves that they are generated.
        progress: called with ("walk", files found, None) and ("chunk", files done, number of files).

    Raises:
        InvalidValueError: the root does not exist or cannot be read, `max_bytes` is no positive int, or
            `chunker` has no method `chunk`.
    """
    chunker = checked_chunker(chunker)
    tell = progress or (lambda *_: None)
    found, skipped = scan(root, max_bytes=max_bytes, generated=generated, progress=progress)
    results: list[tuple[str, FileResult]] = []
    ids: set[str] = set()
    tell("chunk", 0, len(found))
    sizes = [item.stat.st_size for item in found]
    read = each(_read, found, sizes, chunker, max_bytes, generated)
    for done, (item, result) in enumerate(zip(found, read, strict=True), 1):
        if not result.skipped and not ids.isdisjoint(document.id for document in result.documents):
            result = FileResult(skipped="its chunker gave an id that another file has")
        if result.skipped:
            skipped.append(Skipped(item.path, result.skipped))
        else:
            ids.update(document.id for document in result.documents)
            results.append((item.path, result))
        tell("chunk", done, len(found))
    return Corpus(
        folder_of(root),
        tuple(sorted((d for _, result in results for d in result.documents), key=tie_key)),
        tuple(path for path, _ in results),
        tuple(sorted(s for s in skipped if s.reason != IGNORED)),
        notes_on([(path, result.how) for path, result in results], skipped),
        tuple(sorted(symbol for _, result in results for symbol in result.symbols)),
    )


def _read(item: Found, chunker: Chunker, max_bytes: int, generated: bool) -> FileResult:
    return read_file(item.path, item.file, chunker, max_bytes=max_bytes, generated=generated)


def checked_chunker(chunker: Chunker | None) -> Chunker:
    """The chunker, `TreeSitterChunker()` for None.

    Raises:
        InvalidValueError: it has no method `chunk`.
    """
    if chunker is None:
        return TreeSitterChunker()
    if isinstance(chunker, type) or not hasattr(chunker, "chunk"):
        raise InvalidValueError(f"chunker is {chunker!r}; give an object with a method chunk(source)")
    return chunker


def scan(
    root: str | os.PathLike[str], *, max_bytes: int, generated: bool = False, progress: Progress | None = None
) -> tuple[list[Found], list[Skipped]]:
    """The walk as two lists: files to read, and what is left out, ignored files among it."""
    found: list[Found] = []
    skipped: list[Skipped] = []
    for item in walk(root, max_bytes=max_bytes, generated=generated):
        if isinstance(item, Found):
            found.append(item)
            if progress is not None:
                progress("walk", len(found), None)
        else:
            skipped.append(item)
    return found, skipped


def folder_of(root: str | os.PathLike[str]) -> str:
    """The absolute folder that paths are relative to: the root, or that of a root that is a file."""
    place = Path(root).resolve()
    return str(place if place.is_dir() else place.parent)


def read_file(path: str, file: str, chunker: Chunker, *, max_bytes: int, generated: bool) -> FileResult:
    """Read one file and cut it; whatever goes wrong is the reason why it is skipped."""
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(max_bytes + 1)
    except OSError as error:
        return FileResult(skipped=unreadable(error))
    if len(data) > max_bytes:
        return FileResult(skipped=too_large(max_bytes))
    return chunk_bytes(path, data, chunker, generated=generated)


def chunk_bytes(path: str, data: bytes, chunker: Chunker, *, generated: bool = False) -> FileResult:
    """The documents of a file of that content; a pure function, for any process."""
    language = language_of(path, data[:_HEAD].decode("latin-1"))
    decoded = decode(data, cookie=language == "python")
    if decoded is None:
        return FileResult(skipped=BINARY)
    reason = "" if generated else generated_text(decoded.text, language)
    if reason:
        return FileResult(skipped=reason)
    try:
        source = SourceFile(path, decoded.text, language)
        documents: tuple[Document, ...]
        symbols: tuple[Symbol, ...] | None = None
        if isinstance(chunker, SymbolChunker):
            outline = chunker.outline(source)
            documents, symbols = tuple(outline[0]), tuple(outline[1])
        else:
            documents = tuple(chunker.chunk(source))
    except Exception as error:  # a plug-in may fail in any way, and only for this file
        return FileResult(skipped=f"its chunker failed ({type(error).__name__}: {error})")
    if not all(isinstance(document, Document) for document in documents):
        return FileResult(skipped="its chunker gave something that is no Document")
    if len({document.id for document in documents}) < len(documents):
        return FileResult(skipped="its chunker gave an id twice")
    symbols = symbols_of(documents) if symbols is None else symbols
    if not all(isinstance(symbol, Symbol) for symbol in symbols):
        return FileResult(skipped="its chunker gave something that is no Symbol")
    if any(symbol.path != path for symbol in symbols):
        return FileResult(skipped="its chunker gave a symbol of another file")
    return FileResult(documents, encoding=decoded.encoding if decoded.guessed else "", symbols=symbols)


def notes_on(read: Sequence[tuple[str, How]], skipped: Sequence[Skipped]) -> tuple[str, ...]:
    """One note a kind of thing, with the files it is about."""
    without: dict[str, list[str]] = {}
    fallbacks: dict[str, dict[str, list[str]]] = {}
    guesses: dict[str, list[str]] = {}
    damaged: list[str] = []
    for path, how in read:
        if how.encoding:
            guesses.setdefault(how.encoding, []).append(path)
        if how.has_error:
            damaged.append(path)
        if how.parser == "lines" and how.fallback:
            fallbacks.setdefault(how.fallback, {}).setdefault(how.language, []).append(path)
        elif how.parser == "lines":
            without.setdefault(how.language or "of unknown language", []).append(path)
    ignored = sum(s.reason == IGNORED for s in skipped)
    notes = []
    if ignored:
        notes.append(f"ignored by .gitignore: {_count(ignored, 'file or folder', 'files and folders')}")
    if without:
        languages = ", ".join(f"{len(paths)} {language}" for language, paths in sorted(without.items()))
        notes.append(f"cut by lines, for want of a grammar: {languages}")
    for reason, by_language in sorted(fallbacks.items()):
        languages = ", ".join(sorted(by_language))
        has = "has a grammar" if len(by_language) == 1 else "have grammars"
        paths = [path for _, found in sorted(by_language.items()) for path in found]
        notes.append(f"cut by lines, though {languages} {has} ({reason}): {_named(paths)}")
    for encoding, paths in sorted(guesses.items()):
        notes.append(f"not UTF-8, read as {encoding}: {_named(paths)}")
    if damaged:
        notes.append(f"syntax errors, only what is intact was found: {_named(damaged)}")
    return tuple(notes)


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
