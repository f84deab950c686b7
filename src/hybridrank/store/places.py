"""Where an index lives: in the user's cache by what was indexed, or where one says."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from ..errors import InvalidValueError

CACHE = "HYBRIDRANK_CACHE"
"""Environment variable: the folder in which indexes live, instead of the user's cache."""


def index_directory(root: str | os.PathLike[str], index: str | os.PathLike[str] | bool = True) -> Path:
    """The directory of the index of a folder or file: the given one, or with True that in the user's cache.

    Raises:
        InvalidValueError: the given one lies in the indexed folder.
    """
    place = Path(root).resolve()
    if isinstance(index, bool):
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", place.name)[:40].strip("-.") or "root"
        return cache_directory() / f"{name}-{sha256(os.fsencode(place)).hexdigest()[:16]}"
    directory = Path(index).expanduser().resolve()
    if directory == place or (place.is_dir() and directory.is_relative_to(place)):
        raise InvalidValueError(
            f"the index {str(directory)!r} would lie in the indexed folder {str(place)!r}, where nothing is "
            "written; give a directory outside of it, or none for the user's cache"
        )
    return directory


def cache_directory() -> Path:
    """The folder of all indexes that have no directory of their own."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given).expanduser().resolve()
    from platformdirs import user_cache_path

    return user_cache_path("hybridrank", appauthor=False) / "indexes"
