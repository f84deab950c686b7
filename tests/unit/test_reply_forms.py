"""Forms in which models write what they were asked for: other brackets, digits, marks, thoughts, objects."""

from __future__ import annotations

import json

import pytest

from hybridrank.guardrails.quotes import parse_quotes
from hybridrank.guardrails.ranking import parse_ranking
from hybridrank.guardrails.text import strip_thinking
from hybridrank.guardrails.verdict import parse_verdict

SAME = [2, 0, 1]
RANKINGS = {
    # Full-width and East Asian marks, digits of other scripts, key caps
    "［２，０，１］": SAME,
    "[2，0，1]": SAME,
    "[2、0、1]": SAME,
    "【2, 0, 1】": SAME,
    "【2】＞【0】＞【1】": SAME,
    "[٢، ٠، ١]": SAME,
    "[२, ०, १]": SAME,
    "[2️⃣, 0️⃣, 1️⃣]": SAME,
    "[“2”, “0”, “1”]": SAME,
    "[`2`, `0`, `1`]": SAME,
    # What cannot be seen
    "[2,\ufeff0,\u200b1]": SAME,
    "[2,\x00 0,\x00 1]": SAME,
    "\ufeff[2,\r\n0,\r\n1\r\n]": SAME,
    # Markdown and LaTeX
    "[**2**, **0**, **1**]": SAME,
    "**[2]** > **[0]** > **[1]**": SAME,
    "`[2]` > `[0]` > `[1]`": SAME,
    r"\[2, 0, 1\]": SAME,
    r"\[2\] > \[0\] > \[1\]": SAME,
    r"$\boxed{[2, 0, 1]}$": SAME,
    # Labels as the prompt writes them
    "[ID 2, ID 0, ID 1]": SAME,
    "[[ID 2], [ID 0], [ID 1]]": SAME,
    "[ID 2], [ID 0], [ID 1]": SAME,
    '["ID 2", "ID 0", "ID 1"]': SAME,
    '["[ID 2]", "[ID 0]", "[ID 1]"]': SAME,
    "['[2]', '[0]', '[1]']": SAME,
    '["ID: 2", "id_0", "#1"]': SAME,
    "[#2, #0, #1]": SAME,
    "[+2, +0, +1]": SAME,
    # Chains
    "[2] -> [0] -> [1]": SAME,
    "[2] → [0] → [1]": SAME,
    "[2] ≻ [0] ≻ [1]": SAME,
    "[2] >> [0] >> [1]": SAME,
    "[2] &gt; [0] &gt; [1]": SAME,
    "Ranked JSON Array: [2], [0], [1]": SAME,
    "[2]\n[0]\n[1]": SAME,
    # JSON that is almost JSON
    "[2, /* best */ 0, #mid\n 1]": SAME,
    "[2, 0, 1,,]": SAME,
    "[2, 0, 1, ...]": SAME,
    "[2, 0, 1, …]": SAME,
    # Objects: which one, and in which order
    '[{"doc_id": 2}, {"doc_id": 0}, {"doc_id": 1}]': SAME,
    '[{"Candidate ID": "[ID 2]"}, {"Candidate ID": "[ID 0]"}]': SAME,
    '[{"id":1,"rank":3},{"id":2,"rank":1},{"id":0,"rank":2}]': SAME,
    '[{"id":1,"rank":3,"score":1},{"id":2,"rank":1,"score":9},{"id":0,"rank":2,"score":5}]': SAME,
    '[{"id":0,"score":"50%"},{"id":2,"score":"90%"},{"id":1,"score":"7%"}]': SAME,
    '[{"id":0,"score":"5/10"},{"id":2,"score":"9/10"},{"id":1,"score":"1/10"}]': SAME,
    '{"thoughts": "maybe [0, 1, 2]?", "ranking": [2, 0]}': SAME,
    '{"ranking": "[2, 0, 1]"}': SAME,
}


