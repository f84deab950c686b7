"""How many of the functions, classes and methods that Universal Ctags sees are symbols here, on real code.

    python benchmarks/ctags_agreement.py CORPUS [--language NAME ...] [--missed N]

CORPUS is a folder of repositories. A tag is found when a document of its file has its name and its line. Of
the others it says what they stand in: a function (whose inside is no document of its own), a text (a comment
or string of several lines, where ctags sees code), a class, or else.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hybridrank.code.chunk import TreeSitterChunker, parse
from hybridrank.code.decode import decode
from hybridrank.code.generated import generated_text
from hybridrank.code.grammar import load
from hybridrank.code.grammars import GRAMMARS
from hybridrank.code.languages import language_of
from hybridrank.code.walk import Found, walk
from hybridrank.types import Document, SourceFile

_NO_NAME = re.compile(r"__anon|AnonymousFunction|anonymous[A-Z]|<|_$|$")
_TEXT = re.compile("comment|string|heredoc|quoted_content|haddock|sigil")


@dataclass(frozen=True)
class Row:
    """A language here, what ctags calls it, the kinds of its tags that we look for, and a repository."""

    language: str
    ctags: str
    kinds: str
    repository: str


ROWS = (
    Row("python", "Python", "cfm", "httpx"),
    Row("javascript", "JavaScript", "cfgmGS", "phoenix"),
    Row("typescript", "TypeScript", "cfGigm", "zod"),
    Row("tsx", "TypeScript", "cfGigm", "zod"),
    Row("go", "Go", "fisnt", "chi"),
    Row("rust", "Rust", "fPsgiM", "axum"),
    Row("java", "Java", "acgim", "commons-lang"),
    Row("c", "C", "fsugtd", "redis"),
    Row("cpp", "C++", "cfsugd", "fmtlib"),
    Row("csharp", "C#", "cgims", "newtonsoft-json"),
    Row("ruby", "Ruby", "cfmS", "sinatra"),
    Row("php", "PHP", "cfit", "monolog"),
    Row("bash", "Sh", "f", "bats-core"),
    Row("kotlin", "Kotlin", "Tciom", "exposed"),
    Row("lua", "Lua", "f", "mini.nvim"),
    Row("haskell", "Haskell", "ft", "xmonad"),
    Row("elixir", "Elixir", "adfgimop", "phoenix"),
)


@dataclass
class Result:
    row: Row
    files: int = 0
    tags: int = 0
    found: int = 0
    symbols: int = 0
    missed: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0
    size: int = 0

    def count(self, where: str) -> int:
        return len(self.missed.get(where, ()))

    @property
    def recall_outside(self) -> float:
        """Recall of the tags that stand neither in a function nor in a text."""
        outside = self.tags - self.count("function") - self.count("text")
        return self.found / outside if outside else 1.0


def agreement(row: Row, corpus: Path) -> Result:
    """Compare all files of the row's language in its repository."""
    result = Result(row)
    root = corpus / row.repository
    chunker = TreeSitterChunker()
    sources: dict[Path, str] = {}
    for item in walk(root):
        if isinstance(item, Found) and language_of(item.path) == row.language:
            decoded = decode(Path(item.file).read_bytes())
            if decoded and not generated_text(decoded.text, row.language):
                sources[root / item.path] = decoded.text
    tags = tags_of(list(sources), row)
    for path, text in sources.items():
        start = time.process_time()
        documents = chunker.chunk(SourceFile(path.as_posix(), text, row.language))
        result.seconds += time.process_time() - start
        result.size += len(text)
        result.files += 1
        result.symbols += sum(d.kind in ("function", "method", "class") for d in documents)
        texts: set[int] | None = None
        for name, line, kind in tags.get(path.as_posix(), ()):
            result.tags += 1
            where = place(documents, name, line)
            if where:
                texts = lines_of_texts(text, row.language) if texts is None else texts
                where = "text" if line in texts else where
                at = f"{path.relative_to(corpus)}:{line} {kind} {name}"
                result.missed.setdefault(where, []).append(at)
            else:
                result.found += 1
    return result


