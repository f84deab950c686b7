from __future__ import annotations

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import Document
from hybridrank.guardrails.evidence import judge_reply
from hybridrank.guardrails.quotes import parse_quotes, verify_quote
from hybridrank.guardrails.verdict import parse_verdict
from hybridrank.text.api_tokens import api_tokens, words
from hybridrank.text.corpus_tokens import WORD, CorpusTokens
from ollama_server import recorded_replies

WORDS = "yes no Yes NO 是 否 或 是否 answer quotes or and not the is <think> </think> ```".split()  # noqa: SIM905
WORDS += ["{'answer':", '{"answer":', "'yes'", "“yes”", "答案为", "\\boxed{", "idea", "JSON Object:"]
PIECES = st.sampled_from([*WORDS, *" \n,.:?/(){}[]\"'`"])
REPLIES = st.one_of(st.text(), st.lists(PIECES).map("".join), st.lists(PIECES).map(" ".join))


@given(REPLIES, st.booleans())
def test_every_text_has_a_verdict_and_a_reason_where_it_is_undecided(reply: str, cut: bool) -> None:
    verdict = parse_verdict(reply, cut=cut)
    assert verdict.answer in ("yes", "no", "undecided")
    assert bool(verdict.reason) == (verdict.answer == "undecided")
    assert verdict == parse_verdict(reply, cut=cut)


@given(REPLIES)
def test_no_yes_without_a_word_that_says_so(reply: str) -> None:
    if parse_verdict(reply).answer == "yes":
        assert any(word in reply.casefold() for word in ("yes", "是", "true"))


@given(REPLIES)
def test_a_reply_that_is_only_thought_says_nothing(thought: str) -> None:
    text = thought.replace("<", " ").replace("[", " ").replace("◁", " ")
    assert parse_verdict("<think>" + text).answer == "undecided"
    assert parse_verdict(f"<think>{text}</think>").answer == "undecided"


@given(REPLIES)
def test_a_cut_makes_nothing_surer(reply: str) -> None:
    cut = parse_verdict(reply, cut=True).answer
    assert cut in ("undecided", parse_verdict(reply).answer)


@given(REPLIES)
def test_quotes_are_not_blank_and_stand_once(reply: str) -> None:
    quotes = parse_quotes(reply)
    assert len(set(quotes)) == len(quotes)
    assert all(quote.strip() == quote != "" for quote in quotes)


TEXTS = st.text(st.sampled_from("ab \n\t\u3000.é"), max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_a_verified_quote_stands_where_it_says(quote: str, source: str, document: str) -> None:
    found = verify_quote(quote, source, document)
    folded, here, there = (" ".join(text.split()) for text in (quote, source, document))
    assert (found is not None) == bool(folded and folded in here and folded in there)
    if found is not None:
        assert found.in_source is not None
        assert found.in_document is not None
        assert source[slice(*found.in_source)] == found.text
        for text, span in ((source, found.in_source), (document, found.in_document)):
            assert text[slice(*span)].split() == quote.split()


def test_recorded_replies_say_what_a_reader_would_say() -> None:
    for one in recorded_replies():
        answer = parse_verdict(one["reply"], cut=one["finish_reason"] == "length").answer
        start = one["reply"].strip().lower()
        if start.startswith(("yes", '"yes', "no.", "no,", '{"answer')):
            assert answer == ("no" if start.startswith("no") else "yes"), one["reply"]
        elif start not in ("no", '{\n    "answer": "yes"\n}'):
            assert answer == "undecided", one["reply"]


SOURCE = "def answer(quotes):\n    return json.dumps({'answer': yes_no})\n\nthe and no yes 是否"
CANDIDATE = "The answer is json.dumps(x)   of quotes: yes_no, 是否, and def answer"
CORPUS = CorpusTokens.of(
    [Document("source", SOURCE), Document("candidate", CANDIDATE)]
    + [Document(str(number), f"the answer is {number} and json, yes or no") for number in range(8)]
)


def check(reply: str, cut: bool) -> None:
    judged = judge_reply(reply, SOURCE, CANDIDATE, CORPUS, min_rarity=0.25, max_quotes=3, cut=cut)
    if judged.answer != "yes":
        assert not judged.quotes
        assert bool(judged.reason) == (judged.answer == "undecided")
        return
    assert judged.said == "yes"
    assert 1 <= len(judged.quotes) <= 3
    for quote in judged.quotes:
        assert quote.in_source is not None
        assert quote.in_document is not None
        assert SOURCE[slice(*quote.in_source)] == quote.text
        assert CANDIDATE[slice(*quote.in_document)].split() == quote.text.split()
    first = judged.quotes[0].text
    held = [CORPUS.held(token) for token in api_tokens(first)]
    held += [CORPUS.held(WORD + word) for word in words(first)]
    assert 2 * min(held) <= CORPUS.documents


@given(
    st.one_of(
        REPLIES,
        st.lists(st.sampled_from([*CANDIDATE.split(), *SOURCE.split(), "", "the", "x"])).map(
            lambda quotes: json.dumps({"answer": "yes", "quotes": quotes})
        ),
        st.tuples(st.sampled_from(["yes", "Yes: ", "no", ""]), st.text()).map(
            lambda pair: f'{pair[0]} "{pair[1]}" `{CANDIDATE[: len(pair[1])]}`'
        ),
    ),
    st.booleans(),
)
def test_never_a_yes_without_a_verified_and_distinctive_quote(reply: str, cut: bool) -> None:
    check(reply, cut)


def test_nor_for_any_recorded_reply() -> None:
    for one in recorded_replies():
        check(one["reply"], one["finish_reason"] == "length")


def test_there_are_replies_that_say_yes() -> None:
    reply = json.dumps({"answer": "yes", "quotes": ["json.dumps", "the"]})
    judged = judge_reply(reply, SOURCE, CANDIDATE, CORPUS, min_rarity=0.25, max_quotes=3)
    assert (judged.answer, judged.quotes[0].text) == ("yes", "json.dumps")


HOSTILE = [
    "{",
    '{"a":',
    '{"answer": "yes"}',
    "{/*",
    '{"quotes":["\\',
    "'a' ",
    "«",
    "?yes ",
    "答案为",
    "\\boxed{",
    "here is my ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_reply_made_to_be_slow_takes_linear_time(unit: str) -> None:
    seconds = []
    for size in (5_000, 40_000):
        times = []
        for _ in range(2):
            started = process_time()
            parse_verdict(unit * (size // len(unit)))
            parse_quotes(unit * (size // len(unit)))
            times.append(process_time() - started)
        seconds.append(max(min(times), 0.002))
    # Eight times as long: quadratic would be 64 times.
    assert seconds[1] < 30 * seconds[0], seconds
