"""Asking an Ollama server through its official client, with deadline, retries and our errors."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import InvalidValueError, ModelReplyError, ModelRequestError, ModelUnavailableError
from .http import RETRIES, Deadline, attempts, hooks, not_json, refused, shortened, unavailable

if TYPE_CHECKING:
    import ollama

T = TypeVar("T")

_MISSING = 404


def ask(
    call: Callable[[ollama.Client], T],
    *,
    host: str | None = None,
    model: str = "",
    timeout: float = 60.0,
    deadline: Deadline | None = None,
    retries: int = RETRIES,
) -> T:
    """What a call of the client gives: `ask(lambda client: client.show("bge-m3"), model="bge-m3")`.

    Args:
        host: address of the server; the environment variable OLLAMA_HOST when None, else the client's
            default, http://127.0.0.1:11434.
        model: named in errors.
        timeout: seconds for all attempts together, if no deadline is given.
        retries: how often what failed by chance is sent again, ever more slowly.

    Raises:
        InvalidValueError: the address is none.
        ModelUnavailableError: no connection, no answer in time, or a passing failure at every attempt.
        ModelRequestError: the server refused; where the model is missing, the message says how to get it.
        ModelReplyError: the reply is not what an Ollama server sends.
    """
    client = client_for(host)
    limit = deadline or Deadline.after(timeout)
    return attempts(lambda: _mapped(call, client, model, limit), limit, retries)


def server_of(host: str | None = None) -> str:
    """The address that is asked, with scheme and port.

    Raises:
        InvalidValueError: the address is none.
    """
    return str(client_for(host)._client.base_url).rstrip("/")


def client_for(host: str | None = None) -> ollama.Client:
    """The client for an address, see `ask`. It holds no connection open."""
    given = host or os.environ.get("OLLAMA_HOST") or ""
    return _client(given, os.environ.get("OLLAMA_API_KEY", ""))


@lru_cache(maxsize=16)
def _client(host: str, key: str) -> ollama.Client:
    import httpx
    import ollama

    # Making one takes 70 ms, since it reads the certificates.
    limits = httpx.Limits(max_keepalive_connections=0)
    try:
        return ollama.Client(host, event_hooks=hooks(), limits=limits)
    except (ValueError, httpx.InvalidURL) as error:
        raise InvalidValueError(
            f"host is {host!r}, which is no address ({error}); give e.g. 'http://127.0.0.1:11434'"
        ) from None


def _mapped(call: Callable[[ollama.Client], T], client: ollama.Client, model: str, limit: Deadline) -> T:
    import httpx
    import ollama
    import pydantic

    server = str(client._client.base_url).rstrip("/")
    try:
        return call(client)
    except ollama.ResponseError as error:
        raise _refused(str(error.error), error.status_code, server, model) from error
    except (ConnectionError, httpx.HTTPError) as error:
        raise unavailable(_cause(error), server, model, limit) from error
    except pydantic.ValidationError as error:
        fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors()[:3])
        raise _odd(f"wrong fields: {fields}", server, model) from error
    except UnicodeDecodeError as error:
        raise _odd("no UTF-8", server, model) from error
    except ValueError as error:
        # json.JSONDecodeError keeps the text that it could not read.
        raise not_json(str(getattr(error, "doc", "")), "", server, model) from error
    except RecursionError as error:
        # The client reads the JSON of an error in the constructor of its own error.
        cause = error.__context__
        if isinstance(cause, httpx.HTTPStatusError):
            raise _refused(cause.response.text, cause.response.status_code, server, model) from error
        raise not_json("JSON nested too deeply", "", server, model) from error
    except (AttributeError, TypeError) as error:
        # The client takes every reply for an object, and its errors for {"error": text}.
        raise _odd("no JSON object", server, model) from error


def _cause(error: Exception) -> Exception:
    """The client replaces what it caught by advice to download Ollama."""
    inner: Any = error.__context__ if isinstance(error, ConnectionError) else None
    return inner if isinstance(inner, Exception) else error


def _odd(what: str, server: str, model: str) -> ModelReplyError:
    return ModelReplyError(
        f"model {model!r}: {server} answered with {what}; is that an Ollama server of a current version?",
        server=server,
        model=model,
        status=200,
    )


def _refused(told: str, status: int, server: str, model: str) -> ModelUnavailableError | ModelRequestError:
    if status == _MISSING and "not found" in told and "page" not in told:
        message = f"model {model!r} is not on {server} ({shortened(told)}); run: ollama pull {model}"
        return ModelRequestError(message, server=server, model=model, status=status)
    return refused(told, status, server, model)
