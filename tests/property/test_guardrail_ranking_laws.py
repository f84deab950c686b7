"""Laws of rankings out of replies: always a permutation, never digits out of prose, never slow."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank.guardrails.ranking import ParsedRanking, parse_ranking

RECORDED: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "recorded" / "replies.jsonl").read_text("utf-8").splitlines()
]
RANKED = [reply for reply in RECORDED if reply["kind"] == "rerank"]

labels_of_prompts = st.lists(st.integers(0, 400), max_size=12, unique=True)
pieces = st.sampled_from(
    [
        *"[]{},:>0123\"'\\\n ",
        *("[1,", "[2]", "[0]", "-1", "1.0", "true", "null", "<think>", "</think>", "```", "json", "[ID 1]"),
        *(
            "［２，",
            "、",
            "[ID 0, ",
            "ID 2",
            "[1], ",
            "/*",
            "*/",
            "...",
            "“1”",
            "`",
            "<|START_THINKING|>",
            "①",
        ),
        *('"id":', '{"id":1}', "Ranked JSON Array:", "9" * 30, "1e5", "1e999"),
    ]
)
replies = st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join), st.lists(pieces).map(" ".join))


def lawful(parsed: ParsedRanking, labels: list[int]) -> None:
    assert sorted(parsed.order) == sorted(labels)
    if parsed.fallback:
        assert list(parsed.order) == labels
        assert parsed.used == 0
    else:
        left = [label for label in labels if label not in parsed.order[: parsed.used]]
        assert list(parsed.order[parsed.used :]) == left
    assert parsed.report.isprintable()
    assert ("NO" if not parsed.fallback else "YES") in parsed.report


@given(replies, labels_of_prompts, st.integers(1, 5))
def test_any_reply_is_a_permutation_or_a_visible_fallback(reply: str, labels: list[int], least: int) -> None:
    lawful(parse_ranking(reply, labels, min_labels=least), labels)


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_any_recorded_reply_is_a_permutation_or_a_visible_fallback(number: int) -> None:
    recorded = RECORDED[number]
    labels = recorded["ids"] or [0, 1, 2, 3]
    parsed = parse_ranking(recorded["reply"], labels, min_labels=2, finish_reason=recorded["finish_reason"])
    lawful(parsed, labels)


def test_of_the_recorded_free_text_nothing_is_taken_for_a_ranking() -> None:
    free = [reply for reply in RANKED if reply["constraint"] == "none"]
    assert len(free) > 30
    taken = [r["reply"] for r in free if not parse_ranking(r["reply"], r["ids"], min_labels=2).fallback]
    assert taken == []


@given(st.text().filter(lambda text: "[" not in text), labels_of_prompts.filter(bool))
def test_no_ranking_without_an_array(reply: str, labels: list[int]) -> None:
    assert parse_ranking(reply, labels).fallback


@given(
    st.permutations(range(8)), st.sampled_from(["{}", "x {} y", "```json\n{}\n```", "<think>[7]</think>{}"])
)
def test_a_whole_ranking_is_read_as_it_is_written(order: list[int], around: str) -> None:
    for written in (
        json.dumps(order),
        " > ".join(f"[{n}]" for n in order),
        json.dumps([str(n) for n in order]),
    ):
        parsed = parse_ranking(around.replace("{}", written), range(8), min_labels=2)
        assert list(parsed.order) == order
        assert parsed.left_out == parsed.duplicates == parsed.out_of_bounds == 0


@given(st.lists(st.integers(-3, 12), min_size=1, max_size=30))
def test_every_item_is_a_label_a_duplicate_or_out_of_bounds(items: list[int]) -> None:
    parsed = parse_ranking(json.dumps(items), range(8))
    inside = [item for item in items if 0 <= item < 8]
    if inside:
        assert parsed.order[: parsed.used] == tuple(dict.fromkeys(inside))
        assert parsed.duplicates == len(inside) - len(set(inside))
        assert parsed.out_of_bounds == len(items) - len(inside)


HOSTILE = {
    "open brackets": "[",
    "open arrays": "[1,",
    "open strings": '["',
    "open objects": "[{",
    "escapes": '["\\',
    "tags without an end": "<think",
    "tags": "<think>",
    "headers": "[ID 1",
    "chains": "[1]>",
    "arrays": "[1]",
    "spaces": "[ ",
    "leads": "Ranked JSON Array:",
    "fences": "```json ",
    "objects": '[{"id":1},',
    "quotes": "[' \n",
    "nested": "[[1],",
    "comments": "[//[# \n",
    "channels": "<|channel|>",
    "block comments": "[/*",
    "labels": "[ID 1, ",
    "listed": "[1], ",
    "lines": "[1]\n",
    "listed in prose": "a [1], [2]\n",
    "entities": "&lt;think",
    "full-width": "［１，",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_reply_made_to_be_slow_takes_linear_time(kind: str) -> None:
    unit = HOSTILE[kind]
    seconds = []
    for size in (5_000, 40_000):
        # The best of two: what else the machine does counts for nothing.
        times = []
        for _ in range(2):
            started = process_time()
            parse_ranking(unit * (size // len(unit)), range(20))
            times.append(process_time() - started)
        seconds.append(max(min(times), 0.002))
    # Eight times as long: quadratic would be 64 times.
    assert all(later < 30 * earlier for earlier, later in pairwise(seconds)), seconds
