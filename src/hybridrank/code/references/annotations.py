"""What annotations of Python say that a value is."""

from __future__ import annotations

import re

from .facts import INSTANCE, SELF, UNKNOWN, Path, Paths

_DOTTED = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_WRAPPED = re.compile(
    r"(?:\w+\.)*(Optional|Union|Annotated|ClassVar|Final|Required|NotRequired)\[(.*)\]", re.DOTALL
)
_CLASS_OF = re.compile(r"(?:\w+\.)*[tT]ype\[(.*)\]", re.DOTALL)
_MAX_TYPE = 300


def annotation(text: str) -> Paths:
    """What a type says that a value is; unions are alternatives, and None is none of them."""
    found: dict[Path, None] = {}
    todo = [text] if len(text) <= _MAX_TYPE else []
    while todo:
        one = todo.pop().strip().strip("\"'").strip()
        several = _split(one, "|")
        wrapped = _WRAPPED.fullmatch(one)
        of_class = _CLASS_OF.fullmatch(one)
        if len(several) > 1:
            todo += reversed(several)
        elif wrapped:
            inner = _split(wrapped[2], ",")
            todo += reversed(inner if wrapped[1] == "Union" else inner[:1])
        elif one in ("None", ""):
            continue
        elif one.rpartition(".")[2] == "Self":
            found[SELF] = None
        elif of_class:
            found[_named(of_class[1].strip().strip("\"'")) or UNKNOWN] = None
        else:
            named = _named(one.partition("[")[0])
            found[(*named, INSTANCE) if named else UNKNOWN] = None
    return tuple(found) if len(text) <= _MAX_TYPE else (UNKNOWN,)


def is_union(text: str) -> bool:
    """Whether an expression is a type of several alternatives, as `Union[str, "Text"]`."""
    return len(text) <= _MAX_TYPE and _WRAPPED.fullmatch(text) is not None


def _named(text: str) -> Path:
    return tuple(part.strip() for part in text.split(".")) if _DOTTED.fullmatch(text) else ()


def _split(text: str, by: str) -> list[str]:
    """The parts of a text between separators that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "[(") - (character in "])")
        if character == by and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
