"""Which ignore files count in a folder: its own, those above it, those of its repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Self

from .ignore import IgnoreFile

GITIGNORE = ".gitignore"
_MAX_IGNORE_FILE = 10_000_000


class Rules:
    """The ignore files that count in a folder, outermost first; the innermost that says something decides.

    Paths are bytes, relative to the top of the repository, or to the root where there is none.
    """

    __slots__ = ("levels",)

    def __init__(self, levels: tuple[tuple[int, IgnoreFile], ...] = ()) -> None:
        self.levels = levels

    def ignored(self, name: bytes, path: bytes, *, is_dir: bool) -> bool:
        for depth, patterns in reversed(self.levels):
            verdict = patterns.verdict(name, path[depth:], is_dir=is_dir)
            if verdict is not None:
                return verdict
        return False

    def adding(self, file: Path, folder: bytes) -> Self:
        """With the patterns of one file more, which are relative to `folder` (`b""` or ending in a slash).

        Raises:
            OSError: it cannot be read.
        """
        content = _read_regular(file)
        patterns = IgnoreFile(content) if content else None
        return type(self)((*self.levels, (len(folder), patterns))) if patterns else self


def rules_above(root: Path) -> tuple[Rules, bytes]:
    """The rules that hold for what is in `root`, and its path from the top of its repository with a slash.

    Where the rules above ignore the root itself, none of them counts. A file that cannot be read says
    nothing.
    """
    top = next((folder for folder in (root, *root.parents) if is_repository(folder)), None)
    if top is None:
        return Rules(), b""
    rules = repository_rules(top, b"")
    folder, path = top, b""
    for segment in root.relative_to(top).parts:
        rules = _adding(rules, folder / GITIGNORE, path)
        name = os.fsencode(segment)
        if rules.ignored(name, path + name, is_dir=True):
            return Rules(), b""
        folder, path = folder / segment, path + name + b"/"
    return rules, path


def is_repository(folder: Path) -> bool:
    """Whether a git repository, worktree or submodule has its top there."""
    return _git_dir(folder) is not None


def repository_rules(folder: Path, path: bytes) -> Rules:
    """The patterns in `info/exclude` of the repository whose top is `folder`."""
    git_dir = _git_dir(folder)
    return _adding(Rules(), git_dir / "info" / "exclude", path) if git_dir else Rules()


def _adding(rules: Rules, file: Path, folder: bytes) -> Rules:
    try:
        return rules.adding(file, folder)
    except OSError:
        return rules


def _git_dir(folder: Path) -> Path | None:
    """Where the repository with its top at `folder` keeps what its worktrees share."""
    place = folder / ".git"
    try:
        if not place.is_dir():
            pointer = _read_regular(place).partition(b"\n")[0]
            if not pointer.startswith(b"gitdir:"):
                return None
            place = folder / os.fsdecode(pointer[7:].strip())
        if not (place / "HEAD").is_file():
            return None
        return place / os.fsdecode(_read_regular(place / "commondir").strip())
    except (OSError, ValueError):
        return None


def _read_regular(file: Path) -> bytes:
    """A file's content, `b""` when it is not there or is a link, a folder or a pipe."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return b""
    except (FileNotFoundError, NotADirectoryError):
        return b""
    with file.open("rb") as opened:
        return opened.read(_MAX_IGNORE_FILE)
