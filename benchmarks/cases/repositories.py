"""Whole repositories from disk: indexing, asking with everything on, and indexing again after a change."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hybridrank import Pipeline

from . import data
from .harness import Options, Row, each, interleaved, row

_ASKED = (
    "open a connection", "parse the header", "retry after a timeout", "write to the log", "validate input",
    "convert to string", "cache of results", "close the stream", "configuration options", "error handling",
    "registerHandler", "to_string", "encode", "where is the default set", "merge two lists",
)  # fmt: skip


def index_and_ask(options: Options) -> Iterator[Row]:
    if options.corpus is None:
        return
    from semble import ContentType, SembleIndex

    kinds = (ContentType.CODE, ContentType.DOCS, ContentType.CONFIG)  # its default leaves out what we read
    with TemporaryDirectory() as folder:
        os.environ["SEMBLE_CACHE_LOCATION"] = os.environ["XDG_CACHE_HOME"] = folder
        model = str(data.random_model(Path(folder) / "model"))

        def theirs(root: Path) -> Any:
            made = SembleIndex.from_path(root, content=kinds, model_path=model)
            if made.loaded_from_disk:
                raise AssertionError(f"semble read {root.name} from its cache instead of indexing it")
            return made

        roots = data.repositories(options.corpus, options.repositories, options.roots)
        ours_all, theirs_all, ratios, files, other_files = 0.0, 0.0, [], 0, 0
        asked: dict[str, list[float]] = {"ours": [], "semble": []}
        rounds: dict[str, list[float]] = {}
        fewer = Options(options.scale, max(1, options.rounds // 2), options.cpu)
        for name, root in roots.items():
            pipeline, index = Pipeline.for_code(root), theirs(root)
            times = interleaved(
                fewer, {"ours": partial(Pipeline.for_code, root), "semble": partial(theirs, root)}
            )
            mine, other = statistics.median(times["ours"]), statistics.median(times["semble"])
            ours_all, theirs_all = ours_all + mine, theirs_all + other
            ratios.append(other / mine)
            rounds[name] = [round(mine, 3), round(other, 3)]
            files += len({document.path for document in pipeline.documents or ()})
            other_files += len({chunk.file_path for chunk in index.chunks})
            answers = {
                "ours": partial(pipeline.search, k=10),
                "semble": partial(index.search, top_k=10),
            }
            for side, seconds in each(fewer, _ASKED, answers).items():
                asked[side] += seconds
        if abs(files - other_files) > 0.05 * files:
            raise AssertionError(
                f"not the same work: {files} files, and {other_files} of semble; see --roots"
            )
        work = f"{len(roots)} repositories, {files:,} files, from disk"
        middle = statistics.median(ratios)
        note = f"ratio of the median repository {middle:.2f}; semble read {other_files:,} files"
        beside = "semble, random weights"
        other_work = "own chunks and legs on either side"
        yield Row(f"index {work}", beside, "2", ours_all, theirs_all, "s", other_work, note, rounds)
        yield row(
            f"a query on these, p50 of {len(_ASKED)}", beside, "2", asked, "semble", agreement=other_work
        )


def one_changed_file(options: Options) -> Iterator[Row]:
    if options.corpus is None:
        return
    with TemporaryDirectory() as folder:
        root, index = Path(folder) / "tree", Path(folder) / "index"
        size = _tree(options.corpus, root, options.size(10_000, 200))
        numbers = count()

        def full() -> None:
            shutil.rmtree(index, ignore_errors=True)
            Pipeline.for_code(root, index=index)

        def again() -> None:
            changed = root / "changed.py"
            changed.write_text(f"def changed_{next(numbers)}():\n    return 1\n", encoding="utf-8")
            Pipeline.for_code(root, index=index)

        again()
        fewer = Options(options.scale, max(1, options.rounds // 2), options.cpu)
        times = interleaved(fewer, {"full": full, "ours": again})
        yield row(
            f"index again after one changed file of {size:,}",
            "full build",
            "20",
            times,
            "full",
            agreement="tests compare with a fresh build",
        )


def _tree(corpus: Path, root: Path, most: int) -> int:
    """Up to so many source files of the corpus, copied."""
    from hybridrank.code.corpus import scan

    found, _ = scan(corpus, max_bytes=100_000)
    for item in found[:most]:
        place = root / item.path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(item.file, place)
    return len(found[:most])
