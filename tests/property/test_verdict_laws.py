from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridrank.guardrails.quotes import parse_quotes, verify_quote
from hybridrank.guardrails.verdict import parse_verdict
from ollama_server import recorded_replies

WORDS = "yes no Yes NO 是 否 或 是否 answer quotes or and not the is <think> </think> ```".split()  # noqa: SIM905
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