@pytest.mark.parametrize("reply", RANKINGS, ids=lambda reply: json.dumps(reply)[1:40])
def test_a_ranking_is_read_in_any_form(reply: str) -> None:
    parsed = parse_ranking(reply, range(3), min_labels=2)
    assert (list(parsed.order), parsed.fallback) == (RANKINGS[reply], "")


@pytest.mark.parametrize(
    "reply",
    [
        "Documents [2], [0] and [1] are alike.",
        "See [2], [0], [1] above.",
        "[2] is close.\n[0] is not.",
        "[2]\n[1]\n[0]\n\nThe code snippets can be extracted as follows:",
        "Not these:\n[2]\n[1]",
        "[1²]",
        "[2\u200b0, 1½]",
        "[2, 0, 1 and so on]",
        "[0, ..., 2]",
        "[ID 2 ID 0]",
        '["ID 2 and 0", "2 of 3"]',
        '[{"id":1,"rank":1,"score":1},{"id":2,"rank":2,"score":9}]',
        '["2nd", "1st"]',
    ],
)
def test_what_only_looks_like_a_ranking_is_none(reply: str) -> None:
    assert parse_ranking(reply, range(3), min_labels=2).fallback


THOUGHTS = {
    "<seed:think>{}</seed:think>": "Seed",
    "<antThinking>{}</antThinking>": "Claude",
    "<inner_monologue>{}</inner_monologue>": "",
    "<reason>{}</reason>": "",
    "<思考>{}</思考>": "",
    "&lt;think&gt;{}&lt;/think&gt;": "escaped",
    "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>": "Command A",
    "<|begin_of_thought|>{}<|end_of_thought|>\n<|begin_of_solution|>": "Sky-T1",
    "<|think|>{}<|/think|>": "",
    "<|channel>thought\n{}<channel|>": "Gemma",
    "<unused94>thought\n{}<unused95>": "MedGemma",
    "<|channel|>analysis<|message|>{}<|end|>"
    "<|start|>assistant<|channel|>final <|constrain|>json<|message|>": "gpt-oss",
    "Here is my thought process:\n{}\n\nHere is my response:\n": "Granite",
    "＜think＞{}＜/think＞": "full-width",
    "{}</seed:think>": "only the end",
    "{}<|END_THINKING|>": "only the end",
}


@pytest.mark.parametrize("block", THOUGHTS)
def test_a_draft_among_thoughts_is_no_ranking(block: str) -> None:
    parsed = parse_ranking(block.format("[0, 1, 2] or not") + "[2, 1]", range(3), min_labels=2)
    assert list(parsed.order) == [2, 1, 0]
    assert "or not" not in strip_thinking(block.format("or not"))


@pytest.mark.parametrize("block", [block for block in THOUGHTS if block.index("{}")])
def test_thoughts_without_an_end_hold_no_ranking(block: str) -> None:
    assert parse_ranking(block.partition("{}")[0] + "[2, 1, 0]", range(3), min_labels=2).fallback


@pytest.mark.parametrize(
    "text", ["<rethinking-x>a", "a <thinker> b", "I am thinking: a", "a <| b", "x<channel>y"]
)
def test_what_is_no_tag_stays(text: str) -> None:
    assert strip_thinking(text) == text


