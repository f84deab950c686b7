"""Distributions made up on disk: a .dist-info folder with entry points, and the modules they name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest


class Site:
    """A folder on sys.path that distributions are put into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self,
        name: str,
        entry_points: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
        *,
        version: str = "1.0",
        metadata: str | None = None,
    ) -> Path:
        """Entry points by group (`retrievers`) and name; modules by name, with their source text."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        if metadata is None:
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        lines: list[str] = []
        for group, entries in entry_points.items():
            lines += [f"[hybridrank.{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        for module, source in (modules or {}).items():
            (self.folder / f"{module}.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
        return info


def temporary_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The body of a fixture: a site that is on sys.path as long as a test runs."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield Site(folder)
    # Another test may give another source to the same module name.
    for path in folder.glob("*.py"):
        sys.modules.pop(path.stem, None)
