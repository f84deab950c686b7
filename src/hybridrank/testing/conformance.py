"""Checks that a part keeps the laws of its protocol, for whoever writes one.

    from hybridrank.testing import check_retriever

    def test_my_retriever():
        check_retriever(MyRetriever)

Each check takes a function that makes a new part, not yet given any documents (a class will do), and runs
every law on small fixed inputs. A broken law raises `ConformanceError`, an AssertionError that says which law
and with which input. One test for each law:

    @pytest.mark.parametrize("law, check", checks_for("retriever"))
    def test_law(law, check):
        check(MyRetriever)

Parts must be immutable, deterministic and usable from several threads, so a check may make two of a kind and
compare them. An optional ability (`retrieve_batch`, `aretrieve`, `explain`, …) is checked where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps

from ..errors import UnknownNameError
from ..types import Document
from . import chatting, measuring, ordering, retrieval, texts
from .checking import Breach, ConformanceError, Make
from .samples import DOCUMENTS

Check = Callable[[Make], None]


def _on(law: retrieval.Law, documents: Sequence[Document]) -> Check:
    @wraps(law)
    def check(make: Make) -> None:
        law(make, documents)

    return check


_LAWS: dict[str, tuple[Check, ...]] = {
    "retriever": tuple(_on(law, DOCUMENTS) for law in retrieval.LAWS),
    "fuser": ordering.FUSER_LAWS,
    "reranker": ordering.RERANKER_LAWS,
    "validator": ordering.VALIDATOR_LAWS,
    "embedder": texts.EMBEDDER_LAWS,
    "chat": chatting.CHAT_LAWS,
    "chunker": texts.CHUNKER_LAWS,
    "tokenizer": texts.TOKENIZER_LAWS,
    "normalizer": texts.NORMALIZER_LAWS,
    "measure": measuring.MEASURE_LAWS,
}


def check_retriever(make: Make, documents: Sequence[Document] | None = None) -> None:
    """Run the laws of retrievers.

    Args:
        make: makes a new retriever.
        documents: what to index, for an engine that takes only documents of its own kind; give a few dozen
            at most. For a retriever without `index`, those that it has.

    Raises:
        ConformanceError: a law is broken.
    """
    given = DOCUMENTS if documents is None else tuple(documents)
    for law in retrieval.LAWS:
        _run("retriever", _on(law, given), make)


def check_fuser(make: Make) -> None:
    """Run the laws of fusers; as `check_retriever`."""
    _run_all("fuser", make)


def check_reranker(make: Make) -> None:
    """Run the laws of rerankers; as `check_retriever`."""
    _run_all("reranker", make)


def check_validator(make: Make) -> None:
    """Run the laws of validators; as `check_retriever`."""
    _run_all("validator", make)


def check_embedder(make: Make) -> None:
    """Run the laws of embedders; as `check_retriever`."""
    _run_all("embedder", make)


def check_chat(make: Make) -> None:
    """Run the laws of chat models; as `check_retriever`. They ask a dozen and more short questions."""
    _run_all("chat", make)


def check_chunker(make: Make) -> None:
    """Run the laws of chunkers; as `check_retriever`."""
    _run_all("chunker", make)


def check_tokenizer(make: Make) -> None:
    """Run the laws of tokenizers; as `check_retriever`."""
    _run_all("tokenizer", make)


def check_normalizer(make: Make) -> None:
    """Run the laws of query normalizers; as `check_retriever`."""
    _run_all("normalizer", make)


def check_measure(make: Make) -> None:
    """Run the laws of measures; as `check_retriever`."""
    _run_all("measure", make)


def checks_for(kind: str) -> tuple[tuple[str, Check], ...]:
    """The laws of a kind of part, each with its name, as a check that takes a function that makes the part.

    Raises:
        UnknownNameError: there are no laws for that kind.
    """
    if kind not in _LAWS:
        raise UnknownNameError("kind of part with laws", kind, _LAWS)
    return tuple((law.__name__, partial(_run, kind, law)) for law in _LAWS[kind])


def _run_all(kind: str, make: Make) -> None:
    for law in _LAWS[kind]:
        _run(kind, law, make)


def _run(kind: str, law: Check, make: Make) -> None:
    try:
        law(make)
    except Breach as breach:
        raise ConformanceError(kind, law.__name__, str(breach)) from breach.__cause__
    except Exception as error:
        # What no law foresaw, e.g. an attribute of the wrong type, is a breach all the same.
        raise ConformanceError(kind, law.__name__, f"{type(error).__name__}: {error}") from error
