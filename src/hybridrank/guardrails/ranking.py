"""A ranking out of the reply of a language model: three gates, and always a permutation.

1. The lead of the prompt, thoughts and fences are taken off.
2. The array is found: of several the one with the most labels, of equals the last.
3. Duplicates and what is no label are dropped; labels that were left out follow in their old order.

Where no array is left, or one with too few labels, the old order stands and the fallback says why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidValueError
from .arrays import Array, Number, arrays
from .text import bare_reply, fold

LEAD = "Ranked JSON Array:"
"""What a prompt for a ranking ends with, so that the reply can begin with the array."""

_ID_KEYS = (
    "id",
    "label",
    "index",
    "candidate",
    "candidateid",
    "docid",
    "documentid",
    "passageid",
    "snippetid",
    "itemid",
)
_SCORE_KEYS = ("score", "relevance", "relevancescore")
_RANK_KEYS = ("rank", "position")
_SHOWN = 80
_DECIMAL = re.compile(
    r"(-?[0-9]{1,40}+(?:\.[0-9]{1,40}+)?+(?:[eE][+-]?[0-9]{1,4})?+)\s{0,3}"
    r"(?:(%)|/\s{0,3}([1-9][0-9]{0,5}(?:\.0{1,3})?))?"
)
_LABEL = re.compile(r"\[?\s{0,3}(?:ID[\s:_#-]{0,3}|#)?([0-9]{1,5000})\s{0,3}\]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParsedRanking:
    """What a reply ranks.

    Attributes:
        order: every label once, best first; the order of before where `fallback` is set.
        used: how many of them come from the reply; the others follow in the order of before.
        duplicates, out_of_bounds: items of the array that repeat a label, or are integers but no label.
        others: items that are no integers: words, fractions, true and false.
        fallback: why the reply is not used; `""` where it is.
        cut: whether the reply ended before its array did.
        reply: the beginning of the reply, on one line.
    """

    order: tuple[int, ...]
    used: int = 0
    duplicates: int = 0
    out_of_bounds: int = 0
    others: int = 0
    fallback: str = ""
    cut: bool = False
    reply: str = ""

    @property
    def left_out(self) -> int:
        """How many labels the reply does not give."""
        return len(self.order) - self.used

    @property
    def report(self) -> str:
        """What happened, in one line."""
        filtered = f"Filtered: {self.duplicates} duplicates, {self.out_of_bounds} out-of-bounds"
        if self.others:
            filtered += f", {self.others} not integers"
        if self.left_out and not self.fallback:
            filtered += f"; {self.left_out} left out, kept in their order"
        parsed = "reply cut short" if self.cut else "clean parse"
        verdict = f"YES ({self.fallback})" if self.fallback else f"NO ({parsed})"
        return f'Reply received: "{self.reply}" ({filtered}). Fallback triggered: {verdict}'


def parse_ranking(
    reply: str,
    labels: Sequence[int],
    *,
    min_labels: int = 1,
    lead: str = LEAD,
    finish_reason: str = "",
) -> ParsedRanking:
    """The labels in the order of the reply.

    Integers count, whole floats (2.0) and strings of digits too. An array of objects counts where each has
    its label under the same key (`id`, `candidate_id`, `label`, `index` or `candidate`); where they have a
    `score` (`relevance`, `relevance_score`) too, the highest goes first and those without one last. Chains
    (`[2] > [0] > [1]`) and arrays of one-item arrays count as arrays. A number at which the reply was cut is
    left out. Digits that stand in no array are never read.

    Args:
        reply: what the model answered, in full.
        labels: the labels that the prompt used, in their old order; not negative.
        min_labels: how many labels the reply must give; one less than there are is always enough, since the
            last place is then told too.
        lead: what the prompt ended with.
        finish_reason: why the model stopped, as `ChatReply` has it; for the message of a fallback.

    Raises:
        InvalidValueError: a label is negative, no int, or stands twice; `min_labels` is less than 1.
    """
    known = _checked(labels, min_labels)
    needed = max(1, min(min_labels, len(known) - 1))
    text = bare_reply(fold(reply), lead)
    best, picked, most = None, _Picked(), 0
    for array in arrays(_without_talk(text)):
        found = _pick(array, known)
        if len(found.labels) >= max(most, 1):
            best, picked, most = array, found, len(found.labels)
    shown = _one_line(reply)
    if most < needed:
        fallback = _reason(reply, text, most, needed, finish_reason)
        return ParsedRanking(
            tuple(known),
            0,
            picked.duplicates,
            picked.out_of_bounds,
            picked.others,
            fallback,
            best is not None and best.cut,
            shown,
        )
    given = set(picked.labels)
    order = (*picked.labels, *(label for label in known if label not in given))
    return ParsedRanking(
        order,
        most,
        picked.duplicates,
        picked.out_of_bounds,
        picked.others,
        "",
        best is not None and best.cut,
        shown,
    )


@dataclass(frozen=True, slots=True)
class _Picked:
    labels: tuple[int, ...] = ()
    duplicates: int = 0
    out_of_bounds: int = 0
    others: int = 0


def _checked(labels: Sequence[int], min_labels: int) -> dict[int, None]:
    known = dict.fromkeys(labels)
    for label in known:
        if type(label) is not int or label < 0:
            raise InvalidValueError(f"label is {label!r}; give ints of 0 or more")
    if len(known) < len(labels):
        raise InvalidValueError(f"a label stands twice in {list(labels)[:20]}; each stands for one candidate")
    if type(min_labels) is not int or min_labels < 1:
        raise InvalidValueError(f"min_labels is {min_labels!r}; give an int of 1 or more")
    return known


def _pick(array: Array, known: dict[int, None]) -> _Picked:
    labels: dict[int, None] = {}
    duplicates = out_of_bounds = others = 0
    for item in _flat(array.items):
        number = _integer(item)
        if number is None:
            others += 1
        elif number not in known:
            out_of_bounds += 1
        elif number in labels:
            duplicates += 1
        else:
            labels[number] = None
    return _Picked(tuple(labels), duplicates, out_of_bounds, others)


def _flat(items: tuple[Any, ...]) -> Sequence[Any]:
    """The items, one-item arrays and objects with an id replaced by what they hold."""
    if items and all(isinstance(item, list) and len(item) == 1 for item in items):
        return [item[0] for item in items]
    if items and all(isinstance(item, dict) for item in items):
        return _ids_of_objects(items)
    return items


def _ids_of_objects(items: Sequence[dict[str, Any]]) -> Sequence[Any]:
    """The ids in the order that scores or ranks give; the items as they are where that is not sure."""
    rows = [{re.sub(r"[\s_-]", "", key).casefold(): value for key, value in item.items()} for item in items]
    keys = [key for key in _ID_KEYS if any(key in row for row in rows)]
    if len(keys) != 1 or not all(keys[0] in row for row in rows):
        return items
    orders = []
    for names, sign in ((_SCORE_KEYS, -1), (_RANK_KEYS, 1)):
        given = [name for name in names if any(name in row for row in rows)]
        orders += [_by(rows, name, sign) for name in given]
    if any(order != orders[0] for order in orders):
        return items
    return [row[keys[0]] for row in (orders[0] if orders else rows)]


def _by(rows: Sequence[dict[str, Any]], name: str, sign: int) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: _sorted_by(row.get(name), sign))


def _sorted_by(value: Any, sign: int) -> float:
    """A score or a rank as a number (`9`, `"90%"`, `"9/10"`); what has none goes last."""
    text = value.text if isinstance(value, Number) else value.strip() if isinstance(value, str) else ""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return math.inf
    number = float(found[1]) / (100 if found[2] else float(found[3] or 1))
    return sign * number if math.isfinite(number) else math.inf


def _without_talk(text: str) -> str:
    """Of an object that holds arrays only these: its texts may hold drafts."""
    if not text.startswith("{"):
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    held = [value for value in data.values() if isinstance(value, list | dict)]
    return " ; ".join(map(json.dumps, held)) if any(isinstance(value, list) for value in held) else text


def _integer(item: Any) -> int | None:
    """An integer, a whole float or a string of digits as an int, negative where no label can be meant."""
    if isinstance(item, str):
        label = _LABEL.fullmatch(item.strip())
        if label is None:
            return None
        text = label[1]
    elif isinstance(item, Number):
        text = item.text
    else:
        return None
    if len(text) > 18:
        return -1 if text.lstrip("+-").isdecimal() else None
    if text.startswith("-"):
        return -1 if float(text).is_integer() else None
    if text.isdecimal():
        return int(text)
    number = float(text)
    return int(number) if math.isfinite(number) and number.is_integer() else None


def _reason(reply: str, text: str, most: int, needed: int, finish_reason: str) -> str:
    if not reply.strip():
        return "the reply is empty"
    if not text:
        return "the reply holds only thoughts"
    if most:
        return f"{most} usable id, at least {needed} are needed"
    return "no array with a candidate's id" + (
        ", the reply was cut by the token limit" if finish_reason == "length" else ""
    )


def _one_line(reply: str) -> str:
    """The beginning of the reply, in printable characters on one line."""
    text = " ".join(reply[: 4 * _SHOWN].split())
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text[:_SHOWN] + "…" if len(text) > _SHOWN or len(reply) > 4 * _SHOWN else text
