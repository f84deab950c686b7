"""The laws of parts that work on text: embedders, chunkers, tokenizers, query normalizers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidValueError, NotIndexedError
from ..protocols import Chunker, Embedder, FitEmbedder, Fittable, Normalized
from ..types import Document, SourceFile
from .checking import Make, answered, expect, in_threads, refused, shortened
from .samples import BLANK_QUERIES, DOCUMENTS, ODD_TEXTS, QUERIES, SOURCES

Law = Callable[[Make], None]

_TEXTS: tuple[str, ...] = (*(document.text for document in DOCUMENTS), *ODD_TEXTS)
_ROLES = ("query", "document")
# Float32 sums depend on how many rows a product has.
_CLOSE = 1e-4


# Embedders


def embedder_protocol(make: Make) -> None:
    """It has the method, and refuses a keyword or a role that it does not know."""
    part = _fitted(make)
    expect(isinstance(part, Embedder), f"{part!r} has no method embed")
    refused("embed(no_such_option=1)", TypeError, part.embed, ["x"], role="query", no_such_option=1)
    refused("embed(role='neither')", InvalidValueError, part.embed, ["x"], role="neither")


def vectors(make: Make) -> None:
    """One finite float32 row per text, all of one width in both roles; no texts give no rows."""
    part = _fitted(make)
    width = _embedded(part, ["token"], "query").shape[1]
    for role in _ROLES:
        for texts in ((), ("",), ("token", "token"), _TEXTS):
            found = _embedded(part, texts, role)
            expect(found.shape == (len(texts), width), f"{len(texts)} texts as {role}: shape {found.shape}")


def rows_in_order(make: Make) -> None:
    """A text has the same vector alone, among others and in another order, up to rounding."""
    part = _fitted(make)
    for role in _ROLES:
        together = _embedded(part, _TEXTS, role)
        turned = _embedded(part, _TEXTS[::-1], role)[::-1]
        expect(_close(together, turned), f"{role}: vectors depend on the order of the texts")
        for row, text in zip(together, _TEXTS, strict=True):
            alone = _embedded(part, [text], role)[0]
            expect(_close(row, alone), f"{role} {shortened(text)}: one vector alone, another among others")


def embedded_again(make: Make) -> None:
    """The same texts have the same vectors: again, after others, from a second part, in several threads."""
    part, twin = _fitted(make), _fitted(make)
    for role in _ROLES:
        given = list(_TEXTS)
        first = _embedded(part, given, role)
        expect(given == list(_TEXTS), "embed changed the list that it was given")
        _embedded(part, ["something", "else"], role)
        again = _embedded(part, given, role)
        expect(bool((first == again).all()), f"{role}: other vectors the second time")
        expect(bool((first == _embedded(twin, given, role)).all()), f"{role}: two equal parts differ")
        for beside in in_threads(lambda texts, role=role: _embedded(part, texts, role), [given] * 4):  # type: ignore[misc]
            expect(bool((first == beside).all()), f"{role}: other vectors in threads")


def fitting(make: Make) -> None:
    """A part that must be fitted says so before; `fit` gives a new part and takes any texts."""
    part = make()
    embed = part.embed
    if isinstance(part, Fittable):
        refused("embed before fit", NotIndexedError, embed, ["x"], role="query")
        fitted = part.fit(list(_TEXTS))
        expect(fitted is not part, "fit returned the same part; it must return a new one")
        refused("the old part after fit", NotIndexedError, embed, ["x"], role="query")
        for texts in ([], [""], ["?!"], ["one"], ["same", "same"]):
            few = answered(f"fit({texts!r})", part.fit, texts)
            _embedded(few, texts, "document")
            _embedded(few, ["token", ""], "query")


def fitting_and_embedding(make: Make) -> None:
    """`fit_embed`, where there is one, gives what `fit` and then `embed` give, up to rounding."""
    part = make()
    if isinstance(part, FitEmbedder) and isinstance(part, Fittable):
        for texts in (_TEXTS, ()):
            fitted, found = answered("fit_embed", part.fit_embed, texts)
            other = part.fit(texts)
            expect(_close(found, _embedded(other, texts, "document")), "fit_embed and fit, embed differ")
            expect(
                _close(_embedded(fitted, _TEXTS, "query"), _embedded(other, _TEXTS, "query")),
                "queries differ after fit_embed and fit",
            )


# Chunkers


def chunker_protocol(make: Make) -> None:
    """It has the method, and refuses a keyword that it does not know."""
    part = make()
    expect(isinstance(part, Chunker), f"{part!r} has no method chunk")
    refused("chunk(source, no_such_option=1)", TypeError, _chunked_with_option, part)


def spans(make: Make) -> None:
    """Documents have the file's path, ids of their own, and disjoint spans of lines in rising order."""
    for source in SOURCES:
        documents = _chunks(make(), source)
        ids = [document.id for document in documents]
        expect(len(set(ids)) == len(ids), f"{source.path} gave an id twice: {ids}")
        last, count = 0, len(_lines(source.text))
        for document in documents:
            shown = f"{source.path}: {document.id!r} has lines {document.start_line}-{document.end_line}"
            expect(
                document.path == source.path, f"{source.path}: {document.id!r} has the path {document.path!r}"
            )
            expect(1 <= document.start_line <= document.end_line <= count, f"{shown} of {count}")
            # A line that is longer than a document may be lies in several.
            split = document.start_line == document.end_line == last
            expect(document.start_line > last or split, f"{shown}, after line {last}")
            last = document.end_line


