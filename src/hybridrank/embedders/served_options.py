"""The options of embedders that ask a server, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..errors import InvalidValueError

BadTexts: TypeAlias = Literal["raise", "skip"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How texts are sent.

    Attributes:
        batch_size: texts a request.
        timeout: seconds for each request with its retries and halvings.
        truncate: cut a text that is too long, and tell it; otherwise it is an error.
        max_chars: longest text, with what stands before it; what the server takes if None.
        bad_texts: whether a text that the server cannot embed is an error, or gets the zero vector.
    """

    batch_size: int
    timeout: float
    truncate: bool
    max_chars: int | None
    bad_texts: BadTexts


def checked_texts(texts: Sequence[str], role: object) -> list[str]:
    """The texts as a list.

    Raises:
        InvalidValueError: `texts` is a str or holds something else than str, or there is no such role.
    """
    if role not in ("query", "document"):
        raise InvalidValueError(f"role is {role!r}; give 'query' or 'document'")
    if isinstance(texts, str):
        raise InvalidValueError(f"texts is the str {texts[:40]!r}; give a list of str")
    given = list(texts)
    for position, text in enumerate(given):
        if not isinstance(text, str):
            raise InvalidValueError(f"text {position} is {type(text).__name__}; give a str")
    return given


def checked_limits(
    batch_size: object, timeout: object, truncate: object, max_chars: object, bad_texts: object
) -> Limits:
    """The limits.

    Raises:
        InvalidValueError: one is out of range.
    """
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise InvalidValueError(f"batch_size is {batch_size!r}; give an int of 1 or more")
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not 0 < timeout < float("inf"):
        raise InvalidValueError(f"timeout is {timeout!r}; give seconds, more than 0")
    if not isinstance(truncate, bool):
        raise InvalidValueError(f"truncate is {truncate!r}; give True or False")
    if max_chars is not None and (
        not isinstance(max_chars, int) or isinstance(max_chars, bool) or max_chars < 1
    ):
        raise InvalidValueError(f"max_chars is {max_chars!r}; give an int of 1 or more, or None")
    if bad_texts not in ("raise", "skip"):
        raise InvalidValueError(f"bad_texts is {bad_texts!r}; give 'raise' or 'skip'")
    return Limits(batch_size, float(timeout), truncate, max_chars, bad_texts)


def checked_text(name: str, value: object, *, empty: bool = True) -> str:
    """A text option.

    Raises:
        InvalidValueError: it is none.
    """
    if not isinstance(value, str) or not (empty or value.strip()):
        raise InvalidValueError(f"{name} is {value!r}; give a {'' if empty else 'non-empty '}str")
    return value


def checked_dimensions(value: object) -> int | None:
    """How many dimensions are asked for; None for the model's own.

    Raises:
        InvalidValueError: it is no int of 1 or more.
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise InvalidValueError(f"dimensions is {value!r}; give an int of 1 or more, or None for the model's own")


def cleaned_text(text: str) -> str:
    """The text as JSON in UTF-8 can carry it: a lone surrogate becomes U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
