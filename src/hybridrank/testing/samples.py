"""Small fixed documents, queries and files that the conformance checks run on."""

from __future__ import annotations

from collections.abc import Sequence

from ..types import Document, Filter, Query, SourceFile


def _code(path: str, start: int, text: str, kind: str, name: str, team: str = "") -> Document:
    end = start + text.count("\n")
    return Document(
        f"{path}:{start}-{end}",
        text,
        path=path,
        start_line=start,
        end_line=end,
        kind=kind,
        name=name,
        qualified_name=name,
        language="python" if path.endswith(".py") else "",
        metadata={"team": team} if team else {},
    )


_SEND = "def send_request(url):\n    return open_connection(url).send()"

# Not in tie order, on purpose.
DOCUMENTS: tuple[Document, ...] = (
    _code("src/net/client.py", 10, _SEND, "function", "send_request", "net"),
    _code("src/net/pool.py", 1, "import socket\nimport send_request", "import", "send_request", "net"),
    _code("lib/copy.py", 40, _SEND, "function", "send_request"),
    _code(
        "src/net/pool.py",
        4,
        "def open_connection(url):\n    return socket.create()",
        "function",
        "open_connection",
    ),
    _code("docs/連線.md", 3, "重新連線之前先等待 timeout，再呼叫 send_request", "section", "連線", "docs"),
    _code("src/auth.py", 7, "class Token:\n    def revokeToken(self): ...", "class", "Token", "auth"),
    _code("src/auth.py", 20, "# token token token\nTOKEN = 1", "module", ""),
    _code("docs/faq.md", 1, "How is a connection opened? See open_connection.", "section", "FAQ", "docs"),
    Document("empty", ""),
    Document("only-marks", "?!… --- \n\t"),
    Document("record-2", "a connection of the other sort; token", kind="record"),
    Document("record-1", "a connection of the other sort; token", kind="record"),
)

ODD_TEXTS: tuple[str, ...] = (
    "nul \x00 inside",
    "lone \ud800 surrogate",
    "\u202eright to left\u202c אבג",
    "🧑‍💻 combining e\u0301 ﬁ Å ㈱",
    "𠮷野家 한국어 ｶﾅ हिन्दी",
    "\r\n\x0b\x0c\x1c\x85\u2028",
    "x" * 5000,
    "%s {0} \\ ' \" `",
)

QUERIES: tuple[Query, ...] = tuple(
    Query(text, id=f"q{place}")
    for place, text in enumerate(
        (
            "open_connection",
            "send request",
            "how is a connection opened",
            "timeout 之前等待連線",
            "token",
            "zzzunknownword",
            _SEND,
        )
    )
)

BLANK_QUERIES: tuple[Query, ...] = (Query(""), Query(" \t\n"), Query("?!… --- 。、"))

_PYTHON = '''"""Module text."""

import os
from sys import (
    path,
)

LIMIT = 10


@decorated(
    limit=LIMIT,
)
def outer(a, b):
    # A comment.
    def inner():
        return "多行\\n"

    return inner


class Shape:
    """A shape."""

    sides: int = 0

    async def area(self) -> float:
        return 0.0

    colour = "red"


if __name__ == "__main__":
    print(outer(1, 2))
'''

SOURCES: tuple[SourceFile, ...] = (
    SourceFile("src/shapes.py", _PYTHON, "python"),
    SourceFile("src/crlf.py", _PYTHON.replace("\n", "\r\n"), "python"),
    SourceFile("src/cr.py", _PYTHON.replace("\n", "\r"), "python"),
    SourceFile("src/no_end.py", "def f():\n    return 1", "python"),
    SourceFile("src/broken.py", "def f(:\n  class\n\n)))\n\tx = = 1\n", "python"),
    SourceFile(
        "src/deep.py", "".join(f"{' ' * i}if x{i}:\n" for i in range(60)) + " " * 60 + "pass\n", "python"
    ),
    SourceFile("a b/多 行.py", "\ufeffx = '日本語'\n\n\n\ny = 2\n", "python"),
    SourceFile("long.py", "\n".join(f"value_{i} = {i}" for i in range(2000)), "python"),
    SourceFile("notes.txt", "first\n\n  second\x0bstill second\u2028and still\n\nthird"),
    SourceFile("wide.txt", "one\n" + "wide " * 4000 + "\nthree\n"),
    SourceFile("blank.txt", "\n \n\t\n"),
    SourceFile("empty.py", "", "python"),
    *(SourceFile(f"odd-{place}.txt", text) for place, text in enumerate(ODD_TEXTS)),
)


def filters(documents: Sequence[Document]) -> tuple[Filter, ...]:
    """Filters that let through some, all and none of these documents."""
    found = [Filter(), Filter(kind="no such kind"), Filter(metadata={"no such key": 1})]
    for document in documents:
        if document.language:
            found.append(Filter(language=document.language))
        if document.kind:
            found.append(Filter(kind=document.kind))
        if document.path:
            found.append(Filter(path=document.path.rpartition("/")[0] + "/" if "/" in document.path else "*"))
        found += [Filter(metadata={key: value}) for key, value in document.metadata.items()]
    return tuple({repr(where): where for where in found}.values())[:12]


def queries(documents: Sequence[Document]) -> tuple[Query, ...]:
    """The fixed queries, and some in the words of other documents than the fixed ones."""
    if documents is DOCUMENTS:
        return QUERIES
    texts = [" ".join(document.text.split()[:4]) for document in documents[:5]]
    return (*QUERIES, *(Query(text) for text in texts if any(c.isalnum() for c in text)))
