"""Embeddings of any server with the route /v1/embeddings: OpenAI, Voyage, vLLM, llama.cpp, TEI and others."""

from __future__ import annotations

import copy
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..errors import InvalidValueError, MismatchError, ModelError, ModelReplyError
from ..http import Deadline, post_json, without_credentials
from ..types import Document, FrozenDict, Role
from .families import family_of, prefix
from .served import F32, Run
from .served_options import (
    BadTexts,
    Limits,
    checked_dimensions,
    checked_limits,
    checked_text,
    checked_texts,
)
from .vector_cache import Cached, VectorCache, key_of

if TYPE_CHECKING:
    from ..types import Vectors

logger = logging.getLogger("hybridrank")

BASE_URL = "OPENAI_BASE_URL"
"""Environment variable: the address of the server, its version included, where none is given."""

_DEFAULT_URL = "https://api.openai.com/v1"
# Part of the fingerprint; to be raised when the same options and texts would give other vectors.
_VERSION = 1
_CHECK = 5.0
_PROBE = "The quick brown fox jumps over the lazy dog."
_PROBE_KEY = key_of(_PROBE, "probe", _VERSION)
# Servers round differently from one time to another; two models are far further apart.
_SAME = 0.999


@dataclass(frozen=True, init=False, repr=False, eq=False)
class OpenAICompatibleEmbedder:
    """Asks a server for `POST <base_url>/embeddings`.

    The guarantees are those of `OllamaEmbedder`, with one difference: such a server tells no digest. A model
    is known again by its vector of one fixed sentence, which is asked for once by each embedder; an index
    keeps that vector, and a server that gives another one (cosine below 0.999) is a mismatch.

    Args:
        model: its name there, `"voyage-code-3"`.
        base_url: the address with its version, `"https://api.voyageai.com/v1"`; the environment variable
            OPENAI_BASE_URL if None, else OpenAI's.
        key_env: environment variable that holds the key; without one no key is sent. The key itself
            is never kept, nor shown.
        query_instruction, document_instruction: what stands before the texts of each role; None for what the
            family of the model wants, `""` for none.
        query_fields, document_fields: further fields of the request for each role, such as
            `{"input_type": "query"}`.
        dimensions: shorter vectors, for models that can shorten theirs; the model's own if None.
        truncate, batch_size, timeout, max_chars, bad_texts, cache: as for `OllamaEmbedder`.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    model: str
    base_url: str | None
    key_env: str
    query_instruction: str
    document_instruction: str
    query_fields: Mapping[str, Any]
    document_fields: Mapping[str, Any]
    dimensions: int | None
    truncate: bool
    batch_size: int
    timeout: float
    max_chars: int | None
    bad_texts: BadTexts
    cache: bool
    _held: F32 | None
    _seen: dict[str, F32]

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        key_env: str = "OPENAI_API_KEY",
        query_instruction: str | None = None,
        document_instruction: str | None = None,
        query_fields: Mapping[str, Any] | None = None,
        document_fields: Mapping[str, Any] | None = None,
        dimensions: int | None = None,
        truncate: bool = False,
        batch_size: int = 32,
        timeout: float = 120.0,
        max_chars: int | None = None,
        bad_texts: BadTexts = "raise",
        cache: bool = True,
    ) -> None:
        family = family_of(checked_text("model", model, empty=False))
        query = family.query if query_instruction is None else query_instruction
        document = family.document if document_instruction is None else document_instruction
        limits = checked_limits(batch_size, timeout, truncate, max_chars, bad_texts)
        self._set(
            model=model,
            base_url=None if base_url is None else _checked_url(base_url),
            key_env=checked_text("key_env", key_env),
            query_instruction=checked_text("query_instruction", query),
            document_instruction=checked_text("document_instruction", document),
            query_fields=_checked_fields("query_fields", query_fields),
            document_fields=_checked_fields("document_fields", document_fields),
            dimensions=checked_dimensions(dimensions),
            truncate=truncate,
            batch_size=batch_size,
            timeout=limits.timeout,
            max_chars=max_chars,
            bad_texts=bad_texts,
            cache=bool(cache),
            _held=None,
            _seen={},
        )

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Vectors:
        """The vectors that the model gives, float32, shape (len(texts), dimensions); zero for blank texts.

        Raises:
            InvalidValueError: `texts` is a str or holds something else than str, or there is no such role.
            MismatchError: the model is not the one that this embedder is held to.
            ModelUnavailableError: the server cannot be reached, or does not answer in time.
            ModelRequestError: the server refused the model, the key or a text; `positions` tells which.
            ModelReplyError: what the server gave is no vector for each text.
        """
        given = checked_texts(texts, role)
        deadline = Deadline.after(self.timeout)
        probe = self._probed(deadline)
        instruction = self.query_instruction if role == "query" else self.document_instruction
        fields = self.query_fields if role == "query" else self.document_fields
        run = Run(
            self.model,
            without_credentials(self._url),
            self._limits,
            lambda prompts, limit: self._asked(prompts, fields, limit),
            prefix=prefix(self.model, instruction, role),
            width=len(probe),
            cache=self._vectors if self.cache else None,
            how=(_VERSION, dict(fields), self.truncate, self.max_chars),
        )
        return run.embed(given, role, deadline)

    def bound(self) -> Self:
        """The same embedder, held to the model that the server has now.

        Raises:
            MismatchError: it is not the one that this embedder is held to.
            ModelError: the server cannot tell.
        """
        return self._holding(self._probed(Deadline.after(self.timeout)))

    def state(self) -> dict[str, Any]:
        """Which model it is held to, see `Storable`."""
        probe = {} if self._held is None else {"probe": self._held}
        return {"model": self.model, "server": without_credentials(self._url), **probe}

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document] = (), /) -> Self:
        """The same embedder, held to the model of that state; asks the server whether it still has it.

        Where the server cannot tell now, a warning is logged: it is asked again with the first text.

        Raises:
            MismatchError: the server has another model under that name, or the state is of another name.
        """
        if state["model"] != self.model:
            raise MismatchError(
                f"the index was made with the model {state['model']!r}, and this is {self.model!r}; index "
                "again (hybridrank index --refit), or use the model that the index was made with"
            )
        held = self._holding(np.asarray(state["probe"], np.float32) if "probe" in state else None)
        if held._held is not None:
            try:
                held._probed(Deadline.after(min(_CHECK, self.timeout)), retries=0)
            except ModelError as error:
                logger.warning("whether the model is still that of the index cannot be told now: %s", error)
        return held

    def fingerprint(self) -> str:
        """Tells two apart that may embed differently: by options, and by the model that it is held to."""
        identity = {
            "version": _VERSION,
            "model": self.model,
            "server": without_credentials(self._url),
            "query": prefix(self.model, self.query_instruction, "query"),
            "document": self.document_instruction,
            "fields": [dict(self.query_fields), dict(self.document_fields)],
            "dimensions": self.dimensions,
            "truncate": self.truncate,
            "max_chars": self.max_chars,
            "bad_texts": self.bad_texts,
            "probe": None if self._held is None else sha256(self._held.tobytes()).hexdigest(),
        }
        return "openai-compatible:" + sha256(json.dumps(identity).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"OpenAICompatibleEmbedder({self.model!r})"

    @property
    def _limits(self) -> Limits:
        return Limits(self.batch_size, self.timeout, self.truncate, self.max_chars, self.bad_texts)

    @property
    def _url(self) -> str:
        return (self.base_url or os.environ.get(BASE_URL) or _DEFAULT_URL).rstrip("/")

    @property
    def _vectors(self) -> VectorCache:
        return VectorCache(json.dumps([self._url, self.model, self.dimensions]))

    def _asked(
        self, prompts: Sequence[str], fields: Mapping[str, Any], deadline: Deadline, **options: int
    ) -> list[Any]:
        body: dict[str, Any] = {"model": self.model, "input": list(prompts), **fields}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        url = f"{self._url}/embeddings"
        reply = post_json(url, body, model=self.model, key_env=self.key_env, deadline=deadline, **options)
        return _vectors_of(reply, self.model, without_credentials(url))

    def _probed(self, deadline: Deadline, **options: int) -> F32:
        """The model's vector of the probe, if it is that of the model that is due; asked for once."""
        key = self._url
        if key not in self._seen:
            run = Run(
                self.model,
                without_credentials(key),
                self._limits,
                lambda prompts, limit: self._asked(prompts, self.document_fields, limit, **options),
                width=self.dimensions,
            )
            try:
                probe = run.embed([_PROBE], "document", deadline)[0]
            except ModelError as error:
                # The probe is none of the texts that were given.
                error.positions = ()
                raise
            if self.cache:
                self._refuse_cache_of_another(probe)
            self._seen[key] = probe
        found = self._seen[key]
        if self._held is not None and not _alike(self._held, found):
            raise MismatchError(
                f"the model {self.model!r} on {without_credentials(key)} gives another vector for the same "
                "text than when the index was made; index again (hybridrank index --refit), or use that model"
            )
        return found if self._held is None else self._held

    def _refuse_cache_of_another(self, probe: F32) -> None:
        """A cache that was filled by another model under the same name is put aside."""
        cache = self._vectors
        before = cache.get([_PROBE_KEY]).get(_PROBE_KEY)
        if before is not None and _alike(before.vector, probe):
            return
        if before is not None:
            cache.put_aside(f"the model {self.model!r} gives other vectors now")
        cache.put({_PROBE_KEY: Cached(probe)})

    def _holding(self, held: F32 | None) -> Self:
        new = copy.copy(self)
        new._set(_held=held)
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _vectors_of(reply: Any, model: str, server: str) -> list[Any]:
    """The vectors of a reply in the order of the texts, by their `index` where it tells one."""
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) and "embedding" in one for one in data):
        message = f"model {model!r}: {server} answered without data[].embedding; is that an embedding model?"
        raise ModelReplyError(message, server=server, model=model, status=200)
    places = [one.get("index", place) for place, one in enumerate(data)]
    if sorted(map(repr, places)) != sorted(map(repr, range(len(data)))):
        message = f"model {model!r}: {server} numbered its {len(data)} vectors {places[:8]}"
        raise ModelReplyError(message, server=server, model=model, status=200)
    return [one["embedding"] for _, one in sorted(zip(places, data, strict=True), key=lambda pair: pair[0])]


def _alike(one: F32, other: F32) -> bool:
    if one.shape != other.shape:
        return False
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return lengths > 0.0 and float(one @ other) / lengths >= _SAME


def _checked_url(value: object) -> str:
    url = checked_text("base_url", value, empty=False)
    if not url.startswith(("http://", "https://")):
        raise InvalidValueError(
            f"base_url is {without_credentials(url)!r}; give e.g. 'http://127.0.0.1:8080/v1'"
        )
    return url


def _checked_fields(name: str, value: object) -> Mapping[str, Any]:
    fields = {} if value is None else value
    try:
        if isinstance(fields, Mapping):
            return FrozenDict(json.loads(json.dumps(dict(fields), allow_nan=False)))
    except (TypeError, ValueError):
        pass
    raise InvalidValueError(f"{name} is {value!r:.80}; give a mapping of names to values that JSON can hold")
