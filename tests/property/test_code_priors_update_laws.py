"""An update of code priors equals a fresh index, array by array."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridrank import CodePriors, Document, Tokenizer
from hybridrank.errors import NotIndexedError
from hybridrank.protocols import Updatable
from hybridrank.types import tie_key

WORDS = ["parse", "Http", "openFile", "open", "file", "retry_policy", "x", "2", "読む", "§"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(lambda words: f"# {' '.join(words)}\nreturn x")
PATHS = ["", "a.py", "src/a.py", "src/httpFile.py", "tests/test_a.py", "v2/a.py", "v3/a.py", "\u00e9.md"]


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    places = draw(st.sets(st.tuples(st.sampled_from(PATHS), st.integers(1, 3)), max_size=8))
    return sorted(
        (
            Document(
                f"{path or 'none'}:{line}",
                draw(texts),
                path,
                line,
                line,
                draw(st.sampled_from(["function", "class", "module", "lines", "part"])),
                draw(st.sampled_from(["", "openFile", "Retry", "x", "parse"])),
            )
            for path, line in sorted(places)
        ),
        key=tie_key,
    )


def places_of(documents: list[Document], before: list[Document]) -> np.ndarray:
    known = {document: place for place, document in enumerate(before)}
    return np.array([known.get(document, -1) for document in documents], np.int64)


def same(ours: CodePriors, fresh: CodePriors) -> None:
    one, other = ours.state(), fresh.state()
    assert one.keys() == other.keys()
    for name, array in other.items():
        assert one[name].dtype == array.dtype, name
        assert one[name].tolist() == array.tolist(), name
    assert ours.fingerprint() == fresh.fingerprint()


@given(st.lists(corpora(), min_size=2, max_size=4), st.booleans())
def test_an_update_equals_a_fresh_index(versions: list[list[Document]], stored: bool) -> None:
    part = CodePriors(tokenizer=Tokenizer(stem="english")).index(versions[0])
    for before, after in pairwise(versions):
        if stored:
            part = part.restore(part.state(), before)
        part = part.update(after, places_of(after, before))
        same(part, CodePriors().index(after))


@given(corpora(), st.data())
def test_an_edit_of_one_document_equals_a_fresh_index(documents: list[Document], data: st.DataObject) -> None:
    if not documents:
        return
    at = data.draw(st.integers(0, len(documents) - 1))
    edited = [*documents]
    edited[at] = replace(edited[at], text=data.draw(texts), name="", kind="lines")
    part = CodePriors().index(documents).update(edited, places_of(edited, documents))
    same(part, CodePriors().index(edited))


def test_only_files_that_changed_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [
        Document(f"{n}.py:1", f"# parse {n}", f"{n}.py", 1, 1, "function", "parse") for n in range(9)
    ]
    part = CodePriors().index(documents)
    assert isinstance(part, Updatable)

    class Watched(list[Document]):
        def __getitem__(self, place):  # type: ignore[no-untyped-def]
            read.append(place)
            return super().__getitem__(place)

    read: list[int] = []
    edited = Watched(replace(d, text="# other") if d.path == "4.py" else d for d in documents)
    part.update(edited, np.array([0, 1, 2, 3, -1, 5, 6, 7, 8]))
    assert set(read) == {4}
    with pytest.raises(NotIndexedError):
        CodePriors().update(documents, np.arange(9))
