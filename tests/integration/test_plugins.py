"""Parts from another distribution, really built and installed: by name, in configurations, beside others."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doc_blocks import sample_repository
from fake_distributions import Site, temporary_site
from hybridrank import (
    BM25,
    Document,
    Pipeline,
    PluginError,
    UnknownNameError,
    components,
    load_component,
)
from hybridrank.cli import main
from hybridrank.registry import PluginWarning
from hybridrank.testing import checks_for

SAMPLE = Path(__file__).parents[1] / "sample_plugin"
SCRIPT = Path(sysconfig.get_path("scripts")) / "hybridrank"
CONFIG = """
[retrievers.bm25]
use = "bm25"
[retrievers.fuzzy]
use = "trigram"
at_least = 0.4
[rerankers.short]
use = "shortest"
depth = 10
[ablations.strict]
"retrievers.fuzzy.at_least" = 0.9
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample distribution, installed into a folder of its own without the network."""
    folder = tmp_path_factory.mktemp("plugins")
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", folder, SAMPLE], check=True)
    return folder


@pytest.fixture
def installed(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(built))
    importlib.invalidate_caches()
    yield built
    for name in [name for name in sys.modules if name.partition(".")[0] == "hybridrank_sample"]:
        del sys.modules[name]


@pytest.fixture
def beside(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Another folder on the path, for distributions made up beside the sample."""
    yield from temporary_site(tmp_path, monkeypatch)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    sample_repository(folder)
    (folder / "pipeline.toml").write_text(CONFIG, encoding="utf-8")
    return folder


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    code = main([str(arg) for arg in args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def script(*args: object, path: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [SCRIPT, *map(str, args)],
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


# The sample


def test_it_is_listed_without_being_imported(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "components")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert ["retriever", "trigram", "hybridrank-sample", "1.2.3"] in rows
    assert ["reranker", "shortest", "hybridrank-sample", "1.2.3"] in rows
    assert "hybridrank_sample" not in sys.modules
    shown = run(capsys, "components", "--options", "--kind", "retriever")[1]
    assert any(
        line.split()[1:] == ["trigram", "hybridrank-sample", "1.2.3", "at_least=0.3"]
        for line in shown.splitlines()
    )
    assert "hybridrank_sample.trigram" in sys.modules


def test_the_command_line_uses_it_by_name(built: Path, tree: Path) -> None:
    command = (
        "search",
        "--config",
        tree / "pipeline.toml",
        "--json",
        "--explain",
        "revke_tokn",
        tree / "src",
    )
    code, out, err = script(*command, path=built)
    assert code == 0, err
    data = json.loads(out)
    assert data["hits"][0]["name"] == "revoke_token"
    assert list(data["hits"][0]["components"]) == ["fuzzy", "fusion", "short"]
    steps = {step["stage"]: step for step in data["hits"][0]["explanation"]}
    assert [c["name"] for c in steps["fuzzy"]["contributions"]] == [" re", " to", "ke ", "rev", "tok"]
    code, out, _ = script(*command, "--ablation", "strict", path=built)
    assert (code, json.loads(out)["hits"]) == (0, [])
    # Not installed, the name is unknown.
    code, _, err = script(*command, path=tree)
    assert code == 2
    assert "retrievers.fuzzy.use: unknown retriever 'trigram'" in err


def test_python_uses_it_by_name(installed: Path, tree: Path) -> None:
    pipeline = Pipeline.for_code(tree / "src", config=tree / "pipeline.toml")
    trigram = load_component("retriever", "trigram")
    assert pipeline.retrievers["fuzzy"].__class__.__module__ == "hybridrank_sample.trigram"
    assert repr(pipeline.retrievers["fuzzy"]) == "Trigram(at_least=0.4)"
    assert pipeline.search("sesion logut", k=1)[0].document.path == "session.py"
    by_hand = Pipeline([BM25(), trigram(at_least=0.4)], rerankers=[load_component("reranker", "shortest")()])
    assert list(by_hand.parts()) == ["bm25", "trigram", "fusion", "shortest"]
    documents = [Document("long", "a token " * 9), Document("short", "a token")]
    assert by_hand.index(documents).search("token").ids == ("short", "long")


def test_configurations_are_checked_against_it(
    installed: Path, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tree / "pipeline.toml"
    assert run(capsys, "config", "check", file)[0] == 0
    schema = json.loads(run(capsys, "config", "schema")[1])
    assert {"trigram", "hybridrank-sample:trigram"} <= set(
        schema["$defs"]["retriever"]["properties"]["use"]["enum"]
    )
    file.write_text(CONFIG.replace("at_least =", "atleast ="), encoding="utf-8")
    code, _, err = run(capsys, "config", "check", file)
    assert code == 2
    assert "retrievers.fuzzy.atleast: unknown option of retriever 'trigram'" in err
    assert "did you mean 'at_least'?" in err
    file.write_text(CONFIG.replace("0.4", "4"), encoding="utf-8")
    assert "retrievers.fuzzy: at_least is 4; give" in run(capsys, "config", "check", file)[2]


LAWS = [
    pytest.param(kind, name, check, id=f"{name}-{law}")
    for kind, name in (("retriever", "trigram"), ("reranker", "shortest"))
    for law, check in checks_for(kind)
]


@pytest.mark.parametrize(("kind", "name", "check"), LAWS)
def test_it_keeps_the_laws_of_its_kind(
    installed: Path, kind: str, name: str, check: Callable[[Any], None]
) -> None:
    check(load_component(kind, name))


# Beside others


# PL-04
def test_listing_runs_no_plug_in(beside: Site, capsys: pytest.CaptureFixture[str]) -> None:
    marker = beside.folder / "imported"
    source = f"open({str(marker)!r}, 'w').close()\nclass Eager:\n    def __init__(self) -> None: ...\n"
    beside.install("eager", {"fusers": {"eager": "eager_plugin:Eager"}}, {"eager_plugin": source})
    for command in (
        "--help",
        "--version",
        "components",
        "components --json",
        "components --kind fuser",
        "config show",
    ):
        assert run(capsys, *command.split())[0] == 0
        assert not marker.exists(), command
    assert "eager" in run(capsys, "components", "--options")[1]
    assert marker.exists()


# PL-01
@pytest.mark.parametrize(
    "source", ["raise RuntimeError('no luck')", "import sys; sys.exit(3)", "import no_such_thing"]
)
def test_a_broken_one_harms_only_who_asks_for_it(
    beside: Site, tree: Path, capsys: pytest.CaptureFixture[str], source: str
) -> None:
    beside.install("broken-dist", {"rerankers": {"broken": "broken_beside:Part"}}, {"broken_beside": source})
    for command in (
        "components",
        f"config check {tree / 'pipeline.toml'} -h",
        f"config check {tree / 'pipeline.toml'}",
    ):
        code, _, err = run(capsys, *command.split())
        assert code == 0
        assert "broken-dist" not in err
    search = ("search", "revoke_token", tree / "src", "--config", tree / "pipeline.toml")
    code, out, err = run(capsys, *search)
    assert (code, "broken-dist" in err) == (0, False)
    assert "revoke_token" in out
    (tree / "pipeline.toml").write_text(CONFIG.replace('"shortest"', '"broken"'), encoding="utf-8")
    code, out, err = run(capsys, *search)
    assert (code, out) == (1, "")
    assert "reranker 'broken' of distribution 'broken-dist' (1.0) cannot be loaded" in err
    assert "Traceback" not in err
    assert run(capsys, "config", "check", tree / "pipeline.toml")[0] == 2


# PL-03
@pytest.mark.filterwarnings("default::hybridrank.registry.PluginWarning")
def test_a_built_in_wins_and_the_other_can_be_selected(
    beside: Site, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "class Rival:\n    def __init__(self) -> None: ...\n    def fuse(self, rankings, /, *, k):\n"
    source += "        return min(rankings.items())[1].cut(k)\n"
    beside.install("rival-dist", {"fusers": {"rrf": "rival_beside:Rival"}}, {"rival_beside": source})
    file = tree / "pipeline.toml"
    file.write_text(CONFIG + '[fuser]\nuse = "rrf"\n', encoding="utf-8")
    code, _, err = run(capsys, "search", "token", tree / "src", "--config", file)
    assert code == 0, err
    assert "warning: fuser 'rrf' is the one of 'hybridrank'; 'rival-dist' offers another" in err
    assert "'rival-dist:rrf'" in err
    file.write_text(CONFIG + '[fuser]\nuse = "rival-dist:rrf"\n', encoding="utf-8")
    assert type(Pipeline.from_config(file).fuser).__name__ == "Rival"
    file.write_text(CONFIG + '[fuser]\nuse = "hybridrank:rrf"\n', encoding="utf-8")
    assert type(Pipeline.from_config(file).fuser).__name__ == "RRF"
    with pytest.warns(PluginWarning, match="rival-dist"):
        load_component("fuser", "rrf")


# PL-03
def test_two_plug_ins_of_one_name(beside: Site, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beside.install("other-dist", {"retrievers": {"trigram": "hybridrank_sample.trigram:Trigram"}})
    both = [info.distribution for info in components("retriever") if info.name == "trigram"]
    assert both == ["hybridrank-sample", "other-dist"]
    code, _, err = run(capsys, "search", "token", tree / "src", "--config", tree / "pipeline.toml")
    assert code == 1
    assert "'hybridrank-sample:trigram', 'other-dist:trigram'" in err
    with pytest.raises(PluginError):
        load_component("retriever", "trigram")
    selected = CONFIG.replace('"trigram"', '"hybridrank-sample:trigram"')
    (tree / "pipeline.toml").write_text(selected, encoding="utf-8")
    assert run(capsys, "search", "token", tree / "src", "--config", tree / "pipeline.toml")[0] == 0
    with pytest.raises(UnknownNameError, match=r"did you mean 'hybridrank-sample:trigram'"):
        load_component("retriever", "hybridrank-sample:trigam")
