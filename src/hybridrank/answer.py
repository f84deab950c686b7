"""An answer from a context, by a chat model, with its citations checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .context import Context
from .errors import InvalidValueError, ModelReplyError
from .guardrails.citations import Citation, Shown, check_citations
from .guardrails.text import strip_template_end, strip_thinking
from .prompts import load_prompt, untrusted, user_prompt
from .protocols import ChatModel
from .report.escape import printable
from .types import ChatMessage, ChatRequest

PROMPT = "answer-v1"
NOT_FOUND = "NOT IN THE CONTEXT"
"""What the model is told to write where the context does not hold the answer."""
_PLACES = ("context", "question")
_REFUSED = re.compile(rf"\W*{NOT_FOUND}\b", re.IGNORECASE)
_STEP = 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a chat model answered.

    Attributes:
        text: without what the model thought aloud.
        found: whether the model says that the context holds the answer.
        citations: the places that it cites; one with a problem does not point into the context.
        truncated: whether the token limit cut it.
        prompt: name and hash of the prompt.
    """

    text: str
    found: bool
    citations: tuple[Citation, ...] = ()
    truncated: bool = False
    prompt: str = ""
    seconds: float = 0.0

    @property
    def flagged(self) -> tuple[Citation, ...]:
        """The citations that do not point into the context."""
        return tuple(citation for citation in self.citations if citation.problem)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers; without the time."""
        return {
            "text": self.text,
            "found": self.found,
            "truncated": self.truncated,
            "prompt": self.prompt,
            "citations": [
                {
                    "text": one.text,
                    "path": one.path,
                    "start_line": one.start_line,
                    "end_line": one.end_line,
                    "in_context": not one.problem,
                    "problem": one.problem,
                }
                for one in self.citations
            ],
        }


def answer_question(
    question: str,
    context: Context,
    chat: ChatModel,
    *,
    prompt: str | None = None,
    max_tokens: int = 800,
    timeout: float | None = None,
) -> Answer:
    """Ask a chat model a question that it shall answer from a context alone.

    The prompt has three rules: cite path and lines, say so where the context does not hold the answer,
    invent nothing. The context stands in it as data, fenced, with whatever could close the fence changed.

    Args:
        prompt: another prompt, with the places {context} and {question}.
        max_tokens: the longest answer.
        timeout: seconds; the chat model's own when None.

    Raises:
        InvalidValueError: the question is blank, the context empty, or the prompt lacks a place.
        ModelReplyError: the reply is empty.
        ModelError: the model cannot be reached, or refuses.
    """
    if not question.strip():
        raise InvalidValueError("the question is blank; give one")
    if not context.text:
        raise InvalidValueError("the context is empty; there is nothing to answer from")
    wording = load_prompt(PROMPT) if prompt is None else user_prompt(prompt, _PLACES)
    text = wording.fill(
        {
            "context": untrusted(context.text),
            "question": untrusted(question),
            "example": context.blocks[0].label,
            "not_found": NOT_FOUND,
        }
    )
    request = ChatRequest(
        (ChatMessage("user", text),),
        max_tokens=max_tokens,
        context_window=window_for(text, max_tokens),
        timeout=timeout,
    )
    reply = chat.complete(request)
    told = strip_template_end(strip_thinking(reply.text)).strip()
    told = told.replace("\r\n", "\n").replace("\r", "\n")
    if not told:
        raise ModelReplyError("the model gave an empty answer; try another model, or a smaller budget")
    found = _REFUSED.match(told) is None
    shown = [Shown(b.label, printable(b.path), b.start_line, b.end_line) for b in context.blocks]
    return Answer(
        text=told,
        found=found,
        citations=check_citations(told, shown) if found else (),
        truncated=reply.finish_reason == "length",
        prompt=wording.id,
        seconds=reply.seconds,
    )


def window_for(prompt: str, max_tokens: int) -> int:
    """Tokens that prompt and answer may take: servers cut a prompt that is over their default, unsaid.

    Two bytes a token is more tokens than tokenizers make of text and code.
    """
    tokens = len(prompt.encode("utf-8", "surrogatepass")) // 2 + max_tokens
    return -(-tokens // _STEP) * _STEP
