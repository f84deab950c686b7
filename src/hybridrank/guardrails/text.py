"""What stands around a reply of a language model, taken off: its lead, thoughts, fences.

Every function takes time linear in the length of the reply, whatever it holds.
"""

from __future__ import annotations

import re

# Bounded repetitions: a reply may be made to be slow.
_THOUGHTS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_TAG = re.compile(
    rf"<\s{{0,3}}/?\s{{0,3}}(?:{_THOUGHTS})(?:\s{{1,3}}[\w-]{{1,30}}=[^<>\n]{{0,100}})?\s{{0,3}}>"
    r"|\[/?THINK\]|◁/?think▷|<\|channel\|>\s{0,3}(?:analysis|commentary|final)\s{0,3}<\|message\|>",
    re.IGNORECASE,
)
_INFO = (
    "json5|jsonc|jsonl|json|text|txt|plaintext|plain|markdown|md|python|py|javascript|js|yaml|yml|xml|html|"
    "bash|sh|output|code"
)
_FENCE = re.compile(rf"(?:`{{3,}}|~{{3,}})(?:[ \t]{{0,3}}(?:{_INFO})(?![^\W\d_]))?", re.IGNORECASE)


def strip_thinking(reply: str) -> str:
    """The reply without what the model thought aloud in tags such as `<think>`.

    A block that is never closed goes to the end of the reply; what stands before a closing tag that nothing
    opened was thought too. Where a block is opened inside another, the first closing tag ends both.
    """
    kept: list[str] = []
    place, thinking = 0, False
    for tag in _TAG.finditer(reply):
        closes = "/" in tag[0][:8].split("=")[0] or (tag[0][:2] == "<|" and "final" in tag[0])
        if closes and not thinking:
            kept.clear()
        elif not thinking:
            kept.append(reply[place : tag.start()])
        thinking = not closes
        place = tag.end()
    if not thinking:
        kept.append(reply[place:])
    return "".join(kept)


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
    """The reply without thoughts, fences, the lead of its prompt, and white space around it."""
    return strip_lead(strip_fences(strip_thinking(reply)), lead)
