"""The conformance checks of embedders, chunkers, tokenizers and normalizers catch broken parts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridrank import Document, InvalidValueError, Normalized, NotIndexedError, SourceFile, UnknownNameError
from hybridrank.testing import (
    ConformanceError,
    check_chunker,
    check_embedder,
    check_normalizer,
    check_tokenizer,
    checks_for,
)

Floats = NDArray[np.float32]


class Lengths:
    """Three numbers of a text."""

    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        if role not in ("query", "document"):
            raise InvalidValueError(f"role is {role!r}")
        return np.array([self.row(text) for text in texts], dtype=np.float32).reshape(len(texts), 3)

    def row(self, text: str) -> Sequence[float]:
        return [len(text), text.count("e"), text.count(" ")]


class Scaled(Lengths):
    """Must be fitted: divides by the length of the longest text."""

    longest = 0

    def fit(self, texts: Sequence[str], /) -> Self:
        part = type(self)()
        part.longest = max([1, *map(len, texts)])
        return part

    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        if not self.longest:
            raise NotIndexedError("call fit(texts) first")
        return super().embed(texts, role=role) / np.float32(self.longest)

    def fit_embed(self, texts: Sequence[str], /) -> tuple[Self, Floats]:
        fitted = self.fit(texts)
        return fitted, fitted.embed(texts, role="document")


class NoEmbed: ...


class EmbedTakesAnything(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str, **more: Any) -> Floats:
        return super().embed(texts, role=role)


class AnyRole(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        return super().embed(texts, role="query")


class Doubles(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Any:
        return super().embed(texts, role=role).astype(np.float64)


class Lists(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Any:
        return super().embed(texts, role=role).tolist()


class NanForNothing(Lengths):
    def row(self, text: str) -> Sequence[float]:
        return super().row(text) if text else [np.nan] * 3


class FlatForNothing(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        return super().embed(texts, role=role) if texts else np.array([], dtype=np.float32)


class SkipsBlank(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        return super().embed([text for text in texts if text], role=role)


class WideDocuments(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        found = super().embed(texts, role=role)
        return found if role == "query" else np.hstack([found, found])


class OneRowForEqualTexts(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        return super().embed(sorted(set(texts)), role=role)


class ByLength(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        return super().embed(sorted(texts, key=len), role=role)


class RelativeToTheBatch(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        found = super().embed(texts, role=role)
        return found - found.mean(axis=0, keepdims=True) if len(texts) > 1 else found


class Drifts(Lengths):
    calls = itertools.count()

    def row(self, text: str) -> Sequence[float]:
        return [*super().row(text)[:2], next(self.calls) * 1e-6]


class StripsTheList(Lengths):
    def embed(self, texts: Sequence[str], /, *, role: str) -> Floats:
        if isinstance(texts, list):
            texts[:] = [text.strip() for text in texts]
        return super().embed(texts, role=role)


class EmbedsBeforeFit(Scaled):
    longest = 1


class FitsItself(Scaled):
    def fit(self, texts: Sequence[str], /) -> Self:
        self.longest = max([1, *map(len, texts)])
        return self


class FitNeedsTexts(Scaled):
    def fit(self, texts: Sequence[str], /) -> Self:
        assert len(texts) > 0
        return super().fit(texts)


class FitsAndForgets(Scaled):
    def fit_embed(self, texts: Sequence[str], /) -> tuple[Self, Floats]:
        return self.fit(["x"]), super().fit_embed(texts)[1]


class FitsWithAnotherRole(Scaled):
    def fit_embed(self, texts: Sequence[str], /) -> tuple[Self, Floats]:
        fitted, found = super().fit_embed(texts)
        return fitted, found * 2


EMBEDDERS: dict[str, list[Callable[[], Any]]] = {
    "embedder_protocol": [NoEmbed, EmbedTakesAnything, AnyRole],
    "vectors": [
        Doubles,
        Lists,
        NanForNothing,
        FlatForNothing,
        SkipsBlank,
        WideDocuments,
        OneRowForEqualTexts,
    ],
    "rows_in_order": [ByLength, RelativeToTheBatch],
    "embedded_again": [Drifts, StripsTheList],
    "fitting": [EmbedsBeforeFit, FitsItself, FitNeedsTexts],
    "fitting_and_embedding": [FitsAndForgets, FitsWithAnotherRole],
}


class Pieces:
    """One document a line; a long line becomes several."""

    max_chars = 3000

    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        for number, line in enumerate(re.split("\r\n|\r|\n", source.text), 1):
            for start in range(0, len(line), self.max_chars):
                text = line[start : start + self.max_chars]
                if line.strip():
                    yield self.document(source, number, start, text)

    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        id = f"{source.path}:{number}-{number}" + (f"+{start}" if start else "")
        return Document(id, text, path=source.path, start_line=number, end_line=number)


class NoChunk: ...


class ChunkTakesAnything(Pieces):
    def chunk(self, source: SourceFile, /, **more: Any) -> Iterable[Document]:
        return super().chunk(source)


class SameIds(Pieces):
    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        return replace(super().document(source, number, start, text), id=source.path)


class NoPath(Pieces):
    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        return replace(super().document(source, number, start, text), path="")


class FromZero(Pieces):
    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        return replace(
            super().document(source, number, start, text), start_line=number - 1, end_line=number - 1
        )


class Overlaps(Pieces):
    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        return replace(super().document(source, number, start, text), start_line=max(number - 1, 1))


class PastTheEnd(Pieces):
    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        return replace(super().document(source, number, start, text), end_line=number + 10**6)


class Backwards(Pieces):
    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        return reversed(list(super().chunk(source)))


class DropsComments(Pieces):
    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        return (document for document in super().chunk(source) if "#" not in document.text)


class CutsLongLines(Pieces):
    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        return (document for document in super().chunk(source) if "+" not in document.id)


class SplitsAtEveryBreak(Pieces):
    """`str.splitlines` knows more line ends than editors do."""

    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        for number, line in enumerate(source.text.splitlines(), 1):
            if line.strip():
                yield self.document(source, number, 0, line[: self.max_chars])


class BlankDocument(Pieces):
    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        found = list(super().chunk(source))
        return found or [self.document(source, 1, 0, "")]


class TooLong(Pieces):
    def __init__(self) -> None:
        self.max_chars = 20

    def chunk(self, source: SourceFile, /) -> Iterable[Document]:
        return Pieces.chunk(Pieces(), source)


class ChunksInTurn(Pieces):
    calls = itertools.count()

    def document(self, source: SourceFile, number: int, start: int, text: str) -> Document:
        return replace(super().document(source, number, start, text), name=str(next(self.calls)))


CHUNKERS: dict[str, list[Callable[[], Any]]] = {
    "chunker_protocol": [NoChunk, ChunkTakesAnything],
    "spans": [SameIds, NoPath, FromZero, Overlaps, PastTheEnd, Backwards],
    "coverage": [DropsComments, CutsLongLines, SplitsAtEveryBreak, BlankDocument],
    "size_limit": [TooLong],
    "chunked_again": [ChunksInTurn],
}


class Letters:
    id = "letters-1"

    def __call__(self, text: str, /) -> list[str]:
        return [c for c in text.casefold() if c.isalnum()]


class AsciiOnly(Letters):
    def __call__(self, text: str, /) -> list[str]:
        return [c for c in super().__call__(text) if c.isascii()]


class EmptyTokens(Letters):
    def __call__(self, text: str, /) -> list[str]:
        return text.split(" ")


class BlankTokens(Letters):
    def __call__(self, text: str, /) -> list[str]:
        return list(text)


class TokenGenerator(Letters):
    def __call__(self, text: str, /) -> Any:
        return iter(super().__call__(text))


class TokensInTurn(Letters):
    calls = itertools.count()

    def __call__(self, text: str, /) -> list[str]:
        return [*super().__call__(text), str(next(self.calls))] if text.strip() else []


class NoId(Letters):
    id = ""


class IdOfTheObject(Letters):
    def __init__(self) -> None:
        self.id = hex(id(self))


TOKENIZERS: dict[str, list[Callable[[], Any]]] = {
    "tokens": [AsciiOnly, EmptyTokens, BlankTokens, TokenGenerator],
    "tokens_again": [TokensInTurn, NoId, IdOfTheObject],
}


class DropsHow:
    def __call__(self, text: str, /) -> Normalized:
        return Normalized(text.removeprefix("how "), ("how",) if text.startswith("how ") else ())


class JustText(DropsHow):
    def __call__(self, text: str, /) -> Any:
        return text


class DropsNothing(DropsHow):
    def __call__(self, text: str, /) -> Normalized:
        return Normalized(text, ("",))


class NormalizesInTurn(DropsHow):
    calls = itertools.count()

    def __call__(self, text: str, /) -> Normalized:
        return Normalized(text, (str(next(self.calls)),))


class Invents(DropsHow):
    def __call__(self, text: str, /) -> Normalized:
        return super().__call__(text) if text.strip() else Normalized("*")


NORMALIZERS: dict[str, list[Callable[[], Any]]] = {
    "normalized": [JustText, DropsNothing, NormalizesInTurn, Invents],
}

BROKEN = {
    "embedder": (EMBEDDERS, check_embedder),
    "chunker": (CHUNKERS, check_chunker),
    "tokenizer": (TOKENIZERS, check_tokenizer),
    "normalizer": (NORMALIZERS, check_normalizer),
}
CASES = [(kind, law, part) for kind in BROKEN for law, parts in BROKEN[kind][0].items() for part in parts]


def test_sound_parts_pass() -> None:
    check_embedder(Lengths)
    check_embedder(Scaled)
    check_chunker(Pieces)
    check_tokenizer(Letters)
    check_normalizer(DropsHow)


@pytest.mark.parametrize("kind", BROKEN)
def test_every_law_has_parts_that_break_it(kind: str) -> None:
    assert set(BROKEN[kind][0]) == set(dict(checks_for(kind)))


@pytest.mark.parametrize(("kind", "law", "part"), CASES)
def test_a_broken_part_is_caught(kind: str, law: str, part: Callable[[], Any]) -> None:
    with pytest.raises(ConformanceError) as caught:
        dict(checks_for(kind))[law](part)
    assert caught.value.law == law
    assert str(caught.value).startswith(f"{kind} breaks the law {law!r}: ")
    with pytest.raises(ConformanceError):
        BROKEN[kind][1](part)


def test_a_kind_without_laws() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'retriever'\?"):
        checks_for("retrievers")
