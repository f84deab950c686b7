"""Rankings out of replies: what counts, what is dropped, and when the old order stands."""

from __future__ import annotations

import pytest

from hybridrank import InvalidValueError
from hybridrank.guardrails.ranking import ParsedRanking, parse_ranking
from hybridrank.guardrails.text import bare_reply, strip_fences, strip_lead, strip_thinking

GOLDEN = [
    ("Ranked JSON Array: [2, 0, 3, 4, 1, 100]", 3, [2, 0, 1]),
    ("[1, 1, 0, 0, 2]", 3, [1, 0, 2]),
    ("Sure! Candidate 1 is the best match.\n```json\n[1, 0]\n```\nAsk me anything else!", 2, [1, 0]),
]


@pytest.mark.parametrize(("reply", "n", "order"), GOLDEN)
def test_golden(reply: str, n: int, order: list[int]) -> None:
    parsed = parse_ranking(reply, range(n), min_labels=2)
    assert list(parsed.order) == order
    assert not parsed.fallback
    assert parsed.report.endswith("Fallback triggered: NO (clean parse)")


# Labels 1..n, as in the reports they come from: id, reply, n, order, whether it is a fallback.
REPORTED = [
    ("LR-01", "Sure, best first:\n[3, 1]\n\nItem 2, sadly, is off topic.", 3, [3, 1, 2], False),
    ("LR-01", "\n\n  [3,\n 1,\n\n 2]\n\n, as asked, 1, 2, 3", 3, [3, 1, 2], False),
    ("LR-02", "None of these passages help.", 3, [1, 2, 3], True),
    ("LR-02", "I cannot rank 3 passages; see rules 1, 2.", 3, [1, 2, 3], True),
    ("LR-03", "[0, -1, 2]", 3, [2, 1, 3], False),
    ("LR-03", '["-1", -0, 3]', 3, [3, 1, 2], False),
    ("LR-04", "[7, 2]", 3, [2, 1, 3], False),
    ("LR-04", "[99999999999999999999999999, 2]", 3, [2, 1, 3], False),
    ("LR-05", "[2, 2, 1]", 3, [2, 1, 3], False),
    ("LR-06", '[{"id":2,"score":9},{"id":1,"score":"high"},{"id":3,"score":7}]', 3, [2, 3, 1], False),
    ("LR-06", '[{"id":1},{"id":3,"score":1},{"id":2,"score":4.5}]', 3, [2, 3, 1], False),
    ("LR-06", '[{"id":2,"score":"9"},{"id":1,"score":NaN},{"id":3,"score":"7.5"}]', 3, [2, 3, 1], False),
    ("LR-06", '[{"id":2,"score":null},{"id":1,"score":true},{"id":3,"score":-1}]', 3, [3, 2, 1], False),
    ("LR-06", '[{"id":1,"index":2},{"id":3,"index":1}]', 3, [1, 2, 3], True),
    ("LR-07", "[11] > [3] > [2]", 12, [11, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 12], False),
    ("LR-07", "[ID 3]>[ID 1] > [ID 2]", 3, [3, 1, 2], False),
    ("LR-07b", "[11, 3, 2]", 12, [11, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 12], False),
    ("LR-09", "<think>maybe [3,2,1]? no, 2 defines it</think>\n[2,1,3]", 3, [2, 1, 3], False),
    ("LR-09", "<THINKING mode='x'>[3,2,1]</thinking>[2,1,3]", 3, [2, 1, 3], False),
    (
        "LR-09",
        "<|channel|>analysis<|message|>[3,2,1]<|end|><|channel|>final<|message|>[2,1]",
        3,
        [2, 1, 3],
        False,
    ),
    ("LR-09", "<analysis>[3,2,1]</analysis>[2,1]", 3, [2, 1, 3], False),
    ("LR-10a", "<think>[3] beats [1] because", 3, [1, 2, 3], True),
    ("LR-10a", "<think>[3, 2, 1]", 3, [1, 2, 3], True),
    ("LR-10b", "so [3,1] hmm</think>\n[1,3,2]", 3, [1, 3, 2], False),
    ("LR-10b", "<think><think>[3,1,2]</think>[3,2,1]</think>[1,3,2]", 3, [1, 3, 2], False),
    ("LR-11", "", 3, [1, 2, 3], True),
    ("LR-11", " \n\t", 3, [1, 2, 3], True),
    ("LR-15a", "Ranking: [2, 1, 3]. See [docs].", 3, [2, 1, 3], False),
    ("LR-15b", '{"ranking": [2, 1, 3]}', 3, [2, 1, 3], False),
    ("LR-15c", '["2","1","3"]', 3, [2, 1, 3], False),
    ("LR-15d", "[[2,1,3]]", 3, [2, 1, 3], False),
    ("LR-15d", "[[2],[1],[3]]", 3, [2, 1, 3], False),
    ("LR-15e", "[2, 1, 3,]", 3, [2, 1, 3], False),
    ("LR-15e", "[2, // the best, not 3\n 1, # 3 is off topic\n 3]", 3, [2, 1, 3], False),
    ("LR-15f", "note {open [2,1,3]", 3, [2, 1, 3], False),
    ("LR-15f", "[see [2,1,3]", 3, [2, 1, 3], False),
    ("LR-15g", "[true, 2.0, 1]", 3, [2, 1, 3], False),
    ("LR-15g", "[True, null, 2.5, 'b', 2e0, 1]", 3, [2, 1, 3], False),
    ("LR-16a", "Passage [2] is close. Final: [3, 1, 2]", 3, [3, 1, 2], False),
    ("LR-16b", "[2, 1, 3]\nTop pick is [2]", 3, [2, 1, 3], False),
    ("LR-16", "[1, 2, 3] would be the order of before; mine is [2, 1, 3]", 3, [2, 1, 3], False),
    ("LR-17a", "```json\n[2,3,1]\n```", 3, [2, 3, 1], False),
    ("LR-17b", "Here:\n```\n[2,3,1]\n```\nHope this helps [1].", 3, [2, 3, 1], False),
    ("LR-17c", "~~~json\n[2,3,1]\n~~~", 3, [2, 3, 1], False),
    ("LR-17", "```json [2,3,1]```\n```python\nx = args[1]\n```", 3, [2, 3, 1], False),
    ("LR-19", "[4, 2]", 5, [4, 2, 1, 3, 5], False),
    ("LR-24", "[99, 1]", 3, [1, 2, 3], False),
]


