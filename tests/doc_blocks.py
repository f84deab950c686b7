"""Fenced blocks of the documentation, as files to write, Python to run and commands to type.

A block that stands below a line which holds nothing but a path in backticks is that file. `python` blocks of
a page run in their order, in one namespace. In a `console` block, lines that start with "$ " are commands,
and what follows each is what it prints, on both streams; there `...` stands for anything. A comment
`<!-- not run -->` above a block leaves it out.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BLOCK = re.compile(
    r"(?P<above>[^\n]*)\n(?:[ \t]*\n)*"
    r"^(?P<fence>```+)(?P<language>[\w+-]*)[^\n]*\n(?P<text>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_PATH = re.compile(r"`([\w./-]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and text, the line on which its text starts, the file that it is."""

    language: str
    text: str
    line: int
    file: str | None = None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that are to run, in order."""
    text = "\n" + page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        above = match["above"].strip()
        if above == "<!-- not run -->":
            continue
        named = _PATH.fullmatch(above)
        line = text.count("\n", 0, match.start("text"))
        found.append(Block(match["language"], match["text"], line, named[1] if named else None))
    return found


def write(block: Block, folder: Path) -> Path:
    """Write a block as the file that it is."""
    assert block.file is not None
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    return path


def run_python(page: Path, found: Iterable[Block], namespace: dict[str, Any]) -> None:
    """Run blocks of Python in one namespace; a traceback shows the line in the page."""
    for block in found:
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)


def run_console(block: Block, folder: Path, env: Mapping[str, str]) -> None:
    """Type each command into a shell, and compare what it prints with what the page says."""
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = entry.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        wanted = ".*".join(map(re.escape, _folded(expected).split("...")))
        assert re.fullmatch(wanted, _folded(done.stdout), re.DOTALL), (
            f"line {block.line}: $ {command}\nprints\n{done.stdout}\nand not\n{expected}"
        )


def _folded(text: str) -> str:
    """How wide a column is depends on what else is installed."""
    return re.sub(r"[ \t]+", " ", text.strip())


def sample_repository(folder: Path) -> None:
    """A small source tree for examples to search."""
    (folder / "src").mkdir()
    (folder / "src/auth.py").write_text(
        "def revoke_token(token):\n"
        '    """Take a token back."""\n'
        "    tokens.remove(token)\n\n\n"
        "def issue_token(user):\n"
        '    """Give a user a token."""\n'
        "    return sign(user)\n",
        encoding="utf-8",
    )
    (folder / "src/session.py").write_text(
        "from auth import revoke_token\n\n\n"
        "class Session:\n"
        "    def logout(self):\n"
        '        """End the session: its token is revoked."""\n'
        "        revoke_token(self.token)\n",
        encoding="utf-8",
    )
    (folder / "notes.txt").write_text("A session ends when its token is revoked.\n", encoding="utf-8")