def tags_of(paths: Sequence[Path], row: Row) -> dict[str, list[tuple[str, int, str]]]:
    """(name, line, kind) of each tag, by file."""
    command = [
        "ctags",
        f"--language-force={row.ctags}",
        f"--kinds-{row.ctags}={row.kinds}",
        "--output-format=json",
    ]
    command += ["--fields=NnKFSP", "--extras=-F", "-f", "-", "-L", "-"]
    listing = "\n".join(p.as_posix() for p in paths)
    done = subprocess.run(command, input=listing, capture_output=True, text=True, check=True)
    found: dict[str, list[tuple[str, int, str]]] = {}
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        name = tag["name"]
        if _NO_NAME.match(name) or tag["kind"] in ("describe", "context"):
            continue  # made up by ctags, or blocks of tests
        if tag["kind"] == "macro" and row.ctags in ("C", "C++") and "signature" not in tag:
            continue  # macros without parameters are no functions
        if tag["kind"] == "function" and row.ctags in ("C", "C++") and name.isupper():
            continue  # `TEST(suite, name) {...}`, which has the name `suite.name` here
        if row.ctags == "JavaScript" and tag["kind"] == "class" and "class" not in tag["pattern"]:
            continue  # any object literal is a class to ctags
        found.setdefault(tag["path"], []).append((name, tag["line"], tag["kind"]))
    return found


def place(documents: Sequence[Document], name: str, line: int) -> str:
    """What a tag stands in when no document has its name and line; `""` when one has."""
    wanted = plain(name)
    here = [d for d in documents if d.start_line <= line <= d.end_line]
    for d in here:
        have = plain(d.qualified_name)
        if (
            have == wanted
            or have.endswith("." + wanted)
            or wanted.endswith("." + have)
            or plain(d.name) == wanted
        ):
            return ""
    kinds = {d.kind for d in here}
    if kinds & {"function", "method", "part"}:
        return "function"
    return "class" if kinds & {"class", "class_body"} else "rest"


def lines_of_texts(text: str, language: str) -> set[int]:
    """The lines that begin inside a comment or string."""
    root = parse(load(GRAMMARS[language]), text.encode("utf-8", "surrogatepass"), float("inf"))
    lines: set[int] = set()
    todo = [root] if root else []
    while todo:
        node = todo.pop()
        if _TEXT.search(node.type):
            lines.update(range(node.start_point[0] + 2, node.end_point[0] + 2))
        elif node.end_point[0] > node.start_point[0]:
            todo.extend(node.children)
    return lines


def plain(name: str) -> str:
    """A name without quotes, brackets and spaces, its parts joined by dots."""
    return re.sub(r"[.:\\\[]+", ".", re.sub(r"['\"`#\s\]]", "", name)).strip(".")


def is_universal() -> bool:
    """Whether `ctags` is Universal Ctags with JSON output."""
    done = subprocess.run(["ctags", "--list-features"], capture_output=True, text=True)
    return done.returncode == 0 and "json" in done.stdout


def results(corpus: Path, languages: Sequence[str]) -> Iterator[Result]:
    for row in ROWS:
        if (not languages or row.language in languages) and (corpus / row.repository).is_dir():
            yield agreement(row, corpus)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--language", action="append", default=[])
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="show N missed tags of each kind")
    options = parser.parse_args()
    missed = "in functions | in texts | in classes | else"
    print(f"| language | repository | files | tags | {missed} | found outside | MB/s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for r in results(options.corpus, options.language):
        missed = " | ".join(str(r.count(where)) for where in ("function", "text", "class", "rest"))
        speed = r.size / 1e6 / max(r.seconds, 1e-9)
        print(
            f"| {r.row.language} | {r.row.repository} | {r.files} | {r.tags} | {missed} "
            f"| {r.recall_outside:.1%} | {speed:.1f} |"
        )
        sys.stdout.flush()
        for where, tags in sorted(r.missed.items()):
            step = max(1, len(tags) // options.missed) if options.missed else 1
            for tag in tags[::step][: options.missed]:
                print(f"    {where}: {tag}")


if __name__ == "__main__":
    main()
