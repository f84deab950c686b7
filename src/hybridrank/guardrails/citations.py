"""The places that an answer cites, and whether they stand in its context.

Every function takes time linear in the length of the answer, times the number of cited files.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple
from unicodedata import normalize


class Shown(NamedTuple):
    """A block of a context: what it is cited by, and its lines.

    Attributes:
        label: `path:start-end`, or the id of a document without a path.
        path: as headers print it, `""` where there is none.
        start, end: 1-based and inclusive; 0 where the block has no lines.
    """

    label: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that an answer cites.

    Attributes:
        text: as it stands in the folded answer; further lines (`a.py:1-2, 8-9`) have the path before them.
        path: the file in the context that is meant, or as written where there is none.
        start_line, end_line: 0 for a document without lines.
        problem: why it does not point into the context; `""` where it does.
    """

    text: str
    path: str
    start_line: int = 0
    end_line: int = 0
    problem: str = ""


# `10-20`, `10`, `L10-L20`, `10 to 20`.
_RANGE = (
    r"[Ll]?(\d{1,12})(?!\d)(?:[ \t]{0,2}(?:-|–|—|~|\.{2,3}|\bto\b|至|到)[ \t]{0,2}[Ll]?(\d{1,12})(?!\d))?"
)
# `:10-20`, `#L10`, `` `: lines 10``, `, lines 10 to 20`, ` (line 10`, ` 第 10 行`;
# ` (L10)`, ` 10]`; `: 10` only before a bracket, since `: 10 hits` is prose.
_LINES = (
    r"[`*]{0,3}(?:[:#](?:[ \t]{0,2}lines?[ \t]{1,2})?|:[ \t]{1,2}(?=[Ll\d –-]{1,40}[\])）])"
    r"|,?[ \t]{0,2}\(?(?:at[ ])?lines?[ \t]{1,2}|,?[ \t]{0,2}[(（的]?[ \t]{0,2}第[ \t]{0,2}"
    r"|,?[ \t]{1,2}\(?(?=[Ll]\d)|,?[ \t]{1,2}(?=[\d–-]{1,25}\]))" + _RANGE
)
# `, 30-40`, ` and 50`: further lines of the same file; not the number of `, 3 functions`.
_MORE = re.compile(
    r"[ \t]{0,2}(?:[,;，、&](?:[ \t]{0,2}and\b)?|\band\b|和)[ \t]{0,2}(?:lines?[ \t]{1,2})?"
    + _RANGE
    + r"(?![\w:/%–-]|\.\w|[ \t]{1,2}(?!(?:and|to)\b)\w)"
)
_BEFORE = r"(?<![\w/.\\@~+-])"
_ANY = re.compile(_BEFORE + r"([\w/.\\@~+-]++)" + _LINES)
# `lines 10-20 of a.py`: the path stands behind.
_REVERSED = re.compile(
    r"\b[Ll]ines?[ \t]{1,2}"
    + _RANGE
    + r"[ \t]{1,2}(?:of|in|from)[ \t]{1,2}(?:the[ \t]file[ \t]{1,2})?[`*\[]{0,3}"
    r"([\w/.\\@~+-]++)"
)
_BRACKETS = re.compile(r"(?<!\w)\[([^\[\]\n]{2,300})\](?!\()")


def check_citations(answer: str, blocks: Iterable[Shown]) -> tuple[Citation, ...]:
    """What the answer cites, in order, each place once.

    A file is meant by its path, or by an end of it that only one file of the context has (`client.py` for
    `src/client.py`), or by a longer path that ends with it. Every cited line must be shown. Forms of the same
    characters are one (NFKC): models compose accents, and prompts may fold full-width letters.

    Args:
        blocks: what the answer was given.
    """
    shown: list[Shown] = []
    names: dict[str, str] = {}
    for block in blocks:
        label, path = normalize("NFKC", block.label), normalize("NFKC", block.path)
        shown.append(block._replace(label=label, path=path))
        names.setdefault(label, block.label)
        names.setdefault(path, block.path)
    found = sorted(_found(normalize("NFKC", answer), shown), key=lambda item: item[0])
    # The same place cited again says nothing new.
    cited = dict.fromkeys(citation for _, citation in found)
    return tuple(replace(one, path=names.get(one.path, one.path)) for one in cited)