VERDICTS = {
    # An object with something around it
    'JSON Object: {"answer": "no", "quotes": []}': "no",
    'JSON Object:\n{"answer": "yes", "quotes": ["no"]}': "yes",
    'Sure: {"answer": "no", "quotes": ["yes"]}': "no",
    'Here it is:\n\n{"quotes": ["yes"], "answer": "no"}\n\nI hope that helps.': "no",
    '{"answer": "no", "quotes": ["yes"]} // both': "no",
    '[{"answer": "no", "quotes": ["yes"]}]': "no",
    "{'quotes': ['yes'], 'answer': 'no'}": "no",
    '{"quotes": ["yes"], "answer": "no",}': "no",
    '{ // my verdict\n "quotes": ["yes"], "answer": "no"}': "no",
    '{"quotes": ["yes"], "answer": False}': "no",
    '{"quotes": ["no"], “answer”: “yes”}': "yes",
    '\ufeff{"quotes": ["yes"], "answer": "no"}': "no",
    '{"quotes": ["yes"], "Answer": "NO"}': "no",
    '｛"quotes"：["yes"]，"answer"："no"｝': "no",
    # Objects that say two things, or nothing
    '{"answer": "yes"}{"answer": "no"}': "undecided",
    '{"answer": "yes"}\n{"answer": "no"}': "undecided",
    "{'answer': 'yes', 'answer': 'no'}": "undecided",
    '{"answer": "yes", "verdict": "no"}': "undecided",
    'Write {"answer": "yes"} or {"answer": "no"}': "undecided",
    'it is not directly evidence: {"answer": "yes"}': "undecided",
    '{"answer": "yes"} is not valid': "undecided",
    # Thoughts and templates
    "<|START_THINKING|>yes<|END_THINKING|><|START_RESPONSE|>no<|END_RESPONSE|>": "no",
    "<seed:think>yes</seed:think>no": "no",
    "<|im_start|>assistant\nyes<|im_end|>": "yes",
    "<start_of_turn>model\nno<end_of_turn>": "no",
    "Here is my thought process: yes. Here is my response: no": "no",
    # A sentence of its own, LaTeX, Chinese
    "Is there evidence? No": "no",
    "Is there evidence? Yes.": "yes",
    "没有证据。否": "no",
    "候选文本包含该调用。是": "yes",
    "It is not direct evidence. Yes.": "undecided",
    "Did it say yes? No.": "undecided",
    r"$\boxed{\text{Yes}}$": "yes",
    r"\boxed{no}": "no",
    "答案为否": "no",
    "结论为：是": "yes",
    "答案為是": "yes",
    "答案是否": "undecided",
    "Yes!?": "undecided",
    "No doubt, yes": "undecided",
    "No idea": "undecided",
    "No problem: yes": "undecided",
    "<b>Yes</b>": "yes",
    "<p><strong>No</strong></p>": "no",
    "a) yes": "yes",
    "(b) no": "no",
    "| Answer | yes |": "yes",
    "最终判断：否": "no",
    "是／否": "undecided",
}


@pytest.mark.parametrize("reply", VERDICTS, ids=lambda reply: json.dumps(reply)[1:40])
def test_a_verdict_is_read_in_any_form(reply: str) -> None:
    assert parse_verdict(reply).answer == VERDICTS[reply]


QUOTES = {
    "{'answer': 'yes', 'quotes': ['Input.get_axis', 'a \"b\"']}": ("Input.get_axis", 'a "b"'),
    '{"answer": "yes", "quotes": ["a.b", "c\\td",],}': ("a.b", "c\td"),
    'JSON Object: {"answer": "yes", "quotes": ["say \\"hi\\""]}': ('say "hi"',),
    '{"answer": "yes", // sure\n "quotes": ["a.b"]}': ("a.b",),
    'Sure!\n{"answer": "yes", "quotes": ["a.b"]}\nThat is "all".': ("a.b",),
    '{"answer": "yes", "quotes": [{"text": "a.b"}, {"quote": "c.d"}]}': ("a.b", "c.d"),
    "Yes: 'Input.get_axis'": ("Input.get_axis",),
    "Yes, it isn't in 'a.b' but the caller's": ("a.b",),
    "是：『血糖』、「胰岛素」": ("血糖", "胰岛素"),
    "Yes «a.b» „c.d“": ("a.b", "c.d"),
    '{"Answer": "yes", "Quotes": ["a.b"]}': ("a.b",),
}


@pytest.mark.parametrize("reply", QUOTES, ids=lambda reply: json.dumps(reply)[1:40])
def test_quotes_are_read_in_any_form(reply: str) -> None:
    assert parse_quotes(reply) == QUOTES[reply]
