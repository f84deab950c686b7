"""The example of docs/evidence.md: 2D movement code against tutorial records, without a model (seed 004)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridrank import Document, Pipeline, Result
from hybridrank.config import default_config
from hybridrank.records import BadLine, read_records

EXAMPLE = Path(__file__).parents[2] / "examples/evidence"
MOVING, SCREEN, IN_3D = "game_2d/moving", "game_2d/screen", "game_3d/moving"


@pytest.fixture(scope="module")
def read() -> list[Document | BadLine]:
    return list(read_records(EXAMPLE / "records.jsonl", id_field="meta.id", text_field="body"))


@pytest.fixture(scope="module")
def result(read: list[Document | BadLine]) -> Result:
    documents = [one for one in read if isinstance(one, Document)]
    pipeline = Pipeline.from_config(default_config("match")).index(documents)
    return pipeline.search((EXAMPLE / "player.gd").read_text(encoding="utf-8"), k=5)


def quoted(result: Result, id: str) -> set[str]:
    return {quote.text for verdict in result.verdicts if verdict.id == id for quote in verdict.quotes}


def test_the_source_is_searched_for_as_it_stands(read: list[Document | BadLine]) -> None:
    """No word of it is a question word, not even where it could be one."""
    documents = [one for one in read if isinstance(one, Document)]
    pipeline = Pipeline.from_config(default_config("match")).index(documents)
    for source in ("where is the screen_size", "which what how where is_on_floor"):
        found = pipeline.search(source)
        assert (found.query.text, found.trace.query.text) == (source, source)


def test_both_legs_put_the_3d_record_before_the_one_on_the_screen(result: Result) -> None:
    for stage in ("bm25", "dense", "fusion"):
        assert result.trace[stage].ids_out[:3] == (MOVING, IN_3D, SCREEN)


def test_the_reranker_lifts_the_screen_and_lets_the_3d_record_fall(result: Result) -> None:
    stage = result.trace["evidence"]
    assert stage.ids_out[:3] == (MOVING, SCREEN, IN_3D)
    scores = dict(zip(stage.ids_out, stage.scores, strict=True))
    # Not by a hair: the threshold lies well between.
    assert scores[SCREEN] > 0.4 > 1 / 3 > 0.25 > scores[IN_3D]


def test_the_two_records_of_the_page_are_accepted_with_their_strings(result: Result) -> None:
    assert result.ids == (MOVING, SCREEN)
    assert quoted(result, MOVING) >= {
        "Input.is_action_pressed",
        "AnimatedSprite2D.play",
        "AnimatedSprite2D.stop",
        "velocity.normalized",
    }
    assert quoted(result, SCREEN) == {"position.clamp", "Vector2.ZERO", "screen_size", "get_viewport_rect"}


def test_the_3d_record_is_rejected_although_it_shares_a_lot(result: Result) -> None:
    (verdict,) = (one for one in result.verdicts if one.id == IN_3D)
    assert (verdict.answer, verdict.accepted) == ("no", False)
    shared = {"Input.is_action_pressed", "move_left", "move_right", "normalized"}
    assert quoted(result, IN_3D) >= shared


def test_unrelated_records_are_rejected(result: Result, read: list[Document | BadLine]) -> None:
    every = {one.id for one in read if isinstance(one, Document)}
    rejected = {one.id for one in result.verdicts if one.answer == "no" and not one.accepted}
    assert rejected == every - {MOVING, SCREEN}
    assert len(rejected) == 8


def test_the_rest_of_a_record_is_metadata_and_a_bad_line_is_reported(read: list[Document | BadLine]) -> None:
    first, *_, last = read
    assert isinstance(first, Document)
    assert dict(first.metadata) == {"page": "game_2d", "title": "Moving and animating the player"}
    assert isinstance(last, BadLine)
    assert last.line == 11


def test_three_records_are_enough(read: list[Document | BadLine]) -> None:
    """Where two of three share a string, most do; what is left still tells them apart."""
    three = [one for one in read if isinstance(one, Document) and one.id in (MOVING, SCREEN, IN_3D)]
    pipeline = Pipeline.from_config(default_config("match")).index(three)
    result = pipeline.search((EXAMPLE / "player.gd").read_text(encoding="utf-8"), k=5)
    assert result.ids == (MOVING, SCREEN)
    assert quoted(result, IN_3D).isdisjoint({"Input.is_action_pressed", "move_left", "move_right"})


def test_a_long_source_finds_them_too(read: list[Document | BadLine]) -> None:
    """200 lines of the project's own code around the chunk."""
    own = "".join(f"\nfunc own_{n}(value_{n}):\n\treturn thing_{n}.act_{n}('k{n}')\n" for n in range(60))
    source = (EXAMPLE / "player.gd").read_text(encoding="utf-8") + own
    documents = [one for one in read if isinstance(one, Document)]
    result = Pipeline.from_config(default_config("match")).index(documents).search(source, k=5)
    assert MOVING in result.ids
    assert IN_3D not in result.ids
