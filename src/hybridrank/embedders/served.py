"""Texts to a model server and vectors back: batches, halving, limits, checks and cache, for every client.

Nothing that a server does wrong gets past here: another count, NaN, infinite, empty and zero vectors, vectors
of another length. Blank texts are never sent; their vector is zero, which resembles nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, ModelReplyError, ModelRequestError
from ..http import Deadline, shortened
from ..types import Role
from ..watching import tell
from .served_options import Limits, cleaned_text
from .vector_cache import Cached, VectorCache, key_of

F32: TypeAlias = NDArray[np.float32]
Send: TypeAlias = Callable[[Sequence[str], Deadline], Any]

logger = logging.getLogger("hybridrank")

# A refusal that has nothing to do with the texts.
_OF_ALL = frozenset({401, 402, 403, 404, 405, 407})
_TOO_LONG = re.compile(r"context|too (long|large|many)|maximum|exceed|token", re.IGNORECASE)
_LENGTH = frozenset({400, 413, 422, 500})
# How often a text is halved, and after how many refusals without a success the rest is not tried.
_HALVINGS = 12
_HOPELESS = 8
_NAMED = 5
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(slots=True)
class Run:
    """One call of `embed`: which texts, and what has become of them.

    Args:
        model, server: named in errors.
        send: prompts to the vectors that the server gives, in order.
        prefix: what stands before each text.
        width: due length of the vectors; the first one decides if None.
        cache: None for none; `how` goes into its keys.
    """

    model: str
    server: str
    limits: Limits
    send: Send
    prefix: str = ""
    width: int | None = None
    cache: VectorCache | None = None
    how: tuple[object, ...] = ()
    found: dict[str, Cached] = field(default_factory=dict)
    failed: dict[str, ModelError] = field(default_factory=dict)
    taken: int = 0

    def embed(self, texts: Sequence[str], role: Role, deadline: Deadline) -> F32:
        """The vectors of the texts, shape (len(texts), width); those of blank texts are zero.

        Args:
            deadline: of the first request; each further one has `limits.timeout` of its own.

        Raises:
            ModelError: a text has no vector; `positions` tells which.
        """
        cleaned = [cleaned_text(text) for text in texts]
        wanted = list(dict.fromkeys(text for text in cleaned if text.strip()))
        keys = {text: key_of(text, role, self.prefix, *self.how) for text in wanted}
        if self.cache is not None and wanted:
            there = self.cache.get(list(keys.values()))
            self.found = {
                text: there[key] for text, key in keys.items() if key in there and self._fits(there[key])
            }
        self._send_all([text for text in wanted if text not in self.found], keys, deadline)
        self._tell_cut(cleaned)
        self._refuse(cleaned, len(wanted))
        if self.width is None:
            self.width = self._probed_width(deadline)
        rows = np.zeros((len(texts), self.width), np.float32)
        for row, text in enumerate(cleaned):
            if text in self.found:
                rows[row] = self.found[text].vector
        return rows

    def _fits(self, cached: Cached) -> bool:
        if self.width is None:
            self.width = len(cached.vector)
        return len(cached.vector) == self.width

    def _send_all(self, texts: list[str], keys: Mapping[str, bytes], deadline: Deadline) -> None:
        size, done = self.limits.batch_size, 0
        texts = [text for text in texts if self._short_enough(text)]
        for start in range(0, len(texts), size):
            batch = texts[start : start + size]
            tell(f"embed with {self.model}", done, len(texts))
            limit = deadline if start == 0 else Deadline.after(self.limits.timeout)
            new: dict[str, Cached] = {}
            try:
                self._send_batch(batch, new, limit)
            finally:
                # What was paid for is kept, also when the next batch fails.
                if self.cache is not None and new:
                    self.cache.put({keys[text]: cached for text, cached in new.items()})
                self.found.update(new)
            done += len(batch)
        if texts:
            tell(f"embed with {self.model}", done, len(texts))

    def _short_enough(self, text: str) -> bool:
        """Whether a text may be sent, be it cut; otherwise it has failed."""
        limit, size = self.limits.max_chars, len(self.prefix) + len(text)
        if limit is None or size <= limit or self.limits.truncate:
            return True
        message = f"it has {size} characters, over max_chars={limit}; cut it, or set truncate"
        self.failed[text] = ModelRequestError(message)
        return False

    def _prompt(self, text: str) -> tuple[str, int | None]:
        """What is sent for a text, and how many of its characters, None for all."""
        limit = self.limits.max_chars
        if limit is None or len(self.prefix) + len(text) <= limit:
            return self.prefix + text, None
        kept = max(1, limit - len(self.prefix))
        return self.prefix + text[:kept], kept

    def _send_batch(self, texts: list[str], new: dict[str, Cached], deadline: Deadline) -> None:
        """Send texts together; where the server refuses, each half by itself, down to the bad ones."""
        prompts = [self._prompt(text) for text in texts]
        try:
            vectors = self._checked(self.send([prompt for prompt, _ in prompts], deadline), len(texts))
        except ModelRequestError as error:
            if error.status in _OF_ALL:
                raise
            if len(texts) == 1:
                self._send_one(texts[0], prompts[0][1], error, new, deadline)
            else:
                half = len(texts) // 2
                self._send_batch(texts[:half], new, deadline)
                self._send_batch(texts[half:], new, deadline)
            return
        for text, (_, kept), vector in zip(texts, prompts, vectors, strict=True):
            self._take(text, kept, vector, new)

    def _send_one(
        self,
        text: str,
        kept: int | None,
        error: ModelRequestError,
        new: dict[str, Cached],
        deadline: Deadline,
    ) -> None:
        """A text that was refused: once more if the server broke, shorter and shorter if it is too long."""
        too_long = error.status in _LENGTH and _TOO_LONG.search(str(error)) is not None
        if too_long and not self.limits.truncate:
            size = len(text)
            what = f"it is too long for the model ({size} characters): {error}; cut it, or set truncate"
            what += " (--embed-truncate)"
            self._fail(text, ModelRequestError(what, status=error.status))
            return
        if not too_long and (error.status or 0) < 500:
            self._fail(text, error)
            return
        size = len(text) if kept is None else kept
        for _ in range(_HALVINGS if too_long else 1):
            size = max(1, size // 2) if too_long else size
            try:
                (vector,) = self._checked(self.send([self.prefix + text[:size]], deadline), 1)
            except ModelRequestError as again:
                error = again
                continue
            self._take(text, size if size < len(text) else None, vector, new)
            return
        self._fail(text, error)

    def _checked(self, raw: Any, count: int) -> list[Any]:
        """The vectors of a reply, one for each text.

        Raises:
            ModelReplyError: there are more or fewer.
        """
        vectors = list(raw) if isinstance(raw, Sequence) and not isinstance(raw, str) else None
        if vectors is None or len(vectors) != count:
            got = "no list" if vectors is None else f"{len(vectors)} vectors"
            raise self._odd(f"gave {got} for {count} texts")
        return vectors

    def _take(self, text: str, kept: int | None, raw: Any, new: dict[str, Cached]) -> None:
        """Keep a vector if it is one."""
        try:
            # numpy would make numbers of texts, of true and of null.
            fits = isinstance(raw, np.ndarray) or {int, float}.issuperset(map(type, raw))
            numbers = np.asarray(raw if fits else [[]], np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.zeros((0, 0))
        if numbers.ndim != 1:
            self._fail(text, ModelReplyError("the server gave something else than a list of numbers"))
        elif not len(numbers):
            self._fail(text, ModelReplyError("the server gave an empty vector"))
        elif not (np.abs(numbers) <= _LARGEST).all():
            self._fail(text, ModelReplyError("the server gave NaN or infinity"))
        elif not (vector := numbers.astype(np.float32)).any():
            self._fail(text, ModelReplyError("the server gave a vector of zeros"))
        elif self.width is not None and len(vector) != self.width:
            self._fail(
                text, ModelReplyError(f"the server gave {len(vector)} dimensions where {self.width} are due")
            )
        else:
            self.width = len(vector)
            self.taken += 1
            new[text] = Cached(vector, kept)

    def _fail(self, text: str, error: ModelError) -> None:
        self.failed[text] = error
        if len(self.failed) >= _HOPELESS and not self.taken:
            raise error

    def _probed_width(self, deadline: Deadline) -> int:
        """The length of the vectors where no text tells it."""
        new: dict[str, Cached] = {}
        self._send_batch(["dimensions"], new, deadline)
        for error in self.failed.values():
            raise error
        return len(new["dimensions"].vector)

    def _tell_cut(self, texts: Sequence[str]) -> None:
        cut = {text: self.found[text].kept for text in texts if text in self.found and self.found[text].kept}
        if cut:
            shown = "; ".join(
                f"{kept} of {len(text)} characters of {_start(text)}" for text, kept in _some(cut)
            )
            logger.warning(
                "model %r: %d texts are too long and were cut: embedded were %s", self.model, len(cut), shown
            )

    def _refuse(self, texts: Sequence[str], wanted: int) -> None:
        """Raise for the texts that have no vector; with bad_texts="skip" only if none has one."""
        if not self.failed:
            return
        shown = "; ".join(
            f"text {texts.index(text)} ({_start(text)}): {error}" for text, error in _some(self.failed)
        )
        count = len(self.failed)
        message = f"model {self.model!r} on {self.server}: {count} of {wanted} texts have no vector: {shown}"
        if self.limits.bad_texts == "skip" and count < wanted:
            logger.warning("%s; they get the zero vector, which is never found", message)
            return
        kind = type(next(iter(self.failed.values())))
        positions = [row for row, text in enumerate(texts) if text in self.failed]
        status = next(iter(self.failed.values())).status
        raise kind(message, server=self.server, model=self.model, status=status, positions=positions)

    def _odd(self, what: str) -> ModelReplyError:
        message = f"model {self.model!r} on {self.server} {what}"
        return ModelReplyError(message, server=self.server, model=self.model, status=200)


def _start(text: str) -> str:
    line = shortened(text)
    return repr(line if len(line) <= 40 else line[:39] + "…")


def _some(items: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for number, item in enumerate(items.items()):
        if number < _NAMED:
            yield item