@pytest.mark.parametrize(("fault", "reply", "n", "order", "fallback"), REPORTED)
def test_reported_faults(fault: str, reply: str, n: int, order: list[int], fallback: bool) -> None:
    parsed = parse_ranking(reply, range(1, n + 1))
    assert (list(parsed.order), bool(parsed.fallback)) == (order, fallback), fault


@pytest.mark.parametrize(
    ("reply", "order", "used"),
    [
        ("[2, 0, 1", [2, 0, 1, 3], 2),
        ("[2, 0, ", [2, 0, 1, 3], 2),
        ("[2, 0, 1.", [2, 0, 1, 3], 2),
        ('["2", "0", "1', [2, 0, 1, 3], 2),
        ('[{"id": 2}, {"id": 0}, {"id": 1', [2, 0, 1, 3], 2),
        ('{"ranking": [2, 0, 1', [2, 0, 1, 3], 2),
        ("[2] > [0] > [1", [2, 0, 1, 3], 2),
        ("[2, 0, tr", [2, 0, 1, 3], 2),
        ("[2, 0, // 1", [2, 0, 1, 3], 2),
    ],
)
def test_a_reply_that_was_cut_is_not_trusted_at_its_cut(reply: str, order: list[int], used: int) -> None:
    parsed = parse_ranking(reply, range(4), min_labels=2, finish_reason="length")
    assert (list(parsed.order), parsed.used, parsed.left_out) == (order, used, 4 - used)


@pytest.mark.parametrize(
    "reply",
    [
        "2, 0, 1",
        "1. candidate 2\n2. candidate 0",
        "2 > 0 > 1",
        "IDs [2 and 0 and 1] it is",
        "[2; 0; 1]",
        "[2 0 1]",
        "(2, 0, 1)",
        "args[2, 0, 1] = f(x)[0]",
        "range[0][1][2]",
        "    a = [1, 2, ",
        "[1, 2, ..., 0]",
        "[x for x in [a, b] if x == 1]",
        '{"first": 2, "second": 0, "2": {"0": 1}}',
        "[ID 0] Path: a.py:1\n[ID 1] Path: b.py:2",
        "[]",
        "[,]",
        "[[], [[]]]",
        '[{"name": "a"}, {"name": "b"}]',
    ],
)
def test_no_digit_comes_from_prose_or_code(reply: str) -> None:
    parsed = parse_ranking(reply, range(3))
    assert parsed.order == (0, 1, 2)
    assert parsed.fallback.startswith("no array with a candidate's id")
    assert "Fallback triggered: YES (no array" in parsed.report


