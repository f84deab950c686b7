"""Asking model servers over HTTP: JSON there and back, with retries, one deadline for all of it, our errors.

Nothing is held open between two requests, so that parts need no closing and can be copied, pickled and used
in threads. A key is read from the environment when it is needed; no error and no repr shows it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import InvalidValueError, ModelReplyError, ModelRequestError, ModelUnavailableError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

RETRIES = 2
"""How often a request that failed by chance is sent again."""
PAUSE = 0.25
"""Seconds before the first retry; each further one waits twice as long."""
CONNECT = 5.0
"""Most seconds that making a connection may take, within the deadline."""
TRANSIENT = frozenset({408, 425, 429, 502, 503, 504})
"""Status codes after which the same request may succeed."""

_SHOWN = 200
_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time up to which something may take.

    Attributes:
        seconds: how long it was from the start, for messages.
        at: on the clock of `time.monotonic`.
    """

    seconds: float
    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds that are left, 0 or more."""
        return max(0.0, self.at - time.monotonic())


def post_json(
    url: str,
    body: Mapping[str, Any],
    *,
    model: str = "",
    key_env: str = "",
    timeout: float = 60.0,
    deadline: Deadline | None = None,
    retries: int = RETRIES,
) -> Any:
    """What a server answers to a JSON object: the JSON of its reply.

    Args:
        url: of the route, `https://host/v1/embeddings`.
        model: named in errors.
        key_env: environment variable with the key, sent as a bearer token; `""`, or a variable that is not
            set, for none.
        timeout: seconds for all attempts together, if no deadline is given.
        retries: how often what failed by chance (connection, `TRANSIENT`) is sent again, ever more slowly.

    Raises:
        InvalidValueError: the address or the key cannot be sent.
        ModelUnavailableError: no connection, no answer in time, or a passing failure at every attempt.
        ModelRequestError: any other status than 2xx.
        ModelReplyError: the reply is no JSON.
    """
    return _json("POST", url, body, model, key_env, deadline or Deadline.after(timeout), retries)


def get_json(url: str, *, key_env: str = "", timeout: float = 10.0, retries: int = RETRIES) -> Any:
    """What a server answers to a GET, as `post_json` does."""
    return _json("GET", url, None, "", key_env, Deadline.after(timeout), retries)


def _json(
    method: str, url: str, body: object, model: str, key_env: str, deadline: Deadline, retries: int
) -> Any:
    import httpx

    key = os.environ.get(key_env, "").strip() if key_env else ""
    server = without_credentials(url)

    def send() -> Any:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            content = None if body is None else json.dumps(body, allow_nan=False).encode("ascii")
            headers["Content-Type"] = "application/json"
            reply = _client().request(method, url, content=content, headers=headers)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeEncodeError) as error:
            what = f"the key in {key_env}" if isinstance(error, UnicodeEncodeError) else f"address {server!r}"
            raise InvalidValueError(f"{what} cannot be used: {type(error).__name__}") from None
        except httpx.HTTPError as error:
            raise unavailable(error, server, model, deadline) from error
        if not reply.is_success:
            told = _told(reply).replace(key, "***") if key else _told(reply)
            raise refused(told, reply.status_code, server, model, _wait_of(reply))
        try:
            return reply.json()
        except (ValueError, RecursionError) as error:
            raise not_json(reply.text, reply.headers.get("content-type", ""), server, model) from error

    return attempts(send, deadline, retries)


def attempts(send: Callable[[], T], deadline: Deadline, retries: int = RETRIES) -> T:
    """Call `send` until it gives something else than a ModelUnavailableError, within deadline and retries."""
    for number in range(retries + 1):
        try:
            with within(deadline):
                return send()
        except ModelUnavailableError as error:
            pause = max(PAUSE * 2**number, getattr(error, "wait", 0.0))
            if number == retries or pause >= deadline.left:
                raise
            time.sleep(pause)
    raise AssertionError("unreachable")


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Requests of clients that have `hooks()` end at this deadline."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def hooks() -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks of an httpx client that hold each request to the deadline of `within`.

    The client's own timeouts hold for each step of a request only, so that a server that sends a byte now and
    then could go on for ever.
    """
    return {"request": [_limit_request], "response": [_limit_response]}


