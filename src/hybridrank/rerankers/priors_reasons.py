"""Why a feature counts, in words, for explanations."""

from __future__ import annotations

_REASONS = {
    "best_match": "its best document: {:.0%} of the legs' best",
    "more_matches": "its ten best documents together",
    "told": "names, comments: {:.0%} of the best",
    "phrases": "{:.0%} of the neighbouring words meet",
    "name_match": "a name it defines matches by {:.0%}",
    "word_names": "{:.0%} of the words are names it defines",
    "defined": "it defines what the query names",
    "file_named": "the file is named as the query says",
    "compound": "named by words of the query, as one",
    "stem_words": "its name is {:.0%} like the words",
    "stem_letters": "{:.0%} of its name's letters are there",
    "stem_first": "named by one of the first words",
    "stem_length": "a longer name is less general",
    "folder": "its folder has a word of the query",
    "path_depth": "deeper, or higher, than most",
    "functions": "{:.0%} of it lies in functions",
    "test": "a test; none is asked for",
    "example": "an example; none is asked for",
    "compat": "for compatibility; not asked for",
    "prose": "text about code; none is asked for",
    "data": "data or settings; none are asked for",
    "old_version": "a newer version is beside it",
    "companion": "a further part of the file beside it",
}


def reason(feature: str, value: float) -> str:
    """One line for people on a feature's value."""
    return _REASONS[feature].format(value)