def test_one_label_of_three_is_too_few_where_two_are_asked_for() -> None:
    assert parse_ranking("[2]", range(3), min_labels=2) == ParsedRanking(
        (0, 1, 2), fallback="1 usable id, at least 2 are needed", reply="[2]"
    )
    assert parse_ranking("[2]", range(3)).order == (2, 0, 1)
    # Of two candidates one tells the other's place; of four, three do.
    assert parse_ranking("[1]", range(2), min_labels=2).order == (1, 0)
    assert parse_ranking("[3, 2, 1]", range(4), min_labels=9).order == (3, 2, 1, 0)
    assert parse_ranking("[3, 2]", range(4), min_labels=9).fallback
    assert parse_ranking("[7]", [7], min_labels=2).order == (7,)


def test_labels_are_those_of_the_prompt_in_their_old_order() -> None:
    assert parse_ranking("[338, 105]", [211, 105, 318, 338]).order == (338, 105, 211, 318)
    assert parse_ranking("anything [1]", []).order == ()


def test_the_report_tells_what_was_dropped() -> None:
    parsed = parse_ranking('[1, 1, "x", 9, -3, 2.5]', range(4))
    assert (parsed.used, parsed.duplicates, parsed.out_of_bounds, parsed.others) == (1, 1, 2, 2)
    assert parsed.report == (
        'Reply received: "[1, 1, "x", 9, -3, 2.5]" (Filtered: 1 duplicates, 2 out-of-bounds, 2 not integers; '
        "3 left out, kept in their order). Fallback triggered: NO (clean parse)"
    )
    whole = parse_ranking("[0, 2, 1]", range(3))
    assert whole.report == (
        'Reply received: "[0, 2, 1]" (Filtered: 0 duplicates, 0 out-of-bounds). '
        "Fallback triggered: NO (clean parse)"
    )


def test_the_report_says_why_there_is_no_ranking() -> None:
    assert parse_ranking("", range(2)).fallback == "the reply is empty"
    assert parse_ranking("<think>[1, 0]", range(2)).fallback == "the reply holds only thoughts"
    cut = parse_ranking("The candidates are", range(2), finish_reason="length")
    assert cut.fallback.endswith("the reply was cut by the token limit")
    # A reply cannot break the line, nor steer a terminal.
    report = parse_ranking("a\n\x1b[31mb" + "c" * 500, range(2)).report
    assert report.isprintable()
    assert len(report) < 250


@pytest.mark.parametrize(
    ("labels", "least"), [([0, 0], 1), ([-1], 1), ([True], 1), ([0, 1], 0), ([0, 1], True), (["a"], 1)]
)
def test_bad_labels_are_refused(labels: list[int], least: int) -> None:
    with pytest.raises(InvalidValueError):
        parse_ranking("[0]", labels, min_labels=least)


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("a<think>b</think>c", "ac"),
        ("a<think>b", "a"),
        ("a</think>b", "b"),
        ("a</think>b</think>c<think>d", "c"),
        ("a [THINK]b[/THINK]c", "a c"),
        ("x < think and y > z", "x < think and y > z"),
        ("<thinker>a", "<thinker>a"),
        ("a<think mode='a/b'>b</think>c", "ac"),
    ],
)
def test_thoughts(reply: str, kept: str) -> None:
    assert strip_thinking(reply) == kept


def test_fences_and_lead() -> None:
    assert strip_fences("```json\n[1]\n```").split() == ["[1]"]
    assert strip_fences("~~~yes~~~").split() == ["yes"]
    assert strip_lead("  ranked json array: Ranked JSON Array:\n[1]", "Ranked JSON Array:") == "[1]"
    assert strip_lead(" a ", "") == "a"
    assert bare_reply("<think>x</think>\n```\nLead: [1]\n```", "Lead:") == "[1]"
