from __future__ import annotations

import pytest

from hybridrank import Quote
from hybridrank.guardrails.quotes import parse_quotes, verify_quote

QUOTED = {
    '{"answer": "yes", "quotes": ["a.b()", " c  d ", "", 3, "a.b()"]}': ("a.b()", "c  d"),
    '{"answer": "yes", "quotes": "a.b"}': ("a.b",),
    '{"answer": "yes", "quotes": null}': (),
    '{"answer": "yes"}': (),
    '```json\n{"answer": "yes", "quotes": ["a.b"]}\n```': ("a.b",),
    '<think>{"quotes": ["x"]}</think>{"quotes": ["a.b"]}': ("a.b",),
    "Yes.\n- `position.clamp`\n2. Vector2.ZERO\n* “screen_size”": (
        "position.clamp",
        "Vector2.ZERO",
        "screen_size",
    ),
    'Yes: "a b" and `c`': ("a b", "c"),
    "是：「血糖」": ("血糖",),
    '"Yes."': (),
    '{"answer": "yes", "quotes": ["position.clamp", "Vec': ("position.clamp",),
    "Yes, it does.": (),
    "": (),
}


@pytest.mark.parametrize("reply", QUOTED)
def test_what_a_reply_quotes(reply: str) -> None:
    assert parse_quotes(reply) == QUOTED[reply]


@pytest.mark.parametrize(
    ("quote", "source", "document", "expected"),
    [
        ("a.b", "x a.b y", "a.b", Quote("a.b", (2, 5), (0, 3))),
        # White space is folded: places are those of the texts as they were given.
        ("a b", "if a\n\t b:", "(a b)", Quote("a\n\t b", (3, 8), (1, 4))),
        ("  a\n b ", "a b", "a  b", Quote("a b", (0, 3), (0, 4))),
        ("a b", "a\u00a0b", "a\u3000b", Quote("a\u00a0b", (0, 3), (0, 3))),
        ("血糖", "查血糖", "血糖高", Quote("血糖", (1, 3), (0, 2))),
        ("x.*", "x.* xyz", "a x.*", Quote("x.*", (0, 3), (2, 5))),
        # The first place in each.
        ("a", "ba a", "a", Quote("a", (1, 2), (0, 1))),
        ("a b", "ab", "a b", None),
        ("ab", "a b", "ab", None),
        ("A", "a", "A", None),
        ("x", "x", "y", None),
        ("x", "y", "x", None),
        ("", "", "", None),
        (" \n", " \n", " \n", None),
        ("long " * 10, "long", "long", None),
    ],
)
def test_a_quote_stands_word_for_word_in_both_texts(
    quote: str, source: str, document: str, expected: Quote | None
) -> None:
    assert verify_quote(quote, source, document) == expected
