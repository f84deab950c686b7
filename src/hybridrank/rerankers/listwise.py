"""A chat model puts the best hits in order: it reads them all at once and answers with their labels."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..errors import InvalidValueError, ModelError, ModelReplyError, ModelUnavailableError
from ..guardrails.ranking import ParsedRanking, parse_ranking
from ..prompts import Prompt, load_prompt, untrusted_line, untrusted_start, user_prompt
from ..protocols import ChatModel, Fingerprinted
from ..types import ChatMessage, ChatRequest, Document, Event, FrozenDict, Hit, Ranking, check_k
from .windows import windows

logger = logging.getLogger("hybridrank")

PROMPT = "listwise-v1"
"""The prompt that is used unless another is given."""
PARSED, FALLBACK, UNFINISHED = "rerank-parsed", "rerank-fallback", "rerank-unfinished"
"""Codes of the events: a reply was used; one was not, or there was none; time ran out before a window."""

_SOURCE = "listwise"
_PATH_CHARS = 200
# A client that was given the time that is left may give up a moment before it is over.
_NEAR = 0.05


@dataclass(frozen=True, slots=True)
class ListwiseReranker:
    """Orders hits by the word of a chat model, behind guardrails: always a permutation of what came in.

    The model sees the query and, numbered from 0, the place and the beginning of each candidate, and answers
    with a JSON array of the numbers. What it leaves out follows in its old order. Where a reply cannot be
    used, or the server fails, the window keeps its old order, and an event `rerank-fallback` and a line in
    the log say why; otherwise an event `rerank-parsed` says what was dropped. One candidate is not asked for.

    More hits than `window` are ordered in windows of that size from the back to the front, each `stride`
    places before the last one, so that a good hit can rise through all of them. After a server that cannot
    be reached or refuses no further window is tried.

    Args:
        chat: the chat model.
        depth: how many hits a pipeline gives to this reranker, None for all. `rerank` itself takes every hit
            that it gets.
        window: most candidates in one prompt, 2 or more.
        stride: places between two windows, 1 to `window`; half a window when None.
        snippet_chars: most characters of a candidate's text.
        query_chars: most characters of the query; an event says where it was cut.
        strict: raise where a window would keep its old order.
        min_labels: fewest labels that a reply must give, see `parse_ranking`: a lone label is seldom right.
        deadline: seconds for all windows together, None for no limit. What is not done by then keeps its
            order, and an event `rerank-unfinished` says so.
        prompt: another prompt, with the places `{query}` and `{candidates}`; `{last}` stands for the highest
            label and `{order}` for all labels in their old order. It should end with `Ranked JSON Array:`.
        schema: whether a JSON Schema of the array is sent with the request.
        thinking: whether a model that can think aloud may; then there is no limit to the reply's length.
        context_window: tokens of prompt and reply together; the server's own default when None. A prompt
            with 20 snippets of 250 characters is some 6,500 characters long.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    chat: ChatModel
    depth: int | None = 20
    window: int = 20
    stride: int | None = None
    snippet_chars: int = 250
    query_chars: int = 2_000
    strict: bool = False
    min_labels: int = 2
    deadline: float | None = None
    prompt: str | None = None
    schema: bool = True
    thinking: bool = False
    context_window: int | None = None
    _prompt: Prompt = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.chat, ChatModel):
            raise InvalidValueError(f"chat is {self.chat!r:.80}; give a chat model, with a method complete")
        if self.depth is not None:
            check_k(self.depth, "depth")
        for name, least in (("window", 2), ("snippet_chars", 1), ("query_chars", 1), ("min_labels", 1)):
            if check_k(getattr(self, name), name) < least:
                raise InvalidValueError(f"{name} is {getattr(self, name)}; give {least} or more")
        if self.stride is not None and not 1 <= check_k(self.stride, "stride") <= self.window:
            raise InvalidValueError(
                f"stride is {self.stride}; give 1 to window={self.window}, or no hit is sure"
            )
        if self.deadline is not None and not 0 < self.deadline < math.inf:
            raise InvalidValueError(f"deadline is {self.deadline!r}; give seconds above 0, or None")
        if self.context_window is not None and not check_k(self.context_window, "context_window"):
            raise InvalidValueError("context_window is 0; give 1 or more, or None")
        chosen = (
            load_prompt(PROMPT) if self.prompt is None else user_prompt(self.prompt, ("query", "candidates"))
        )
        object.__setattr__(self, "_prompt", chosen)

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompt by its name with version, as manifests and contracts hash it."""
        return FrozenDict() if self.prompt is not None else FrozenDict({self._prompt.name: self._prompt.text})

    def rerank(self, ranking: Ranking, /, *, k: int) -> Ranking:
        """The k best hits in the model's order; the score of rank r is 1/r. Events of before do not stay.

        Raises:
            InvalidValueError: k is negative or no int, or the chat model has no address to ask.
            ModelError: `strict` is set, and a window would keep its old order.
        """
        check_k(k)
        if len(ranking) < 2 or not k:
            return Ranking.from_order(ranking.query, ranking.hits[:k], source=_SOURCE)
        run = _Run(self, list(ranking.hits), ranking.query.typed)
        run.all()
        return Ranking.from_order(ranking.query, run.hits[:k], source=_SOURCE, events=run.events)

    def prompt_for(self, query: str, documents: Sequence[Document]) -> str:
        """The prompt for these candidates, as it is sent."""
        last = len(documents) - 1
        return self._prompt.fill(
            {
                "query": untrusted_start(query.strip(), self.query_chars),
                "candidates": "\n\n".join(
                    _candidate(label, one, self.snippet_chars) for label, one in enumerate(documents)
                ),
                "last": str(last),
                "order": str(list(range(last + 1))),
            }
        )

    def fingerprint(self) -> str:
        """The options that the order depends on."""
        chat = self.chat.fingerprint() if isinstance(self.chat, Fingerprinted) else repr(self.chat)
        numbers = (
            self.depth,
            self.window,
            self.stride,
            self.snippet_chars,
            self.query_chars,
            self.min_labels,
        )
        return (
            f"listwise {self._prompt.id} {chat} {numbers} {self.schema} {self.thinking} {self.context_window}"
        )


@dataclass(slots=True)
class _Run:
    """One call of `rerank`: the hits in the order so far, and what has been told."""

    part: ListwiseReranker
    hits: list[Hit]
    query: str
    events: list[Event] = field(default_factory=list)

    def all(self) -> None:
        """Order every window."""
        part = self.part
        ends = None if part.deadline is None else monotonic() + part.deadline
        if len(self.query.strip()) > part.query_chars:
            message = f"the model saw the first {part.query_chars} characters of the query"
            self.events.append(Event("query-cut", message, data={"characters": part.query_chars}))
        every = windows(len(self.hits), part.window, part.stride or part.window // 2)
        spans = [(start, end) for start, end in every if end - start > 1]
        for number, (start, end) in enumerate(spans):
            left = None if ends is None else ends - monotonic()
            if left is not None and left <= 0:
                return self.unfinished(spans[number:])
            where = f"hits {start + 1} to {end}: " if len(spans) > 1 else ""
            try:
                self.take(self.one(start, end, left), start, end, where)
            except (ModelError, OSError) as error:
                if part.strict:
                    raise
                if ends is not None and monotonic() > ends - _NEAR:
                    return self.unfinished(spans[number:])
                told = f"{where}Fallback triggered: YES ({error})"
                self.fell_back(told, start, end, error=type(error).__name__)
                if not isinstance(error, ModelReplyError):
                    return self.not_asked(spans[number + 1 :])
        return None

    def take(self, parsed: ParsedRanking, start: int, end: int, where: str) -> None:
        """Order a window as the reply has it, unless it cannot be used."""
        message, data = where + parsed.report, _counts(parsed)
        if parsed.fallback and self.part.strict:
            raise ModelReplyError(message, model=_model(self.part.chat))
        if parsed.fallback:
            self.fell_back(message, start, end, **data)
            return
        before = self.hits[start:end]
        self.hits[start:end] = [before[label] for label in parsed.order]
        data = {"first": start + 1, "last": end, "prompt": self.part._prompt.id, **data}
        self.events.append(Event(PARSED, message, data=data))

    def one(self, start: int, end: int, left: float | None) -> ParsedRanking:
        """What the model makes of one window."""
        part, count = self.part, end - start
        prompt = part.prompt_for(self.query, [hit.document for hit in self.hits[start:end]])
        request = ChatRequest(
            (ChatMessage("user", prompt),),
            schema=_schema(count) if part.schema else {},
            # Enough for the array however it is spaced, and an end to models that repeat themselves.
            max_tokens=None if part.thinking else 64 + 8 * count,
            context_window=part.context_window,
            thinking=part.thinking,
            # A request's timeout goes before the client's own, which may be the shorter one.
            timeout=None if left is None else min(left, getattr(part.chat, "timeout", left)),
        )
        reply = part.chat.complete(request)
        return parse_ranking(
            reply.text, range(count), min_labels=part.min_labels, finish_reason=reply.finish_reason
        )

    def fell_back(self, message: str, start: int, end: int, **data: Any) -> None:
        logger.warning(message)
        told = {"first": start + 1, "last": end, "prompt": self.part._prompt.id, **data}
        self.events.append(Event(FALLBACK, message, level="warning", data=told))

    def not_asked(self, spans: Sequence[tuple[int, int]]) -> None:
        """Tell of the windows that come after a server that failed."""
        for start, end in spans:
            self.fell_back(
                f"hits {start + 1} to {end}: Fallback triggered: YES (not asked for after that)", start, end
            )

    def unfinished(self, spans: Sequence[tuple[int, int]]) -> None:
        """Tell of the windows for which no time was left."""
        message = (
            f"time ran out after {self.part.deadline:g} s, {len(spans)} windows were not done: hits "
            f"{spans[-1][0] + 1} to {spans[0][1]} keep the order they had. Fallback triggered: YES (deadline)"
        )
        if self.part.strict:
            raise ModelUnavailableError(message, model=_model(self.part.chat))
        logger.warning(message)
        data = {
            "first": spans[-1][0] + 1,
            "last": spans[0][1],
            "windows": len(spans),
            "prompt": self.part._prompt.id,
        }
        self.events.append(Event(UNFINISHED, message, level="warning", data=data))


def _candidate(label: int, document: Document, most: int) -> str:
    """The heading, the place and the fenced beginning of a candidate."""
    place = untrusted_line(document.path or document.id, _PATH_CHARS)
    line = f":{document.start_line}" if document.path and document.start_line else ""
    snippet = untrusted_start(document.text.strip(), most)
    return f"[ID {label}] Path: {place}{line}\nCode:\n<snippet>\n{snippet}\n</snippet>"


def _schema(count: int) -> dict[str, Any]:
    """All labels, and as many as there are; `uniqueItems` is not known to the servers' grammars."""
    labels = {"type": "integer", "enum": list(range(count))}
    return {"type": "array", "items": labels, "minItems": count, "maxItems": count}


def _counts(parsed: ParsedRanking) -> dict[str, Any]:
    return {
        "reply": parsed.reply,
        "used": parsed.used,
        "duplicates": parsed.duplicates,
        "out_of_bounds": parsed.out_of_bounds,
        "others": parsed.others,
        "fallback": parsed.fallback,
    }


def _model(chat: ChatModel) -> str:
    return str(getattr(chat, "model", ""))
