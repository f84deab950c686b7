"""Text to search terms, the same for documents and queries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from operator import add
from threading import Lock
from typing import TypeAlias

from ..errors import InvalidValueError
from .identifiers import PLAIN, word_tokens
from .scripts import INVISIBLE, wide

Group: TypeAlias = list[str] | dict[str, bool]
"""Tokens of a stretch of a word: final ones, or those of a spaced script as `word_tokens` gives them."""

_MEMO_TOKENS = 1 << 19
_MEMO_LETTERS = 64
# The ends of C++, C# and F#; the word that they stand behind may be longer, which is found out later.
_TAIL = r"(?:[+#](?:(?<=[cCfF]#)|(?<=[cC]\+)\+))?"
_ASCII_WORD = re.compile(rf"\w+(?:[.-]\w+)*{_TAIL}", re.ASCII)
_NEVER_STEMMED = re.compile(r"[\d._+#-]")


@dataclass(frozen=True, kw_only=True, repr=False)
class Tokenizer:
    """Splits text into lower-case tokens: words with their parts, and characters with their neighbours.

    Text is brought into Unicode form NFKC first; characters that only change how a word looks (soft hyphen,
    joiners, variation selectors) are dropped. Accents are kept: `café` is not `cafe`.

    - Words of spaced scripts, with inner `.`, `_` and `-` and outer `_`, come whole and then in parts: at
      dots, hyphens, underscores, changes of case, and between letters and digits. `parseXMLFeed` gives
      parsexmlfeed, parse, xml, feed. Of equal tokens of one word only the first is given.
    - Numbers keep their decimal point (`91.0`); versions come whole and in parts.
    - Scripts without spaces (Han, kana, Hangul, Bopomofo, Yi, Tangut, Thai, Lao, Khmer, Myanmar, Tai) come as
      single characters with their marks and then as adjacent pairs; runs across these scripts are one run. A
      word of another script that touches them stands for itself.
    - Any text with a letter or a number gives a token; symbols, emoji and punctuation give none.

    Instances are immutable, compare by their options, pickle, and may be used from several threads.

    Args:
        parts: give the parts of words. Without them the tokens are those of one rule: NFKC, lower case,
            `[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*|\\d+(?:\\.\\d+)?|[\\u3400-\\u9fff]+`, with runs of Han as
            characters and pairs.
        stem: a Snowball language (`"english"`): words and parts are stemmed. Names with dots, hyphens,
            underscores or digits are not; those in camel case come both ways, to be found in lower case too.

    Raises:
        InvalidValueError: `parts` is no bool, or Snowball does not know the language.
    """

    parts: bool = True
    stem: str | None = None
    _memo: _Memo = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.parts, bool):
            raise InvalidValueError(f"parts is {self.parts!r}; give True or False")
        if not isinstance(self.stem, str | None):
            raise InvalidValueError(f"stem is {self.stem!r}; give the name of a language, or None")
        object.__setattr__(self, "_memo", _memo(self.parts, self.stem))

    def __call__(self, text: str, /) -> list[str]:
        """The tokens in the order of the text.

        Raises:
            InvalidValueError: `text` is no str.
        """
        return list(chain.from_iterable(map(self._memo.__getitem__, self.words(text))))

    def words(self, text: str, /) -> list[str]:
        """The words as they stand in the text; `expand` gives the tokens of each.

        Raises:
            InvalidValueError: `text` is no str.
        """
        if not isinstance(text, str):
            raise InvalidValueError(f"text is {type(text).__name__} {text!r:.40}; give a str")
        if not self.parts:
            return PLAIN.findall(unicodedata.normalize("NFKC", text).lower())
        if text.isascii():
            return _ASCII_WORD.findall(text)
        normal = unicodedata.normalize("NFKC", INVISIBLE.sub("", text))
        found = _wide_word().findall(normal)
        if any(word.strip("_.-") for word in found):
            return found
        # Where there is no word, or underscores alone, there may be a letter that is a mere mark in NFKC.
        return wide().marks.findall(normal)

    def expand(self, word: str, /) -> tuple[str, ...]:
        """The tokens of one of `words`."""
        return self._memo[word]

    @property
    def id(self) -> str:
        """Names the rule with its version: a tokenizer with another id makes other tokens."""
        base = "unicode_nfkc_lowercase_latin_number_cjk_unigram_bigram_v1"
        if self.parts:
            base = "unicode_nfkc_lowercase_words_and_parts_unspaced_unigram_bigram_v1"
        return f"{base}+snowball_{self.stem}" if self.stem else base

    def __repr__(self) -> str:
        shown = [] if self.parts else ["parts=False"]
        if self.stem is not None:
            shown.append(f"stem={self.stem!r}")
        return f"Tokenizer({', '.join(shown)})"

    def __reduce__(self) -> tuple[Callable[[bool, str | None], Tokenizer], tuple[bool, str | None]]:
        return _restore, (self.parts, self.stem)


class _Memo(dict[str, tuple[str, ...]]):
    """The tokens of words met before. Emptied when full; very long words are not kept."""

    def __init__(self, expand: Callable[[str], tuple[str, ...]]) -> None:
        self._expand = expand
        self._size = 0

    def __missing__(self, word: str) -> tuple[str, ...]:
        tokens = self._expand(word)
        if len(word) <= _MEMO_LETTERS:
            cost = 1 + len(tokens)
            if self._size + cost > _MEMO_TOKENS:
                self.clear()
                self._size = 0
            self._size += cost
            self[word] = tokens
        return tokens


@cache
def _memo(parts: bool, stem: str | None) -> _Memo:
    """One for all tokenizers with the same options."""
    split = _split if parts else _split_plain
    if stem is None:
        return _Memo(lambda word: tuple(chain.from_iterable(split(word))))
    stemmed = _stemmer(stem)
    return _Memo(lambda word: tuple(chain.from_iterable(map(stemmed, split(word)))))


def _restore(parts: bool, stem: str | None) -> Tokenizer:
    return Tokenizer(parts=parts, stem=stem)


def _split_plain(word: str) -> Iterator[Group]:
    if "\u3400" <= word[0] <= "\u9fff":
        yield _characters_and_pairs(list(word))
    else:
        yield {word: False}


def _split(word: str) -> Iterator[Group]:
    if word.isascii():
        yield word_tokens(word)
        return
    patterns = wide()
    if not patterns.marks.sub("", word).strip("_.-"):
        yield patterns.marks.findall(word)
        return
    for number, piece in enumerate(patterns.unspaced.split(word)):
        if number % 2:
            yield _characters_and_pairs(patterns.cluster.findall(piece))
        elif piece:
            yield word_tokens(piece.strip(".-"))


def _characters_and_pairs(characters: list[str]) -> list[str]:
    return [*characters, *map(add, characters, characters[1:])]


def _stemmer(language: str) -> Callable[[Group], Iterable[str]]:
    """Stems what `word_tokens` gives; characters and pairs pass."""
    import Stemmer

    known = Stemmer.algorithms()
    if language not in known:
        raise InvalidValueError(f"stem is {language!r}; give None or one of: {', '.join(known)}")
    stem_word, lock = Stemmer.Stemmer(language, 0).stemWord, Lock()  # its own cache is slower than none

    @lru_cache(maxsize=1 << 15)
    def stem_token(token: str) -> str | None:
        if _NEVER_STEMMED.search(token):
            return None
        with lock:  # one stemmer must not run in two threads
            return str(stem_word(token)) or token

    def stem(group: Group) -> Iterable[str]:
        if isinstance(group, list):
            return group
        found: dict[str, None] = {}
        for token, in_camel_case in group.items():
            stemmed = stem_token(token)
            if in_camel_case or stemmed is None:
                found[token] = None
            if stemmed is not None:
                found[stemmed] = None
        return found

    return stem


@cache
def _wide_word() -> re.Pattern[str]:
    letter, follower = wide().letter, wide().follower
    word = f"[{letter}][{follower}]*"
    return re.compile(rf"{word}(?:[.-]{word})*{_TAIL}")
