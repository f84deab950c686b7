"""Embeddings of an Ollama server."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

from ..errors import InvalidValueError, MismatchError, ModelError, ModelReplyError, ModelRequestError
from ..http import Deadline
from ..ollama_client import ask, server_of
from ..types import Document, Role
from .families import family_of, prefix
from .served import Run
from .served_options import (
    BadTexts,
    Limits,
    checked_dimensions,
    checked_limits,
    checked_text,
    checked_texts,
)
from .vector_cache import VectorCache

if TYPE_CHECKING:
    from ..types import Vectors

logger = logging.getLogger("hybridrank")

# Part of the fingerprint; to be raised when the same options and texts would give other vectors.
_VERSION = 1
# Seconds that the check of the model may take while an index is loaded.
_CHECK = 5.0
_UNLISTED = frozenset({404, 405})


@dataclass(frozen=True, slots=True)
class ServerModel:
    """What a server says about a model.

    Attributes:
        digest: of its content: another digest is another model, whatever its name.
        parameter_size, quantization_level: as the server writes them: `"22.57M"`, `"F16"`.
    """

    digest: str
    parameter_size: str = ""
    quantization_level: str = ""

    def __str__(self) -> str:
        more = ", ".join(filter(None, (self.parameter_size, self.quantization_level)))
        return self.digest[:12] + (f" ({more})" if more else "")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class OllamaEmbedder:
    """Asks an Ollama server (`ollama pull bge-m3`) through the official client.

    Queries and documents get the instructions that the family of the model wants, see
    `hybridrank.embedders.families`. Nothing is cut silently. What the server gives is checked: one vector per
    text, of one length, finite and not zero. The vector of a blank text is zero, which is never found; blank
    texts are not sent. A lone surrogate is sent as U+FFFD.

    The model is told by its digest. An index keeps that of the model it was made with; loading the index, and
    each call of `embed`, compares it with the server's. Vectors are kept on disk by digest, role,
    instruction and text, so that none is asked for twice.

    Args:
        model: its name there, `"bge-m3"` or with a tag `"qwen3-embedding:0.6b"`.
        host: address of the server; the environment variable OLLAMA_HOST if None, else the client's default
            http://127.0.0.1:11434.
        query_instruction, document_instruction: None for what the family of the model wants, `""` for none.
            For qwen3-embedding a query is sent as `Instruct: <instruction>`, newline, `Query: <text>`; any
            other instruction stands before the text as it is.
        dimensions: shorter vectors, for models that can shorten theirs; the model's own if None.
        truncate: cut a text that is too long for the model here, by halves, and tell it in the log.
            Otherwise it is an error.
        batch_size: texts a request, 1 or more.
        timeout: seconds that a request may take, its retries and halvings included.
        keep_alive: how long the server keeps the model loaded, as Ollama writes it: `"30m"`, or seconds.
        expected_digest: refuse any other model; its first 12 digits, which `ollama list` shows,
            are enough.
        max_chars: longest text that is sent, instruction included; with truncate longer ones are cut.
        bad_texts: `"skip"` gives a text that the server cannot embed the zero vector, with a warning, where
            other texts can be embedded; `"raise"` names it in an error.
        cache: whether vectors are kept on disk, in the user's cache.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    model: str
    host: str | None
    query_instruction: str
    document_instruction: str
    dimensions: int | None
    truncate: bool
    batch_size: int
    timeout: float
    keep_alive: str | float | None
    expected_digest: str | None
    max_chars: int | None
    bad_texts: BadTexts
    cache: bool
    _held: ServerModel | None

    def __init__(
        self,
        model: str,
        host: str | None = None,
        *,
        query_instruction: str | None = None,
        document_instruction: str | None = None,
        dimensions: int | None = None,
        truncate: bool = False,
        batch_size: int = 32,
        timeout: float = 120.0,
        keep_alive: str | float | None = None,
        expected_digest: str | None = None,
        max_chars: int | None = None,
        bad_texts: BadTexts = "raise",
        cache: bool = True,
    ) -> None:
        family = family_of(checked_text("model", model, empty=False))
        query = family.query if query_instruction is None else query_instruction
        document = family.document if document_instruction is None else document_instruction
        limits = checked_limits(batch_size, timeout, truncate, max_chars, bad_texts)
        if keep_alive is not None and (
            isinstance(keep_alive, bool) or not isinstance(keep_alive, str | int | float)
        ):
            raise InvalidValueError(f"keep_alive is {keep_alive!r}; give e.g. '30m', or seconds")
        self._set(
            model=model,
            host=None if host is None else checked_text("host", host, empty=False),
            query_instruction=checked_text("query_instruction", query),
            document_instruction=checked_text("document_instruction", document),
            dimensions=checked_dimensions(dimensions),
            truncate=truncate,
            batch_size=batch_size,
            timeout=limits.timeout,
            keep_alive=keep_alive,
            expected_digest=None if expected_digest is None else _checked_digest(expected_digest),
            max_chars=max_chars,
            bad_texts=bad_texts,
            cache=bool(cache),
            _held=None,
        )

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Vectors:
        """The vectors that the model gives, float32, shape (len(texts), dimensions); zero for blank texts.

        Raises:
            InvalidValueError: `texts` is a str or holds something else than str, or there is no such role.
            MismatchError: the model is not the one that this embedder is held to.
            ModelUnavailableError: the server cannot be reached, or does not answer in time.
            ModelRequestError: the model is not there, or a text was refused; `positions` tells which.
            ModelReplyError: what the server gave is no vector for each text.
        """
        given = checked_texts(texts, role)
        deadline = Deadline.after(self.timeout)
        found = self._current_or_none(deadline)
        run = Run(
            self.model,
            server_of(self.host),
            self._limits,
            self._send,
            prefix=prefix(self.model, self._instruction(role), role),
            width=self.dimensions,
            cache=VectorCache(found.digest) if self.cache and found is not None else None,
            how=(_VERSION, self.dimensions, self.truncate, self.max_chars),
        )
        vectors = run.embed(given, role, deadline)
        if run.taken > self.batch_size and found is not None:
            # It took a while, in which the model may have been pulled anew.
            self._refuse_other(found, self._current(Deadline.after(self.timeout)))
        return vectors

    def bound(self) -> Self:
        """The same embedder, held to the model that the server has now.

        Raises:
            MismatchError: it is not the expected one, or not the one that this embedder is held to.
            ModelError: the server cannot tell.
        """
        return self._holding(self._current(Deadline.after(self.timeout)))

    @property
    def digest(self) -> str | None:
        """Digest of the model that this embedder is held to; None before `bound`, and outside of an index."""
        return None if self._held is None else self._held.digest

    @property
    def parameter_size(self) -> str | None:
        """As the server writes it, `"22.57M"`; None as for `digest`."""
        return None if self._held is None else self._held.parameter_size

    @property
    def quantization_level(self) -> str | None:
        """As the server writes it, `"F16"`; None as for `digest`."""
        return None if self._held is None else self._held.quantization_level

    def state(self) -> dict[str, Any]:
        """Which model it is held to, see `Storable`."""
        held = self._held
        return {
            "model": self.model,
            "digest": None if held is None else held.digest,
            "parameter_size": None if held is None else held.parameter_size,
            "quantization_level": None if held is None else held.quantization_level,
        }

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document] = (), /) -> Self:
        """The same embedder, held to the model of that state; asks the server whether it still has it.

        Where the server cannot tell now, a warning is logged: the first text is then compared instead.

        Raises:
            MismatchError: the server has another model under that name, or the state is of another name.
        """
        if state["model"] != self.model:
            raise MismatchError(
                f"the index was made with the model {state['model']!r}, and this is {self.model!r}; index "
                "again (hybridrank index --refit), or use the model that the index was made with"
            )
        if state["digest"] is None:
            return self._holding(None)
        details = str(state["parameter_size"]), str(state["quantization_level"])
        held = self._holding(ServerModel(str(state["digest"]), *details))
        try:
            held._current(Deadline.after(min(_CHECK, self.timeout)), retries=0)
        except ModelError as error:
            logger.warning("whether the model is still that of the index cannot be told now: %s", error)
        return held

    def fingerprint(self) -> str:
        """Tells two apart that may embed differently: by options, and by the model that it is held to."""
        identity = {
            "version": _VERSION,
            "model": self.model,
            "query": prefix(self.model, self.query_instruction, "query"),
            "document": self.document_instruction,
            "dimensions": self.dimensions,
            "truncate": self.truncate,
            "max_chars": self.max_chars,
            "bad_texts": self.bad_texts,
            "digest": self.digest,
        }
        return "ollama:" + sha256(json.dumps(identity).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"OllamaEmbedder({self.model!r})"

    @property
    def _limits(self) -> Limits:
        return Limits(self.batch_size, self.timeout, self.truncate, self.max_chars, self.bad_texts)

    def _instruction(self, role: Role) -> str:
        return self.query_instruction if role == "query" else self.document_instruction

    def _send(self, prompts: Sequence[str], deadline: Deadline) -> Any:
        reply = ask(
            lambda client: client.embed(
                model=self.model,
                input=list(prompts),
                truncate=False,
                keep_alive=self.keep_alive,
                dimensions=self.dimensions,
            ),
            host=self.host,
            model=self.model,
            deadline=deadline,
        )
        return reply.embeddings

    def _current_or_none(self, deadline: Deadline) -> ServerModel | None:
        """The model as the server has it now; None where it lists no such model and none is due.

        A server that speaks only part of Ollama's language may embed nonetheless; then nothing is cached.
        """
        try:
            return self._current(deadline)
        except ModelRequestError as error:
            if self._held is None and self.expected_digest is None and error.status in _UNLISTED:
                return None
            raise

    def _current(self, deadline: Deadline, **options: int) -> ServerModel:
        """The model as the server has it now, if it is the one that is due."""
        reply = ask(
            lambda client: client.list(), host=self.host, model=self.model, deadline=deadline, **options
        )
        wanted = self.model if ":" in self.model.rpartition("/")[2] else f"{self.model}:latest"
        for one in reply.models:
            if (one.model or "").casefold() == wanted.casefold():
                details = one.details
                found = ServerModel(
                    (one.digest or "").removeprefix("sha256:"),
                    (details and details.parameter_size) or "",
                    (details and details.quantization_level) or "",
                )
                break
        else:
            server = server_of(self.host)
            names = ", ".join(sorted(one.model or "" for one in reply.models)) or "none"
            raise ModelRequestError(
                f"model {self.model!r} is not on {server}, which has: {names}; run: ollama pull {self.model}",
                server=server,
                model=self.model,
                status=404,
            )
        if not found.digest:
            server = server_of(self.host)
            message = (
                f"{server} tells no digest of the model {self.model!r}; is that a current Ollama server?"
            )
            raise ModelReplyError(message, server=server, model=self.model, status=200)
        due = self.expected_digest
        if due is not None and not (found.digest == due or (len(due) >= 12 and found.digest.startswith(due))):
            raise MismatchError(
                f"the model {self.model!r} on {server_of(self.host)} has the digest {found}, but {due[:12]} "
                "is expected; pull the expected one, or change expected_digest"
            )
        if self._held is not None:
            self._refuse_other(self._held, found)
        return found

    def _refuse_other(self, held: ServerModel, found: ServerModel) -> None:
        if found.digest != held.digest:
            raise MismatchError(
                f"the model {self.model!r} on {server_of(self.host)} has the digest {found} now, but the "
                f"index was made with {held}; index again (hybridrank index --refit), or pull that model"
            )

    def _holding(self, held: ServerModel | None) -> Self:
        new = copy.copy(self)
        new._set(_held=held)
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _checked_digest(value: object) -> str:
    return checked_text("expected_digest", value, empty=False).strip().removeprefix("sha256:").lower()
