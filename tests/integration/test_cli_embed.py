"""`--embed`: a model for the leg that embeds, as a user types it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hybridrank import http
from hybridrank.cli import main
from ollama_server import MINILM, OVERLOADED, TOO_LONG, Answer, Model, OllamaServer

BGE = Model("bge-m3:latest", "b" * 64, 16, "bert", "566.70M", "F16", 8192)
EMBED = "/api/embed"


@pytest.fixture(scope="module")
def running() -> Iterator[OllamaServer]:
    with OllamaServer(replay=False) as server:
        yield server


@pytest.fixture
def server(running: OllamaServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OllamaServer:
    monkeypatch.setattr(http, "PAUSE", 0.005)
    monkeypatch.setenv("HYBRIDRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OLLAMA_HOST", running.url)
    running.reset()
    running.add_model(BGE)
    return running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "net.py").write_text("def open_connection(host):\n    return connect(host)\n")
    (root / "bread.py").write_text("def bake(flour):\n    return heat(knead(flour))\n")
    return root


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    code = main([str(arg) for arg in args])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_search_without_an_index(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "search", "open the connection", tree, "--embed", "bge-m3", "--explain")
    assert (code, "net.py:1-2" in out, "dense" in out) == (0, True, True)
    assert {body["model"] for body in server.requests_to(EMBED)} == {"bge-m3"}
    assert len(server.sent_texts()) == 3
    # The second search sends nothing but what is new.
    server.requests.clear()
    assert (
        run(capsys, "search", "open the connection", tree, "--embed", "ollama:bge-m3", "--explain")[1] == out
    )
    assert server.sent_texts() == []


def test_an_index_remembers_its_model(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "index", tree, "--embed", "bge-m3")[0] == 0
    assert len(server.sent_texts()) == 2
    server.requests.clear()
    code, out, err = run(capsys, "search", "bake flour", tree)
    assert (code, out.splitlines()[0].endswith("bake (function)"), err) == (0, True, "")
    assert run(capsys, "search", "bake flour", tree, "--embed", "bge-m3") == (code, out, "")
    assert server.sent_texts() == ["bake flour"]
    # Nothing changed: nothing is sent.
    assert run(capsys, "index", tree, "--embed", "bge-m3")[1].startswith("unchanged")
    (tree / "more.py").write_text("def knead(dough):\n    return dough\n")
    assert run(capsys, "search", "knead", tree)[0] == 0
    assert len(server.sent_texts()) == 3


def test_an_index_is_not_searched_with_another_embedder(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "index", tree)[0] == 0
    manifest = next((tree.parent / "cache").glob("tree-*/manifest.json"))
    before = manifest.read_bytes()
    code, _, err = run(capsys, "search", "bake flour", tree, "--embed", "bge-m3")
    assert code == 0
    assert "the index was made with other options; this answer is with yours, the index stays as it is" in err
    assert len(server.sent_texts()) == 3
    assert run(capsys, "search", "bake flour", tree, "--embed", "all-minilm")[0] == 0
    assert {body["model"] for body in server.requests_to(EMBED)} == {"bge-m3", "all-minilm"}
    assert manifest.read_bytes() == before
    code, _, err = run(capsys, "index", tree, "--embed", "bge-m3")
    assert (code, "dense was indexed anew: its options changed" in err) == (0, True)
    assert b"bge-m3" in manifest.read_bytes()


def test_a_changed_model(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # EM-12
    assert run(capsys, "index", tree, "--embed", "bge-m3")[0] == 0
    server.change_digest("bge-m3:latest", quantization="Q8_0")
    told = (
        "has the digest ffffffffffff (566.70M, Q8_0) now, "
        "but the index was made with bbbbbbbbbbbb (566.70M, F16)"
    )
    for command in (["search", "bake", tree], ["index", tree, "--embed", "bge-m3"]):
        code, out, err = run(capsys, *command)
        assert (code, out, told in err) == (1, "", True)
    (tree / "more.py").write_text("def more():\n    pass\n")
    assert run(capsys, "search", "bake", tree)[0] == 1
    code, out, err = run(capsys, "index", tree, "--embed", "bge-m3", "--refit")
    assert (code, told in err, "dense was indexed anew" in err) == (0, True, True)
    assert run(capsys, "search", "bake", tree)[0] == 0


def test_a_server_that_is_gone(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # EM-08, EM-18
    assert run(capsys, "index", tree, "--embed", "bge-m3")[0] == 0
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:1")
    code, out, err = run(capsys, "search", "bake", tree)
    assert (code, out) == (1, "")
    assert "cannot connect to http://127.0.0.1:1" in err
    code, out, err = run(capsys, "search", "bake", tree, "--weight", "dense=0")
    assert (code, "bread.py" in out, "cannot be told now" in err) == (0, True, True)
    code, out, err = run(capsys, "search", "bake", tree, "--on-error", "degrade")
    assert (code, "bread.py" in out, "'dense' failed and was left out" in err) == (3, True, True)


def test_a_build_that_died_goes_on(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "index", tree, "--embed", "bge-m3")[0] == 0
    sent = server.sent_texts()
    (tree / "more.py").write_text("def more():\n    pass\n")
    server.script(EMBED, *[OVERLOADED] * 3)
    code, out, err = run(capsys, "index", tree, "--embed", "bge-m3")
    assert (code, out, "server busy" in err) == (1, "", True)
    server.requests.clear()
    assert run(capsys, "index", tree, "--embed", "bge-m3")[0] == 0
    assert len(server.sent_texts()) == 1
    assert not set(server.sent_texts()) & set(sent)


def test_a_bad_text_is_named(server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(body: Any) -> Answer | None:
        bad = any("flour" in text for text in body["input"])
        return Answer({"error": "unsupported value: NaN"}, 500) if bad else None

    server.on[EMBED] = refuse
    code, out, err = run(capsys, "index", tree, "--embed", "bge-m3")
    assert (code, out, "documents: 'bread.py:1-2'" in err) == (1, "", True)


def test_a_text_that_is_too_long(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # EM-03
    server.on[EMBED] = lambda body: TOO_LONG if any(len(text) > 60 for text in body["input"]) else None
    code, out, err = run(capsys, "index", tree, "--embed", "bge-m3")
    assert (code, out, "too long for the model" in err, "--embed-truncate" in err) == (1, "", True, True)
    code, out, err = run(capsys, "index", tree, "--embed", "bge-m3", "--embed-truncate")
    assert (code, out.startswith("built"), "were cut" in err) == (0, True, True)
    assert run(capsys, "search", "bake flour", tree, "--embed", "bge-m3")[0] == 0
    code, out, err = run(capsys, "search", "bake", tree, "--embed-truncate")
    assert (code, out, "--embed-truncate goes with --embed" in err) == (2, "", True)


def test_what_needs_no_model_loads_no_client(tree: Path) -> None:  # EM-08
    code = (
        "import sys\n"
        "from hybridrank.cli import main\n"
        "assert main(['search', 'bake', sys.argv[1]]) == main(['index', '--help']) == 0\n"
        "assert not {'ollama', 'httpx', 'sqlite3'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tree)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["--embed", "zz"], 1, "model 'zz' is not on"),
        (["--embed", "openai:"], 2, "model is 'openai:'"),
        (["--embed", MINILM, "--ablation", "zz"], 2, "unknown ablation 'zz'"),
    ],
)
def test_what_cannot_be(
    server: OllamaServer,
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    code: int,
    told: str,
) -> None:
    found = run(capsys, "search", "bake", tree, *args)
    assert (found[0], found[1], told in found[2]) == (code, "", True)


def test_a_configuration_without_a_leg_that_embeds(
    server: OllamaServer, tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "p.toml"
    config.write_text('[retrievers.bm25]\nuse = "bm25"\n')
    code, out, err = run(capsys, "search", "bake", tree, "--config", config, "--embed", "bge-m3")
    assert (code, out, "no leg embeds texts" in err) == (2, "", True)
    config.write_text(
        '[resources.words]\nuse = "standard"\n[resources.lsa]\nuse = "lsa"\ntokenizer = "@words"\n'
        '[resources.leg]\nuse = "dense"\nembedder = "@lsa"\n[retrievers]\ndense = "@leg"\n'
    )
    code, out, err = run(capsys, "search", "bake flour", tree, "--config", config, "--embed", "bge-m3")
    assert (code, "bread.py" in out) == (0, True)
    assert server.sent_texts()


def test_openai(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    assert run(capsys, "index", tree, "--embed", "openai:bge-m3")[0] == 0
    code, out, err = run(capsys, "search", "bake flour", tree)
    assert (code, "bread.py" in out, err) == (0, True, "")
    assert not server.requests_to(EMBED)
