"""What is measured on: made token lists whose words follow Zipf's law, and real source code."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 200_000
Lists = list[list[str]]


def token_lists(count: int, shortest: int, longest: int, seed: int = 0) -> Lists:
    """Token lists of a vocabulary of 200,000 in which the word of rank r has a chance of 1/r."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, count)
    sums = np.cumsum(1.0 / np.arange(1, VOCABULARY + 1))
    drawn = np.searchsorted(sums / sums[-1], rng.random(lengths.sum()))
    names = np.array([f"t{rank}" for rank in range(VOCABULARY)], object)
    flat = names[drawn].tolist()
    ends = np.cumsum(lengths).tolist()
    return [flat[start:stop] for start, stop in zip([0, *ends[:-1]], ends, strict=True)]


def frequencies(lists: Lists) -> dict[str, int]:
    """In how many lists each term stands."""
    found: dict[str, int] = {}
    for tokens in lists:
        for token in set(tokens):
            found[token] = found.get(token, 0) + 1
    return found


def common_queries(documents: dict[str, int], count: int, total: int, seed: int = 1) -> Lists:
    """Queries of 2 to 8 terms, of which one to all stand in more than 5 % of the documents."""
    rng = np.random.default_rng(seed)
    common = sorted(term for term, n in documents.items() if n > 0.05 * total)
    other = sorted(term for term, n in documents.items() if 0.001 * total < n <= 0.05 * total)
    chances = np.array([documents[term] for term in common], np.float64)
    made = []
    for _ in range(count):
        size = int(rng.integers(2, 9))
        first = int(rng.integers(1, min(size, len(common)) + 1))
        chosen = rng.choice(common, first, replace=False, p=chances / chances.sum())
        made.append([*chosen.tolist(), *rng.choice(other, size - first, replace=False).tolist()])
    return made


def selective_queries(documents: dict[str, int], count: int, total: int, seed: int = 2) -> Lists:
    """Queries of 2 to 4 terms that stand in 0.1 % to 1 % of the documents."""
    rng = np.random.default_rng(seed)
    terms = sorted(term for term, n in documents.items() if 0.001 * total <= n < 0.01 * total)
    return [rng.choice(terms, int(rng.integers(2, 5)), replace=False).tolist() for _ in range(count)]


def chunk_queries(lists: Lists, count: int, terms: int = 200, seed: int = 3) -> Lists:
    """Queries of so many different terms that follow each other in the lists, as a pasted chunk of code."""
    rng = np.random.default_rng(seed)
    made = []
    for start in rng.integers(0, len(lists), count).tolist():
        found: dict[str, None] = {}
        for tokens in (*lists[start:], *lists[:start]):
            found.update(dict.fromkeys(tokens))
            if len(found) >= terms:
                break
        made.append(list(found)[:terms])
    return made


def real_texts(corpus: Path, count: int) -> list[str]:
    """Texts of documents that source code is cut into, the first so many by path."""
    from hybridrank.code.corpus import load_code

    found: list[str] = []
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        found += [document.text for document in load_code(folder).documents]
        if len(found) >= count:
            break
    return found[:count]


def repositories(corpus: Path, count: int, roots: Path | None = None) -> dict[str, Path]:
    """The first so many folders by name, whole or below the `index_root` that a JSON file gives them."""
    inside: dict[str, str | None] = {}
    if roots is not None:
        listed = json.loads(roots.read_text(encoding="utf-8"))
        inside = {entry["name"]: entry["index_root"] for entry in listed}
    names = sorted(path.name for path in corpus.iterdir() if path.is_dir())[:count]
    return {name: corpus / name / (inside.get(name) or "") for name in names}


def random_model(folder: Path, words: int = 62_000, dimensions: int = 256) -> Path:
    """A static embedding model of semble's shape with random weights: its speed, not its rankings."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    rng = np.random.default_rng(0)
    vocabulary = {"[PAD]": 0, "[UNK]": 1}
    for character in string.ascii_lowercase + string.digits + string.punctuation:
        for piece in (character, "##" + character):
            vocabulary.setdefault(piece, len(vocabulary))
    letters = np.array(list(string.ascii_lowercase))
    while len(vocabulary) < words:
        word = "".join(rng.choice(letters, rng.integers(2, 7)).tolist())
        vocabulary.setdefault("##" + word if rng.random() < 0.3 else word, len(vocabulary))
    tokenizer: Any = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    weights: NDArray[np.float32] = rng.standard_normal((words, dimensions), np.float32)
    StaticModel(weights, tokenizer).save_pretrained(str(folder))
    return folder
