"""Languages on real repositories, where the environment variable HYBRIDRANK_CORPUS names a folder of them."""

from __future__ import annotations

import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from chunk_laws import check_laws
from hybridrank.code.chunk import TreeSitterChunker
from hybridrank.code.decode import decode
from hybridrank.code.grammars import GRAMMARS
from hybridrank.code.languages import language_of
from hybridrank.code.walk import Found, walk
from hybridrank.types import SourceFile

CORPUS = Path(os.environ.get("HYBRIDRANK_CORPUS", "nowhere"))
FILES = 60
"""Files of a language that are looked at, spread evenly over all repositories."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="HYBRIDRANK_CORPUS names no folder of repositories"),
]


@cache
def files() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for repository in sorted(p for p in CORPUS.iterdir() if p.is_dir()):
        for item in walk(repository):
            if isinstance(item, Found):
                found[language_of(item.path)].append(Path(item.file))
    return found


def sources(language: str) -> Iterator[SourceFile]:
    paths = files().get(language, [])
    for path in paths[:: max(1, len(paths) // FILES)]:
        decoded = decode(path.read_bytes())
        if decoded is not None:
            yield SourceFile(path.as_posix(), decoded.text, language)


@pytest.mark.parametrize("language", sorted(set(GRAMMARS) - {"python"}))
def test_laws_hold_on_real_code(language: str) -> None:
    if language not in files():
        pytest.skip(f"no file of {language} in the corpus")
    by_syntax = 0
    chosen = list(sources(language))
    for source in chosen:
        for max_chars in (200, 2000):
            documents = TreeSitterChunker(max_chars=max_chars).chunk(source)
            check_laws(source.text, documents, max_chars)
        by_syntax += all(d.metadata["parser"] == "tree-sitter" for d in documents)
    assert by_syntax == len(chosen)


def agreement() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "ctags_agreement.py"
    spec = spec_from_file_location("ctags_agreement", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


LEAST = {
    "bash": 0.98,
    "c": 0.99,
    "cpp": 0.97,
    "csharp": 0.99,
    "elixir": 0.98,
    "go": 0.99,
    "java": 0.99,
    "javascript": 0.98,
    "kotlin": 0.95,
    "lua": 0.98,
    "php": 0.99,
    "python": 0.99,
    "ruby": 0.97,
    "rust": 0.99,
    "tsx": 0.99,
    "typescript": 0.99,
}
"""How many of the tags outside of functions are found, at least; docs/languages.md explains the rest."""


@pytest.mark.skipif(shutil.which("ctags") is None, reason="ctags is not installed")
@pytest.mark.parametrize("language", sorted(LEAST))
def test_universal_ctags_agrees(language: str) -> None:
    module = agreement()
    if not module.is_universal():
        pytest.skip("ctags is not Universal Ctags with JSON output")
    (row,) = (row for row in module.ROWS if row.language == language)
    if not (CORPUS / row.repository).is_dir():
        pytest.skip(f"no {row.repository} in the corpus")
    result = module.agreement(row, CORPUS)
    assert result.tags > 20
    assert result.recall_outside >= LEAST[language], result.missed
