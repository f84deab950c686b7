"""The weights of code priors: one field per feature, with what it measures and why it helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from ..errors import InvalidValueError, UnknownNameError

MOST = 1e6
"""How large a weight may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePriorsWeights:
    """What each feature of a file, or of a document inside its file, adds to a score.

    The score of a file is the sum of weight times feature. Features lie between 0 and 1 where nothing else is
    said; a query term weighs its idf over files, and all terms of a query together weigh 1. A weight of 0
    takes a feature out; a negative one demotes.

    From the legs:

    Attributes:
        best_match: the file's best document, as each leg scores it against the leg's best, mean of the legs.
            The first stage mostly is right.
        more_matches: ln(1 + sum of the file's ten best documents) in a leg, mean of the legs, 0 to 2.4.
            A file that answers in many places is about the subject; one that answers once mentions it.

    From what the file says (path, defined names, first lines, comments):

        told: BM25 over those words alone, against the best candidate's. Comments say in the query's language
            what code does; bodies are full of words by chance.
        phrases: share of the query's neighbouring words that stand side by side there.

    From the names that it defines:

        name_match: the best of sqrt(weight of the query's terms in a name * share of the name's terms that
            the query has). `parse_header` meets "header parsing" better than `parse_header_of_old_frame`.
        word_names: share of the query's words that are a whole name.
        defined: the query is one word, and it defines that: 1 as it is written, 0.5 in another case, divided
            by 1 + ln(number of files that do). A name asked for is a definition asked for.

    From its own name (its folder's where it stands for the folder, as `index`, `mod` and `__init__` do):

        file_named: the name is an identifier of the query (see `chunk_defined`).
        compound: the name is neighbouring words of the query written as one.
        stem_words: how alike (shared trigrams) each word of the name is to the query word most like it, mean.
            Catches inflected forms: compress, compression, compressor.
        stem_letters: share of the name's trigrams that some query word has.
        stem_first: 1 / position of the first query word that is in the name. The subject comes first.
        stem_length: ln(1 + words in the name). Of two names that match, the shorter is the more general file.

    From its folders:

        folder: the last folder has a word of the query.
        path_depth: 1 if it lies deeper than the median candidate, -1 if higher; fractions for half a folder.
            What is central lies high.

    From what it is made of:

        functions: share of its characters that lie in functions and methods. What does something goes before
            what only declares, exports again, lists or describes it.

    From its role, unless the query asks for that role:

        test: a test, a fixture or a mock.
        example: an example, a benchmark, part of the documentation.
        compat: a compatibility shim, a polyfill, something vendored or deprecated.
        prose: text about code (Markdown and the like).
        data: configuration, style sheets, build files.
        old_version: in a folder `v1` beside a `v2`.
        companion: a further part of a file beside it (`writer.async` beside `writer`), or its declarations
            (`x.h` beside `x.c`): behind the main part.

    Inside a file, to choose and order its documents:

        chunk_match: the document's scores against each leg's best, mean of the legs.
        chunk_name: as `name_match`, for the document's own name.
        chunk_defined: it defines an identifier of the query (the query if it is one word, else a word in
            camel case, with underscores or capitals): 1; half as much in another case, or for a constructor.
        chunk_test: it lies in a test inside the file, and the query asks for none.
    """

    best_match: float = 1.1
    more_matches: float = 0.95
    told: float = 1.7
    phrases: float = 1.1
    name_match: float = 1.65
    word_names: float = 0.75
    defined: float = 0.7
    file_named: float = 0.85
    compound: float = 1.0
    stem_words: float = 1.25
    stem_letters: float = 0.7
    stem_first: float = 0.85
    stem_length: float = -1.55
    folder: float = 0.75
    path_depth: float = -0.55
    functions: float = 1.6
    test: float = -1.95
    example: float = -1.45
    compat: float = -0.2
    prose: float = -1.45
    data: float = -0.4
    old_version: float = -1.6
    companion: float = -1.15
    chunk_match: float = 1.0
    chunk_name: float = 0.5
    chunk_defined: float = 2.0
    chunk_test: float = -1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:
                raise InvalidValueError(
                    f"weight {field.name} is {value!r}; give a number from {-MOST:g} to {MOST:g}"
                )
            object.__setattr__(self, field.name, float(value))

    @classmethod
    def of(cls, weights: Mapping[str, float] | None) -> CodePriorsWeights:
        """The default weights with those of the mapping put in place.

        Raises:
            InvalidValueError: a weight is no number in range.
            UnknownNameError: there is no feature of that name.
        """
        if weights is not None and not isinstance(weights, Mapping):
            raise InvalidValueError(f"weights is {weights!r}; give a mapping from features to numbers")
        known = [field.name for field in fields(cls)]
        for name in weights or {}:
            if name not in known:
                raise UnknownNameError("weight", name, known)
        return replace(cls(), **dict(weights or {}))

    def changed(self) -> dict[str, float]:
        """The weights that are not the default ones."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
