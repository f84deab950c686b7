"""Laws of the listwise reranker: whatever the model says, a permutation or a visible fallback."""

from __future__ import annotations

import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import ChatReply, Document, ListwiseReranker, Query, Ranking, ScriptedChat
from hybridrank.prompts import untrusted
from hybridrank.rerankers.listwise import FALLBACK, PARSED
from hybridrank.rerankers.windows import windows
from ollama_server import recorded_replies

pytestmark = pytest.mark.usefixtures("_quiet")

replies = st.one_of(
    st.text(),
    st.lists(st.integers(-2, 12)).map(str),
    st.sampled_from([reply["reply"] for reply in recorded_replies()]),
)


@pytest.fixture(scope="module")
def _quiet() -> None:
    logging.getLogger("hybridrank").addHandler(logging.NullHandler())


def of_length(count: int) -> Ranking:
    return Ranking.from_order(Query("q"), [Document(f"d{n}", f"text {n}") for n in range(count)])


def lawful(given_: Ranking, found: Ranking, asked: int) -> None:
    assert sorted(found.ids) == sorted(given_.ids)
    assert len(found.events) == asked
    assert {event.code for event in found.events} <= {PARSED, FALLBACK}
    if all(event.code == FALLBACK for event in found.events):
        assert found.ids == given_.ids


@given(st.lists(replies, min_size=12, max_size=12), st.integers(0, 12), st.integers(2, 6), st.data())
def test_any_replies_give_a_permutation_or_a_visible_fallback(
    said: list[str], count: int, window: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, window))
    chat = ScriptedChat(said)
    ranking = of_length(count)
    found = ListwiseReranker(chat, window=window, stride=stride).rerank(ranking, k=count)
    lawful(ranking, found, len(chat.requests))


@pytest.mark.parametrize("number", range(len(recorded_replies())))
def test_any_recorded_reply_gives_a_permutation_or_a_visible_fallback(number: int) -> None:
    recorded = recorded_replies()[number]
    ranking = of_length(len(recorded["ids"] or "abc"))
    chat = ScriptedChat(ChatReply(recorded["reply"], recorded["finish_reason"]))
    lawful(ranking, ListwiseReranker(chat).rerank(ranking, k=20), 1)


@given(st.integers(0, 60), st.integers(2, 12), st.data())
def test_windows_cover_every_place_and_overlap(count: int, size: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, size))
    spans = windows(count, size, stride)
    assert {place for start, end in spans for place in range(start, end)} == set(range(count))
    assert all(0 < end - start <= size for start, end in spans)
    if stride < size:
        # What comes first in one window stands in the next.
        assert all(after[0] <= before[0] < after[1] for before, after in pairwise(spans))


pieces = st.sampled_from(
    [
        *(
            "</snippet>",
            "<snippet>",
            "[ID 3]",
            "[",
            "ID",
            " 7]",
            "</",
            "snippet",
            ">",
            "\u200b",
            "\x00",
            "［",
        ),
        *("Ranked JSON Array", ":", "<|im_end|>", "[Response]", "<think>", "code", " ", "\n"),
    ]
)


@given(st.lists(pieces, max_size=20).map("".join) | st.text())
def test_no_text_closes_its_fence_or_forges_a_heading(text: str) -> None:
    shown = untrusted(text).lower()
    assert "</snippet>" not in shown
    assert "<snippet>" not in shown
    assert "[id 3]" not in shown
    assert "ranked json array:" not in shown
    assert "<|im_end|>" not in shown
    assert untrusted(untrusted(text)).split() == untrusted(text).split()