def coverage(make: Make) -> None:
    """Every line that is not blank lies in a document, with its text; a file without any gives none."""
    for source in SOURCES:
        documents = _chunks(make(), source)
        lines = _lines(source.text)
        texts: dict[int, list[str]] = {}
        for document in documents:
            inside = _lines(document.text)
            span = range(document.start_line, document.end_line + 1)
            for number, text in zip(span, inside, strict=False):
                texts.setdefault(number, []).append(text)
        for number, line in enumerate(lines, 1):
            found = "".join(texts.get(number, []))
            kept = "".join(found.split()) == "".join(line.split())
            expect(
                kept,
                f"{source.path}: line {number} is {shortened(line)}, its documents hold {shortened(found)}",
            )
        expect(bool(documents) == bool(source.text.strip()), f"{source.path} gave {len(documents)} documents")


def size_limit(make: Make) -> None:
    """No document has more than `max_chars` characters, where the part has that option."""
    part = make()
    limit = getattr(part, "max_chars", None)
    if isinstance(limit, int):
        for source in SOURCES:
            for document in _chunks(part, source):
                size = len(document.text)
                expect(size <= limit, f"{source.path}: {document.id!r} has {size} characters, over {limit}")


def chunked_again(make: Make) -> None:
    """The same file gives the same documents: again, from a second part, in several threads."""
    part, twin = make(), make()
    first = [_chunks(part, source) for source in SOURCES]
    at_once = in_threads(lambda source: _chunks(part, source), SOURCES)
    for source, found, beside in zip(SOURCES, first, at_once, strict=True):
        expect(found == _chunks(part, source), f"{source.path} gave other documents the second time")
        expect(found == _chunks(twin, source), f"{source.path} gave other documents with an equal part")
        expect(found == beside, f"{source.path} gave other documents in threads")


# Tokenizers and normalizers


def tokens(make: Make) -> None:
    """A list of non-empty strings; none for a blank text, one at least where there is a letter."""
    part = make()
    for text in (*_TEXTS, *(query.text for query in (*QUERIES, *BLANK_QUERIES))):
        shown = f"tokens of {shortened(text)}"
        found = answered(shown, part, text)
        expect(
            isinstance(found, list) and all(isinstance(t, str) and t for t in found), f"{shown}: {found!r}"
        )
        expect(bool(found) or not any(c.isalpha() for c in text), f"{shown}: none, though it has letters")
        expect(not found or bool(text.strip()), f"{shown}: {found!r}")


def tokens_again(make: Make) -> None:
    """The same text has the same tokens: again, from another part, in threads; an id tells the rule."""
    part, twin = make(), make()
    at_once = in_threads(part, _TEXTS)
    for text, beside in zip(_TEXTS, at_once, strict=True):
        shown = f"tokens of {shortened(text)}"
        expect(part(text) == part(text) == twin(text) == beside, f"{shown} differ from one time to another")
    name = getattr(part, "id", None)
    expect(isinstance(name, str) and bool(name), f"id is {name!r}; give a string that changes with the rule")
    expect(name == twin.id, f"two equal parts have the ids {name!r} and {twin.id!r}")


def normalized(make: Make) -> None:
    """A text and the words that were dropped, as strings; the same each time; a blank text stays blank."""
    part, twin = make(), make()
    for text in (*_TEXTS, *(query.text for query in (*QUERIES, *BLANK_QUERIES))):
        shown = f"normalized {shortened(text)}"
        found = answered(shown, part, text)
        expect(isinstance(found, Normalized) and isinstance(found.text, str), f"{shown}: {found!r}")
        expect(
            isinstance(found.dropped, tuple)
            and all(isinstance(word, str) and word for word in found.dropped),
            f"{shown}: dropped {found.dropped!r}",
        )
        expect(found == part(text) == twin(text), f"{shown} differs from one time to another")
        expect(bool(text.strip()) or not found.text.strip(), f"{shown}: {found!r}")


EMBEDDER_LAWS: tuple[Law, ...] = (
    embedder_protocol,
    vectors,
    rows_in_order,
    embedded_again,
    fitting,
    fitting_and_embedding,
)
CHUNKER_LAWS: tuple[Law, ...] = (chunker_protocol, spans, coverage, size_limit, chunked_again)
TOKENIZER_LAWS: tuple[Law, ...] = (tokens, tokens_again)
NORMALIZER_LAWS: tuple[Law, ...] = (normalized,)


def _fitted(make: Make) -> Any:
    part = make()
    if isinstance(part, Fittable):
        return answered(f"fit of {len(_TEXTS)} texts", part.fit, list(_TEXTS))
    return part


def _embedded(part: Any, texts: Sequence[str], role: str) -> Any:
    import numpy as np

    shown = f"embed of {len(texts)} texts, the first {shortened(texts[0] if texts else None)}, as {role}"
    found = answered(shown, part.embed, texts, role=role)
    expect(isinstance(found, np.ndarray) and found.ndim == 2, f"{shown} gave {shortened(found)}, no matrix")
    expect(found.dtype == np.float32, f"{shown} gave {found.dtype}, not float32")
    expect(len(found) == len(texts), f"{shown} gave {len(found)} rows")
    expect(bool(np.isfinite(found).all()), f"{shown} gave values that are not finite")
    return found


def _close(one: Any, other: Any) -> bool:
    import numpy as np

    scale = max(1.0, float(np.abs(one).max(initial=0.0)))
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=_CLOSE * scale))


def _chunks(part: Any, source: SourceFile) -> tuple[Document, ...]:
    asked = f"chunk({source.path!r})"
    documents: tuple[Document, ...] = answered(asked, lambda: tuple(part.chunk(source)))
    expect(all(isinstance(document, Document) for document in documents), f"{asked} gave {documents!r}")
    return documents


def _chunked_with_option(part: Any) -> list[Document]:
    # A generator function raises at its first item only.
    return list(part.chunk(SOURCES[0], no_such_option=1))


def _lines(text: str) -> list[str]:
    lines = re.split("\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]
