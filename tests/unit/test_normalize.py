"""Which words of a query only ask."""

from __future__ import annotations

import pickle

import pytest

from hybridrank import InvalidValueError, Normalized, QueryNormalizer, normalize_query


def check(text: str, kept: str, *dropped: str) -> None:
    assert normalize_query(text) == QueryNormalizer()(text) == Normalized(kept, dropped)


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("where are redirects followed", "redirects followed", "where are"),
        ("Where are redirects followed?", "redirects followed", "Where are"),
        ("how does the client retry", "client retry", "how does the"),
        ("How do I set a proxy", "set proxy", "How do I a"),
        ("how to use numpy arrays", "use numpy arrays", "how to"),
        ("What's the default timeout?", "default timeout", "What's the"),
        ("why doesn’t it retry", "retry", "why doesn’t it"),
        ("which file is the retry defined in", "file retry defined in", "which is the"),
        ("what is raise_for_status?", "raise_for_status", "what is"),
        ("raise_for_status, where is it called", "raise_for_status, called", "where is it"),
        ("does httpx retry", "httpx retry", "does"),
        ("show me the redirect code, please", "redirect code,", "show me the please"),
        ("the connection pool", "connection pool", "the"),
        ("where is foo() called", "foo() called", "where is"),
        ("ｗｈｅｒｅ are redirects followed", "redirects followed", "ｗｈｅｒｅ are"),
    ],
)
def test_english_questions(text: str, kept: str, dropped: str) -> None:
    check(text, kept, *dropped.split())


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("raise_for_status 在哪被调用", "raise_for_status", ["在哪被调用"]),
        ("raise_for_status 在哪被調用？", "raise_for_status", ["在哪被調用"]),
        ("revokeToken在哪被调用", "revokeToken", ["在哪被调用"]),
        ("revokeToken 在哪裡被呼叫", "revokeToken", ["在哪裡被呼叫"]),
        ("revokeToken是在哪里被调用的", "revokeToken", ["是在哪里被调用的"]),
        ("revokeToken 在哪", "revokeToken", ["在哪"]),
        ("revokeToken的定义在哪", "revokeToken", ["的定义在哪"]),
        ("revokeToken 定義在哪裡", "revokeToken", ["定義在哪裡"]),
        ("revokeToken这个函数在哪里定义？", "revokeToken", ["这个函数在哪里定义"]),
        ("foo 被谁调用", "foo", ["被谁调用"]),
        ("誰呼叫了 foo", "foo", ["誰呼叫了"]),
        ("revokeToken是怎么实现的？", "revokeToken", ["是怎么实现的"]),
        ("怎麼用 httpx", "httpx", ["怎麼用"]),
        ("如何实现登出逻辑", "实现登出逻辑", ["如何"]),
        ("什么是重试策略", "重试策略", ["什么是"]),
        ("重試策略是什麼", "重試策略", ["是什麼"]),
        ("为什么连接池会满", "连接池会满", ["为什么"]),
        ("處理用戶註銷時刪了哪些東西", "處理用戶註銷時刪了", ["哪些東西"]),
        ("血糖與脫水程度是哪一類考量？", "血糖與脫水程度 考量", ["是哪一類"]),
        ("请问 timeout 是多少？", "timeout 是", ["请问", "多少"]),
        ("重定向在哪处理", "重定向 处理", ["在哪"]),
        ("能不能禁用代理吗？", "禁用代理", ["能不能", "吗"]),
        ("where is 重定向在哪处理", "重定向 处理", ["where", "is", "在哪"]),
        ("raise_for_status はどこで呼び出されますか", "raise_for_status", ["はどこで呼び出されますか"]),
        ("リダイレクトはどこで処理されますか", "リダイレクト 処理", ["はどこで", "されますか"]),
        ("タイムアウトとは何ですか？", "タイムアウト", ["とは何ですか"]),
        ("どうやってリトライを設定しますか", "リトライを設定", ["どうやって", "しますか"]),
        ("foo는 어디서 호출되나요?", "foo는 호출", ["어디서", "되나요"]),
        ("재시도 로직이 어디에 있나요", "재시도 로직이", ["어디에", "있나요"]),
    ],
)
def test_chinese_japanese_and_korean_questions(text: str, kept: str, dropped: list[str]) -> None:
    check(text, kept, *dropped)


