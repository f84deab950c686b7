"""The walk against git itself, and what holds for any tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank.code.walk import Found, walk

names = st.sampled_from(
    ["a", "b", "ab", "a.py", "b.py", ".x", "A", "a b", "[a]", "#c", "é", "a-b", "!n", "*"]
)
patterns = st.lists(
    st.sampled_from(
        [
            *("a", "b", "ab", "*", "**", "?", "/", ".py", "*.py", "[ab]", "[!a]", "[^b-]", "[a-", "z]", "]"),
            *(
                "[[:alpha:]]",
                "[]",
                "!",
                "\\",
                "#",
                " ",
                "\\ ",
                ".",
                "-",
                "é",
                "/**/",
                "**/",
                "/**",
                "\r",
                ":",
            ),
        ]
    ),
    min_size=1,
    max_size=4,
).map("".join)
# What stands in a folder, and one thing below it that is taken in again.
allow_lists = st.tuples(
    st.sampled_from(["", "/", "**/"]),
    st.sampled_from(["a", "b", "ab", "a/b", "?", "a*"]),
    st.sampled_from(["/*", "/**", "/**/*", "/*/", "*", "/*b", "/?*"]),
    st.sampled_from(["a", "b", "ab", "a.py", "b.py", "*.py"]),
    st.booleans(),
).map(lambda t: f"{t[0]}{t[1]}{t[2]}\n!{f'{t[0]}{t[1]}/' * t[4]}{t[3]}")
# Git takes `**\/` for a folder at least, unlike `**/`; nobody writes that.
ignore_files = st.lists(
    st.tuples(st.sampled_from(["", "", "", "!"]), patterns).map("".join).filter(lambda p: "*\\/" not in p)
    | allow_lists,
    min_size=1,
    max_size=4,
).map("\n".join)


@st.composite
def trees(draw: Any, depth: int = 2) -> dict[str, Any]:
    """Nested folders as dicts; a text is the content of an ignore file, None an empty file."""
    folder: dict[str, Any] = {}
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        folder[name] = draw(trees(depth - 1)) if depth and draw(st.booleans()) else None
    if draw(st.booleans()) or depth == 2:
        folder[".gitignore"] = draw(ignore_files) + draw(st.sampled_from(["", "\n", "\r\n"]))
    return folder


def build(root: Path, tree: dict[str, Any]) -> None:
    for name, content in tree.items():
        if isinstance(content, dict):
            (root / name).mkdir()
            build(root / name, content)
        else:
            (root / name).write_bytes((content or "").encode())


@contextmanager
def built(tree: dict[str, Any]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        build(root, tree)
        yield root


def found(root: Path) -> list[str]:
    return [item.path for item in walk(root) if isinstance(item, Found)]


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": os.devnull}
    return subprocess.run(["git", *arguments], cwd=folder, env=own | alone, capture_output=True)


def listed_by_git(folder: Path) -> list[str]:
    listed = git(folder, "ls-files", "-co", "--exclude-standard", "-z")
    assert listed.returncode == 0
    return sorted(path for path in listed.stdout.decode().split("\0") if path)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@given(allow_lists, st.booleans())
def test_allow_lists_keep_what_git_keeps(patterns: str, only_top: bool) -> None:
    below = {"a.py": None, "b.py": None, "ab": {"a.py": None, "b": None}}
    folder = {**below, "b": below, "a": {"b.py": None}}
    top = "/*\n!/a\n" if only_top else ""
    with built({"a": folder, "b": folder, "ab": below, "b.py": None, ".gitignore": top + patterns}) as root:
        git(root, "init", "-q", "--template=")
        assert found(root) == listed_by_git(root)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@given(trees(), ignore_files, st.data())
def test_the_walk_finds_what_git_lists(tree: dict[str, Any], exclude: str, data: st.DataObject) -> None:
    with built(tree) as root:
        git(root, "init", "-q", "--template=")
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "exclude").write_text(exclude, encoding="utf-8")
        assert found(root) == listed_by_git(root)
        folders = sorted(p for p in root.rglob("*") if p.is_dir() and p.relative_to(root).parts[0] != ".git")
        if not folders:
            return
        folder = data.draw(st.sampled_from(folders))
        if git(root, "check-ignore", "-q", str(folder.relative_to(root))).returncode:
            assert found(folder) == listed_by_git(folder)
        else:  # a root that is ignored itself: as if it stood alone
            with tempfile.TemporaryDirectory() as place:
                copy = shutil.copytree(folder, Path(place, "copy"))
                assert found(folder) == found(copy)


@given(trees(), st.data())
def test_links_add_nothing(tree: dict[str, Any], data: st.DataObject) -> None:
    with built(tree) as root:
        before = found(root)
        folders = sorted(path for path in root.rglob("*") if path.is_dir())
        for number in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.sampled_from([root, *folders]))
            (place / f"link{number}").symlink_to(data.draw(st.sampled_from([root, *folders, Path("..")])))
        assert found(root) == before


@given(trees())
def test_every_file_is_found_or_skipped_or_below_what_is_skipped(tree: dict[str, Any]) -> None:
    with built(tree) as root:
        items = list(walk(root))
        paths = [item.path for item in items]
        assert paths == sorted(set(paths), key=lambda p: p + "/" * (root / p).is_dir())
        told = set(paths)
        for file in (path for path in root.rglob("*") if path.is_file()):
            path = file.relative_to(root)
            assert told & {str(path), *map(str, path.parents)}
