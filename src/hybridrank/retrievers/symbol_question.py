"""Which symbols a query names, and whether it asks who calls them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..text.identifiers import fold, word_tokens
from ..text.scripts import UNSPACED
from ..types import Query

_MOST_NAMES = 32
_LONGEST = 100_000

_NAME = re.compile(r"`?[^\W\d][\w$]*[?!]?(?:(?:::|[.#]|->)[^\W\d][\w$]*[?!]?)*`?(?:\(\))?")
_JOINT = re.compile(r"::|[.#]|->")
_SHAPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|_|::|[.#]|->|^`|\(\)$")
_CAPITAL = re.compile(r"[A-Z]")

_CALLERS = re.compile(
    r"""\b(?:who|what|which\s+\w+)\s+(?:calls|invokes|uses)\b
    |\bcallers?\s+(?:of|to|for)\b | \bcalls?\s+(?:of|to)\b | \bcall\s+sites?\b | \busages?\s+of\b
    |\b(?:is|are|was|were|be|being|gets?)\b.*\b(?:called|invoked|used)\b
    |(?:被.{0,4}?|[谁誰哪].{0,8}?)(?:调用|調用|呼叫|使用|用到) | (?:调用|調用|呼叫)[者方处處点點]
    |呼び出(?:し元|され|している|す) | 呼ばれ | 호출""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# Words of such a question that name nothing.
_ASKING_WORDS = """
who what which where when how is are was were be being get gets does do did the a an all any this that
it and or of to for from in on by at find show list me call calls called caller callers calling invoke
invokes invoked use uses used usage usages site sites place places code
function functions method methods class classes
"""
_ASKING = frozenset(_ASKING_WORDS.split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a query.

    Attributes:
        name: the last part; `scoped` with what it stands in, joined by dots, and the same as `name` where
            nothing stands before it.
        loose: whether other cases, and names that share its parts, count too. Otherwise it could be a
            common word, and counts only where something is called exactly so.
    """

    name: str
    scoped: str
    loose: bool

    @property
    def parts(self) -> frozenset[str]:
        return parts_of(self.name)


@dataclass(frozen=True, slots=True)
class SymbolQuestion:
    """What a query asks of symbols.

    Attributes:
        mentions: the names in it, in order, each once.
        joined: all of a query of a few plain words, written as one; `""` for others.
        callers: whether it asks who calls them.
    """

    mentions: tuple[Mention, ...]
    joined: str
    callers: bool

    @classmethod
    def of(cls, query: Query, *, sentences: bool = True) -> SymbolQuestion:
        """Read a query: `text` for the names, `typed` for what is asked.

        Args:
            sentences: whether a name among other words counts where callers are not asked for.
        """
        text = query.text.strip()[:_LONGEST]
        callers = _CALLERS.search(query.typed[:_LONGEST]) is not None
        code = len(text.splitlines()) > 1
        words = _words(text)
        if callers:
            words = [word for word in words if _shaped(word) or fold(word) not in _ASKING]
        alone = len(words) == 1 and not code and (callers or len(text.split()) == 1)
        mentions: dict[Mention, None] = {}
        for word in words if sentences or alone or callers else ():
            capital = _CAPITAL.match(word) is not None
            if alone or _shaped(word) or capital or callers or code:
                mentions[_mention(word, loose=not code and (alone or _shaped(word)))] = None
        kept = tuple(mentions)[:_MOST_NAMES]
        plain = text.split()
        several = 2 <= len(plain) <= 6 and not code and all(word.isalnum() for word in plain)
        return cls(kept, "".join(plain).casefold() if several else "", callers)


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]+")


def _words(text: str) -> list[str]:
    if len(text.split()) == 1 and _NAME.fullmatch(text):
        return [text]
    spaced = text if text.isascii() else _unspaced().sub(" ", text)
    return _NAME.findall(spaced)


def _shaped(word: str) -> bool:
    """Whether nobody would write it so but for a name."""
    return _SHAPED.search(word) is not None


def _mention(word: str, *, loose: bool) -> Mention:
    parts = _JOINT.split(word.removesuffix("()").strip("`").removesuffix("()"))
    return Mention(parts[-1], ".".join(parts), loose)


def parts_of(name: str) -> frozenset[str]:
    """The words that a name is made of: raise, for and status of `raise_for_status`."""
    whole = fold(name)
    tokens = {token.strip("_") for token in word_tokens(name)}
    plain = {token for token in tokens if token and "_" not in token and token != whole}
    return frozenset(plain or {whole.strip("_") or whole})
