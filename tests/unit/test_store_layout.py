"""What is in a directory: ours, damaged, of another program, of another format."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridrank import (
    BM25,
    Document,
    IndexFormatError,
    IndexNotFoundError,
    MismatchError,
    Pipeline,
    StoreError,
)
from hybridrank.store import layout
from hybridrank.store.lock import Lock
from hybridrank.store.writing import Writer, make_directory

VALUES: dict[str, Any] = {"source": None, "config": {}, "parts": {}}
DOCUMENTS = [Document("a", "alpha beta"), Document("b", "beta gamma")]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    Pipeline([BM25()]).index(DOCUMENTS).save(tmp_path / "index")
    return tmp_path / "index"


def rewrite(index: Path, **values: Any) -> None:
    """Change the manifest as another program would that knows the format."""
    manifest = {**json.loads((index / "manifest.json").read_text("utf-8")), **values}
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    manifest["digest"] = sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (index / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def arrays(index: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((index / "manifest.json").read_text("utf-8"))["arrays"]
    return found


def file_of(index: Path, name: str) -> Path:
    return index / "data" / str(arrays(index)[name]["file"])


def test_what_is_there_is_opened_without_copies(index: Path) -> None:
    stored = layout.read(index)
    assert stored.size == sum(path.stat().st_size for path in (index / "data").iterdir())
    for array in stored.arrays.values():
        assert not array.flags.writeable
        assert isinstance(array.base, np.memmap)
    stored.verify()


def test_nothing_there(tmp_path: Path) -> None:
    for place in (tmp_path / "none", tmp_path):
        with pytest.raises(IndexNotFoundError, match=r"there is no index in .*make one: hybridrank index"):
            Pipeline.load(place)


@pytest.mark.parametrize("name", ["documents.texts", "part0.impacts", "part0.term_ends"])
def test_a_truncated_array_is_an_error_that_names_it(index: Path, name: str) -> None:
    file = file_of(index, name)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(IndexFormatError, match=f"is damaged: {file.name} has .*; index again") as caught:
        Pipeline.load(index)
    assert caught.value.replaceable


def test_a_missing_array_is_an_error_that_names_it(index: Path) -> None:
    file_of(index, "documents.heads").unlink()
    with pytest.raises(IndexFormatError, match=r"damaged: .*documents.heads.npy is missing"):
        Pipeline.load(index)


@pytest.mark.parametrize("name", ["documents.texts", "part0.impacts", "part0.documents"])
def test_a_flipped_bit_is_found_when_all_is_read(index: Path, name: str) -> None:
    file = file_of(index, name)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    stored = layout.read(index)
    with pytest.raises(IndexFormatError, match=rf"{file.name} \({name}\) is not as it was written"):
        stored.verify()


@pytest.mark.parametrize("place", [9, 70, 100])
def test_a_flipped_bit_in_a_header_is_an_error(index: Path, place: int) -> None:
    file = file_of(index, "part0.impacts")
    content = bytearray(file.read_bytes())
    content[place] ^= 0x11
    file.write_bytes(content)
    with pytest.raises(IndexFormatError, match="damaged"):
        layout.read(index).verify()


@pytest.mark.parametrize("flip", range(0, 3000, 97))
def test_a_flipped_bit_in_the_manifest_is_an_error(index: Path, flip: int) -> None:
    file = index / "manifest.json"
    content = bytearray(file.read_bytes())
    content[flip % len(content)] ^= 1
    file.write_bytes(content)
    with pytest.raises(IndexFormatError):
        Pipeline.load(index)


@pytest.mark.parametrize("left", [0, 1, 100, -1])
def test_a_truncated_manifest_is_an_error(index: Path, left: int) -> None:
    file = index / "manifest.json"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(IndexFormatError, match="damaged") as caught:
        Pipeline.load(index)
    assert caught.value.replaceable
    Pipeline([BM25()]).index(DOCUMENTS).save(index)
    assert len(Pipeline.load(index).documents or ()) == 2


def test_a_newer_format_is_left_alone(index: Path) -> None:
    rewrite(index, version=layout.VERSION + 1, hybridrank="99.0")
    before = sorted(path.name for path in index.rglob("*"))
    newer = rf"format {layout.VERSION + 1}, written by hybridrank 99\.0.*upgrade"
    with pytest.raises(IndexFormatError, match=newer) as caught:
        Pipeline.load(index)
    assert not caught.value.replaceable
    with pytest.raises(IndexFormatError, match="upgrade"):
        Pipeline([BM25()]).index(DOCUMENTS).save(index)
    assert sorted(path.name for path in index.rglob("*")) == before


def test_an_older_format_can_be_made_again(index: Path) -> None:
    rewrite(index, version=layout.VERSION - 1)
    with pytest.raises(IndexFormatError, match="index again") as caught:
        Pipeline.load(index)
    assert caught.value.replaceable


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", "mine"),
        ("manifest.json", '{"name": "an app"}'),
        ("manifest.json", "[]"),
        ("manifest.json", "no json"),
        ("lock", "another program's"),
    ],
)
def test_what_others_keep_in_a_directory_is_left_alone(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/000001-x.npy").write_text("theirs", "utf-8")
    with pytest.raises(StoreError) as caught:
        Pipeline.load(tmp_path)
    assert isinstance(caught.value, IndexFormatError)
    assert "no index of hybridrank" in str(caught.value)
    with pytest.raises(IndexFormatError, match="it is left alone"):
        Pipeline([BM25()]).index(DOCUMENTS).save(tmp_path)
    assert (tmp_path / name).read_text("utf-8") == content
    assert (tmp_path / "data/000001-x.npy").read_text("utf-8") == "theirs"


@pytest.mark.parametrize("file", ["../../secret.npy", "/etc/passwd", "000001-a/b.npy", "x.npy"])
def test_a_manifest_cannot_name_files_elsewhere(index: Path, file: str) -> None:
    changed = arrays(index)
    changed["documents.texts"]["file"] = file
    rewrite(index, arrays=changed)
    with pytest.raises(IndexFormatError, match="the manifest names the file"):
        Pipeline.load(index)


@pytest.mark.parametrize("values", [{"arrays": {}}, {"arrays": []}, {"parts": 3}, {"config": None}])
def test_a_manifest_that_makes_no_sense_is_damaged(index: Path, values: dict[str, Any]) -> None:
    rewrite(index, **values)
    with pytest.raises(IndexFormatError, match="damaged"):
        Pipeline.load(index)


def test_arrays_that_do_not_fit_are_damaged(index: Path) -> None:
    changed = arrays(index)
    changed["part0.lengths"], changed["part0.starts"] = changed["part0.starts"], changed["part0.lengths"]
    rewrite(index, arrays=changed)
    with pytest.raises(IndexFormatError, match="damaged: the arrays of BM25 do not fit together"):
        Pipeline.load(index)


def test_a_pickle_is_never_opened(index: Path) -> None:
    file = file_of(index, "part0.lengths")
    np.save(file, np.array([{"a": 1}, None], object), allow_pickle=True)
    changed = arrays(index)
    changed["part0.lengths"]["size"] = file.stat().st_size
    rewrite(index, arrays=changed)
    with pytest.raises(IndexFormatError, match=r"part0.lengths.npy cannot be read"):
        Pipeline.load(index)


def test_a_part_with_other_options_is_a_mismatch(index: Path) -> None:
    config = json.loads((index / "manifest.json").read_text("utf-8"))["config"]
    config["retrievers"]["bm25"]["b"] = 0.5
    rewrite(index, config=config)
    with pytest.raises(MismatchError, match=r"'bm25' is .* but the index .* was made with"):
        Pipeline.load(index)


def test_arrays_that_are_handed_over_again_are_not_written_again(index: Path) -> None:
    stored = layout.read(index)
    writer = Writer(index, stored)
    for name, array in stored.arrays.items():
        writer.add(name, array)
    writer.add("more", np.arange(3))
    manifest = writer.commit(VALUES)
    assert {name: entry for name, entry in manifest["arrays"].items() if name != "more"} == arrays_before(
        stored
    )
    assert manifest["generation"] == stored.manifest["generation"] + 1
    assert np.array_equal(layout.read(index).arrays["more"], np.arange(3))


def arrays_before(stored: layout.Stored) -> dict[str, Any]:
    return {name: dict(entry) for name, entry in stored.manifest["arrays"].items()}


def test_a_view_of_an_array_is_written(index: Path) -> None:
    stored = layout.read(index)
    writer = Writer(index, stored)
    writer.add("view", stored.arrays["documents.texts"][1:])
    writer.commit(VALUES)
    found = layout.read(index).arrays["view"]
    assert found.tobytes() == stored.arrays["documents.texts"][1:].tobytes()


def test_damage_is_not_written_on(index: Path) -> None:
    file = file_of(index, "documents.texts")
    stored = layout.read(index)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    writer = Writer(index, stored)
    writer.add("documents.texts", stored.arrays["documents.texts"].copy())
    with pytest.raises(IndexFormatError, match="not as it was written"):
        writer.commit(VALUES)


def test_leftovers_go_and_what_others_put_there_stays(index: Path) -> None:
    (index / "data/000009-part0.counts.npy").write_bytes(b"left over")
    (index / "manifest.json.new").write_bytes(b"left over")
    (index / "data/readme.txt").write_bytes(b"mine")
    Pipeline([BM25()]).index(DOCUMENTS).save(index)
    names = {path.name for path in (index / "data").iterdir()}
    assert names == {"readme.txt", *(entry["file"] for entry in arrays(index).values())}
    assert not (index / "manifest.json.new").exists()


def writer_in(index: Path) -> Writer:
    make_directory(index)
    with Lock(index):
        return Writer(index)


def test_objects_are_no_state(tmp_path: Path) -> None:
    writer = writer_in(tmp_path / "index")
    with pytest.raises(StoreError, match="Python objects"):
        writer.add("objects", np.array([None]))


def test_arrays_of_every_shape_come_back(tmp_path: Path) -> None:
    writer = writer_in(tmp_path / "index")
    given: dict[str, np.ndarray[Any, Any]] = {
        "empty": np.zeros(0, np.float32),
        "flat": np.zeros((0, 5), np.int64),
        "turned": np.arange(12, dtype=np.int32).reshape(3, 4).T,
        "sliced": np.arange(10)[::3],
        "mask": np.array([True, False]),
        "one": np.array(5.5),
    }
    for name, array in given.items():
        writer.add(name, array)
    writer.commit(VALUES)
    for name, array in layout.read(tmp_path / "index").arrays.items():
        assert array.dtype == given[name].dtype
        assert array.shape == given[name].shape
        assert np.array_equal(array, given[name])
