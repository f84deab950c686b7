"""A yes is worth what its quotes are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..text.api_tokens import api_token_set, word_set
from ..text.corpus_tokens import WORD, CorpusTokens
from ..text.stopwords import ARTICLES, ASKING, AUXILIARIES, PRONOUNS
from ..types import Answer, Quote
from .quotes import parse_quotes, verify_quote
from .verdict import parse_verdict

_COMMON = ARTICLES | ASKING | AUXILIARIES | PRONOUNS


class Judged(NamedTuple):
    """What a reply comes to.

    Attributes:
        answer: yes only with a true and distinctive quote.
        said: what the reply says, before its quotes were looked at.
        quotes: of a yes, true ones, the distinctive first.
        reason: of what is undecided.
    """

    answer: Answer
    said: Answer
    quotes: tuple[Quote, ...] = ()
    reason: str = ""


def judge_reply(
    reply: str,
    source: str,
    document: str,
    corpus: CorpusTokens,
    *,
    min_rarity: float,
    max_quotes: int,
    cut: bool = False,
) -> Judged:
    """The verdict that a reply about a source and a candidate supports.

    A no is a no. A yes is one if at least one quote stands in both texts (see `verify_quote`) and is
    distinctive: a token of it, which is a whole token of both texts, has a rarity of `min_rarity` or more.
    The rarity is the token's weight in the corpus by that of a token which only one document holds; it is 0
    for what more than half of the documents hold, and for everything where there is only one document.

    Args:
        min_rarity: above 0, at most 1.
        cut: the token limit ended the reply.
    """
    said, reason = parse_verdict(reply, cut=cut)
    if said == "undecided":
        return Judged(said, said, reason=f"no verdict in the reply: {reason}")
    if said == "no":
        return Judged(said, said)
    given = parse_quotes(reply)
    if not given:
        return Judged("undecided", said, reason="the reply says yes and quotes nothing")
    true = [quote for one in given if (quote := verify_quote(one, source, document)) is not None]
    if not true:
        reason = f"the reply says yes, but no quote stands in both texts, such as {_shown(given[0])}"
        return Judged("undecided", said, reason=reason)
    there = _tokens(source) & _tokens(document)
    least = min_rarity * corpus.highest
    telling = [_rarest(quote.text, there, corpus) >= least > 0 for quote in true]
    if not any(telling):
        reason = f"the reply says yes, but quotes only what is common, such as {_shown(true[0].text)}"
        return Judged("undecided", said, reason=reason)
    order = sorted(range(len(true)), key=lambda place: not telling[place])
    return Judged("yes", said, _picked(true, order[:max_quotes]))


def _picked(quotes: Sequence[Quote], places: Sequence[int]) -> tuple[Quote, ...]:
    return tuple(quotes[place] for place in places)


def _rarest(quote: str, there: frozenset[str], corpus: CorpusTokens) -> float:
    """The highest weight of a token of the quote; the end of a longer token counts for nothing."""
    return max((corpus.weight(token) for token in _tokens(quote) & there), default=0.0)


def _tokens(text: str) -> frozenset[str]:
    """Its API tokens, and its words behind a mark, without those that tell nothing."""
    prose = (word for word in word_set(text) if len(word) > 2 or not word.isascii())
    return frozenset(api_token_set(text)) | {WORD + word for word in prose if word not in _COMMON}


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:59] + "…")
