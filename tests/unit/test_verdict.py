"""Yes or no by word. Ids in brackets are those of the faults that others hit, see the log of faults."""

from __future__ import annotations

import pytest

from hybridrank.guardrails.verdict import parse_verdict

REPLIES = {
    # VA-02: whole words
    "yes": "yes",
    '"Yes!"': "yes",
    "YES.": "yes",
    "**Yes**": "yes",
    "_yes_": "yes",
    "＂ＹＥＳ＂": "yes",
    "Yesterday it rained": "undecided",
    "YESBUT": "undecided",
    "Nothing here": "undecided",
    "I know": "undecided",
    "bypass": "undecided",
    "Eyes": "undecided",
    "no-op": "undecided",
    "yes-man": "undecided",
    "nope": "undecided",
    "unknown": "undecided",
    "cannot tell": "undecided",
    # VA-03: both words, prose, brackets
    "No.": "no",
    "NO, although yes it names it": "no",
    "Yes. No problem.": "yes",
    "Yes, and only once.": "yes",
    "No one calls it.": "no",
    "Not relevant (NO)": "no",
    "Relevant (YES)": "yes",
    "yes or no?": "undecided",
    "yes and no": "undecided",
    "no or yes": "undecided",
    "Yes or maybe": "undecided",
    "No or hardly": "no",
    "yes/no": "undecided",
    "Yes | No": "undecided",
    "Yes. No.": "undecided",
    "yes?": "undecided",
    "not yes": "undecided",
    "maybe yes": "undecided",
    "the yes flag is set": "undecided",
    'it prints "yes"': "undecided",
    "There is yes and there is no": "undecided",
    # announced, or at the end
    "Answer: yes": "yes",
    "The answer is: **No**": "no",
    "It's a yes.": "yes",
    "1. Yes": "yes",
    "- no": "no",
    "<answer>yes</answer>": "yes",
    "It stands there. Answer: yes": "yes",
    "I think the answer is no.": "no",
    "It does not define it.\nNo": "no",
    "This is not what I call an answer: yes": "undecided",
    # VA-04: thoughts
    "<think>no? hmm yes</think>\nNo": "no",
    "<think>yes yes": "undecided",
    "<think>yes</think>": "undecided",
    "thinking of no</think>Yes": "yes",
    "": "undecided",
    " \n": "undecided",
    # fences and objects
    "```\nyes\n```": "yes",
    '```json\n{"answer": "no"}\n```': "no",
    '{"answer": "yes", "quotes": ["no"]}': "yes",
    '{"quotes": ["yes"], "answer": "no"}': "no",
    '{"verdict": "Yes."}': "yes",
    '{"answer": true}': "yes",
    '{"answer": false}': "no",
    '{"answer": "yes or no"}': "undecided",
    '{"answer": "yes", "answer": "no"}': "undecided",
    '{"answer": "yes", "inner": {"answer": "no"}}': "yes",
    '{"answer": 1}': "undecided",
    '{"answer": null}': "undecided",
    '{"response_code": "Yes"}': "undecided",
    '{"answer": "yes", "code": "201": }': "yes",
    '{"answer":"yes", "responseCode":"2014-08-31 1': "yes",
    'not directly evidence: {"answer": "yes"}': "undecided",
    'so {"answer": "yes"} is not valid': "undecided",
    "[" * 5000 + "yes": "yes",
    '{"a":' * 5000 + "}": "undecided",
    # Chinese; Japanese is not known
    "是": "yes",
    "是的，包含。": "yes",
    "答案：是": "yes",
    "否": "no",
    "否，没有依据": "no",
    "判断：否。": "no",
    "不是": "no",
    "沒有": "no",
    "否或低相关": "no",
    "是否": "undecided",
    "是或否": "undecided",
    "是還是否？": "undecided",
    "是一个函数": "undecided",
    "不知道": "undecided",
    "はい": "undecided",
}


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply[:40].encode("unicode_escape").decode())
def test_a_verdict_is_read_by_word(reply: str) -> None:
    answer, reason = parse_verdict(reply)
    assert answer == REPLIES[reply]
    assert bool(reason) == (answer == "undecided")


@pytest.mark.parametrize("reply", ["No", "yes", "Answer: Yes", "It is so. Answer: no"])
def test_a_last_word_that_was_cut_may_be_another(reply: str) -> None:
    assert parse_verdict(reply).answer != "undecided"
    assert parse_verdict(reply, cut=True).answer == "undecided"


def test_what_stands_behind_a_verdict_may_be_cut() -> None:
    assert parse_verdict("No, the answer to the quest", cut=True).answer == "no"
    assert parse_verdict('{"answer": "yes", "quotes": ["position.cl', cut=True).answer == "yes"


def test_reasons_tell_what_was_found() -> None:
    assert parse_verdict("").reason == "the reply is empty"
    assert parse_verdict("<think>yes").reason == "it only thinks aloud"
    assert parse_verdict("yes and no").reason == "it says yes and no, or asks"
    assert parse_verdict('{"x": 1}').reason == "its object has no answer"
