"""A yes or no out of a model's reply, by word. What is neither is undecided."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ..types import Answer
from .arrays import objects, unescaped
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
# A sentence of its own: the answer to a question that the reply repeats.
_SENTENCE = re.compile(r"[?!。]\s*$")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\s{0,3}\{")
_HAN_LEAD = re.compile(r"(?:最终|最後|最后)?(?:答案|结论|結論|判断|判斷|判定|结果|結果|回答|答)[为為](?=\w)")
# "No idea", "no doubt": the word that follows takes the verdict away.
_IDIOMS = frozenset("answer clue comment doubt doubts idea matter problem problems verdict worries".split())  # noqa: SIM905
_CLOSING = "\"'”’)*`_"
_FIELDS = ("answer", "verdict")
_LIST_MARK = re.compile(r"\s*(?:[-*+]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|p|br|span|div|code|mark|ul|ol|li)\s?/?>")


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
       and 3. It may have a heading ("JSON Object:") and further lines around it, and be written a little
       wrong: other quotation marks, comments, commas too many. Inside a sentence it says nothing, nor do
       objects or fields that differ.
    2. The first word, behind words that only announce it ("The answer is: ..."). A second verdict beside it
       takes it back ("yes or no", "yes/no", "Yes. No."), a later one does not ("no, although yes it ..."),
       nor does a question mark stand behind a verdict. "No idea" and the like are none.
    3. The last word of the reply, where it is set off by a colon, a bracket, a quotation mark, a line of its
       own or "is", nothing in its sentence denies it, and the other verdict stands nowhere; or where it is
       a sentence of its own behind a question mark, an exclamation mark or 。, and nothing before denies it.

    Words are whole: `know`, `bypass`, `Yesterday` and `no-op` are no verdicts. Yes is `yes`, 是 or 是的; no
    is `no`, 否, 不, 不是 or 没有. Verdicts in running prose do not count.

    Args:
        cut: the token limit ended the reply, so that its last word may be the beginning of another.
    """
    text = unicodedata.normalize("NFKC", bare_reply(reply)).casefold().strip().strip("\ufeff")
    if not text:
        return _undecided("the reply is empty" if not reply.strip() else "it only thinks aloud")
    return _by_object(text) or _by_word(_TAG.sub(" ", _LATEX.sub("{", text)), cut)


def _undecided(reason: str) -> ParsedVerdict:
    return ParsedVerdict("undecided", reason)


def _by_field(value: object) -> ParsedVerdict:
    if isinstance(value, bool):
        return ParsedVerdict("yes" if value else "no")
    if isinstance(value, str) and value.strip():
        return _by_word(unescaped(value).strip(), cut=False)
    return _undecided("its answer is neither yes nor no")


def _by_object(text: str) -> ParsedVerdict | None:
    """What the objects of a reply say; None where none of them has an answer and something else is there."""
    found = list(objects(text))
    said = [(one, value) for one in found for key, value in one.fields if unescaped(key).strip() in _FIELDS]
    if not said:
        whole = len(found) == 1 and (found[0].start, found[0].end) == (0, len(text))
        return _undecided("its object has no answer") if whole else None
    answers = [_by_field(value) for _, value in said]
    if len({answer.answer for answer in answers}) > 1:
        return _undecided("it says yes and no")
    before = text[: said[0][0].start].rstrip(" \t[`*\"'“")
    behind = text[said[-1][0].end :].partition("\n")[0].strip(" \t\r]`*\"'”.,;")
    if (before and before[-1] not in ":=\n>") or (behind and not behind.startswith(("//", "#", "<"))):
        return _undecided("its object stands in a sentence")
    if answers[0].answer == "yes" and _DENIES.search(before):
        return _undecided("it says yes and no")
    return answers[0]


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
        led = _HAN_LEAD.match(text, match.start(), match.end())
        place = led.end() if led else match.start()
        # Han runs have no spaces: 是或否 is three words, 是否 is one.
        for joint in _HAN_OR.finditer(text, place, match.end()):
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
    if text[this.end : this.end + 9].lstrip(_CLOSING + " !").startswith("?"):
        return True
    if not later:
        return False
    if this.text == "no" and later[0].text in _IDIOMS and text[this.end : later[0].start] == " ":
        return True
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
    alone = _SENTENCE.search(before[-40:]) is not None
    if said == "undecided" or cut or not (alone or _SET_OFF.search(before[-40:])) or "?" in behind:
        return _undecided("no verdict stands in it as a word of its own")
    other = {_answer(word.text) for word in words} - {"undecided", said}
    start = 0 if alone else max((end.end() for end in _SENTENCE_END.finditer(before)), default=0)
    if other or (said == "yes" and _DENIES.search(before, start)):
        return _undecided("it says yes and no")
    return ParsedVerdict(said)
