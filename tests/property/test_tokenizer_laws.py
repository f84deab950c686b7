"""Laws of the tokenizer, for any text."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

from hypothesis import assume, example, given
from hypothesis import strategies as st

from hybridrank import Tokenizer

tokens = Tokenizer()
plain = Tokenizer(parts=False)
stemmed = Tokenizer(stem="english")

# Any code point, lone surrogates too, with what is dense in borders.
any_text = st.text(st.characters(exclude_categories=())) | st.text(
    st.sampled_from("aBcDEF019._-+# \n'é\u0301ßΣσ血糖與のーカ한국ไทยที่हिन्दी٣Ⅷ①ﾞ\u200c\u00ad\ufe0f\ud800𠀀C")
)
# Letters that NFKC turns into a blank and marks, or marks alone.
letters_of_marks = [
    chr(code)
    for code in range(0x110000)
    if unicodedata.category(chr(code))[0] == "L"
    and not any(map(str.isalnum, unicodedata.normalize("NFKC", chr(code))))
]
ascii_and_han = st.text(st.sampled_from(string.printable + "血糖與脫水㐀鿿"))
lower_words = st.text(string.ascii_lowercase, min_size=2, max_size=8)
name_words = st.lists(lower_words, min_size=2, max_size=5)


def rule(text: str) -> list[str]:
    """The plain rule, read character by character."""
    rest = unicodedata.normalize("NFKC", text).lower()
    made: list[str] = []
    while rest:
        taken = 1
        if rest[0] in string.ascii_lowercase:
            taken = _latin(rest)
            made.append(rest[:taken])
        elif rest[0].isdecimal():
            taken = _digits(rest)
            if rest[taken : taken + 1] == "." and (more := _digits(rest[taken + 1 :])):
                taken += 1 + more
            made.append(rest[:taken])
        elif 0x3400 <= ord(rest[0]) <= 0x9FFF:
            while taken < len(rest) and 0x3400 <= ord(rest[taken]) <= 0x9FFF:
                taken += 1
            made += [rest[at] for at in range(taken)]
            made += [rest[at : at + 2] for at in range(taken - 1)]
        rest = rest[taken:]
    return made


def has_letter(text: str) -> bool:
    return any(map(str.isalnum, unicodedata.normalize("NFKC", text)))


def _latin(text: str) -> int:
    allowed = string.ascii_lowercase + string.digits
    end = 0
    while True:
        while end < len(text) and text[end] in allowed:
            end += 1
        if not (
            text[end : end + 1] in (".", "_", "-") and text[end + 1 : end + 2] and text[end + 1] in allowed
        ):
            return end
        end += 1


def _digits(text: str) -> int:
    end = 0
    while end < len(text) and text[end].isdecimal():
        end += 1
    return end


@given(any_text)
@example("KTAS 第一級 1 與 SpO2=91.0")
@example("a1.b_2-c3._d 1.2.3 ٣.٤ a..b x-")
def test_without_parts_it_is_the_plain_rule(text: str) -> None:
    assert plain(text) == rule(text)


@given(any_text)
@example("\u037a")
@example("\uff9e")
def test_anything_with_letters_or_numbers_yields_a_token(text: str) -> None:
    letters = any(unicodedata.category(character)[0] in "LN" for character in text)
    for tokenizer in (tokens, stemmed):
        made = tokenizer(text)
        assert all(token and not re.search(r"\s", token) for token in made)
        if letters:
            assert made


def test_every_letter_and_number_of_unicode_yields_a_token() -> None:
    silent = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code))[0] in "LN" and not tokens(chr(code))
    ]
    assert silent == []


@given(*[st.text(st.sampled_from("_.-+# \u0301\u200c\u2014"), max_size=4)] * 2)
@example("", "_")
@example("_ ", "")
def test_what_stands_beside_a_letter_does_not_silence_it(before: str, after: str) -> None:
    assert "\uff9e" in letters_of_marks
    for letter in letters_of_marks:
        assert tokens(before + letter + after), hex(ord(letter))


@given(
    st.text(
        st.sampled_from(string.punctuation + string.whitespace + "。、「」…—→😀\u200d\ufe0f\u20e3\ud800\0")
    )
)
def test_punctuation_and_blanks_yield_none(text: str) -> None:
    assert tokens(text) == plain(text) == []


@given(ascii_and_han)
def test_parts_only_add_to_the_plain_rule(text: str) -> None:
    assert set(plain(text)) <= set(tokens(text))


@given(st.text(st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF)))
def test_han_alone_is_the_plain_rule(text: str) -> None:
    assert tokens(text) == plain(text)


@given(any_text)
def test_a_token_is_a_token_of_itself(text: str) -> None:
    for token in tokens(text):
        assert token in tokens(token)


@given(any_text)
def test_words_expand_to_the_tokens(text: str) -> None:
    for tokenizer in (tokens, plain, stemmed):
        assert [t for word in tokenizer.words(text) for t in tokenizer.expand(word)] == tokenizer(text)


@given(any_text, any_text)
def test_a_space_parts_texts(left: str, right: str) -> None:
    # Marks on their own count only where nothing else does.
    assume(all(has_letter(side) or not tokens(side) for side in (left, right)))
    assert tokens(f"{left} {right}") == tokens(left) + tokens(right)


@given(any_text)
def test_equal_looks_are_equal_tokens(text: str) -> None:
    assert tokens(text) == tokens(unicodedata.normalize("NFD", text))
    assert tokens(text) == tokens(unicodedata.normalize("NFKC", text))


@given(name_words)
def test_spellings_of_a_name_share_its_words(words: list[str]) -> None:
    title = [word.capitalize() for word in words]
    spellings = [
        "_".join(words),
        "-".join(words),
        ".".join(words),
        "".join(title),
        words[0] + "".join(title[1:]),
        "_".join(words).upper(),
        "__" + "_".join(words),
        " ".join(words),
    ]
    for tokenizer in (tokens, stemmed):
        wanted = set(tokenizer(" ".join(words)))
        for spelling in spellings:
            assert wanted <= set(tokenizer(spelling)), spelling


@given(name_words)
def test_a_name_is_found_in_lower_case(words: list[str]) -> None:
    name = "".join(word.capitalize() for word in words)
    for tokenizer in (tokens, stemmed):
        assert set(tokenizer(name.lower())) <= set(tokenizer(name))


@given(st.text(string.ascii_letters + string.digits + "_.-", max_size=30))
def test_a_word_gives_a_token_once(word: str) -> None:
    for tokenizer in (tokens, stemmed):
        for part in tokenizer.words(word):
            assert len(tokenizer.expand(part)) == len(set(tokenizer.expand(part)))


@given(st.text(st.sampled_from("血糖のカ한국ไทยลาวខ"), min_size=1), st.data())
def test_sub_words_of_unspaced_runs_meet_them(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert not Counter(tokens(run[start:end])) - Counter(tokens(run))
