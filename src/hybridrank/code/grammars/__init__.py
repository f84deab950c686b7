"""What each grammar calls the things that we look for: a row for each language, beside what it needs."""

from __future__ import annotations

from collections.abc import Mapping

from ..grammar import Grammar
from .bash import BASH
from .c import CPP, C
from .csharp import CSHARP
from .elixir import ELIXIR
from .gdscript import GDSCRIPT
from .go import GO
from .haskell import HASKELL
from .java import JAVA
from .javascript import JAVASCRIPT, TSX, TYPESCRIPT
from .kotlin import KOTLIN
from .lua import LUA
from .markdown import MARKDOWN
from .php import PHP
from .python import PYTHON
from .ruby import RUBY
from .rust import RUST
from .scala import SCALA
from .swift import SWIFT
from .zig import ZIG

GRAMMARS: Mapping[str, Grammar] = {
    "bash": BASH,
    "c": C,
    "cpp": CPP,
    "csharp": CSHARP,
    "elixir": ELIXIR,
    "gdscript": GDSCRIPT,
    "go": GO,
    "haskell": HASKELL,
    "java": JAVA,
    "javascript": JAVASCRIPT,
    "kotlin": KOTLIN,
    "lua": LUA,
    "markdown": MARKDOWN,
    "php": PHP,
    "python": PYTHON,
    "ruby": RUBY,
    "rust": RUST,
    "scala": SCALA,
    "swift": SWIFT,
    "tsx": TSX,
    "typescript": TYPESCRIPT,
    "zig": ZIG,
}
"""By the name of the language."""
