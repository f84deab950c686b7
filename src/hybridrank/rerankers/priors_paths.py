"""What a file's path tells: its words, and whether it is a test, an example, a text, an old version."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Tokenize = Callable[[str], Sequence[str]]

ROLES = ("test", "example", "compat", "prose", "data", "old_version", "companion")
"""What `roles` tells, in the order of its columns."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Whole words of folder names; a file's name is only asked for the first of each pair, since a module may well
# be called testing, samples or legacy and be the real thing.
_TEST_FOLDERS = _set(
    """test tests testing spec specs e2e fixture fixtures mock mocks testdata testsuite testutil testutils
    unittest unittests"""
)
_TEST_FILES = _set("test tests spec specs conftest")
_EXAMPLE_FOLDERS = _set(
    """example examples demo demos sample samples doc docs documentation tutorial tutorials benchmark
    benchmarks bench benches playground"""
)
_EXAMPLE_FILES = _set("example examples demo demos sample samples benchmark benchmarks bench")
_COMPAT = _set(
    "compat compatibility legacy deprecated shim shims polyfill polyfills vendor vendored thirdparty external"
)
_PROSE_SUFFIXES = _set("md mdx markdown rst txt adoc html htm")
_DATA_SUFFIXES = _set("json yml yaml toml xml ini cfg css scss less lock properties svg csproj props targets")
_DATA_STEMS = _set("makefile rakefile gemfile dockerfile cmakelists setup gruntfile gulpfile")
# Files that stand for their folder: their folder's name says what they are about.
_FOLDER_STEMS = _set("index mod __init__ init main lib package")
# A header beside its source only declares; a stub beside its module too.
_DECLARES = {
    "h": _set("c cc cpp cxx m mm"),
    "hh": _set("cc cpp cxx"),
    "hpp": _set("cc cpp cxx"),
    "hxx": _set("cxx"),
    "pyi": _set("py"),
    "mli": _set("ml"),
}

ASKS_FOR = {
    "test": _set("test tests testing tested spec specs fixture fixtures mock mocks"),
    "example": _set("example examples demo demos sample samples tutorial tutorials benchmark benchmarks"),
    "compat": _set("compat compatibility legacy deprecated shim polyfill backward backwards vendored"),
    "prose": _set("doc docs documentation readme changelog guide tutorial license"),
    "data": _set("config configuration json yaml toml xml css stylesheet makefile dockerfile manifest"),
    "old_version": _set("old older legacy previous deprecated compat compatibility"),
}
"""Words of a query that ask for files of a role."""

_JOINTS = re.compile(r"[-_. +]+")
HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_VERSION = re.compile(r"v([0-9]{1,6})")
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What is known of a file by its path alone.

    Attributes:
        stem: what the file is about: its name without suffix, or its folder's where it stands for the folder.
        terms: the tokens of the stem.
        words: the words of the stem in lower case, e.g. of `HTTPServer_main` http, server and main.
        compact: letters and digits of the stem in lower case.
        folder: the tokens of the last folder.
        depth: number of folders.
    """

    stem: str
    terms: frozenset[str]
    words: tuple[str, ...]
    compact: str
    folder: frozenset[str]
    depth: int


@lru_cache(maxsize=1 << 15)
def path_facts(path: str, tokenizer: Tokenize) -> PathFacts:
    """Facts of a path with forward slashes."""
    *folders, name = path.split("/")
    stem = _stem(name)
    if stem.lower() in _FOLDER_STEMS and folders:
        stem = folders[-1]
    return PathFacts(
        stem,
        frozenset(tokenizer(stem)),
        words(stem),
        compact(stem),
        frozenset(tokenizer(folders[-1])) if folders else frozenset(),
        len(folders),
    )


def words(name: str) -> tuple[str, ...]:
    """The words that a name is made of, in lower case."""
    return tuple(word.lower() for word in HUMPS.findall(name))


def compact(name: str) -> str:
    """Letters and digits in lower case, so that `retry_policy` and `RetryPolicy` are one."""
    return _NOT_LETTERS.sub("", name).lower()


def roles(paths: Sequence[str]) -> list[tuple[bool, ...]]:
    """For each of the paths of a corpus one bool per role of `ROLES`.

    - test, example, compat: by whole words of folders and of the file's name (`latest.py` is no test).
    - prose, data: by suffix: text about code, and configuration.
    - old_version: a folder `v2` where its parent also has a `v3`.
    - companion: the name goes on where another file of the folder ends (`writer.async.cs` beside `writer.cs`,
      `mux_test.go` beside `mux.go`), or the file only declares what one beside it defines (`x.h`, `x.c`).
    """
    suffixes: dict[tuple[str, str], set[str]] = defaultdict(set)
    newest: dict[str, int] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        suffixes[folder, _stem(name)].add(_suffix(name))
        for parent, version in _versions(folder):
            newest[parent] = max(version, newest.get(parent, 0))
    return [_roles(path, suffixes, newest) for path in paths]


def asks_for(role: str, words: Iterable[str]) -> bool:
    """Whether words of a query (lower case) ask for files of a role: then the role says nothing against them.

    Who names a version (`v1`) asks for old ones.
    """
    if role == "old_version" and any(map(_VERSION.fullmatch, words)):
        return True
    return not ASKS_FOR.get(role, frozenset()).isdisjoint(words)


@lru_cache(maxsize=1 << 16)
def is_test(qualified_name: str) -> bool:
    """Whether a symbol lies in a scope that is named for tests, as `tests.parses_headers` does."""
    if "test" not in (lowered := qualified_name.lower()) and "spec" not in lowered:
        return False
    scopes = qualified_name.split(".")[:-1]
    return any(not _TEST_FILES.isdisjoint((scope.lower(), *_camel(scope))) for scope in scopes)


def _roles(path: str, suffixes: dict[tuple[str, str], set[str]], newest: dict[str, int]) -> tuple[bool, ...]:
    folder, _, name = path.rpartition("/")
    stem, suffix = _stem(name), _suffix(name)
    in_folders = {
        word
        for part in folder.split("/")
        for word in (*_JOINTS.split(part.lower()), *_camel(part), part.lower())
    }
    in_name = {*_JOINTS.split(stem.lower()), *_camel(stem)}
    ends = [joint.start() for joint in _JOINTS.finditer(stem) if joint.start()]
    beside = suffixes[folder, stem]
    return (
        bool(in_folders & _TEST_FOLDERS or in_name & _TEST_FILES or "__tests__" in folder),
        bool(in_folders & _EXAMPLE_FOLDERS or in_name & _EXAMPLE_FILES),
        bool((in_folders | in_name) & _COMPAT),
        suffix in _PROSE_SUFFIXES,
        suffix in _DATA_SUFFIXES or stem.lower() in _DATA_STEMS,
        any(version < newest[parent] for parent, version in _versions(folder)),
        any((folder, stem[:end]) in suffixes for end in ends)
        or not beside.isdisjoint(_DECLARES.get(suffix, ())),
    )


def _camel(name: str) -> tuple[str, ...]:
    """First and last word of a name in camel case: `FooTests` is of tests, `testify` is not."""
    found = words(name)
    return (found[0], found[-1]) if len(found) > 1 and not name.islower() else ()


def _versions(folder: str) -> list[tuple[str, int]]:
    """The folders of a path that are named for a version: their parent, and the version."""
    parts = folder.split("/")
    numbered = [(at, _VERSION.fullmatch(part)) for at, part in enumerate(parts)]
    return [("/".join(parts[:at]), int(found[1])) for at, found in numbered if found]


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def _suffix(name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return suffix.lower() if stem else ""