@pytest.mark.parametrize(
    "text",
    [
        # one word
        *("where", "the", "Is", "在哪", "如何", "どこ", "foo?", "登出逻辑"),
        # names, dotted names, paths
        *(
            "is_valid where_clause what.py",
            "docs/what-is-new",
            "df.where np.which",
            "什么_handler",
            "docs/什么是x.md",
        ),
        # names of programming that stand where no question is
        *(
            "sql where clause",
            "where clause",
            "which python",
            "numpy where",
            "for while do loops",
            "vitamin a",
        ),
        # capitals
        *("SQL WHERE IS NULL", "WHO guidelines"),
        # words that hold a question word
        *(
            "功能否则",
            "哪吒之魔童",
            "任何处理逻辑",
            "任何时间",
            "认为何种",
            "因为何",
            "想问题",
            "請求處理",
            "どこか遠く",
            "ほどのもの",
        ),
        # nothing would be left
        *("what is it", "where is the", "在哪被调用", "这个函数在哪定义", "how? what? 在哪"),
        # code
        *(
            "print(what is)",
            "x = where",
            "if (the) {",
            "return the;",
            "foo().what is",
            "def what(): the",
            "is() {",
        ),
        *("where is\nthe client", "how\rto", "the\u2028client"),
        "",
    ],
)
def test_left_alone(text: str) -> None:
    check(text, text)


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ('what does "the is" operator do', '"the is" operator', "what does do"),
        ("what does `where is` mean", "`where is` mean", "what does"),
        ("where is 'how to' handled", "'how to' handled", "where is"),
        ("`在哪` 是什么意思", "`在哪`", "是什么意思"),
        ("「在哪」是什么", "「在哪」", "是什么"),
        ("how does the where clause work", "the where clause work", "how does"),
        ("what is the IS operator", "IS operator", "what is the"),
        ("how to use numpy where", "use numpy where", "how to"),
        ("怎么用户登录", "用户登录", "怎么"),
        ("在哪调用链路追踪", "调用链路追踪", "在哪"),
    ],
)
def test_what_is_quoted_or_named_stays(text: str, kept: str, dropped: str) -> None:
    check(text, kept, *dropped.split())


def test_white_space_is_folded() -> None:
    check("  spaced \t out\u3000text \n", "spaced out text")
    check(" where  is\tthe client ", "client", "where", "is", "the")
    check(" \n ", "")
    check("  x = 1\n", "  x = 1\n")


def test_long_and_odd_queries() -> None:
    check("where is " * 100 + "it\ud800\0 x", "it\ud800\0 x", *["where", "is"] * 100)
    check("吗在哪" * 100 + "x", "x", *["吗", "在哪"] * 100)
    check("xですか" + "ですか" * 300, "x", *["ですか"] * 301)
    check("where is " * 111 + "x", "x", *["where", "is"] * 111)
    for pasted in ("where is " * 112, "“" * 100_000, "吗" * 100_000 + "x", "where is " * 100_000):
        check(pasted, pasted)


def test_is_a_value() -> None:
    assert QueryNormalizer() == QueryNormalizer()
    assert repr(QueryNormalizer()) == "QueryNormalizer()"
    assert pickle.loads(pickle.dumps(QueryNormalizer())) == QueryNormalizer()  # noqa: S301 - our own bytes


@pytest.mark.parametrize("text", [None, b"where is it", 3, ["where"]])
def test_what_is_no_text_is_an_error(text: object) -> None:
    with pytest.raises(InvalidValueError, match=f"query text is {type(text).__name__}"):
        normalize_query(text)  # type: ignore[arg-type]
