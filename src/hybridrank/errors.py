"""Every error that hybridrank raises on purpose.

    HybridRankError
    ├── InvalidValueError (ValueError)      an argument is outside its range
    │   └── DuplicateIdError                an id stands for two documents
    ├── ConfigError (ValueError)            a configuration does not describe a pipeline
    │   └── UnknownNameError                a component, option, leg or stage of that name does not exist
    ├── ContractError                       a part broke the protocol it implements
    ├── PluginError                         an entry point cannot be loaded, or is ambiguous
    ├── MissingExtraError (ImportError)     an optional dependency is not installed
    ├── NotIndexedError                     a part was asked before it was given documents
    ├── MismatchError                       a model, dimension or digest is not the one that was indexed
    ├── ModelError                          a model server failed
    │   ├── ModelUnavailableError           it cannot be reached, or does not answer in time
    │   ├── ModelRequestError               it refused: no such model, a text that is too long, a bad key
    │   └── ModelReplyError                 it answered, but nothing that can be used
    └── StoreError                          an index on disk cannot be read or written
        ├── IndexNotFoundError              there is none
        ├── IndexFormatError                it is damaged, of another program, or of a newer format
        └── LockError                       another process is writing it

A message says what was wrong, with which value, and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class HybridRankError(Exception):
    """Root of all errors raised on purpose by hybridrank and its parts.

    All of them pickle with message and attributes, so that they survive a process pool.
    """

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _restore, (type(self), self.args, self.__dict__)


class InvalidValueError(HybridRankError, ValueError):
    """An argument is outside its documented range."""


class DuplicateIdError(InvalidValueError):
    """The same id was given to two documents, or stands twice in one ranking."""


class ConfigError(HybridRankError, ValueError):
    """A configuration does not describe a pipeline.

    Attributes:
        where: dotted path of the offending key in the configuration, `""` for the whole of it.
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where


class UnknownNameError(ConfigError):
    """No component, option, leg or stage has that name; the message offers the nearest one."""

    def __init__(self, what: str, name: str, known: Iterable[str], *, where: str = "") -> None:
        names = sorted(known)
        super().__init__(f"unknown {what} {name!r}{_hint(name, names)}", where=where)
        self.name = name
        self.known = tuple(names)


class ContractError(HybridRankError):
    """A part broke the protocol it implements.

    Attributes:
        stage: name of the stage in the pipeline.
        ids: the document ids concerned, possibly empty.
    """

    def __init__(self, stage: str, message: str, ids: Iterable[str] = ()) -> None:
        self.stage = stage
        self.ids = tuple(ids)
        shown = ", ".join(repr(i) for i in self.ids[:5]) + (", …" if len(self.ids) > 5 else "")
        super().__init__(f"stage {stage!r} {message}" + (f": {shown}" if shown else ""))


class PluginError(HybridRankError):
    """An entry point cannot be loaded, or its name is claimed by two distributions."""


class MissingExtraError(HybridRankError, ImportError):
    """An optional dependency is not installed.

    Attributes:
        extra: the extra that brings it, as in `pip install "hybridrank[extra]"`.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f'{package} is not installed; run: pip install "hybridrank[{extra}]"')
        self.extra = extra


class NotIndexedError(HybridRankError):
    """A part was asked for results before it was given documents."""


class MismatchError(HybridRankError):
    """A model, dimension or digest is not the one that the index was made with."""


class ModelError(HybridRankError):
    """A model server failed.

    Attributes:
        server: address of the server, without credentials; `""` where it is not known.
        model: name of the model that was asked for.
        status: HTTP status of the answer, None where there was none.
        positions: which of the texts given are concerned, from 0, rising; empty where all are.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str = "",
        model: str = "",
        status: int | None = None,
        positions: Iterable[int] = (),
    ) -> None:
        super().__init__(message)
        self.server = server
        self.model = model
        self.status = status
        self.positions = tuple(positions)


class ModelUnavailableError(ModelError):
    """The server cannot be reached, is overloaded, or does not answer in time; later it may."""


class ModelRequestError(ModelError):
    """The server refused: no such model, a text that is too long, a bad key or format. Again it would too."""


class ModelReplyError(ModelError):
    """The server answered, but nothing that can be used: no JSON, other counts, NaN, empty vectors."""


class StoreError(HybridRankError):
    """An index on disk cannot be read or written."""


class IndexNotFoundError(StoreError):
    """There is no index in that directory."""


class IndexFormatError(StoreError):
    """What is there is damaged, or not an index of ours, or of a format that this version does not read.

    Attributes:
        replaceable: whether indexing again in the same place may put it right: it is ours, and no newer.
    """

    def __init__(self, message: str, *, replaceable: bool = False) -> None:
        super().__init__(message)
        self.replaceable = replaceable


class LockError(StoreError):
    """Another process is writing the index.

    Attributes:
        pid: its process id, None where it is not known.
    """

    def __init__(self, message: str, *, pid: int | None = None) -> None:
        super().__init__(message)
        self.pid = pid


def _restore(kind: type[HybridRankError], args: tuple[object, ...], state: dict[str, Any]) -> HybridRankError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def _hint(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(known)}" if known else "; there are none"