def _found(answer: str, shown: Sequence[Shown]) -> Iterator[tuple[int, Citation]]:
    paths = dict.fromkeys(block.path for block in shown if block.path)
    taken: list[tuple[int, int]] = []  # spans that do not overlap, in order

    def free(match: re.Match[str]) -> bool:
        at = bisect_left(taken, (match.end(),))
        return not at or taken[at - 1][1] <= match.start()

    # Paths with blanks, brackets and the like are known only by heart.
    for path in sorted(paths, key=len, reverse=True):
        if not re.fullmatch(r"[\w/.\\@~+-]+", path):
            for match in re.finditer(_BEFORE + re.escape(path) + _LINES, answer):
                if free(match):
                    insort(taken, match.span())
                    yield match.start(), _cited(match[0], path, match[1], match[2], shown)
                    yield from _further(answer, match.end(), path, shown)
    read = set[int]()
    for match in _ANY.finditer(answer):
        before = answer[max(0, match.start() - 3) : match.start()]
        if free(match) and _is_path(match[1], paths, before):
            read.add(match.start())
            yield match.start(), _cited(match[0], match[1], match[2], match[3], shown)
            yield from _further(answer, match.end(), match[1], shown)
    for match in _REVERSED.finditer(answer):
        path = match[3].rstrip(".")
        if free(match) and match.start(3) not in read and _is_path(path, paths, ""):
            insort(taken, match.span())
            yield match.start(), _cited(match[0].rstrip("."), path, match[1], match[2], shown)
    labels = {block.label for block in shown if not block.start}
    endings = {PurePosixPath(path).suffix for path in paths} - {""}
    for match in _BRACKETS.finditer(answer):
        label = match[1].strip("`# ")
        if not free(match) or re.fullmatch(r"\^\w+", label):
            continue
        if label in labels:
            yield match.start(), Citation(match[0], label)
            continue
        cited = any(_is_path(place[1], paths, "") for place in _ANY.finditer(label))
        if cited or re.search(r"\s", label) or _resolved(label, paths):
            continue
        if labels:
            yield match.start(), Citation(match[0], label, problem="the context has no such document")
        elif PurePosixPath(label).suffix in endings:
            yield match.start(), Citation(match[0], label, problem="the context has no such file")


def _further(answer: str, at: int, path: str, shown: Sequence[Shown]) -> Iterator[tuple[int, Citation]]:
    """The lines that follow those of a citation: the second range of `a.py:1-2, 8-9`."""
    while match := _MORE.match(answer, at):
        lines = f"{match[1]}-{match[2]}" if match[2] else match[1]
        yield match.start(), _cited(f"{path}:{lines}", path, match[1], match[2], shown)
        at = match.end()


def _is_path(text: str, known: Iterable[str], before: str) -> bool:
    """Whether it may name a file: not a host of a URL, not `12:30`, not `std::vector`."""
    if before.endswith("://") or text.startswith("//"):
        return False
    if text in known:
        return True
    name = re.split(r"[/\\]", text)[-1]
    return bool(re.search(r"[^\W\d_]", name)) and ("." in name.strip(".") or "/" in text or "\\" in text)


def _cited(text: str, written: str, first: str, last: str | None, shown: Sequence[Shown]) -> Citation:
    start, end = int(first), int(last or first)
    path = _resolved(written, dict.fromkeys(block.path for block in shown if block.path))
    if not path:
        return Citation(text, written, start, end, "the context has no such file")
    if end < start or start < 1:
        return Citation(text, path, start, end, "no such lines")
    lines = sorted((block.start, block.end) for block in shown if block.path == path and block.start)
    at = start
    for block_start, block_end in lines:
        if block_start <= at <= block_end:
            at = block_end + 1
    if at > end:
        return Citation(text, path, start, end)
    told = ", ".join(f"{a}-{b}" for a, b in lines)
    problem = f"the context has lines {told} of it" if told else "the context has it without lines"
    return Citation(text, path, start, end, problem)


def _resolved(written: str, paths: Iterable[str]) -> str:
    """The path of the context that is meant; `""` where none is, or several are."""
    wanted = re.sub(r"^(?:\./)+", "", written.replace("\\", "/"))
    if wanted in paths:
        return wanted
    ends = [path for path in paths if path.endswith(f"/{wanted}") or _ends_with(wanted, path)]
    return ends[0] if len(ends) == 1 else ""


def _ends_with(written: str, path: str) -> bool:
    """Whether the path is the end of it, behind a folder, or a word of a script without blanks."""
    before = written[: -len(path)][-1:] if written.endswith(path) else ""
    return before == "/" or (bool(before) and not before.isascii())
