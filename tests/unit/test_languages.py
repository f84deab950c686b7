"""Which language a file is in."""

from __future__ import annotations

import re

import pytest

from hybridrank.code.grammars import GRAMMARS
from hybridrank.code.languages import LANGUAGES, NAMES, SUFFIXES, language_of


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.py", "", "python"),
        ("src/types.PYI", "", "python"),
        ("a.test.tsx", "", "tsx"),
        ("a.h", "", "cpp"),
        ("deep/Makefile", "", "make"),
        ("Makefile.am", "", "make"),
        ("Dockerfile.dev", "", "dockerfile"),
        ("CMakeLists.txt", "", "cmake"),
        ("README.md", "", "markdown"),
        (".py", "", ""),
        ("py", "", ""),
        ("a.unknown", "", ""),
        ("notes.zig2", "", ""),
        ("", "", ""),
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("run", "#!/usr/bin/python3.11 -u\n", "python"),
        ("run", "#! /bin/sh\n", "bash"),
        ("run", "#!/usr/bin/env -S FOO=1 node --flag\n", "javascript"),
        ("run", "#!/usr/bin/env\n", ""),
        ("run", "#!\n", ""),
        ("run", "#!/opt/strange\n", ""),
        ("run.go", "#!/bin/sh\n", "go"),
        ("run", "print(1) #!/bin/sh", ""),
    ],
)
def test_language(path: str, text: str, language: str) -> None:
    assert language_of(path, text) == language


def test_the_tables_are_sound() -> None:
    assert all(re.fullmatch(r"\.[a-z0-9+]+", suffix) for suffix in SUFFIXES)
    assert not any("." + name.rpartition(".")[2] == name for name in SUFFIXES if name in NAMES)
    assert set(GRAMMARS) <= LANGUAGES
