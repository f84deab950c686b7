"""A yes or no out of a model's reply, by word. What is neither is undecided."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, NamedTuple

from ..types import Answer
from .text import bare_reply

# A hyphen or an apostrophe inside makes one word: no-op, yes-man and isn't are no verdicts.
_WORD = re.compile(r"[^\W_](?:\w|['’‐‑-](?=\w))*")
_HAN_OR = re.compile("还是|還是|或者|或")
_YES = frozenset({"yes", "是", "是的"})
_NO = frozenset({"no", "否", "不", "不是", "没有", "沒有"})
_OR = frozenset({"or", "或", "或者", "还是", "還是"})
# Words that only announce the verdict: "The final answer is: yes".
_LEAD = frozenset(
    """
    a answer answers decision final is it it's judgement judgment my output reply response result the verdict
    为 為 回答 判断 判斷 判定 答 答案 答案为 答案為 答案是 结果 結果 结论 結論 结论是 結論是
    """.split()  # noqa: SIM905 - read as words
)
_WEAK = frozenset({"a", "the"})
_DENIES = re.compile(r"\b(?:not|no|never|neither|nor|cannot|without|\w+n['’]t)\b|[不没沒无無非]")
_SENTENCE_END = re.compile(r"[.!?;。\n]")
_SET_OFF = re.compile(r"""(?:[:=(\[\n]|\bis)[\s"'“‘*`]*$""")
_CLOSING = "\"'”’)*`_"
_FIELDS = ("answer", "verdict")
_LIST_MARK = re.compile(r"\s*(?:[-*+]|\(?\d{1,2}[.)])\s+")


class ParsedVerdict(NamedTuple):
    """What a reply says, and for `undecided` why it says nothing else."""

    answer: Answer
    reason: str = ""


class _Word(NamedTuple):
    text: str
    start: int
    end: int


def parse_verdict(reply: str, *, cut: bool = False) -> ParsedVerdict:
    """The verdict of a reply: yes, no or undecided.

    Thinking blocks and fences are taken off first; a block that is never closed leaves nothing. Then, in this
    order:

    1. A JSON object says it in its field `answer` (or `verdict`): true, false, or a text that is read by 2
       and 3. Two fields that differ are undecided.
    2. The first word, behind words that only announce it ("The answer is: ..."). A second verdict beside it
       takes it back ("yes or no", "yes/no", "Yes. No."), a later one does not ("no, although yes it ..."),
       nor does a question mark stand behind a verdict.
    3. The last word of the reply, where it is set off by a colon, a bracket, a quotation mark, a line of its
       own or "is", nothing in its sentence denies it, and the other verdict stands nowhere.

    Words are whole: `know`, `bypass`, `Yesterday` and `no-op` are no verdicts. Yes is `yes`, 是 or 是的; no
    is `no`, 否, 不, 不是 or 没有. Verdicts in running prose do not count.

    Args:
        cut: the token limit ended the reply, so that its last word may be the beginning of another.
    """
    text = unicodedata.normalize("NFKC", bare_reply(reply)).casefold().strip()
    if not text:
        return _undecided("the reply is empty" if not reply.strip() else "it only thinks aloud")
    fields = _fields(text)
    if fields is None:
        return _by_word(text, cut)
    said = {_by_field(value) for value in fields}
    if len(said) == 1:
        return said.pop()
    return _undecided("it says yes and no" if said else "its object has no answer")


def _undecided(reason: str) -> ParsedVerdict:
    return ParsedVerdict("undecided", reason)


def _by_field(value: object) -> ParsedVerdict:
    if isinstance(value, bool):
        return ParsedVerdict("yes" if value else "no")
    if isinstance(value, str) and value.strip():
        return _by_word(value.strip(), cut=False)
    return _undecided("its answer is neither yes nor no")


def _fields(text: str) -> list[object] | None:
    """The answers that a JSON object gives; None where the reply is no such object."""
    if text[0] != "{" or text[-1] != "}":
        return None
    outermost: list[tuple[str, Any]] = []

    def collect(pairs: list[tuple[str, Any]]) -> None:
        outermost[:] = pairs  # inner objects are closed first

    try:
        json.loads(text, object_pairs_hook=collect)
    except (ValueError, RecursionError):
        return None
    for name in _FIELDS:
        values = [value for key, value in outermost if key == name]
        if values:
            return values
    return []


def _by_word(text: str, cut: bool) -> ParsedVerdict:
    mark = _LIST_MARK.match(text)
    words = _words(text, mark.end() if mark else 0)
    first = next((place for place, word in enumerate(words) if word.text not in _LEAD), None)
    if first is None:
        return _undecided("it is neither yes nor no")
    announced = first == 0 or any(word.text not in _WEAK for word in words[:first])
    said = _answer(words[first].text) if announced else "undecided"
    if said == "undecided":
        return _at_the_end(text, words, cut)
    if cut and words[first].end == len(text):
        return _undecided("the token limit cut the reply at its verdict")
    if _taken_back(text, words, first):
        return _undecided("it says yes and no, or asks")
    return ParsedVerdict(said)


def _words(text: str, start: int) -> list[_Word]:
    found = []
    for match in _WORD.finditer(text, start):
        place = match.start()
        # Han runs have no spaces: 是或否 is three words, 是否 is one.
        for joint in _HAN_OR.finditer(text, match.start(), match.end()):
            if joint.start() > place:
                found.append(_Word(text[place : joint.start()], place, joint.start()))
            found.append(_Word(joint[0], joint.start(), joint.end()))
            place = joint.end()
        if match.end() > place:
            found.append(_Word(text[place : match.end()].rstrip("_"), place, match.end()))
    return found


def _answer(word: str) -> Answer:
    return "yes" if word in _YES else "no" if word in _NO else "undecided"


def _taken_back(text: str, words: list[_Word], place: int) -> bool:
    """Whether a question mark or the other verdict stands right behind this one."""
    this, later = words[place], words[place + 1 :]
    if text[this.end :].lstrip(_CLOSING + " ").startswith("?"):
        return True
    if not later:
        return False
    said = _answer(this.text)
    if later[0].text in _OR:
        return said == "yes" or (len(later) > 1 and _answer(later[1].text) == "yes")
    joined = later[0].text == "and"
    other = later[1] if joined and len(later) > 1 else later[0]
    if _answer(other.text) in ("undecided", said):
        return False
    between, behind = text[this.end : other.start], text[other.end :].lstrip(_CLOSING)
    # "Yes. No problem" says yes; "Yes. No." says nothing.
    return joined or "/" in between or "|" in between or not behind.startswith(" ")


def _at_the_end(text: str, words: list[_Word], cut: bool) -> ParsedVerdict:
    last = words[-1]
    said = _answer(last.text)
    before, behind = text[: last.start], text[last.end :]
    if said == "undecided" or cut or not _SET_OFF.search(before[-40:]) or "?" in behind:
        return _undecided("no verdict stands in it as a word of its own")
    other = {_answer(word.text) for word in words} - {"undecided", said}
    start = max((end.end() for end in _SENTENCE_END.finditer(before)), default=0)
    if other or (said == "yes" and _DENIES.search(before, start)):
        return _undecided("it says yes and no")
    return ParsedVerdict(said)
