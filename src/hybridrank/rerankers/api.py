"""Rerank with a cross-encoder behind a server that answers `/v1/rerank` or a route like it."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from ..errors import (
    InvalidValueError,
    ModelError,
    ModelReplyError,
    ModelRequestError,
    ModelUnavailableError,
)
from ..http import Deadline, post_json, without_credentials
from ..text.fields import check_fields, searchable_text
from ..types import Event, FrozenDict, Hit, Ranking, check_k

logger = logging.getLogger("hybridrank")

Provider: TypeAlias = Literal["cohere", "jina", "voyage", "tei", "vllm", "llama.cpp"]

FALLBACK, UNFINISHED = "rerank-fallback", "rerank-unfinished"
"""Codes of the events: the ranking is the one of before; only its head was scored in time."""

_SOURCE = "api"


@dataclass(frozen=True)
class _Form:
    """How a provider is asked, and how it answers.

    Attributes:
        url: base of its own service, or where a server of that kind listens by default.
        texts, limit: the fields of the request for the documents and for how many are wanted back; `""`: all
            come back anyway.
        results: the field of the reply that holds the list; `""`: the reply is that list.
        score: the field of a result.
        batch: the most documents that a request may hold.
    """

    url: str
    path: str
    key_env: str = ""
    texts: str = "documents"
    limit: str = "top_n"
    results: str = "results"
    score: str = "relevance_score"
    batch: int = 100
    extra: Mapping[str, Any] = field(default_factory=FrozenDict)


# https://docs.cohere.com/reference/rerank, https://jina.ai/reranker, https://docs.voyageai.com/reference/reranker-api,
# https://huggingface.github.io/text-embeddings-inference, https://docs.vllm.ai (Cohere's and Jina's form),
# llama.cpp's tools/server/README.md (Jina's form). What is too long is refused where that can be asked for.
_FORMS: Mapping[str, _Form] = {
    "cohere": _Form("https://api.cohere.com", "/v2/rerank", "CO_API_KEY"),
    "jina": _Form("https://api.jina.ai", "/v1/rerank", "JINA_API_KEY", extra={"return_documents": False}),
    "voyage": _Form(
        "https://api.voyageai.com",
        "/v1/rerank",
        "VOYAGE_API_KEY",
        limit="top_k",
        results="data",
        extra={"truncation": False},
    ),
    "tei": _Form(
        "http://127.0.0.1:8080",
        "/rerank",
        texts="texts",
        limit="",
        results="",
        score="score",
        batch=32,
        extra={"truncate": False},
    ),
    "vllm": _Form("http://127.0.0.1:8000", "/v1/rerank"),
    "llama.cpp": _Form("http://127.0.0.1:8080", "/v1/rerank"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiReranker:
    """Orders hits by the scores of a cross-encoder, a model that reads query and document together.

    A server gives each document of a request a score by its index. A reply in which an index is missing,
    doubled or out of range, or a score is no finite number, is not used: the ranking keeps its old order, and
    an event `rerank-fallback` and a line in the log say why. So it is where the server fails. Scores of
    several batches compare, since a score depends on query and document only. Equal scores keep their order;
    documents without text are not sent and come last.

    If time runs out after some batches, their documents are ordered by score, the others follow in their old
    order, and an event `rerank-unfinished` says so.

    Args:
        model: as the server names it; servers with one model take `""`.
        provider: whose form of request and reply the server speaks: "cohere", "jina", "voyage", "tei" (Text
            Embeddings Inference), "vllm" or "llama.cpp".
        base_url: address of the server, without the route; the provider's own service, or the usual port of
            this machine, when `""`.
        path: the route, where it is another than the provider's.
        key_env: environment variable that holds the key; the provider's when None, none when `""`.
        extra: further fields of the request, e.g. `{"truncation": true}` for Voyage.
        depth: how many hits a pipeline gives to this reranker, None for all.
        fields: the fields of a document that are sent.
        batch_size: most documents of one request; what the provider takes when None.
        deadline: seconds for all batches together, retries included.
        strict: raise where the ranking would stay as it was.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    model: str = ""
    provider: Provider = "cohere"
    base_url: str = ""
    path: str = ""
    key_env: str | None = None
    extra: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)
    depth: int | None = 50
    fields: Sequence[str] = ("text",)
    batch_size: int | None = None
    deadline: float = 60.0
    strict: bool = False

    def __post_init__(self) -> None:
        if self.provider not in get_args(Provider):
            given = ", ".join(get_args(Provider))
            raise InvalidValueError(f"provider is {self.provider!r}; give one of: {given}")
        for name in ("model", "base_url", "path"):
            if not isinstance(getattr(self, name), str):
                raise InvalidValueError(f"{name} is {getattr(self, name)!r}; give a str")
        if self.path and not self.path.startswith("/"):
            raise InvalidValueError(f"path is {self.path!r}; give one that starts with /, e.g. '/v1/rerank'")
        if self.depth is not None:
            check_k(self.depth, "depth")
        if self.batch_size is not None and not check_k(self.batch_size, "batch_size"):
            raise InvalidValueError("batch_size is 0; give 1 or more, or None")
        if "@" in self.base_url:
            raise InvalidValueError(
                "base_url holds a user or a key; put the key into the environment, see key_env"
            )
        if not 0 < self.deadline < math.inf:
            raise InvalidValueError(f"deadline is {self.deadline!r}; give seconds above 0")
        object.__setattr__(self, "fields", check_fields(self.fields))
        object.__setattr__(self, "extra", FrozenDict(self.extra))

    @property
    def url(self) -> str:
        """The address that is asked."""
        form = _FORMS[self.provider]
        return (self.base_url.rstrip("/") or form.url) + (self.path or form.path)

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k hits with the highest scores. Events of the given ranking do not stay with it.

        Raises:
            InvalidValueError: k is negative or no int, or the key of a service is not in the environment.
            ModelError: `strict` is set, and the ranking would keep its old order; see its subclasses.
        """
        check_k(k)
        texts = [searchable_text(hit.document, self.fields) for hit in ranking]
        sent = [place for place, text in enumerate(texts) if text.strip()]
        query = ranking.query.typed
        if not sent or not query.strip() or not k:
            return _as_before(ranking, k)
        try:
            scores, late = self._scores(query, [texts[place] for place in sent])
        except ModelError as error:
            if self.strict:
                raise
            message = f"Fallback triggered: YES ({error})"
            logger.warning(message)
            event = Event(FALLBACK, message, level="warning", data={"error": type(error).__name__})
            return _as_before(ranking, k, event)
        scored = dict(zip(sent, scores, strict=False))
        order = sorted(scored, key=lambda place: -scored[place])
        rest = [place for place in range(len(ranking)) if place not in scored]
        if not rest:
            hits = tuple(replace(ranking[place], score=scored[place]) for place in order[:k])
            return Ranking(ranking.query, hits, _SOURCE)
        # Some have no score, and two scales must not mix in one ranking.
        events = [_unfinished(len(scored), len(sent), self.deadline, late)] if late else []
        ordered = [ranking[place] for place in order + rest][:k]
        return Ranking.from_order(ranking.query, ordered, source=_SOURCE, events=events)

    def fingerprint(self) -> str:
        """The options that the order depends on."""
        return f"api {self.provider} {self.model} {self.url} {self.fields} {dict(self.extra)}"

    def _scores(self, query: str, texts: Sequence[str]) -> tuple[list[float], ModelUnavailableError | None]:
        """Scores of the first texts, of all unless time ran out; then with the error that tells so."""
        form = _FORMS[self.provider]
        key_env = form.key_env if self.key_env is None else self.key_env
        if key_env and not self.base_url and not os.environ.get(key_env, "").strip():
            raise InvalidValueError(
                f"the environment variable {key_env} is not set; set it to your key for {form.url}, or give "
                "the base_url of a server of your own"
            )
        until = Deadline.after(self.deadline)
        size = self.batch_size or form.batch
        scores: list[float] = []
        for start in range(0, len(texts), size):
            batch = texts[start : start + size]
            body = self._body(form, query, batch)
            try:
                reply = post_json(self.url, body, model=self.model, key_env=key_env, deadline=until)
            except ModelUnavailableError as error:
                if not scores or self.strict:
                    raise
                return scores, error
            except ModelRequestError as error:
                error.positions = tuple(range(start, start + len(batch)))
                raise
            scores += self._parsed(form, reply, len(batch))
        return scores, None

    def _body(self, form: _Form, query: str, texts: Sequence[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"query": query, form.texts: list(texts)}
        if self.model:
            body["model"] = self.model
        if form.limit:
            body[form.limit] = len(texts)
        return {**body, **form.extra, **self.extra}

    def _parsed(self, form: _Form, reply: Any, count: int) -> list[float]:
        """The scores by index, if each document has exactly one."""
        server = without_credentials(self.url)

        def refuse(what: str) -> ModelReplyError:
            named = f"model {self.model!r}: " if self.model else ""
            return ModelReplyError(
                f"{named}{server} answered {count} documents with {what}; does it speak as {self.provider!r} "
                "does?",
                server=server,
                model=self.model,
                status=200,
            )

        results = reply if not form.results else reply.get(form.results) if isinstance(reply, dict) else None
        if not isinstance(results, list):
            raise refuse(f"no list{f' {form.results!r}' if form.results else ''}")
        scores: dict[int, float] = {}
        for one in results:
            index, score = (one.get("index"), one.get(form.score)) if isinstance(one, dict) else (None, None)
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
                raise refuse(f"the index {index!r:.40}")
            if index in scores:
                raise refuse(f"the index {index} twice")
            if not _is_finite(score):
                raise refuse(f"the {form.score} {score!r:.40} at index {index}")
            scores[index] = float(score)
        if len(scores) < count:
            missing = next(index for index in range(count) if index not in scores)
            raise refuse(f"nothing at index {missing}")
        return [scores[index] for index in range(count)]


def _is_finite(score: object) -> TypeGuard[float]:
    if not isinstance(score, int | float) or isinstance(score, bool):
        return False
    try:
        return math.isfinite(score)
    except OverflowError:
        return False


def _as_before(ranking: Ranking, k: int, *events: Event) -> Ranking:
    hits: tuple[Hit, ...] = ranking.hits[:k]
    return Ranking.from_order(ranking.query, hits, source=_SOURCE, events=events)


def _unfinished(scored: int, all_: int, deadline: float, error: Exception) -> Event:
    message = (
        f"scored {scored} of {all_} documents within {deadline:g} s; the others keep their order: {error}"
    )
    return Event(UNFINISHED, message, level="warning", data={"scored": scored, "of": all_})
