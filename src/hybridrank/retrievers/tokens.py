"""What a tokenizer is called, and what it may return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ..errors import InvalidValueError

Tokenize: TypeAlias = Callable[[str], Sequence[str]]


def tokenizer_id(tokenizer: Tokenize) -> str:
    """The `id` of a tokenizer, or where it has none the name of the function or class that it is."""
    named = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    module = getattr(named, "__module__", "builtins")
    return getattr(tokenizer, "id", None) or f"{module}.{named.__qualname__}"


def check_tokens(tokens: Iterable[str]) -> list[str]:
    """The tokens as a list.

    Raises:
        InvalidValueError: they are one str, whose letters would pass for tokens, or are not all str.
    """
    if isinstance(tokens, str):
        raise InvalidValueError(f"tokens are the str {tokens!r}; give a list of tokens")
    checked = list(tokens)
    for token in checked:
        if not isinstance(token, str):
            raise InvalidValueError(f"token {token!r} is {type(token).__name__}; give tokens as str")
    return checked
