"""What is searched, what is searched for, and what may be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import InvalidValueError
from .frozen import FrozenDict

_TEXTS = ("path", "kind", "name", "qualified_name", "language")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A text file to be cut into documents.

    Attributes:
        path: relative to the searched root, with forward slashes.
        text: decoded content, line ends as they stand in the file.
        language: name of the language (`"python"`), `""` when unknown.
    """

    path: str
    text: str
    language: str = ""


_NOTHING: FrozenDict[str, Any] = FrozenDict()


@dataclass(frozen=True, slots=True, init=False)
class Document:
    """The unit that is retrieved. `id` is its only identity, everywhere.

    Attributes:
        id: non-empty; for a code chunk `path:start-end`.
        text: the text as it stands in its source.
        path: relative path with forward slashes, `""` when it has none.
        start_line, end_line: 1-based and inclusive; both 0 when the document has no lines.
        kind: function, method, class, class_body, import, module, section, lines, file, record, part,
            or `""`.
        name: the defined symbol, `qualified_name` the same with its parents (`Client.send`).
        language: name of the language, `""` when unknown.
        metadata: anything else; a `Filter` can select on it.

    Raises:
        InvalidValueError: `id` is empty or no string, or the lines are negative or reversed.
    """

    id: str
    text: str
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    kind: str = ""
    name: str = ""
    qualified_name: str = ""
    language: str = ""
    metadata: Mapping[str, Any] = field(default=_NOTHING, hash=False)

    def __init__(
        self,
        id: str,
        text: str,
        path: str = "",
        start_line: int = 0,
        end_line: int = 0,
        kind: str = "",
        name: str = "",
        qualified_name: str = "",
        language: str = "",
        metadata: Mapping[str, Any] = _NOTHING,
    ) -> None:
        if not id or type(id) is not str:
            check_id(id)
        _set_id(self, id)
        _set_text(self, text)
        _set_path(self, path)
        _set_start_line(self, start_line)
        _set_end_line(self, end_line)
        _set_kind(self, kind)
        _set_name(self, name)
        _set_qualified_name(self, qualified_name)
        _set_language(self, language)
        _set_metadata(self, metadata if type(metadata) is FrozenDict else FrozenDict(metadata))
        if not isinstance(text, str):
            raise InvalidValueError(f"text of document {id!r} is {type(text).__name__}; give a str")
        if not (
            str is type(path) is type(kind) is type(name) is type(qualified_name) is type(language)
            and int is type(start_line) is type(end_line)
        ):
            self._refuse_wrong_types()
        if start_line < 0 or end_line < start_line:
            raise InvalidValueError(
                f"document {id!r} has lines {start_line}-{end_line}; give start, then end"
            )

    def _refuse_wrong_types(self) -> None:
        for names, kind in ((_TEXTS, str), (("start_line", "end_line"), int)):
            for name in names:
                value = getattr(self, name)
                if not isinstance(value, kind) or isinstance(value, bool):
                    raise InvalidValueError(
                        f"{name} of document {self.id!r} is {value!r}; give a {kind.__name__}"
                    )


# Corpora and rankings make many of these; through the slots it takes half of what `object.__setattr__` takes.
(
    _set_id,
    _set_text,
    _set_path,
    _set_start_line,
    _set_end_line,
    _set_kind,
    _set_name,
    _set_qualified_name,
    _set_language,
    _set_metadata,
) = (vars(Document)[field.name].__set__ for field in fields(Document))


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for: a word, a sentence, or a whole code chunk.

    Attributes:
        text: the text that parts search with; inside a pipeline, after query normalisation.
        id: free, e.g. the id of an evaluation case.
        original: what the user typed, where normalisation changed it; `""` where it did not.
    """

    text: str
    id: str = ""
    original: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidValueError(f"query text is {type(self.text).__name__}; give a str")

    @property
    def typed(self) -> str:
        """The text as the user typed it."""
        return self.original or self.text


def _as_tuple(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may be found; applied before any cut. All given conditions must hold.

    Attributes:
        path: one or several gitignore-style globs; a document passes when any of them matches its path
            (`src/` everything below it, `*.py` in any folder, `src/**/test_*.py`).
        language, kind: one or several allowed values.
        metadata: keys and the values that they must have.
    """

    path: str | Sequence[str] = ()
    language: str | Sequence[str] = ()
    kind: str | Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)

    def __post_init__(self) -> None:
        for name in ("path", "language", "kind"):
            object.__setattr__(self, name, _as_tuple(getattr(self, name)))
            values = getattr(self, name)
            # A document may have no kind and no language, so "" selects those; no path is empty by intent.
            if not all(isinstance(value, str) and (value or name != "path") for value in values):
                raise InvalidValueError(f"{name} of the filter is {values!r}; give one or several str")
        object.__setattr__(self, "metadata", FrozenDict(self.metadata))
        if self.path:
            _path_matcher(_as_tuple(self.path))
            if all(glob.startswith(("!", "#")) for glob in self.path):
                raise InvalidValueError(
                    f"path of the filter is {self.path!r}, which only excludes and so matches nothing; "
                    "put a glob that includes first, e.g. ('**', '!docs/')"
                )

    def __bool__(self) -> bool:
        return bool(self.path or self.language or self.kind or self.metadata)

    def select(self, documents: Iterable[Document]) -> Iterator[bool]:
        """Yield for each document whether it passes."""
        matches_path = _path_matcher(_as_tuple(self.path)) if self.path else None
        languages, kinds = frozenset(self.language), frozenset(self.kind)
        conditions = tuple(self.metadata.items())
        for d in documents:
            yield (
                (not languages or d.language in languages)
                and (not kinds or d.kind in kinds)
                and all(key in d.metadata and d.metadata[key] == value for key, value in conditions)
                and (matches_path is None or matches_path(d.path))
            )

    def matches(self, document: Document) -> bool:
        """Whether this one document passes."""
        return next(self.select((document,)))


def _path_matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    from functools import cache

    from pathspec import GitIgnoreSpec

    try:
        return cache(GitIgnoreSpec.from_lines(globs).match_file)
    except ValueError as error:
        raise InvalidValueError(f"path of the filter is {globs!r}, which is no glob: {error}") from error


def tie_key(document: Document) -> tuple[str, int, str]:
    """The order among equal scores: path, start line, id."""
    return document.path, document.start_line, document.id


def location(document: Document) -> str:
    """`path:start-end` where the document has a path and lines, else its id."""
    if not (document.path and document.end_line):
        return document.id
    return f"{document.path}:{document.start_line}-{document.end_line}"


def check_id(value: object, what: str = "document id") -> str:
    """An id is a non-empty string.

    Raises:
        InvalidValueError: it is not.
    """
    if not isinstance(value, str) or not value:
        raise InvalidValueError(f"{what} is {value!r}; give a non-empty str")
    return value
