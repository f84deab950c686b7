"""Composition: parts in, one searchable value out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from .calls import arun, run
from .errors import InvalidValueError, UnknownNameError
from .fusers.rrf import RRF
from .protocols import Chunker, Closeable, Fuser, Normalizer, Reranker, Retriever, Validator, Weighted
from .request import (
    FUSION,
    NORMALIZER,
    VALIDATOR,
    Explain,
    answered_together,
    check_legs,
    make_request,
    positive,
    reweighted,
)
from .search import steps
from .stages import (
    as_query_list,
    check_known,
    check_names,
    checked,
    fingerprint,
    ids_of,
    in_tie_order,
    indexed,
    named,
    summary,
)
from .text.normalize import QueryNormalizer
from .text.sharing import shared_counts
from .types import Document, Filter, FrozenDict, Query, Result, check_id, check_k
from .watching import watched

if TYPE_CHECKING:
    from .code.corpus import Corpus
    from .store.symbols import SymbolTable

Progress = Callable[[str, int, int | None], None]
OnError = Literal["raise", "degrade"]


class _Unset:
    """Stands for an argument that was not given, where None means something."""


_UNSET: Any = _Unset()


class Pipeline:
    """Retrievers, a fuser, rerankers and a validator, composed. Immutable: every change is a new pipeline.

    Args:
        retrievers: the legs by name; at least one.
        fuser: makes one ranking of the legs'; reciprocal rank fusion when None.
        rerankers: by name, in the order in which they run; a plain sequence gets registry names.
        validator: keeps the hits it accepts; None keeps all.
        normalizer: takes question words off the query before the legs see it; None leaves queries alone.
        chunker: cuts source files in `for_code`; None cuts by syntax, by lines where
            no grammar is installed.
        recall: how many hits each leg gives, 1 or more.
        validate_depth: how many hits the validator may judge; k when None.
        on_error: "raise" passes on a part's exception; "degrade" leaves the leg or stage out, with an event
            (code "stage-failed") and a line in the log.

    Raises:
        ConfigError: no retriever, a name that is used twice or reserved, a part that lacks its method.
        InvalidValueError: a number is out of range.
        UnknownNameError: the fuser has a weight for a leg that does not exist.
    """

    def __init__(
        self,
        retrievers: Mapping[str, Retriever] | Sequence[Retriever],
        fuser: Fuser | None = None,
        rerankers: Mapping[str, Reranker] | Sequence[Reranker] = (),
        validator: Validator | None = None,
        *,
        normalizer: Normalizer | None = QueryNormalizer(),  # noqa: B008 - immutable
        chunker: Chunker | None = None,
        recall: int = 80,
        validate_depth: int | None = None,
        on_error: OnError = "raise",
    ) -> None:
        self.retrievers: Mapping[str, Retriever] = named("retriever", retrievers, "retrieve")
        self.fuser: Fuser = checked("fuser", "fuser", RRF() if fuser is None else fuser, "fuse")
        self.rerankers: Mapping[str, Reranker] = named("reranker", rerankers, "rerank")
        self.validator = (
            None if validator is None else checked("validator", "validator", validator, "validate")
        )
        self.normalizer = normalizer
        self.chunker = chunker
        self.recall = positive("recall", recall)
        self.validate_depth = None if validate_depth is None else check_k(validate_depth, "validate_depth")
        if on_error not in ("raise", "degrade"):
            raise InvalidValueError(f"on_error is {on_error!r}; give 'raise' or 'degrade'")
        self.on_error: OnError = on_error
        self.documents: Sequence[Document] | None = None
        self.corpus: Corpus | None = None
        self.known_ids: AbstractSet[str] | None = None
        self._symbols: SymbolTable | None = None
        self.origin: tuple[dict[str, Any], str | None] | None = None
        check_names(self.retrievers, self.rerankers, (NORMALIZER, FUSION, VALIDATOR))
        if isinstance(self.fuser, Weighted):
            check_legs(self.fuser.weights, self.retrievers)

    # Making pipelines

    @classmethod
    def from_config(cls, source: str | Path | Mapping[str, Any], *, ablation: str | None = None) -> Self:
        """A pipeline from a TOML or JSON file or a mapping; `ablation` applies one of its `[ablations.*]`.

        Raises:
            ConfigError: the configuration does not describe a pipeline; the message carries the path in it.
        """
        from .config import build, load_config

        config = load_config(source)
        made = cls(**build(config, ablation=ablation))
        made.origin = config, ablation
        return made

    @classmethod
    def for_code(
        cls,
        root: str | Path,
        *,
        config: str | Path | Mapping[str, Any] | None = None,
        ablation: str | None = None,
        max_bytes: int | None = None,
        index: str | Path | bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """The source files below `root`, indexed, with the default code pipeline or another configuration.

        `.corpus` of the pipeline tells which files were indexed, which were skipped and why.

        Args:
            max_bytes: larger files are skipped; the walker's default when None.
            index: keep the index on disk, in this directory or, if True, in the user's cache. One that is
                there is brought up to date: only changed files are read.
            progress: called with (step, done, total or None).

        Raises:
            InvalidValueError: the root cannot be read, or the index would lie in it.
            StoreError: the index cannot be read or written, see its subclasses.
        """
        from .from_code import from_code

        return from_code(cls, root, config, ablation, max_bytes, index, progress)

    def with_(
        self,
        *,
        retrievers: Mapping[str, Retriever] | Sequence[Retriever] = _UNSET,
        fuser: Fuser | None = _UNSET,
        rerankers: Mapping[str, Reranker] | Sequence[Reranker] = _UNSET,
        validator: Validator | None = _UNSET,
        normalizer: Normalizer | None = _UNSET,
        chunker: Chunker | None = _UNSET,
        recall: int = _UNSET,
        validate_depth: int | None = _UNSET,
        on_error: OnError = _UNSET,
    ) -> Self:
        """The same pipeline with other parts. A new part is indexed from this pipeline's documents."""
        given = {name: value for name, value in locals().items() if name != "self"}
        ours: dict[str, Any] = {name: getattr(self, name) for name in given}
        changed = {name: value for name, value in given.items() if value is not _UNSET}
        made = type(self)(**{**ours, **changed})
        made.origin = None if changed else self.origin
        if self.documents is None:
            return made
        kept = {id(part) for part in self.parts().values()}
        return made._indexed(self.documents, kept, None, self.corpus)

    def without(self, *names: str) -> Self:
        """The same pipeline without these legs or rerankers; the fuser's weights for them go too.

        Raises:
            UnknownNameError: there is no leg or reranker of that name.
        """
        for name in names:
            if name not in self.retrievers and name not in self.rerankers and name != VALIDATOR:
                raise UnknownNameError("leg or reranker", name, [*self.retrievers, *self.rerankers])
        legs = {name: leg for name, leg in self.retrievers.items() if name not in names}
        return self.with_(
            retrievers=legs,
            fuser=reweighted(self.fuser, legs),
            rerankers={name: r for name, r in self.rerankers.items() if name not in names},
            validator=None if VALIDATOR in names else self.validator,
        )

    def index(self, documents: Iterable[Document], *, progress: Progress | None = None) -> Self:
        """Offer the documents to every part that indexes; they replace those of before.

        Raises:
            DuplicateIdError: two documents have one id.
            InvalidValueError: one is no Document.
        """
        return self.with_()._indexed(in_tie_order(documents), set(), progress, None)

    def add(self, documents: Iterable[Document]) -> Self:
        """The pipeline with more documents, equal to one that was indexed with all of them.

        Raises:
            DuplicateIdError: an id is there already; `remove` it first to replace a document.
        """
        return self.index((*(self.documents or ()), *documents))

    def remove(self, ids: Iterable[str]) -> Self:
        """The pipeline without the documents of these ids.

        Raises:
            InvalidValueError: an id is not there.
        """
        if isinstance(ids, str):
            raise InvalidValueError(f"remove takes several ids; for one give [{ids!r}]")
        gone = {check_id(id) for id in ids}
        check_known(gone, self.known_ids or frozenset())
        return self.index(d for d in self.documents or () if d.id not in gone)

    def parts(self) -> dict[str, object]:
        """Every part by stage name: legs, "fusion", rerankers, "validator"."""
        validator = {} if self.validator is None else {VALIDATOR: self.validator}
        return {**self.retrievers, FUSION: self.fuser, **self.rerankers, **validator}

    def save(self, directory: str | Path) -> None:
        """Write this pipeline with its index to a directory, in place of one that was saved there.

        Raises:
            ConfigError: a part cannot be described by a registered name and options; it is named.
            NotIndexedError: there are no documents yet.
            StoreError: the directory holds something else, or cannot be written.
        """
        from .store.saving import save_pipeline

        save_pipeline(self, Path(directory))

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """A pipeline that was saved, or indexed by the command line. Documents are read as they are found.

        Raises:
            IndexNotFoundError, IndexFormatError: there is none, or it is damaged or of another format.
            MismatchError: a part's options are not those that the index was made with.
        """
        from .store.saving import load_pipeline

        return load_pipeline(cls, Path(directory))

    def _indexed(
        self,
        documents: Sequence[Document],
        keep: set[int],
        progress: Progress | None,
        corpus: Corpus | None,
    ) -> Self:
        """Index the parts that are not kept, in place: only ever called on a pipeline just made."""
        names = list(self.parts())
        tell = progress or (lambda *_: None)

        def make(name: str, part: Any) -> Any:
            tell(f"index {name}", names.index(name), len(names))
            return part if id(part) in keep else indexed(name, part, documents)

        with watched(progress):
            made = self._filled(documents, corpus, make)
        tell("index", len(names), len(names))
        return made

    def _filled(
        self, documents: Sequence[Document], corpus: Corpus | None, make: Callable[[str, Any], Any]
    ) -> Self:
        """Put what `make` gives in the place of each part; only ever called on a pipeline just made."""
        known = ids_of(documents)
        done: dict[int, Any] = {}

        def new(name: str, part: Any) -> Any:
            if id(part) not in done:
                done[id(part)] = make(name, part)
            return done[id(part)]

        with shared_counts():
            self.retrievers = FrozenDict({name: new(name, leg) for name, leg in self.retrievers.items()})
            self.fuser = new(FUSION, self.fuser)
            self.rerankers = FrozenDict({name: new(name, r) for name, r in self.rerankers.items()})
            self.validator = None if self.validator is None else new(VALIDATOR, self.validator)
        self.documents, self.corpus, self.known_ids = documents, corpus, known
        return self

    @property
    def symbols(self) -> SymbolTable:
        """What is defined where; made in memory, when it is first asked for, where no index keeps it.

        Raises:
            NotIndexedError: there are no documents yet.
        """
        if self._symbols is None:
            from .store.symbols import table_of

            self._symbols = table_of(self.documents, self.corpus)
        return self._symbols

    # Searching

    def search(
        self,
        query: str | Query,
        *,
        k: int = 5,
        recall: int | None = None,
        weights: Mapping[str, float] | None = None,
        rerank_depth: int | None = None,
        where: Filter | None = None,
        explain: Explain = False,
    ) -> Result:
        """At most k hits for one query. The first k of a larger k are the same.

        Args:
            k: hits wanted, 0 to `recall`.
            recall: hits per leg for this call.
            weights: merged over the fuser's; a leg of weight 0 is not run.
            rerank_depth: how many hits each reranker sees, for all of them; 0 turns them off.
            where: which documents may be found.
            explain: fill `Result.explanations`: True for the hits, "all" for every candidate, with
                `Trace.documents` and `Trace.tokens`, as the page of a search shows them.

        Raises:
            InvalidValueError: a number is out of range, k is above recall, or all weights are zero.
            UnknownNameError: a weight for a leg that does not exist.
            ContractError: a part broke its protocol.
        """
        request = make_request(self, query, k, recall, weights, rerank_depth, where, explain)
        return run(steps(request))

    async def asearch(
        self,
        query: str | Query,
        *,
        k: int = 5,
        recall: int | None = None,
        weights: Mapping[str, float] | None = None,
        rerank_depth: int | None = None,
        where: Filter | None = None,
        explain: Explain = False,
    ) -> Result:
        """`search` inside an event loop: the same result; parts that can be awaited are awaited."""
        request = make_request(self, query, k, recall, weights, rerank_depth, where, explain)
        return await arun(steps(request))

    def search_batch(
        self,
        queries: Iterable[str | Query],
        *,
        k: int = 5,
        recall: int | None = None,
        weights: Mapping[str, float] | None = None,
        rerank_depth: int | None = None,
        where: Filter | None = None,
        explain: Explain = False,
    ) -> list[Result]:
        """The results of `search` for each query, in order; legs that can answer many at once do."""
        options = (k, recall, weights, rerank_depth, where, explain)
        requests = [make_request(self, query, *options) for query in as_query_list(queries)]
        return [run(steps(request)) for request in answered_together(requests)]

    # Everything else

    def fingerprint(self) -> str:
        """A short digest of the parts and what they hold; changes when a ranking may change."""
        return fingerprint(self)

    def close(self) -> None:
        """Close what parts hold open."""
        for part in (*self.parts().values(), self._symbols):
            if isinstance(part, Closeable):
                part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        from .report.html import pipeline_html

        return pipeline_html(self)
