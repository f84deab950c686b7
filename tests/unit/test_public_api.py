from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import hybridrank
from hybridrank import testing

PACKAGE = Path(hybridrank.__file__).parent
PUBLIC = [name for name in hybridrank.__all__ if name != "__version__"]


def stub() -> dict[str, str]:
    """The module from which the stub imports each name."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name
                imported[alias.name] = f"hybridrank.{node.module}"
    return imported


def test_all_is_what_type_checkers_see() -> None:
    assert set(stub()) == set(PUBLIC)


def test_no_name_stands_twice() -> None:
    assert len(set(hybridrank.__all__)) == len(hybridrank.__all__)
    assert dir(hybridrank) == sorted(hybridrank.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(hybridrank, name)
    assert value is getattr(importlib.import_module(stub()[name]), name)
    assert inspect.isclass(value) or inspect.isfunction(value)
    assert value.__doc__, f"{name} has no docstring"
    assert not value.__doc__.startswith(f"{name}("), f"{name} has the docstring that dataclass makes up"
    assert value.__module__.startswith("hybridrank.")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = hybridrank.nope  # type: ignore[attr-defined]
    with pytest.raises(ImportError):
        from hybridrank import nope  # type: ignore[attr-defined] # noqa: F401


def test_the_version_is_the_distribution_s() -> None:
    from importlib.metadata import version

    assert hybridrank.__version__ == version("hybridrank")


def test_the_testing_names_are_there_and_documented() -> None:
    for name in testing.__all__:
        assert getattr(testing, name).__doc__, name


def modules() -> list[str]:
    found = pkgutil.walk_packages([str(PACKAGE)], "hybridrank.")
    return [info.name for info in found if not info.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_every_module_says_what_it_is(name: str) -> None:
    module: ModuleType = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    assert len(Path(str(module.__file__)).read_text(encoding="utf-8").splitlines()) <= 400
