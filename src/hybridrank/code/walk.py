"""Which files of a tree are source: a deterministic walk that follows ignore files as git does."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidValueError
from .generated import GENERATED_NAME, generated_name
from .rules import GITIGNORE, Rules, is_repository, repository_rules, rules_above
from .spans import check_limit, quoted

MAX_BYTES = 1_000_000
"""Larger files are skipped by default: hardly any of that size is written by hand."""

IGNORED = "ignored"
VERSION_CONTROL = "version control"
SYMLINK = "symbolic link"
SPECIAL = "no regular file"
BAD_NAME = "its name is not valid UTF-8"

_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})


class Found(NamedTuple):
    """A file to read.

    Attributes:
        path: relative to the root, with forward slashes.
        file: where it is.
        stat: size, times and inode, as the walk saw them.
    """

    path: str
    file: str
    stat: os.stat_result


class Skipped(NamedTuple):
    """A file or folder that is left out.

    Attributes:
        path: relative to the root; what is not valid UTF-8 in it stands as `%` and hexadecimal bytes.
        reason: the same text for all that share it.
    """

    path: str
    reason: str


class _Folder(NamedTuple):
    """A folder to enter, with the rules of the folder that it is in."""

    path: str
    place: str
    rules: Rules


def walk(
    root: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, generated: bool = False
) -> Iterator[Found | Skipped]:
    """Every file, and every file or folder that is skipped, below `root`, sorted by path.

    `.gitignore` and `.git/info/exclude` count as they do in git for untracked files; a repository inside the
    tree starts anew. The root itself is never ignored; ignore files above it, up to the top of its
    repository, count only where they do not ignore the root. Links are not followed: each file comes once,
    and no link loops. Only ignore files are opened. A root that is a file yields that one file.

    Args:
        max_bytes: larger files are skipped.
        generated: whether to yield files whose names say that they are generated.

    Raises:
        InvalidValueError: the root does not exist or cannot be read, or `max_bytes` is no positive int.
    """
    walker = _Walker(check_limit("max_bytes", max_bytes), generated)
    try:
        place = Path(root).resolve(strict=True)
        status = place.stat()
        if stat.S_ISDIR(status.st_mode):
            os.scandir(place).close()
    except (OSError, TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a link that loops
        message = f"cannot read {str(root)!r}: {_why(error)}; give a folder or a file"
        raise InvalidValueError(message) from None
    if stat.S_ISDIR(status.st_mode):
        return walker.walk(place)
    reason = walker.reason_for_file(place.name, status)
    skipped = Skipped(_readable(place.name), reason)
    return iter((skipped if reason else Found(place.name, str(place), status),))


def unreadable(error: Exception) -> str:
    """The reason for what the operating system refused."""
    return f"unreadable: {_why(error)}"


def too_large(max_bytes: int) -> str:
    """The reason for files over the limit; it names the option that raises it."""
    return f"over {max_bytes:,} bytes, see max_bytes (--max-bytes)"


class _Walker:
    def __init__(self, max_bytes: int, generated: bool) -> None:
        self.max_bytes = max_bytes
        self.generated = generated

    def walk(self, root: Path) -> Iterator[Found | Skipped]:
        rules, above = rules_above(root)
        todo: list[Found | Skipped | _Folder] = [_Folder("", str(root), rules)]
        while todo:
            item = todo.pop()
            if isinstance(item, _Folder):
                todo.extend(reversed(self.enter(item, above)))
            else:
                yield item

    def enter(self, folder: _Folder, above: bytes) -> list[Found | Skipped | _Folder]:
        """What is in a folder, in the order of the paths below it."""
        items: list[Found | Skipped | _Folder] = []
        prefix = folder.path + "/" if folder.path else ""
        try:
            with os.scandir(folder.place) as listing:
                entries = list(listing)
        except OSError as error:
            return [Skipped(_readable(folder.path), unreadable(error))]
        names = {entry.name for entry in entries}
        rules, base = folder.rules, above + os.fsencode(prefix)
        if prefix and ".git" in names and is_repository(Path(folder.place)):
            rules = repository_rules(Path(folder.place), base)
        if GITIGNORE in names:
            try:
                rules = rules.adding(Path(folder.place, GITIGNORE), base)
            except OSError as error:
                items.append(Skipped(_readable(prefix + GITIGNORE), unreadable(error)))
        ranked = []
        for entry in entries:
            is_dir = entry.is_dir(follow_symlinks=False)
            item = self.judge(entry, is_dir, prefix + entry.name, rules, base)
            ranked.append((entry.name + "/" if is_dir else entry.name, item))
        ranked.sort(key=lambda pair: pair[0])
        return items + [item for _, item in ranked]

    def judge(
        self, entry: os.DirEntry[str], is_dir: bool, path: str, rules: Rules, base: bytes
    ) -> Found | Skipped | _Folder:
        name = os.fsencode(entry.name)
        if entry.name in _VERSION_CONTROL and (is_dir or entry.name == ".git"):
            return Skipped(path, VERSION_CONTROL)
        if rules.ignored(name, base + name, is_dir=is_dir):
            return Skipped(_readable(path), IGNORED)
        if entry.is_symlink():
            return Skipped(_readable(path), SYMLINK)
        if is_dir:
            bad_name = None if _is_utf8(entry.name) else Skipped(_readable(path), BAD_NAME)
            return bad_name or _Folder(path, entry.path, rules)
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            return Skipped(_readable(path), unreadable(error))
        reason = self.reason_for_file(entry.name, status)
        return Skipped(_readable(path), reason) if reason else Found(path, entry.path, status)

    def reason_for_file(self, name: str, status: os.stat_result) -> str:
        if not stat.S_ISREG(status.st_mode):
            return SPECIAL
        if not _is_utf8(name):
            return BAD_NAME
        if not self.generated and generated_name(name):
            return GENERATED_NAME
        return too_large(self.max_bytes) if status.st_size > self.max_bytes else ""


def _is_utf8(name: str) -> bool:
    return name.isascii() or not any("\ud800" <= c <= "\udfff" for c in name)


def _readable(path: str) -> str:
    return path if _is_utf8(path) else quoted(path)


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
