"""What the tokenizer makes of real words; cases named TK-… are faults that other libraries had."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from itertools import combinations

import pytest

from hybridrank import BM25, Document, InvalidValueError, Query, Tokenizer
from hybridrank.text import tokenizer as module

tokens = Tokenizer()
plain = Tokenizer(parts=False)
stemmed = Tokenizer(stem="english")


def found(query: str, *texts: str) -> list[int]:
    """Positions of the texts that BM25 finds, best first."""
    bm25 = BM25().index([Document(str(number), text) for number, text in enumerate(texts)])
    return [int(hit.id) for hit in bm25.retrieve(Query(query), k=len(texts))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("get", "get"),
        ("GET Get", "get get"),
        ("getUserById", "getuserbyid get user by id"),  # TK-08
        ("BillingLedger", "billingledger billing ledger"),  # TK-10
        ("parse_http_date(x)", "parse_http_date parse http date x"),  # TK-09
        ("parseXMLFeed", "parsexmlfeed parse xml feed"),  # TK-11
        ("HTTP2Server", "http2server http 2 server"),  # TK-11
        ("IOError", "ioerror io error"),  # TK-11
        ("x", "x"),  # TK-11
        ("utf8", "utf8 utf 8"),
        ("SpO2", "spo2 sp o 2"),
        ("getURLs", "geturls get urls"),
        ("URLs APIs", "urls apis"),
        ("OAuth2Session", "oauth2session oauth 2 session"),
        ("parse-http-date", "parse-http-date parse http date"),
        ("qwen3-embedding", "qwen3-embedding qwen3 qwen 3 embedding"),
        ("position.clamp", "position.clamp position clamp"),
        ("test_parseXMLFeed", "test_parsexmlfeed test parsexmlfeed parse xml feed"),
        ("http.client_pool", "http.client_pool http client_pool client pool"),
        ("__init__", "__init__ init"),
        ("__all__", "__all__ all"),
        ("_private", "_private private"),
        ("class_", "class_ class"),
        ("foo__bar", "foo__bar foo bar"),
        ("Base.__init__", "base.__init__ base init __init__"),
        ("self._client", "self._client self client _client"),
        ("foo_foo", "foo_foo foo"),
        ("a.b.a", "a.b.a a b"),
    ],
)
def test_names_come_whole_and_in_parts(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("91.0", "91.0"),
        ("3.11.7", "3.11.7 3.11 7 3 11"),
        ("v1.2.3", "v1.2.3 v 1.2.3 1.2 1 2 3"),
        ("python3.11", "python3.11 python 3.11"),
        ("1_000", "1_000 1 000 1000"),
        ("0xFF", "0xff 0 xff"),
        ("2024-01-15", "2024-01-15 2024 01 15"),
        ("a94a8fe5ccb19ba61c4c", "a94a8fe5ccb19ba61c4c"),
        ("C++ and c# and F#", "c++ c and c# c and f# f"),
        ("i++ abc++ x#", "i abc x"),
        ("node.js", "node.js node js"),
        ("std::vector<int>", "std vector int"),
        ("a->b", "a b"),
        ("foo()", "foo"),
        ("don't", "don t"),
        ("src/a_b/c.py", "src a_b a b c.py c py"),
        ("https://example.org/q?page=1", "https example.org example org q page 1"),
        ("ann.lee@example.org", "ann.lee ann lee example.org example org"),
        ("end. Start", "end start"),
        ("wait...what", "wait what"),
        ("--rerank-depth", "rerank-depth rerank depth"),
        ("SpO2=91.0", "spo2 sp o 2 91.0"),
    ],
)
def test_numbers_and_what_stands_in_code(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी खोज", "हिन्दी खोज"),  # TK-07
        ("தமிழ் বাংলা", "தமிழ் বাংলা"),  # TK-07
        ("café naïve", "café naïve"),  # TK-02
        ("cafe\u0301", "café"),
        ("портфель", "портфель"),  # TK-02
        ("λόγος ΛΌΓΟΣ", "λόγος λόγος"),  # TK-02
        ("עִבְרִית עברית", "עִבְרִית עברית"),
        ("größeÄndern", "größeändern größe ändern"),
        ("ПоискТекста", "поисктекста поиск текста"),
        ("H\u0331 h\u0331", "ẖ ẖ"),
        ("ｆｕｌｌ＿ｗｉｄｔｈ ①", "full_width full width 1"),
        ("co\u00adoperate می\u200cخواهم", "cooperate میخواهم"),
        ("٣٫١ ٢٠٢٤", "٣ ١ ٢٠٢٤"),
        ("x²", "x2 x 2"),
        ("1\ufe0f\u20e3 😀 → ©", "1"),
    ],
)
def test_words_of_every_script(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("血糖與脫水", "血 糖 與 脫 水 血糖 糖與 與脫 脫水"),
        ("人人", "人 人 人人"),
        ("배포 docker", "배 포 배포 docker"),  # TK-02
        ("初めてのPython入門", "初 め て の 初め めて ての python 入 門 入門"),  # TK-12
        ("用C++写", "用 c++ c 写"),
        ("ｻｰﾊﾞｰ", "サ ー バ ー サー ーバ バー"),
        ("サーバー", "サ ー バ ー サー ーバ バー"),
        ("𠀀𰀀㐀\U000323b0", "𠀀 𰀀 㐀 \U000323b0 𠀀𰀀 𰀀㐀 㐀\U000323b0"),
        ("\uf900葛\U000e0100", "豈 葛 豈葛"),
        ("人々〇", "人 々 〇 人々 々〇"),
        ("第1級", "第 1 級"),
        ("가\u1100\u1161", "가 가 가가"),
        ("ไทย", "ไ ท ย ไท ทย"),
        ("ที่นี่", "ที่ นี่ ที่นี่"),
        ("๑๒ ១២", "๑๒ ១២"),
        ("ខ្មែរ", "ខ្ មែ រ ខ្មែ មែរ"),
    ],
)
def test_scripts_without_spaces_come_as_characters_and_pairs(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_mixed_line_keeps_words_numbers_and_pairs() -> None:
    line = "KTAS 第一級 1 與 SpO2=91.0"
    assert {"ktas", "spo2", "91.0", "1", "第一", "一級"} <= set(tokens(line))
    assert plain(line) == ["ktas", "第", "一", "級", "第一", "一級", "1", "與", "spo2", "91.0"]


@pytest.mark.parametrize(
    "text", ["", " \n\t", "...!?", "_", "___", "_-_", "😀👩‍👩‍👧", "→©", "\ud800", "\x00", "\u200d\ufe0f"]
)
def test_text_without_letters_and_numbers_has_no_tokens(text: str) -> None:
    assert tokens(text) == plain(text) == stemmed(text) == []


def test_odd_text_does_no_harm() -> None:
    assert tokens("a\ud800b\x00c") == ["a", "b", "c"]
    assert tokens("x" * 1_000_000) == ["x" * 1_000_000]
    assert tokens("a.B_" * 50_000) == ["a.b_" * 50_000, "a.b_" * 49_999 + "a.b", "a", "b_a", "b", "b_"]
    assert tokens("aB" * 50_000) == ["ab" * 50_000, "a", "ba", "b"]
    assert tokens("ﾞ") == tokens("_ﾞ") == ["\u3099"]  # a letter that is a mere mark in NFKC


NAMES = [
    "parseHTTPResponse",
    "ParseHttpResponse",
    "parse_http_response",
    "PARSE_HTTP_RESPONSE",
    "parse-http-response",
    "parse.http.response",
    "parse http response",
]


@pytest.mark.parametrize("tokenizer", [tokens, stemmed])
def test_one_name_in_seven_spellings_meets_itself(tokenizer: Tokenizer) -> None:
    for one, other in combinations(NAMES, 2):
        assert set(tokenizer("parse http response")) <= {*tokenizer(one)} & {*tokenizer(other)}


def test_sub_words_of_unspaced_text_are_found() -> None:
    # TK-01
    assert found("学习", "机器学习模型训练", "数据库索引优化") == [0]
    assert found("ภาษา", "ภาษาไทย", "ข้าวผัด")[0] == 0
    # TK-03
    assert set(found("猫", "猫", "犬小屋", "猫舗")) == {0, 2}
    assert found("犬", "猫", "犬小屋", "猫舗") == [1]
    assert found("猫舗", "猫", "犬小屋", "猫舗")[0] == 2
    # TK-12
    assert found("python", "初めてのPython入門") == found("入門", "初めてのPython入門") == [0]
    # TK-07
    assert found("हिन्दी", "हिन्दी खोज", "english") == [0]


def test_parts_of_names_are_found_and_whole_names_win() -> None:
    # TK-08
    code = ["def getUserById(): pass", "def getUserName(): pass", "def dropTable(): pass"]
    assert sorted(found("user", *code)) == [0, 1]
    assert found("getUserById", *code)[0] == 0
    # TK-09
    assert found("http", "parse_http_date(x)", "parse_xml(x)") == [0]
    assert found("parse_http_date", "parse_http_date(x)", "parse_xml(x)")[0] == 0
    # TK-10
    assert (
        found("BillingLedger", "class BillingLedger") == found("billingledger", "class BillingLedger") == [0]
    )
    assert found("__init__", "def __init__(self): ...", "def init(self): ...")[0] == 0
    assert found("_private", "x._private()") == found("private", "x._private()") == [0]


def test_accents_are_kept_and_never_cut_a_word() -> None:
    # TK-13: nothing is folded, so only the accented form matches, on both sides.
    assert found("étude", "étude notes", "tude") == [0]
    assert found("etude", "étude notes", "tude") == []
    assert "tude" not in tokens("étude e\u0301tude")


def test_stems_are_those_of_words_and_parts_not_of_joined_names() -> None:
    assert stemmed("following redirects") == ["follow", "redirect"]
    assert stemmed("parse_requests") == ["parse_requests", "pars", "request"]
    assert stemmed("position.clamps") == ["position.clamps", "posit", "clamp"]
    assert stemmed("_private") == ["_private", "privat"]
    assert stemmed("__init__ utf8 91.0") == ["__init__", "init", "utf8", "utf", "8", "91.0"]
    assert stemmed("血糖 हिन्दी") == ["血", "糖", "血糖", "हिन्दी"]
    assert Tokenizer(parts=False, stem="english")("parse_requests requests") == ["parse_requests", "request"]
    assert Tokenizer(stem="hindi")("लड़कियाँ") != tokens("लड़कियाँ")


def test_names_in_camel_case_are_found_in_lower_case_with_stems_too() -> None:
    assert stemmed("BillingLedger") == ["billingledger", "billingledg", "bill", "ledger"]
    assert stemmed("billingledger") == ["billingledg"]


def test_id_names_every_option() -> None:
    assert plain.id == "unicode_nfkc_lowercase_latin_number_cjk_unigram_bigram_v1"
    every = [
        Tokenizer(parts=parts, stem=stem) for parts in (True, False) for stem in (None, "english", "french")
    ]
    assert len({each.id for each in every}) == len(every)
    assert all("_v1" in each.id for each in every)
    assert Tokenizer(stem="english").id == stemmed.id


def test_is_a_value() -> None:
    assert Tokenizer() == tokens != plain
    assert hash(Tokenizer(stem="english")) == hash(stemmed)
    assert len({tokens, Tokenizer(), plain, stemmed}) == 3
    assert [repr(each) for each in (tokens, plain, stemmed)] == [
        "Tokenizer()",
        "Tokenizer(parts=False)",
        "Tokenizer(stem='english')",
    ]
    with pytest.raises(AttributeError):
        tokens.parts = False  # type: ignore[misc]
    for copy in (pickle.loads(pickle.dumps(stemmed)), deepcopy(stemmed)):  # noqa: S301 - our own bytes
        assert copy == stemmed
        assert copy("following redirects") == ["follow", "redirect"]
    tokens("a_rather_long_name " * 100)
    assert len(pickle.dumps(tokens)) < 200


def test_bad_options_are_errors() -> None:
    with pytest.raises(InvalidValueError, match=r"stem is 'klingon'.*\benglish\b"):
        Tokenizer(stem="klingon")
    with pytest.raises(InvalidValueError, match="stem is ''"):
        Tokenizer(stem="")
    with pytest.raises(InvalidValueError, match="stem is 3"):
        Tokenizer(stem=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="parts is 1"):
        Tokenizer(parts=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [b"bytes", None, 3, ["a"]])
def test_what_is_no_text_is_an_error(text: object) -> None:
    for tokenizer in (tokens, plain):
        with pytest.raises(InvalidValueError, match=f"text is {type(text).__name__}"):
            tokenizer(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\uff9e_", ["\u3099"]),
        ("_ \uff9e", ["\u3099"]),
        ("_-_ +\uff9f", ["\u309a"]),
        ("\u037a_", ["\u0345"]),
        ("\ufe70._.", ["\u064b"]),
        ("_\uff9e", ["\u3099"]),
        ("_ a_ \uff9e", ["a_", "a"]),
        ("_ é _", ["é"]),
        ("\u2014 _", []),
    ],
)
def test_underscores_do_not_hide_letters_that_are_marks(text: str, expected: list[str]) -> None:
    assert tokens(text) == stemmed(text) == expected


def test_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MEMO_TOKENS", 100)
    memo = module._Memo(lambda word: (word,))
    for number in range(1000):
        assert memo[f"word{number}"] == (f"word{number}",)
        assert len(memo) <= 50
    long = "x" * 1000
    assert memo[long] == (long,)
    assert long not in memo


def test_threads_agree() -> None:
    words = [f"parseRequests{number} running_tests{number}" for number in range(2000)]
    alone = [stemmed(word) for word in words]
    module._memo(True, "english").clear()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(stemmed, words)) == alone


def test_loads_neither_numpy_nor_a_stemmer_that_was_not_asked_for() -> None:
    code = (
        "import sys; from hybridrank.text.tokenizer import Tokenizer; Tokenizer()('a_b 血糖');"
        "print([m for m in ('numpy', 'scipy', 'Stemmer') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
