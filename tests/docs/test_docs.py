"""The documentation as a whole: commands and options, links, Python that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from doc_blocks import blocks, run_python, sample_repository, write
from hybridrank.cli import main
from hybridrank.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

# These pages are worked through from top to bottom, files and commands included, by tests of their own.
WALKED = {"config.md", "plugins.md"}


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its full name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield above + name, command


COMMANDS = dict(commands(app))
assert {"search", "config check", "callers"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert text.count(f"\n## hybridrank {name}\n") == 1
    section = text.split(f"\n## hybridrank {name}\n")[1].split("\n## ")[0]
    assert f"\n    hybridrank {name} " in section
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    options = [flag for option in COMMANDS[name].params for flag in option.opts if flag.startswith("-")]
    for flag in [*options, "-h", "--help"]:
        assert re.search(rf"(?<![\w-]){flag}(?![\w-])", shown)
        assert f"`{flag}`" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_documented_that_does_not_exist(name: str) -> None:
    section = (ROOT / "docs/cli.md").read_text(encoding="utf-8").split(f"\n## hybridrank {name}\n")[1]
    rows = re.findall(r"^\| (`-.*?) \|", section.split("\n## ")[0], re.MULTILINE)
    documented = {flag for row in rows for flag in re.findall(r"`(-[\w-]+)`", row)}
    known = {flag for option in COMMANDS[name].params for flag in option.opts} | {"-h", "--help"}
    assert documented <= known


def test_no_command_is_documented_that_does_not_exist() -> None:
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## hybridrank (.+)$", text, re.MULTILINE)) == set(COMMANDS)


@EACH
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, heading = target.partition("#")
        if "://" in target:
            continue
        there = page if not path else (page.parent / path).resolve()
        assert there.exists(), f"{page.name} links to {target}"
        assert there.is_relative_to(ROOT)
        if heading:
            assert heading in headings(there), f"{page.name} links to {target}"


def headings(page: Path) -> set[str]:
    """The anchors that a page on GitHub has."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_linked_from_the_readme() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f"(docs/{page.name})" in readme


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in WALKED], ids=lambda page: page.name
)
def test_python_on_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in a folder with a small source tree and the files that the page shows."""
    sample_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.file:
            write(block, tmp_path)
        elif block.language == "python":
            run_python(page, [block], namespace)


def test_fusion_names_every_fuser() -> None:
    from hybridrank import components

    text = (ROOT / "docs/fusion.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| `(\w+)\(", text, re.MULTILINE))
    built_in = [info for info in components("fuser") if info.built_in]
    assert rows == {info.name: info.load().__name__ for info in built_in}


def test_blocks_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n<!-- not run -->\n```python\n1 / 0\n```\n"
        "\nRun `this`:\n\n```console\n$ a\nb\n```\n"
        "\n`src/x.toml`\n\n```toml\na = 1\n```\n\n````python\ny = '''\n```\n'''\n````\n",
        encoding="utf-8",
    )
    found = [(block.language, block.text, block.line, block.file) for block in blocks(page)]
    assert found == [
        ("python", "x = 1\n", 2, None),
        ("console", "$ a\nb\n", 13, None),
        ("toml", "a = 1\n", 20, "src/x.toml"),
        ("python", "y = '''\n```\n'''\n", 24, None),
    ]
