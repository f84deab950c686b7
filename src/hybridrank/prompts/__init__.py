"""Prompts as data with a version and a hash, and the fence around strangers' text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from unicodedata import category, normalize

from ..errors import InvalidValueError

_FOLDER = Path(__file__).parent
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with places to fill, written `{name}`; other braces stand for themselves.

    Attributes:
        name: with the version behind it, `listwise-v1`; `custom` for one that a user gave.
        text: with its places.
    """

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Of the text, in hexadecimal."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def id(self) -> str:
        """Name and the first twelve digits of the hash, for events and manifests."""
        return f"{self.name}@{self.sha256[:12]}"

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with each known place filled, once: what is filled in is not looked at again."""
        return _PLACE.sub(lambda found: values.get(found[1], found[0]), self.text)


@cache
def load_prompt(name: str) -> Prompt:
    """A prompt that comes with hybridrank, by its name with version, without the final line break."""
    return Prompt(name, (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n"))


def user_prompt(text: object, places: Iterable[str]) -> Prompt:
    """A prompt that a user gave.

    Raises:
        InvalidValueError: it is no text, or lacks a place.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidValueError(f"prompt is {text!r:.80}; give a text, or None for the one that comes along")
    missing = [place for place in places if f"{{{place}}}" not in text]
    if missing:
        raise InvalidValueError(f"the prompt has no {{{missing[0]}}}; write it where that belongs")
    return Prompt("custom", text)


# Marks that prompts and the chat templates of models are made of. A stranger's text must not hold one.
_MARKS = re.compile(
    r"""[\[【](?=\s{0,3}ID[\s:\#]{0,3}\d)
    |\[(?=\s{0,3}System\s{0,3}: | /?INST\] | /?THINK\] | /?TOOL_CALLS\] | /?AVAILABLE_TOOLS\])
    |^[ \t]{0,99}\[(?=\s{0,3}(?:Input\ (?:Query|Source)|Candidate(?:\ Snippets)?|Context|Task
        |Strict\ Constraints|Response)\s{0,3}\])
    |<(?=\s{0,3}/?\s{0,3}(?:snippet|source|candidate|query|context|s|im_start|im_end|start_of_turn|end_of_turn
        |bos|eos|(?:[a-z]{1,12}:)?think|thinking|system|user|assistant)\b)
    |<(?=\|[^|<>\n]{1,40}\|?> | channel\|> | unused\d{1,4}> | /?SYS>)
    |◁(?=/?think▷)
    |Ranked\s{1,3}JSON\s{1,3}Array\s{0,3}:|^[ \t]{0,99}JSON\s{1,3}Object\s{0,3}:""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_INSTEAD = str.maketrans(
    {"[": "(", "【": "(", "◁": "(", "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", ":": ";"}
)
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def untrusted(text: str) -> str:
    """A stranger's text as it may stand in a prompt: it can close no fence and forge no heading.

    The first character of what would is replaced by one that looks like it. Control and format characters,
    which could hide it, are left out; line ends become line breaks. Everything else stays as it is.
    """
    lines = "\n".join(text.splitlines())
    seen = "".join(c for c in lines if c in "\n\t" or category(c) not in _HIDDEN)
    # Full-width brackets and letters read as what they stand for; only where they do is the text folded.
    folded = normalize("NFKC", seen)
    if not _MARKS.search(folded):
        return seen
    return _MARKS.sub(lambda found: found[0].translate(_INSTEAD), folded)


def untrusted_start(text: str, most: int) -> str:
    """The first `most` characters of a stranger's text, as `untrusted` makes it: one may become eighteen."""
    return untrusted(untrusted(text[:most])[:most])


def untrusted_line(text: str, most: int) -> str:
    """A stranger's text on one line of at most `most` characters, as `untrusted` makes it."""
    return " ".join(untrusted(text).split())[:most]
