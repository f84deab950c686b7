"""Why a feature counts, in words, for explanations."""

from __future__ import annotations

_REASONS = {
    "best_match": "its best document reaches {:.0%} of the best scores",
    "more_matches": "its ten best documents together",
    "told": "path, names and comments: {:.0%} of the best match there",
    "phrases": "{:.0%} of the query's neighbouring words stand side by side",
    "name_match": "a name that it defines meets the query by {:.0%}",
    "word_names": "{:.0%} of the query's words are names that it defines",
    "defined": "it defines what the query names",
    "file_named": "the file is named as the query says",
    "compound": "the file is named by words of the query written as one",
    "stem_words": "the words of its name resemble words of the query by {:.0%}",
    "stem_letters": "{:.0%} of the letters of its name stand in the query",
    "stem_first": "its name has one of the first words of the query",
    "stem_length": "words in its name",
    "folder": "its folder has a word of the query",
    "path_depth": "deeper, or higher, in the folders than most candidates",
    "bare": "it only imports and defines nothing",
    "test": "a test; the query asks for none",
    "example": "an example or documentation; the query asks for none",
    "compat": "for compatibility or vendored; the query asks for none",
    "prose": "text about code; the query asks for none",
    "data": "configuration or data; the query asks for none",
    "old_version": "there is a newer version beside its folder",
    "companion": "a further part, or the declarations, of the file beside it",
}


def reason(feature: str, value: float) -> str:
    """One line for people on a feature's value."""
    return _REASONS[feature].format(value)
