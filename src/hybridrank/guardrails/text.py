"""What stands around a reply of a language model, taken off: its lead, thoughts, fences.

Every function takes time linear in the length of the reply, whatever it holds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, decimal

# Bounded repetitions: a reply may be made to be slow.
_THOUGHTS = (
    "think|thinking|thought|thoughts|reasoning|reason|reflection|analysis|scratchpad|monologue|"
    "chain[_-]of[_-]thought|思考|思维|推理|想法"
)
# What models of several makers put around their thoughts: tags, `<|…|>`, the channels of gpt-oss and Gemma,
# the reserved tokens of MedGemma, the sentences of Granite.
_TAG = re.compile(
    rf"""(?:<|＜|&lt;)\s{{0,3}}(?P<close>[/／])?\s{{0,3}}(?:[a-z]{{1,12}}[:_-]|ant)?(?:{_THOUGHTS})
        (?:\s{{1,3}}[\w-]{{1,30}}=[^<>\n]{{0,100}})?\s{{0,3}}(?:>|＞|&gt;)
    |\[(?P<close2>/)?THINK\]
    |◁(?P<close3>/)?think▷
    |<[|｜]\s?(?:(?P<close4>/|end_(?:of_)?)|(?:start|begin)_(?:of_)?)?(?:{_THOUGHTS})\s?[|｜]>
    |<\|channel\|>\s{{0,3}}(?:analysis|commentary|(?P<close5>final))
        (?:\s{{0,3}}<\|constrain\|>\s{{0,3}}\w{{1,20}})?\s{{0,3}}<\|message\|>
    |<\|channel>\s{{0,3}}(?:thought|analysis)\b|(?P<close6><channel\|>)
    |<unused94>(?:thought\b)?|(?P<close7><unused95>)
    |\bhere(?:'s|’s|\ is)\ my\ (?:thought\ process|(?P<close8>response)):""",
    re.IGNORECASE | re.VERBOSE,
)
# Marks of chat templates that a server left in.
_TEMPLATE = re.compile(
    r"<\|(?:im_start|start|start_header_id)\|>\s{0,3}assistant\b|<\|[\w/-]{1,40}\|>"
    r"|<start_of_turn>(?:\s{0,3}model\b)?|<end_of_turn>|</?s>",
    re.IGNORECASE,
)
_NEAR_END = 400
_TEMPLATE_END = re.compile(rf"(?:\s*+(?:{_TEMPLATE.pattern}))++\s*\Z", re.IGNORECASE)
_INFO = (
    "json5|jsonc|jsonl|json|text|txt|plaintext|plain|markdown|md|python|py|javascript|js|yaml|yml|xml|html|"
    "bash|sh|output|code"
)
_FENCE = re.compile(rf"(?:`{{3,}}|~{{3,}})(?:[ \t]{{0,3}}(?:{_INFO})(?![^\W\d_]))?", re.IGNORECASE)

_FOLDED = re.compile(r"[^\x20-\x7e\t\n\r]|\\(?=[\[\]])")
_AS_ASCII = str.maketrans("【〔〖】〕〗、،\u3000", "[[[]]],, ")


def fold(text: str) -> str:
    """The text with ASCII digits, brackets and commas for those of other scripts, and nothing invisible.

    Control and format characters become spaces, so that they join no digits; `\\[` becomes `[`.
    """
    return _FOLDED.sub(lambda found: _folded(found[0]), text)


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    if character == "\\":
        return ""
    if "！" <= character <= "～":
        return chr(ord(character) - 0xFEE0)
    kind = category(character)
    if kind == "Nd":
        return str(decimal(character))
    if kind in ("Cc", "Cf", "Me") or "\ufe00" <= character <= "\ufe0f":
        return " "
    return character.translate(_AS_ASCII)


def strip_thinking(reply: str) -> str:
    """The reply without what the model thought aloud, in tags such as `<think>` or in those of other makers.

    A block that is never closed goes to the end of the reply; what stands before a closing tag that nothing
    opened was thought too. Where a block is opened inside another, the first closing tag ends both.
    """
    kept: list[str] = []
    place, thinking = 0, False
    for tag in _TAG.finditer(reply):
        closes = tag.lastgroup is not None
        if closes and not thinking:
            kept.clear()
        elif not thinking:
            kept.append(reply[place : tag.start()])
        thinking = not closes
        place = tag.end()
    if not thinking:
        kept.append(reply[place:])
    return "".join(kept)


def strip_template(reply: str) -> str:
    """The reply without marks of chat templates, such as `<|im_end|>`."""
    return _TEMPLATE.sub(" ", reply)


def strip_template_end(reply: str) -> str:
    """The reply without marks of chat templates at its end; such marks inside may be what it is about."""
    reply = reply.rstrip()
    return reply[:-_NEAR_END] + _TEMPLATE_END.sub("", reply[-_NEAR_END:])


def strip_fences(reply: str) -> str:
    """The reply without the marks of code fences and the formats they name; what they hold stays."""
    return _FENCE.sub(" ", reply)


def strip_lead(reply: str, lead: str) -> str:
    """The reply without repetitions of the lead with which its prompt ended, in any case of letters."""
    text = reply.strip()
    size = len(lead)
    place = 0
    while size and text[place : place + size].casefold() == lead.casefold():
        place += size
        while place < len(text) and text[place].isspace():
            place += 1
    return text[place:]


def bare_reply(reply: str, lead: str = "") -> str:
    """The reply without thoughts, fences, marks of templates, the lead of its prompt, and space around it."""
    return strip_lead(strip_fences(strip_template(strip_thinking(reply))), lead)
