"""Queries that ask who calls something: its definition first, then its callers, before all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridrank import (
    CodePriors,
    Component,
    Document,
    Hit,
    InvalidValueError,
    Pipeline,
    Query,
    Ranking,
    Result,
    SpreadFiles,
)
from hybridrank.rerankers import asked_callers
from hybridrank.retrievers import symbol

FILES = {
    "core/token.py": (
        '"""Tokens that are called for."""\n\n\ndef revoke_token(name):\n    return name\n\n\n'
        "def close_all(names):\n    for name in names:\n        revoke_token(name)\n"
    ),
    "web/logout.py": (
        "from core.token import revoke_token\n\n\ndef logout(request):\n    revoke_token(request.user)\n"
    ),
    "web/admin.py": (
        "from core import token\n\n\ndef kick(user):\n    token.revoke_token(user)\n\n\n"
        "def ban(user):\n    token.revoke_token(user)\n"
    ),
    **{
        f"docs/note{n}.py": f'"""revoke_token is called when a token goes: revoke token."""\n\nTOKEN = {n}\n'
        f'\n\ndef revoke_token_help{n}():\n    """Where revoke_token is called, revoke_token."""\n'
        for n in range(6)
    },
}
CALLERS = {"close_all", "logout", "kick", "ban"}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    root = tmp_path_factory.mktemp("asked")
    write(root)
    return Pipeline.for_code(root)


def write(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def names(result: Result) -> list[str]:
    return [hit.document.name for hit in result.hits]


@pytest.mark.parametrize(
    "query",
    [
        "where is revoke_token called",
        "who calls revoke_token?",
        "callers of revoke_token",
        "usages of revoke_token",
        "revoke_token 在哪被调用",
        "谁调用了 revoke_token",
        "哪里用到了revoke_token",
        "revoke_token はどこで呼ばれますか",
    ],
)
def test_the_definition_then_all_callers(pipeline: Pipeline, query: str) -> None:
    found = names(pipeline.search(query, k=5))
    assert found[0] == "revoke_token"
    assert set(found[1:]) == CALLERS
    # the second caller of a file stands behind the first of each
    assert {found[4]} < {"kick", "ban"}


def test_top_k_is_a_prefix(pipeline: Pipeline) -> None:
    whole = pipeline.search("where is revoke_token called", k=10).ids
    assert all(pipeline.search("where is revoke_token called", k=k).ids == whole[:k] for k in range(1, 10))


def test_without_spreading_the_order_holds(pipeline: Pipeline) -> None:
    found = names(pipeline.without("spread").search("where is revoke_token called", k=5))
    assert found[0] == "revoke_token"
    assert set(found[1:]) == CALLERS


def test_who_does_not_ask_for_callers_gets_none_lifted(pipeline: Pipeline) -> None:
    for query in ("revoke_token", "how do revoke_token and a note belong together"):
        result = pipeline.search(query, k=10)
        assert all(hit.components.get("symbol", Component(1, 0.0)).score != 0.7 for hit in result.hits)


def test_contributions_sum_to_the_score(pipeline: Pipeline) -> None:
    result = pipeline.search("where is revoke_token called", k=5)
    priors = pipeline.rerankers["priors"]
    assert isinstance(priors, CodePriors)
    given = result.trace["priors"].ids_in
    before = pipeline.with_(rerankers={}).search("where is revoke_token called", k=len(given))
    ranking = Ranking(before.query, before.hits, "fusion")
    for hit in priors.rerank(ranking, k=5):
        told = priors.contributions(ranking, hit.id)
        assert "asked" in [one.name for one in told]
        assert sum(one.value for one in told) == pytest.approx(hit.score)


def hits(*given: tuple[str, float, float]) -> Ranking:
    """Of (path, score, score of the leg `symbol`)."""
    return Ranking(
        Query("q"),
        tuple(
            Hit(Document(str(n), "", path), score, {"symbol": Component(1, leg)} if leg else {})
            for n, (path, score, leg) in enumerate(given)
        ),
    )


def test_spreading_keeps_what_was_asked_for_before_all_others() -> None:
    given = hits(
        ("a", 9, 0), ("a", 8, 0.7), ("b", 7, 0.95), ("c", 6, 0.7), ("a", 5, 0.7), ("d", 4, 0), ("a", 3, 0)
    )
    spread = SpreadFiles(name_legs=["symbol"]).rerank(given, k=9)
    assert [(hit.id, hit.score) for hit in spread] == [
        ("2", 7),
        ("1", 7),
        ("3", 6),
        ("4", 5),
        ("5", 4),
        ("0", 4),
        ("6", 3),
    ]
    assert SpreadFiles(name_legs=["other"]).rerank(given, k=9).ids == SpreadFiles().rerank(given, k=9).ids


def test_two_definitions_stand_before_the_callers() -> None:
    given = hits(("a", 9, 1.0), ("b", 8, 0.95), ("c", 7, 0.95), ("d", 6, 0.7))
    assert SpreadFiles(name_legs=["symbol"]).rerank(given, k=9).ids == ("0", "1", "3", "2")


def test_scores_are_those_of_the_leg() -> None:
    assert asked_callers.CALLER == symbol.CALLER
    assert asked_callers.DEFINITION == symbol.FOLDED_NAME
    assert symbol.PLAIN_CALLER not in (symbol.CALLER, symbol.OTHER_PLACE)


def test_names_of_legs() -> None:
    with pytest.raises(InvalidValueError, match="name_legs is 'symbol'; give a list"):
        SpreadFiles(name_legs="symbol")
    assert repr(SpreadFiles(name_legs=["symbol"])) == "SpreadFiles(name_legs=['symbol'])"
