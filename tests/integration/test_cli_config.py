"""`hybridrank config check`, `schema` and `show`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hybridrank import Pipeline
from hybridrank.cli import main
from hybridrank.config import build, default_config, default_source, load_config
from hybridrank.errors import UnknownNameError

GOOD = '[retrievers.a]\nuse = "bm25"\n[ablations.short]\nrecall = 5\n'


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, list[str]]:
    code = main([str(arg) for arg in args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err.splitlines()


@pytest.mark.parametrize("name", ["code", "text"])
def test_what_show_prints_passes_check_and_is_what_runs(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "config", "show", name)
    assert (code, err) == (0, [])
    assert out.startswith("# ")
    file = tmp_path / "pipeline.toml"
    file.write_text(out, encoding="utf-8")
    assert load_config(file) == default_config(name)
    assert repr(build(file)) == repr(build(default_config(name)))
    assert run(capsys, "config", "check", file) == (0, "", [f"{file}: nothing is wrong"])
    assert list(Pipeline.from_config(file).retrievers) == list(default_config(name)["retrievers"])


def test_show_without_a_name_is_the_code_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(capsys, "config", "show")[1] == default_source("code") == run(capsys, "config", "show", "code")[1]
    )


def test_show_of_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "config", "show", "txt") == (
        2,
        "",
        ["error: unknown default configuration 'txt'; did you mean 'text'?"],
    )
    with pytest.raises(UnknownNameError):
        default_source("../defaults/code")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["error: the pipeline needs retrievers (Mapping[str, Retriever] | Sequence[Retriever])"]),
        (
            '[retrievers.a]\nuse = "bm52"\n',
            ["error: retrievers.a.use: unknown retriever 'bm52'; did you mean 'bm25'?"],
        ),
        (
            '[retrievers.a]\nuse = "bm25"\nk_1 = 2\n',
            ["error: retrievers.a.k_1: unknown option of retriever 'bm25': 'k_1'; did you mean 'k1'?"],
        ),
        (
            '[retrievers.a]\nuse = "bm25"\nk1 = -2\n',
            ["error: retrievers.a: k1 is -2; give a finite number above 0"],
        ),
        (
            '[retrievers.a]\nuse = "bm25"\n[fuser]\nuse = "rrf"\nweights = { b = 2 }\n',
            ["error: fuser.weights.b: unknown leg 'b'; known: a"],
        ),
        (
            GOOD.replace("recall", '"fuser"').replace("= 5", '= { use = "rrf", weights = { b = 2 } }'),
            ["error: ablations.short.fuser.weights.b: unknown leg 'b'; known: a"],
        ),
        # Each ablation is checked, and what it shares with the pipeline is told once.
        (
            GOOD + '[ablations.no-b]\n"retrievers.b" = false\n[ablations.odd]\n"retrievers.a.b" = 7\n',
            [
                "error: ablations.no-b.\"retrievers.b\": unknown path 'retrievers.b'; "
                "did you mean 'retrievers.a'?",
                "error: in ablation 'odd': retrievers.a: b is 7; give a number from 0 to 1",
            ],
        ),
        (
            GOOD.replace("bm25", "bm52"),
            ["error: retrievers.a.use: unknown retriever 'bm52'; did you mean 'bm25'?"],
        ),
        (GOOD + '[ablations.none]\n"retrievers.a" = false\n', None),
        ("recall = \n", None),
        ("[retrievers", None),
    ],
)
def test_check_tells_where_and_what(
    text: str, told: list[str] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_text(text, encoding="utf-8")
    code, out, err = run(capsys, "config", "check", file)
    assert (code, out) == (2, "")
    assert all(line.startswith("error: ") for line in err)
    assert err == told if told else len(err) == 1


def test_check_of_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "pipeline.yaml"
    other.write_text(GOOD)
    for file in (tmp_path / "missing.toml", tmp_path, other):
        code, out, err = run(capsys, "config", "check", file)
        assert (code, out) == (2, "")
        assert err[0].startswith("error: ")
    twice = tmp_path / "pipeline.json"
    twice.write_text('{"recall": 1,\n "recall": 2}')
    assert "stands twice" in run(capsys, "config", "check", twice)[2][0]


def test_check_indexes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Pipeline, "index", lambda *_, **__: pytest.fail("it indexed"))
    file = tmp_path / "pipeline.toml"
    file.write_text(GOOD)
    assert run(capsys, "config", "check", file)[0] == 0


def test_schema_validates_the_default_configurations(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "config", "schema")
    assert (code, err) == (0, [])
    schema = json.loads(out)
    Draft202012Validator.check_schema(schema)
    for name in ("code", "text"):
        Draft202012Validator(schema).validate(default_config(name))
    assert not Draft202012Validator(schema).is_valid({"retrievers": {"a": {"use": "bm52"}}})
    assert run(capsys, "config", "schema")[1] == out


def test_without_a_command_it_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "config")
    assert (code, out) == (2, "")
    assert "Commands:" in err
    code, _, err = run(capsys, "config", "chekc")
    assert code == 2
    assert "check" in err[0]
