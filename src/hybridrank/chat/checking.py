"""What chat models check, and how they write messages."""

from __future__ import annotations

import math
from typing import Any

from ..errors import InvalidValueError
from ..types import ChatRequest


def check_model(model: object) -> None:
    """The name of a model is a text.

    Raises:
        InvalidValueError: it is not, or is blank.
    """
    if not isinstance(model, str) or not model.strip():
        raise InvalidValueError(f"model is {model!r}; give the name that the server has for it")


def check_timeout(timeout: object) -> None:
    """A timeout is a number of seconds above 0.

    Raises:
        InvalidValueError: it is not.
    """
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not 0 < timeout < math.inf:
        raise InvalidValueError(f"timeout is {timeout!r}; give seconds above 0")


def messages_of(request: ChatRequest) -> list[dict[str, Any]]:
    """The messages as servers take them; lone surrogates, which no server takes, become question marks."""
    return [
        {"role": one.role, "content": one.content.encode("utf-8", "replace").decode("utf-8")}
        for one in request.messages
    ]
