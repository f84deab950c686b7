"""`hybridrank match` as it is typed: sources, candidates, what is printed, exit codes."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples/evidence"
FIELDS = ("--id-field", "meta.id", "--text-field", "body")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    def ids(self, state: str) -> list[str]:
        return re.findall(rf"^{state}  \[[\d.]+\] (\S+)", self.out, re.MULTILINE)


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(EXAMPLE)

    def call(*args: object, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["match", *map(str, args)])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def test_records_are_matched_with_a_file(run: Run) -> None:
    done = run("--source", "player.gd", "--records", "records.jsonl", *FIELDS)
    assert done.code == 0
    assert done.ids("accepted") == ["game_2d/moving", "game_2d/screen"]
    assert done.ids("rejected") == ["game_3d/moving", "guide/sound"]
    assert "get_viewport_rect (line 9), position.clamp (line 30)," in done.out
    assert "accepted from 0.333" in done.out
    assert done.out.endswith("10 candidates: 2 accepted, 8 rejected (2 shown); --all shows all\n")
    assert "1 line skipped (it is no JSON" in done.err


def test_all_of_them_are_judged_and_listed_when_asked_for(run: Run) -> None:
    some = run("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "-k", 1, "-q")
    assert some.out.endswith("10 candidates: 1 accepted, 0 rejected, 9 not judged; --all shows all\n")
    every = run("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "-k", 1, "--all", "-q")
    assert (len(every.ids("accepted")), len(every.ids("rejected"))) == (2, 8)
    assert every.out.endswith("10 candidates: 2 accepted, 8 rejected\n")
    assert (some.err, every.err) == ("", "")


@pytest.mark.parametrize(
    ("given", "lines", "first"),
    [("player.gd:23-30", (23, 30), 23), ("player.gd:30", (30, 30), 30), ("player.gd", (1, 30), 1)],
)
def test_lines_of_a_file(run: Run, given: str, lines: tuple[int, int], first: int) -> None:
    data = run("--source", given, "--records", "records.jsonl", *FIELDS, "--json").data
    assert (data["source"]["path"], data["source"]["start_line"], data["source"]["end_line"]) == (
        "player.gd",
        *lines,
    )
    text = (EXAMPLE / "player.gd").read_text()
    for one in data["accepted"]:
        for quote in one["verdict"]["evidence"]:
            assert first <= quote["source_line"] <= lines[1]
            assert quote["text"] in text.splitlines()[quote["source_line"] - 1]


def test_standard_input_is_the_same_source(run: Run) -> None:
    source = (EXAMPLE / "player.gd").read_bytes()
    typed = run("--source", "-", "--records", "records.jsonl", *FIELDS, stdin=source)
    assert typed.out == run("--source", "player.gd", "--records", "records.jsonl", *FIELDS).out
    # A pipe is asked for by nothing else.
    piped = run("--records", "records.jsonl", *FIELDS, stdin=source)
    assert (piped.code, piped.out) == (0, typed.out)
    empty = run("--records", "records.jsonl", *FIELDS, stdin=b"")
    assert (empty.code, "Missing option '--source'" in empty.err) == (2, True)
    crlf = run("--source", "-", "--records", "records.jsonl", *FIELDS, stdin=source.replace(b"\n", b"\r\n"))
    assert crlf.out == typed.out


def test_json_has_the_documented_fields(run: Run) -> None:
    done = run("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "--json", "--show")
    data = done.data
    assert list(data) == [
        "schema",
        "k",
        "degraded",
        "source",
        "candidates",
        "accepted",
        "rejected",
        "events",
        "corpus",
    ]
    records = [json.loads(line) for line in (EXAMPLE / "records.jsonl").read_text().splitlines()[:-1]]
    bodies = {record["meta"]["id"]: record["body"] for record in records}
    source = (EXAMPLE / "player.gd").read_text()
    for one in (*data["accepted"], *data["rejected"]):
        assert one["text"] == bodies[one["id"]]
        assert list(one["verdict"]) == ["answer", "accepted", "reason", "evidence"]
        for quote in one["verdict"]["evidence"]:
            assert list(quote) == ["text", "in_source", "source_line", "in_document", "document_line"]
            assert source[slice(*quote["in_source"])] == quote["text"]
            assert one["text"][slice(*quote["in_document"])] == quote["text"]
    assert [one["rank"] for one in data["accepted"]] == [1, 2]
    assert {one["verdict"]["answer"] for one in data["rejected"]} == {"no"}
    assert all("evidence" in one["components"] and "rank" not in one for one in data["rejected"])
    assert data["corpus"]["skipped"] == 1
    assert (
        done.out
        == run("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "--json", "--show").out
    )


def test_an_index_of_records_serves_and_stays_as_it_is(run: Run, tmp_path: Path, capsys: Any) -> None:
    assert main(["index", "records.jsonl", *FIELDS]) == 0
    capsys.readouterr()
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*")}
    done = run("--source", "player.gd", "records.jsonl")
    assert done.ids("accepted") == ["game_2d/moving", "game_2d/screen"]
    assert "other options" not in done.err
    assert files == {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*")}
    directory = next((tmp_path / "cache").iterdir())
    assert run("--source", "player.gd", "--index", directory).out == done.out


def test_code_is_matched_with_code(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "walk.gd").write_text("func step():\n\tvar p = position.clamp(Vector2.ZERO, screen_size)\n")
    (tree / "other.py").write_text(
        "def add(one, two):\n    return one + two\n\n\ndef sub(a, b):\n    return a\n"
    )
    done = run("--source", "player.gd:30", tree)
    assert done.ids("accepted") == ["walk.gd:1-2"]


def test_a_question_is_a_source_too(run: Run) -> None:
    asked = b"how does the player stay on the screen"
    done = run("--source", "-", "--records", "records.jsonl", *FIELDS, stdin=asked)
    assert done.ids("accepted") == ["game_2d/screen"]


def test_nothing_accepted_is_an_answer(run: Run) -> None:
    done = run("--source", "-", "--records", "records.jsonl", *FIELDS, stdin=b"matrix_product(a_b, c_d)")
    assert (done.code, done.ids("accepted"), done.ids("rejected")) == (0, [], [])
    assert "10 candidates: 0 accepted, 10 rejected (0 shown)" in done.out
    assert "none of the 10 hits judged was accepted" in done.err
    blank = run("--source", "-", "--records", "records.jsonl", *FIELDS, stdin=b"\n?!\n")
    assert (blank.code, blank.out) == (0, "0 candidates: 0 accepted, 0 rejected\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--records", "records.jsonl"), "Missing option '--source'"),
        (("--source", "none.gd", "--records", "records.jsonl"), "cannot read 'none.gd'"),
        (("--source", ".", "--records", "records.jsonl"), "cannot read '.'"),
        (("--source", "player.gd:31", "--records", "records.jsonl"), "has 30 lines; 31-31 is not among them"),
        (("--source", "player.gd:0-2", "--records", "records.jsonl"), "0-2 is not among them"),
        (("--source", "player.gd:9-3", "--records", "records.jsonl"), "9-3 is not among them"),
        (("--source", "player.gd", "--records", "records.jsonl"), "of line 1, it has no field 'id'"),
        (("--source", "player.gd", "--records", "records.jsonl", "."), "by --records, or by PATH"),
        (("--source", "player.gd", "records.jsonl"), "give it as --records"),
        (("--source", "player.gd", ".", "--id-field", "id"), "go with --records"),
        (("--source", "player.gd", ".", "-q", "-v"), "exclude each other"),
        (
            ("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "-k", "99"),
            "k=99 is above recall",
        ),
        (("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "--ablation", "x"), "'x'"),
    ],
)
def test_what_is_given_wrong_is_refused(run: Run, args: tuple[str, ...], told: str) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_pipeline_without_a_validator_is_refused(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "p.toml"
    config.write_text('[retrievers.bm25]\nuse = "bm25"\n')
    done = run("--source", "player.gd", "--records", "records.jsonl", *FIELDS, "--config", config)
    assert done.code == 2
    assert "match needs a validator" in done.err


def test_binary_sources_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.gd").write_bytes(b"\0\1")
    done = run("--source", tmp_path / "x.gd", "--records", "records.jsonl", *FIELDS)
    assert done.code == 2
    assert "is binary" in done.err
    assert run("--source", "-", "--records", "records.jsonl", *FIELDS, stdin=b"\0\1").code == 2


def test_a_file_may_be_named_like_lines(run: Run, tmp_path: Path) -> None:
    (tmp_path / "odd:3").write_text("position.clamp(Vector2.ZERO, screen_size)")
    done = run("--source", tmp_path / "odd:3", "--records", "records.jsonl", *FIELDS)
    assert done.ids("accepted") == ["game_2d/screen"]


def test_hostile_records_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    lines = [
        {"id": "\x1b[2J\n", "text": "a_b('\x1b[31m c')"},
        {"id": "2", "text": "no"},
        {"id": "3", "text": ""},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    done = run("--source", "-", "--records", file, stdin=b"a_b('\x1b[31m c')")
    assert "accepted" in done.out
    assert "\x1b" not in done.out


def test_undecided_ones_are_counted(run: Run, tmp_path: Path) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text((EXAMPLE / "records.jsonl").read_text("utf-8").splitlines()[0], "utf-8")
    done = run("--source", "player.gd", "--records", one, *FIELDS, "-q")
    assert done.out == "1 candidate: 0 accepted, 1 rejected (1 undecided, 0 shown); --all shows all\n"


def test_an_empty_field_is_an_error(run: Run) -> None:
    done = run(
        "--source", "player.gd", "--records", "records.jsonl", "--id-field", "", "--text-field", "body"
    )
    assert done.code == 2
    assert "id_field is ''" in done.err


@pytest.mark.parametrize("command", ["search", "ask"])
def test_skipped_records_are_lines(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLE)
    assert main(["index", "records.jsonl", *FIELDS, "--index", str(tmp_path / "index"), "-q"]) == 0
    rest = ["--no-llm"] if command == "ask" else []
    assert main([command, "clamp", "--index", str(tmp_path / "index"), *rest]) == 0
    assert "1 line skipped (it is no JSON" in capsys.readouterr().err