def _limit_request(request: httpx.Request) -> None:
    deadline = _deadline.get()
    if deadline is not None:
        left = max(deadline.left, 1e-3)
        steps = {"connect": min(left, CONNECT), "read": left, "write": left, "pool": left}
        request.extensions = {**request.extensions, "timeout": steps}


def _limit_response(response: httpx.Response) -> None:
    import httpx

    class Limited(httpx.SyncByteStream):
        def __init__(self, inner: httpx.SyncByteStream, deadline: Deadline) -> None:
            self._inner, self._deadline = inner, deadline

        def __iter__(self) -> Iterator[bytes]:
            for part in self._inner:
                if not self._deadline.left:
                    raise httpx.ReadTimeout("the reply did not end in time")
                yield part

        def close(self) -> None:
            self._inner.close()

    deadline = _deadline.get()
    if deadline is not None and isinstance(response.stream, httpx.SyncByteStream):
        response.stream = Limited(response.stream, deadline)


def unavailable(
    error: Exception, server: str, model: str = "", deadline: Deadline | None = None
) -> ModelUnavailableError:
    """The error for a server that cannot be reached, or did not answer in time."""
    import httpx

    if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
        within = f" within {deadline.seconds:g} s" if deadline else " in time"
        what = f"{server} did not answer{within}; raise timeout, or see what keeps it busy"
    elif isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        what = f"cannot connect to {server}: {_reason(error)}; start the server, or give its address"
    else:
        what = f"the connection to {server} broke: {_reason(error)}; see the server's log"
    return ModelUnavailableError(_named(model) + what, server=server, model=model)


def refused(
    told: str, status: int, server: str, model: str = "", wait: float = 0.0
) -> ModelUnavailableError | ModelRequestError:
    """The error for a status that is no success. `told` is what the server says."""
    message = f"{_named(model)}{server} answered {status}: {shortened(told) or '(nothing)'}"
    if status in TRANSIENT:
        error = ModelUnavailableError(
            message + "; try again later", server=server, model=model, status=status
        )
        error.wait = wait  # type: ignore[attr-defined]
        return error
    hint = {401: "; is the key right and in the environment?", 403: "; is the key right?"}.get(status, "")
    return ModelRequestError(message + hint, server=server, model=model, status=status)


def not_json(text: str, content_type: str, server: str, model: str = "") -> ModelReplyError:
    """The error for a reply that is no JSON, as a proxy or another program may send."""
    of = f" ({content_type})" if content_type else ""
    return ModelReplyError(
        f"{_named(model)}{server} answered something else than JSON{of}: {shortened(text) or '(nothing)'}; "
        "is that the address of the model server?",
        server=server,
        model=model,
        status=200,
    )


def without_credentials(url: str) -> str:
    """The address as it may be shown: without user, password, query and fragment."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = (rest if mark else scheme).partition("/")
    path = path.partition("?")[0].partition("#")[0]
    shown = host.rpartition("@")[2] + slash + path
    return f"{scheme}://{shown}" if mark else shown


def shortened(text: str) -> str:
    """One line of a text that a server sent, with what could steer a terminal escaped."""
    line = " ".join(text.split())
    line = line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def _named(model: str) -> str:
    return f"model {model!r}: " if model else ""


def _reason(error: Exception) -> str:
    return shortened(str(error)) or type(error).__name__


def _told(reply: httpx.Response) -> str:
    """The message in an error reply: `{"error": "…"}` or `{"error": {"message": "…"}}`; else the text."""
    try:
        data = reply.json()
    except (ValueError, RecursionError):
        return reply.text
    for key in ("error", "message", "detail"):
        found = data.get(key) if isinstance(data, dict) else None
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str) and found:
            return found
    return reply.text


def _wait_of(reply: httpx.Response) -> float:
    try:
        return max(0.0, float(reply.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


@lru_cache(maxsize=1)
def _client() -> httpx.Client:
    import httpx

    # Making one takes 70 ms, since it reads the certificates. Redirects could carry the key elsewhere.
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(event_hooks=hooks(), limits=limits, follow_redirects=False)
