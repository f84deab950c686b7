"""What a pipeline checks of its parts and tells about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeVar

from .errors import ConfigError, ContractError, DuplicateIdError, InvalidValueError
from .protocols import Fingerprinted, Indexable
from .types import Document, FrozenDict, Query, check_id, tie_key

if TYPE_CHECKING:
    from .pipeline import Pipeline

P = TypeVar("P")
_MOST_MET = 1 << 16
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def named(kind: str, parts: Mapping[str, P] | Sequence[P], method: str) -> Mapping[str, P]:
    """The parts by name; those of a plain sequence get registry names.

    Raises:
        ConfigError: two have one name, or one lacks the method.
    """
    if isinstance(parts, Mapping):
        by_name = dict(parts)
    else:
        from .registry import name_of

        by_name = {}
        for part in parts:
            name = name_of(kind, part)
            if name in by_name:
                raise ConfigError(f"two {kind}s are named {name!r}; give a mapping with names of your own")
            by_name[name] = part
    for name, part in by_name.items():
        check_id(name, f"{kind} name")
        checked(kind, name, part, method)
    return FrozenDict(by_name)


def checked(kind: str, name: str, part: P, method: str) -> P:
    """The part, if it has the method.

    Raises:
        ConfigError: it has not, or is a class.
    """
    if isinstance(part, type):
        raise ConfigError(
            f"{kind} {name!r} is the class {part.__name__}; give an instance, {part.__name__}(...)"
        )
    if not callable(getattr(part, method, None)):
        raise ConfigError(f"{kind} {name!r} is {part!r}, which has no method {method}()")
    return part


def indexed(name: str, part: object, documents: Sequence[Document]) -> object:
    """The part with these documents, if it can index; itself otherwise.

    Raises:
        ContractError: its `index` returns something else.
    """
    if not isinstance(part, Indexable):
        return part
    made = part.index(documents)
    if not isinstance(made, type(part)):
        raise ContractError(name, f"must return its indexed self from index(), not {made!r:.60}")
    return made


def ids_of(documents: Sequence[Document]) -> AbstractSet[str]:
    """Their ids; documents on disk look them up rather than list them.

    Raises:
        DuplicateIdError: two have one id.
    """
    positions: Mapping[str, int] | None = getattr(documents, "positions", None)
    if positions is not None:
        return _Met(positions.keys())
    known = frozenset(document.id for document in documents)
    if len(known) < len(documents):
        seen: set[str] = set()
        twice = next(d.id for d in documents if d.id in seen or seen.add(d.id))  # type: ignore[func-returns-value]
        raise DuplicateIdError(f"two documents have the id {twice!r}; an id stands for one document")
    return known


class _Met(AbstractSet[str]):
    """Ids that are looked up on disk; those met before are remembered, since queries meet the same again."""

    def __init__(self, ids: AbstractSet[str]) -> None:
        self._ids = ids
        self._met: set[str] = set()

    def __contains__(self, id: object) -> bool:
        if id in self._met:
            return True
        known = id in self._ids
        if known:
            if len(self._met) >= _MOST_MET:
                self._met = set()
            self._met.add(str(id))
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __rsub__(self, other: AbstractSet[str]) -> set[str]:
        return {id for id in other - self._met if id not in self}


def check_names(legs: Mapping[str, object], rerankers: Mapping[str, object], reserved: Sequence[str]) -> None:
    """There is a leg, and no name stands for two stages.

    Raises:
        ConfigError: otherwise.
    """
    if not legs:
        raise ConfigError('a pipeline needs at least one retriever, e.g. {"bm25": BM25()}')
    clash = (set(legs) & set(rerankers)) or (set(reserved) & {*legs, *rerankers})
    if clash:
        raise ConfigError(
            f"stage names must differ from each other and from the reserved ones: {sorted(clash)}"
        )


def check_known(ids: set[str], known: AbstractSet[str]) -> None:
    """The ids are among the known ones.

    Raises:
        InvalidValueError: one is not.
    """
    unknown = sorted(id for id in ids if id not in known)
    if unknown:
        raise InvalidValueError(f"there is no document with id {', '.join(map(repr, unknown[:5]))} to remove")


def fingerprint(pipeline: Pipeline) -> str:
    """A short digest of the parts and what they hold."""
    from hashlib import sha256

    told = [
        f"recall={pipeline.recall}",
        f"validate_depth={pipeline.validate_depth}",
        repr(pipeline.normalizer),
    ]
    for name, part in pipeline.parts().items():
        told.append(f"{name}={part.fingerprint() if isinstance(part, Fingerprinted) else _described(part)}")
    digest = sha256("\n".join(told).encode("utf-8", "surrogatepass"))
    # Texts are in the fingerprints of the parts that read them; rules also read what stands beside the text.
    if pipeline.documents:
        from .store.documents import heads_digest

        digest.update(heads_digest(pipeline.documents))
    return digest.hexdigest()[:16]


def _described(part: object) -> str:
    """A part without a fingerprint: its class and repr, without the address that `object` puts there."""
    return f"{type(part).__module__}.{type(part).__qualname__} {_ADDRESS.sub('', repr(part))}"


def as_query_list(queries: object) -> list[str | Query]:
    """Several queries; one str would be searched letter by letter.

    Raises:
        InvalidValueError: it is one query.
    """
    if isinstance(queries, str | Query) or not isinstance(queries, Iterable):
        raise InvalidValueError(f"queries is {queries!r:.80}; give several queries, or use search for one")
    return list(queries)


def in_tie_order(documents: object) -> tuple[Document, ...]:
    """The documents by path, start line, id.

    Raises:
        InvalidValueError: one is no Document.
    """
    if isinstance(documents, str | Document) or not isinstance(documents, Iterable):
        raise InvalidValueError(f"documents is {documents!r:.80}; give several Document")
    given = tuple(documents)
    for document in given:
        if not isinstance(document, Document):
            raise InvalidValueError(f"documents holds {document!r:.80}; give Document values")
    return tuple(sorted(given, key=tie_key))


def summary(pipeline: Pipeline) -> str:
    """The pipeline in a line, and a line for each of its parts."""
    documents = pipeline.documents
    indexed = "not indexed" if documents is None else f"{len(documents):,} documents"
    rows = [("retriever", name, repr(leg)) for name, leg in pipeline.retrievers.items()]
    rows.append(("fuser", "fusion", repr(pipeline.fuser)))
    rows += [("reranker", name, repr(reranker)) for name, reranker in pipeline.rerankers.items()]
    if pipeline.validator is not None:
        rows.append(("validator", "validator", repr(pipeline.validator)))
    width = max(len(name) for _, name, _ in rows)
    lines = [f"  {kind:<9}  {name:<{width}}  {told}" for kind, name, told in rows]
    return "\n".join([f"Pipeline, {indexed}, recall {pipeline.recall}", *lines])
