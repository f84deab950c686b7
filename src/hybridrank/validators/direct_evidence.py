"""Asks a chat model for direct evidence, and believes it only as far as its quotes go."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal, Self

from ..errors import InvalidValueError, ModelError, ModelReplyError, NotIndexedError
from ..guardrails.evidence import judge_reply
from ..prompts import Prompt, load_prompt, untrusted_start, user_prompt
from ..protocols import ChatModel, Fingerprinted
from ..text.corpus_tokens import CorpusTokens
from ..types import Answer, ChatMessage, ChatRequest, Document, FrozenDict, Quote, Ranking, Verdict, check_k
from .canary import Canary, CanaryPairs, canary_pairs

PROMPT = "direct-evidence-v1"
"""The prompt that is used unless another is given."""

_PLACES = ("source", "candidate")
_REPLY_TOKENS, _QUOTE_TOKENS = 64, 32


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DirectEvidence:
    """Accepts candidates that, as a chat model says, hold strings, API calls or patterns of the query.

    The model is asked about one candidate at a time, for yes or no and then for quotes. Its word is not taken
    for it:

    - yes: the reply says yes, and at least one of its quotes stands word for word (white space folded) in the
      query's text and in the candidate's, and is distinctive: a token of it has a rarity of `min_rarity` or
      more. What more than half of the documents hold has the rarity 0, so that it never suffices.
    - no: the reply says no.
    - undecided: anything else. The reason tells: no verdict, no true quote, only common ones, no answer.

    Each yes carries its true quotes, distinctive ones first, with their places in both texts. Query and
    candidates are fenced in the prompt as data; what is longer than `source_chars` or `candidate_chars` is
    cut there, and the reason says so.

    Args:
        chat: the model.
        on_undecided: "drop" rejects what is undecided, "keep" accepts it.
        max_quotes: most quotes that are asked for and kept, 1 or more.
        min_rarity: above 0, at most 1. The rarity of a token is its weight (`CorpusTokens.weight`) divided by
            that of a token that only one document holds.
        source_chars, candidate_chars: how much of each the model is shown.
        schema: whether a JSON Schema of the answer is sent with the request. Its form is then right, its
            content no better.
        thinking: whether a model that can think aloud may; then there is no limit to the reply's length.
        context_window: tokens of prompt and reply together; the server's own default when None.
        deadline: seconds for all candidates of one call, None for no limit.
        prompt: a text with the places {source} and {candidate}, and {most} for `max_quotes`; the one that
            comes with hybridrank when None.
        canary: before the first judgement, ask two questions whose answers are known, see `check`, and refuse
            a model that gets them wrong.

    Raises:
        InvalidValueError: an option is outside its range.
    """

    chat: ChatModel
    on_undecided: Literal["drop", "keep"]
    max_quotes: int
    min_rarity: float
    source_chars: int
    candidate_chars: int
    schema: bool
    thinking: bool
    context_window: int | None
    deadline: float | None
    prompt: str | None
    canary: bool
    _prompt: Prompt
    _corpus: CorpusTokens | None
    _documents: Sequence[Document]
    _passed: list[bool]

    def __init__(
        self,
        chat: ChatModel,
        *,
        on_undecided: Literal["drop", "keep"] = "drop",
        max_quotes: int = 5,
        min_rarity: float = 0.25,
        source_chars: int = 3000,
        candidate_chars: int = 3000,
        schema: bool = True,
        thinking: bool = False,
        context_window: int | None = None,
        deadline: float | None = None,
        prompt: str | None = None,
        canary: bool = False,
    ) -> None:
        if isinstance(chat, type) or not isinstance(chat, ChatModel):
            raise InvalidValueError(
                f"chat is {chat!r:.80}; give a chat model, an object with complete(request)"
            )
        if on_undecided not in ("drop", "keep"):
            raise InvalidValueError(f'on_undecided is {on_undecided!r}; give "drop" or "keep"')
        counts = {
            "max_quotes": max_quotes,
            "source_chars": source_chars,
            "candidate_chars": candidate_chars,
        }
        for name, count in counts.items():
            if not check_k(count, name):
                raise InvalidValueError(f"{name} is 0; give 1 or more")
        if not 0 < min_rarity <= 1:
            raise InvalidValueError(f"min_rarity is {min_rarity!r}; give a number above 0 and at most 1")
        if deadline is not None and not 0 < deadline < math.inf:
            raise InvalidValueError(f"deadline is {deadline!r}; give seconds above 0, or None")
        if context_window is not None and not check_k(context_window, "context_window"):
            raise InvalidValueError("context_window is 0; give 1 or more, or None")
        self._set(
            chat=chat,
            on_undecided=on_undecided,
            min_rarity=float(min_rarity),
            schema=schema,
            thinking=thinking,
            context_window=context_window,
            deadline=deadline,
            prompt=prompt,
            canary=canary,
            _prompt=load_prompt(PROMPT) if prompt is None else user_prompt(prompt, _PLACES),
            _corpus=None,
            _documents=(),
            _passed=[],
            **counts,
        )

    def index(self, documents: Sequence[Document], /) -> Self:
        """A new validator that knows how rare tokens are in these documents."""
        return self._with(CorpusTokens.of(documents), documents)

    def state(self) -> dict[str, Any]:
        """How many documents hold each token, see `Storable`.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        return self._indexed().state()

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document], /) -> Self:
        """A new validator with these options and that state.

        Raises:
            IndexFormatError: the state is damaged.
        """
        return self._with(CorpusTokens.restored(state), documents)

    def validate(self, ranking: Ranking, /) -> tuple[Verdict, ...]:
        """One verdict per hit, in rank order.

        A candidate on which the model fails is undecided, with what failed as the reason.

        Raises:
            NotIndexedError: there are no documents yet.
            ModelError: the model failed on every candidate; see its subclasses.
            ModelReplyError: `canary` is set, and the model got a question with a known answer wrong.
        """
        self._indexed()
        if self.canary and not self._passed and ranking:
            found = self.check()
            if not found.passed:
                raise ModelReplyError(f"{found}; take another model", model=found.model)
            self._passed.append(True)
        started = monotonic()
        verdicts: list[Verdict] = []
        failures: list[ModelError] = []
        for hit in ranking:
            left = None if self.deadline is None else self.deadline - (monotonic() - started)
            if left is not None and left <= 0:
                why = f"it was not judged within the deadline of {self.deadline:g} s"
                verdicts.append(self._verdict(hit.id, "undecided", why))
                continue
            try:
                verdicts.append(self._judge(ranking.query.text, hit.document, left)[0])
            except ModelError as error:
                failures.append(error)
                verdicts.append(self._verdict(hit.id, "undecided", f"the model failed: {error}"))
        if failures and len(failures) == len(verdicts):
            raise failures[0]
        return tuple(verdicts)

    def check(self, documents: Sequence[Document] | None = None) -> Canary:
        """What the model makes of two questions with known answers, made from documents.

        Args:
            documents: those that it was given by `index` when None.

        Raises:
            InvalidValueError: the documents are too few, or too much alike.
            NotIndexedError: there are no documents.
            ModelError: the model does not answer.
        """
        part = self if documents is None else self.index(documents)
        pairs = canary_pairs(part._documents, part._indexed())
        return part._checked(pairs)

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(getattr(self.chat, "model", "") or type(self.chat).__name__)

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompt by its name with version, as manifests and contracts hash it."""
        return FrozenDict() if self.prompt is not None else FrozenDict({self._prompt.name: self._prompt.text})

    def fingerprint(self) -> str:
        """Equal where verdicts are, as far as the model repeats itself."""
        chat = self.chat.fingerprint() if isinstance(self.chat, Fingerprinted) else repr(self.chat)
        learnt = self._corpus.digest[:16] if self._corpus else ""
        options = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__dataclass_fields__
            if name not in ("chat", "prompt") and not name.startswith("_")
        ]
        return f"direct-evidence {chat} {self._prompt.id} {options} {learnt}"

    def __repr__(self) -> str:
        shown = f", on_undecided={self.on_undecided!r}" if self.on_undecided != "drop" else ""
        return f"DirectEvidence({self.chat!r}{shown})"

    def _judge(self, source: str, document: Document, left: float | None) -> tuple[Verdict, str]:
        """The verdict, and what the model said before its quotes were looked at."""
        for text, what in ((source, "the source has no text"), (document.text, "it has no text")):
            if not text.strip():
                return self._verdict(document.id, "undecided", what), ""
        reply = self.chat.complete(self._request(source, document.text, left))
        judged = judge_reply(
            reply.text,
            source,
            document.text,
            self._indexed(),
            min_rarity=self.min_rarity,
            max_quotes=self.max_quotes,
            cut=reply.finish_reason == "length",
        )
        reasons = [judged.reason] if judged.reason else []
        cuts = self._cuts(source, document.text)
        return self._verdict(document.id, judged.answer, *reasons, *cuts, quotes=judged.quotes), judged.said

    def _request(self, source: str, text: str, left: float | None) -> ChatRequest:
        filled = self._prompt.fill(
            {
                "source": untrusted_start(source, self.source_chars),
                "candidate": untrusted_start(text, self.candidate_chars),
                "most": str(self.max_quotes),
            }
        )
        return ChatRequest(
            (ChatMessage("user", filled),),
            max_tokens=None if self.thinking else _REPLY_TOKENS + _QUOTE_TOKENS * self.max_quotes,
            context_window=self.context_window,
            schema=self._schema() if self.schema else {},
            thinking=self.thinking,
            # A request's timeout goes before the client's own, which may be the shorter one.
            timeout=None if left is None else min(left, getattr(self.chat, "timeout", left)),
        )

    def _schema(self) -> dict[str, Any]:
        quotes = {"type": "array", "items": {"type": "string"}, "maxItems": self.max_quotes}
        return {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}, "quotes": quotes},
            "required": ["answer", "quotes"],
        }

    def _cuts(self, source: str, text: str) -> Iterable[str]:
        for what, whole, most in (
            ("source", source, self.source_chars),
            ("text", text, self.candidate_chars),
        ):
            if len(whole) > most:
                yield f"judged by the first {most} of {len(whole)} characters of the {what}"

    def _verdict(self, id: str, answer: Answer, *reasons: str, quotes: Sequence[Quote] = ()) -> Verdict:
        accepted = answer == "yes" or (answer == "undecided" and self.on_undecided == "keep")
        return Verdict(id, answer, accepted, tuple(quotes), "; ".join(reasons))

    def _checked(self, pairs: CanaryPairs) -> Canary:
        started = monotonic()
        asked = [self._judge(pairs.source, one, None) for one in (pairs.known_yes, pairs.known_no)]
        (on_yes, first), (on_no, second) = asked
        return Canary(self.model, pairs, on_yes, on_no, (first, second), monotonic() - started)

    def _indexed(self) -> CorpusTokens:
        if self._corpus is None:
            raise NotIndexedError(
                "DirectEvidence has no documents yet; call index(documents) and use what it returns"
            )
        return self._corpus

    def _with(self, corpus: CorpusTokens, documents: Sequence[Document]) -> Self:
        new = copy.copy(self)
        new._set(_corpus=corpus, _documents=documents, _passed=[])
        return new

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)
