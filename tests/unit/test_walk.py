"""The walk: what is found, in which order, and why the rest is skipped."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hybridrank.code.walk import (
    BAD_NAME,
    IGNORED,
    SPECIAL,
    SYMLINK,
    VERSION_CONTROL,
    Found,
    Skipped,
    walk,
)
from hybridrank.errors import InvalidValueError


def tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def repository(root: Path) -> Path:
    """As much of a git repository as the walk looks at."""
    return tree(root, {".git/HEAD": "ref: refs/heads/main\n"})


def found(root: Path, **options: Any) -> list[str]:
    return [item.path for item in walk(root, **options) if isinstance(item, Found)]


def skipped(root: Path, **options: Any) -> dict[str, str]:
    return {item.path: item.reason for item in walk(root, **options) if isinstance(item, Skipped)}


def test_files_come_sorted_by_path(tmp_path: Path) -> None:
    names = ["b.py", "a/z.py", "a.py", "a-b/x", "a/b/c", "B", ".hidden/x", "文件.py"]
    tree(tmp_path, dict.fromkeys(names, ""))
    assert found(tmp_path) == sorted(names)
    first = next(walk(tmp_path))
    assert isinstance(first, Found)
    assert (Path(first.file), first.stat.st_size) == (tmp_path / ".hidden" / "x", 0)


def test_ignore_files_count_in_their_folder_and_below(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            ".gitignore": "*.log\n/build\ncache/\ndoc/*.txt\n**/deep/x\n",
            "a.log": "",
            "build/x": "",
            "sub/build/x": "",
            "cache": "a file of that name",
            "sub/cache/x": "",
            "doc/a.txt": "",
            "sub/doc/a.txt": "",
            "p/q/deep/x": "",
            "sub/.gitignore": "!keep.log\nown\n",
            "sub/keep.log": "",
            "sub/b.log": "",
            "sub/own": "",
            "own": "",
        },
    )
    assert found(tmp_path) == [
        ".gitignore",
        "cache",
        "own",
        "sub/.gitignore",
        "sub/build/x",
        "sub/doc/a.txt",
        "sub/keep.log",
    ]
    assert {path for path, reason in skipped(tmp_path).items() if reason == IGNORED} == {
        "a.log",
        "build",
        "doc/a.txt",
        "p/q/deep/x",
        "sub/b.log",
        "sub/cache",
        "sub/own",
    }


def test_what_is_below_an_ignored_folder_stays_ignored(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "out/\n!out/keep\n", "out/keep": "", "x": ""})
    assert found(tmp_path) == [".gitignore", "x"]


# CH-22
def test_allow_lists_reach_into_folders(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*\n!*/\n!*.go\n", "main.go": "", "pkg/a.go": "", "readme.txt": ""})
    assert found(tmp_path) == ["main.go", "pkg/a.go"]


@pytest.mark.parametrize(
    ("pattern", "ignored"),
    [
        ("a*b", ["a*b", "axb", "sub/axb"]),
        ("a\\*b", ["a*b"]),
        ("a[!x]b", ["a*b"]),
        ("/axb", ["axb"]),
        ("sub/axb", ["sub/axb"]),
        ("a?b ", ["a*b", "axb", "sub/axb"]),
        ("end\\ ", ["end "]),
        ("\\#x", ["#x"]),
        ("#x", []),
        ("[[:punct:]]x", ["#x"]),
        ("*b\r", ["a*b", "axb", "sub/axb"]),
        ("sub/**", ["sub"]),
        ("**/axb", ["axb", "sub/axb"]),
        ("[", []),
        ("!", []),
        ("axb/", []),
        ("\\", []),
        ("/*xb", ["axb"]),
        ("\ufeffaxb", ["axb", "sub/axb"]),
        ("sub/axb**", ["sub/axb"]),
        ("su**/**/axb", ["sub/axb"]),
    ],
)
def test_patterns_mean_what_git_says(tmp_path: Path, pattern: str, ignored: list[str]) -> None:
    files = ["#x", "a*b", "axb", "end ", "sub/axb"]
    tree(tmp_path, {**dict.fromkeys(files, ""), ".gitignore": pattern + "\n"})
    gone = set(files) - set(found(tmp_path))
    assert gone == {f for f in files if f in ignored or f.split("/")[0] in ignored}


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("/*\n!/src\n/src/*\n!/src/keep\n", ["src/keep/a.py"]),
        ("src/*\n!src/b.py\n", ["b.py", "lib/src/b.py", "src/b.py"]),
        ("/src/*\n!/src/keep/\n", ["b.py", "lib/src/b.py", "src/keep/a.py"]),
        ("**/src/*\n!b.py\n", ["b.py", "lib/src/b.py", "src/b.py"]),
        ("src/**/*\n!src/b.py\n", ["b.py", "lib/src/b.py", "src/b.py"]),
        ("s*/*\n!b.py\n", ["b.py", "lib/src/b.py", "src/b.py"]),
        ("src\\/*\n!b.py\n", ["b.py", "lib/src/b.py", "src/b.py"]),
        ("lib/src/*\n!b.py\n", ["b.py", "lib/src/b.py", "src/b.py", "src/keep/a.py"]),
        ("/src*\n!b.py\n", ["b.py", "lib/src/b.py"]),
    ],
)
def test_a_star_is_what_stands_in_a_folder_and_not_the_folder(
    tmp_path: Path, patterns: str, expected: list[str]
) -> None:
    files = ["b.py", "lib/src/b.py", "src/b.py", "src/keep/a.py"]
    tree(tmp_path, {**dict.fromkeys(files, ""), ".gitignore": patterns})
    assert [path for path in found(tmp_path) if path != ".gitignore"] == expected


def test_a_pattern_cannot_make_the_walk_slow(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*a" * 60 + "b\n" + "**/a*/" * 20 + "b\n", "a" * 200: ""})
    tree(tmp_path, {"/".join("a" * 30) + "/x": ""})
    assert len(found(tmp_path)) == 3


def test_the_root_itself_is_never_ignored(tmp_path: Path) -> None:
    repository(tmp_path)
    package = ".venv/lib/python3.11/site-packages/httpx"
    tree(tmp_path, {".gitignore": ".venv/\n*.py\n", f"{package}/a.py": "", f"{package}/sub/b.py": ""})
    assert found(tmp_path / package) == ["a.py", "sub/b.py"]
    assert found(tmp_path) == [".gitignore"]


def test_ignore_files_above_the_root_count_up_to_the_top_of_its_repository(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*\n"})
    repository(tmp_path / "repo")
    tree(
        tmp_path / "repo",
        {
            ".gitignore": "*.log\n/src/gone\n",
            ".git/info/exclude": "*.tmp\n",
            "src/.gitignore": "!keep.log\n",
            "src/app/a.log": "",
            "src/app/keep.log": "",
            "src/app/b.tmp": "",
            "src/app/c.py": "",
            "src/gone/d.py": "",
        },
    )
    assert found(tmp_path / "repo" / "src") == [".gitignore", "app/c.py", "app/keep.log"]
    assert found(tmp_path / "repo" / "src" / "app") == ["c.py", "keep.log"]
    assert found(tmp_path / "repo" / "src" / "gone") == ["d.py"]


def test_outside_a_repository_nothing_above_the_root_counts(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*.py\n", "sub/a.py": ""})
    assert found(tmp_path / "sub") == ["a.py"]


def test_a_repository_inside_the_tree_starts_anew(tmp_path: Path) -> None:
    repository(tmp_path)
    repository(tmp_path / "inner")
    tree(
        tmp_path,
        {
            ".gitignore": "*.log\n",
            "a.log": "",
            "inner/.git/info/exclude": "b.py\n",
            "inner/a.log": "",
            "inner/b.py": "",
        },
    )
    assert found(tmp_path) == [".gitignore", "inner/a.log"]


def test_the_exclude_file_of_a_worktree_is_that_of_its_repository(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q", "main"], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path / "main", check=True)
    subprocess.run([*git, "worktree", "add", "-q", "../other"], cwd=tmp_path / "main", check=True)
    tree(tmp_path, {"main/.git/info/exclude": "*.tmp\n", "other/a.tmp": "", "other/b.py": ""})
    assert found(tmp_path / "other") == ["b.py"]
    assert skipped(tmp_path / "other")[".git"] == VERSION_CONTROL


# CH-23
def test_links_are_told_and_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, {"a/x.py": "", "outside.py": ""})
    (tmp_path / "a" / "loop").symlink_to("..")
    (tmp_path / "a" / "again.py").symlink_to("x.py")
    (tmp_path / "a" / "broken").symlink_to("nowhere")
    assert found(tmp_path / "a") == ["x.py"]
    assert skipped(tmp_path / "a") == {"again.py": SYMLINK, "broken": SYMLINK, "loop": SYMLINK}


def test_a_root_that_is_a_link_is_followed(tmp_path: Path) -> None:
    tree(tmp_path, {"real/x.py": ""})
    (tmp_path / "link").symlink_to("real")
    assert found(tmp_path / "link") == ["x.py"]


def test_special_files_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/s.py")
        assert skipped(Path(short)) == {"s.py": SPECIAL}
    assert skipped(tmp_path) == {"pipe.py": SPECIAL}
    assert skipped(tmp_path / "pipe.py") == {"pipe.py": SPECIAL}


def test_version_control_folders_are_skipped(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {".git/HEAD": "", ".hg/x": "", "a/.svn/x": "", "b/.git": "gitdir: ../.git/x", ".github/x": ""},
    )
    assert found(tmp_path) == [".github/x"]
    assert skipped(tmp_path) == dict.fromkeys([".git", ".hg", "a/.svn", "b/.git"], VERSION_CONTROL)


def test_a_limit_on_size(tmp_path: Path) -> None:
    tree(tmp_path, {"big.py": "x" * 101, "fits.py": "x" * 100})
    assert found(tmp_path, max_bytes=100) == ["fits.py"]
    assert skipped(tmp_path, max_bytes=100) == {"big.py": "over 100 bytes, see max_bytes (--max-bytes)"}
    tree(tmp_path, {"big.py": "x" * 1_000_001})
    assert "1,000,000" in skipped(tmp_path)["big.py"]


@pytest.mark.parametrize("limit", [0, -1, True, 1e6, "1"])
def test_a_limit_that_is_no_positive_int_is_refused(tmp_path: Path, limit: Any) -> None:
    with pytest.raises(InvalidValueError, match="max_bytes is"):
        walk(tmp_path, max_bytes=limit)


def test_generated_files_are_known_by_name(tmp_path: Path) -> None:
    generated = [
        *("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "uv.lock"),
        *("go.sum", "app.min.js", "app-min.js", "style.min.css", "app.js.map"),
    ]
    written = ["package.json", "locks.py", "lock", "minjs.js", "admin.js", "go.mod", "map.js"]
    tree(tmp_path, dict.fromkeys([*generated, *written], "x"))
    assert found(tmp_path) == sorted(written)
    assert set(skipped(tmp_path)) == set(generated)
    assert all(reason.startswith("generated") for reason in skipped(tmp_path).values())
    assert found(tmp_path, generated=True) == sorted([*generated, *written])


def test_names_that_are_no_text_are_skipped_and_shown(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path)
    Path(os.fsdecode(place + b"/caf\xe9.py")).touch()
    Path(os.fsdecode(place + b"/d\xe9")).mkdir()
    Path(os.fsdecode(place + b"/d\xe9/x.py")).touch()
    tree(tmp_path, {"new\nline.py": "", "sp ace.py": ""})
    assert found(tmp_path) == ["new\nline.py", "sp ace.py"]
    assert skipped(tmp_path) == {"caf%E9.py": BAD_NAME, "d%E9": BAD_NAME}


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"closed/x.py": "", "open/.gitignore": "*.py\n", "open/y.py": "", "z.py": ""})
    scandir, open_path = os.scandir, Path.open

    def refusing_scandir(path: Any) -> Any:
        if os.fspath(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def refusing_open(self: Path, *args: Any) -> Any:
        if self.name == ".gitignore":
            raise PermissionError(13, "Permission denied")
        return open_path(self, *args)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    monkeypatch.setattr(Path, "open", refusing_open)
    assert found(tmp_path) == ["open/.gitignore", "open/y.py", "z.py"]
    assert skipped(tmp_path) == {
        "closed": "unreadable: Permission denied",
        "open/.gitignore": "unreadable: Permission denied",
    }
    with pytest.raises(InvalidValueError, match="Permission denied"):
        walk(tmp_path / "closed")


def test_ignore_files_that_are_no_files_say_nothing(tmp_path: Path) -> None:
    tree(tmp_path, {"a/.gitignore/x.py": "", "b/patterns": "*.py\n", "b/y.py": "", "c/z.py": ""})
    (tmp_path / "b" / ".gitignore").symlink_to("patterns")
    os.mkfifo(tmp_path / "c" / ".gitignore")
    assert found(tmp_path) == ["a/.gitignore/x.py", "b/patterns", "b/y.py", "c/z.py"]


def test_a_root_that_is_a_file_is_that_file(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*\n", "a.py": "x"})
    assert found(tmp_path / "a.py") == ["a.py"]
    assert list(skipped(tmp_path / "a.py", max_bytes=1)) == []


@pytest.mark.parametrize("root", ["missing", "a.py/below", "nul\0", 7, None])
def test_a_root_that_is_not_there_is_refused(tmp_path: Path, root: Any) -> None:
    tree(tmp_path, {"a.py": ""})
    with pytest.raises(InvalidValueError, match="cannot read"):
        walk(tmp_path / root if isinstance(root, str) else root)


def test_a_root_that_is_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidValueError, match="cannot read"):
        walk(tmp_path / "loop")
