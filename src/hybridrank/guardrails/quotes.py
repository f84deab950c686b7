"""Quotes out of a model's reply, and whether they stand where the model says that they do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..types import Quote
from .arrays import objects, unescaped
from .text import bare_reply

# `…`, "…", “…”, „…“, «…», 「…」, 『…』, '…'.
_MARKED = re.compile(
    r"`([^`\n]{1,2000}+)`|\"([^\"\n]{1,2000}+)\"|“([^“”\n]{1,2000}+)”|„([^„“\n]{1,2000}+)“|«([^«»\n]{1,2000}+)»"
    r"|「([^「」\n]{1,2000}+)」|『([^『』\n]{1,2000}+)』|(?<!\w)'([^'\n]{1,2000}+)'(?!\w)"
)
_LISTED = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(\S.*)")
_FIELD = "quotes"
_FORM = frozenset({"answer", "verdict", _FIELD})
_TEXTS = ("quote", "text", "string")
# Verdicts in quotation marks, and the field names of an object that was cut.
_OF_THE_FORM = frozenset({"yes", "no", "是", "否", "answer", "verdict", _FIELD})
_MOST = 100


def parse_quotes(reply: str) -> tuple[str, ...]:
    """What a reply quotes, in order, each once.

    A JSON object, be it written a little wrong, quotes what its field `quotes` holds: texts in a list, or one
    text, or objects with a field `quote`, `text` or `string`. Any other reply quotes
    what stands in it between quotation marks or backticks, and the items of its lists. Nothing is quoted that
    is blank, and no more than the first hundred. Whether quotes are true is for `verify_quote` to say.
    """
    text = bare_reply(reply)
    found = _of_object(text)
    if found is None:
        found = list(_of_text(text))
    kept = (quote.strip() for quote in found)
    return tuple(dict.fromkeys(quote for quote in kept if quote))[:_MOST]


def verify_quote(quote: str, source: str, document: str) -> Quote | None:
    """The quote with its places in both texts, if it stands in both word for word; None otherwise.

    White space is folded: any run of it equals any other. Nothing else is: letters keep their case.

    Returns:
        A quote whose `text` is that of the source, with `in_source` and `in_document` as (start, end) offsets
        of characters in the texts as they were given; the first place in each.
    """
    words = quote.split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    here, there = pattern.search(source), pattern.search(document)
    if here is None or there is None:
        return None
    return Quote(here[0], here.span(), there.span())


def _of_object(text: str) -> list[str] | None:
    """What the objects of a reply quote; None where none is there that says or quotes something."""
    found = [{unescaped(key).strip().casefold(): value for key, value in one.fields} for one in objects(text)]
    if not found or not (text.startswith("{") or any(_FORM & one.keys() for one in found)):
        return None
    quotes: list[str] = []
    for one in found:
        value = one.get(_FIELD)
        for item in value if isinstance(value, list) else [value]:
            told = (
                next((item[key] for key in _TEXTS if key in item), None) if isinstance(item, dict) else item
            )
            if isinstance(told, str):
                quotes.append(unescaped(told))
    return quotes


def _of_text(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for match in _MARKED.finditer(line):
            quote = match[match.lastindex or 0]
            if quote.strip(" .!").casefold() not in _OF_THE_FORM:
                yield quote
        item = _LISTED.fullmatch(line)
        if item is not None:
            yield item[1].strip().strip('`"“”「」')
