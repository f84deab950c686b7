"""`hybridrank ask` as a user types it, with a model server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hybridrank.cli import main
from ollama_server import SMOLLM, Answer, OllamaServer

CHAT, V1 = "/api/chat", "/v1/chat/completions"
Ran = tuple[int, str, str]


def reply(text: str) -> Answer:
    return Answer(
        {
            "model": SMOLLM,
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": "stop",
        }
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ask")
    (root / "src").mkdir()
    (root / "src/ledger.py").write_text(
        "def load_ledger(path):\n    return open(path).read()\n\n\ndef save_ledger(path, text):\n"
        "    open(path, 'w').write(text)\n",
        encoding="utf-8",
    )
    (root / "src/report.py").write_text("def print_report(ledger):\n    print(ledger)\n", encoding="utf-8")
    return root


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    with OllamaServer() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.delenv("HYBRIDRANK_MODEL", raising=False)
        yield server


@pytest.fixture
def ask(tree: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(question: str, *options: object) -> Ran:
        code = main(["ask", question, str(tree), *map(str, options)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_an_answer_with_its_citations(ask: Callable[..., Ran], server: OllamaServer) -> None:
    server.script(CHAT, reply("It opens the file [src/ledger.py:1-2]."))
    code, out, err = ask("what does load_ledger do", "--model", SMOLLM)
    assert code == 0
    assert out == "It opens the file [src/ledger.py:1-2].\n\ncited\n  src/ledger.py:1-2\n"
    assert "hits whole" in err
    (sent,) = server.requests_to(CHAT)
    assert sent["model"] == SMOLLM
    assert "### src/ledger.py:1-2 (function load_ledger)" in sent["messages"][0]["content"]
    assert "what does load_ledger do" in sent["messages"][0]["content"]


def test_a_wrong_citation_is_flagged_in_text_and_json(ask: Callable[..., Ran], server: OllamaServer) -> None:
    said = "See src/ledger.py:1 and src/secret.py:7."
    server.script(CHAT, reply(said), reply(said))
    code, out, err = ask("load_ledger", "--model", f"ollama:{SMOLLM}")
    assert code == 0
    assert out.endswith(
        "cited\n  src/ledger.py:1\n  src/secret.py:7  NOT IN THE CONTEXT: the context has no such file\n"
    )
    assert "warning: 1 of 2 citations do not point into the context" in err
    code, out, _ = ask("load_ledger", "--model", SMOLLM, "--json")
    data = json.loads(out)
    assert [one["in_context"] for one in data["answer"]["citations"]] == [True, False]
    assert data["answer"]["found"] is True
    assert data["model"] == f"ollama:{SMOLLM}"
    assert (data["gap"], data["degraded"], data["schema"]) == (None, False, 1)
    assert data["context"]["included"][0] == "src/ledger.py:1-2"


def test_another_server(
    ask: Callable[..., Ran], server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    message = {"role": "assistant", "content": "It opens a file."}
    server.script(V1, Answer({"choices": [{"message": message, "finish_reason": "length"}]}))
    code, out, err = ask("load_ledger", "--model", f"openai:{SMOLLM}")
    assert code == 0
    assert out == "It opens a file.\n"
    assert "warning: the answer cites nothing; check it" in err
    assert "warning: the answer is cut: it reached the token limit" in err
    assert len(server.requests_to(V1)) == 1


def test_the_model_says_that_the_context_does_not_hold_it(
    ask: Callable[..., Ran], server: OllamaServer
) -> None:
    server.script(CHAT, reply("NOT IN THE CONTEXT"))
    code, out, _ = ask("load_ledger", "--model", SMOLLM)
    assert (code, out) == (0, "No answer: the model says that the context does not hold it\n")


@pytest.mark.parametrize("options", [[], ["--no-llm"]])
def test_without_a_model_the_context_is_printed(
    ask: Callable[..., Ran], server: OllamaServer, options: list[str]
) -> None:
    code, out, err = ask("load_ledger", *options)
    assert code == 0
    assert out.startswith("### src/ledger.py:1-2 (function load_ledger)\ndef load_ledger(path):\n")
    assert ("no model is given" in err) == (not options)
    assert server.requests == []


def test_a_model_that_cannot_be_reached_is_told_and_the_context_printed(
    ask: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    code, out, err = ask("load_ledger", "--model", "m", "--timeout", "0.2")
    assert code == 3
    assert out.startswith("### src/ledger.py:1-2")
    assert "warning: ollama:m did not answer, this is the context instead: " in err
    code, out, _ = ask("load_ledger", "--model", "m", "--timeout", "0.2", "--json")
    data = json.loads(out)
    assert (code, data["degraded"], data["answer"]) == (3, True, None)


def test_the_environment_names_the_model(
    ask: Callable[..., Ran], server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYBRIDRANK_MODEL", SMOLLM)
    server.script(CHAT, reply("ok src/ledger.py:1"))
    assert ask("load_ledger")[1].startswith("ok")
    assert ask("load_ledger", "--no-llm")[1].startswith("### ")
    assert len(server.requests_to(CHAT)) == 1


@pytest.mark.parametrize(
    ("question", "options", "said"),
    [
        ("zzzqqq", [], "No answer: nothing was found\n"),
        ("???", [], "No answer: nothing was found\n"),
        ("load_ledger", ["--floor", "1000"], "which is below the floor of 1000\n"),
        ("open the ledger", ["--validate"], "No answer: none of the"),
    ],
)
def test_a_gap_is_said_without_the_model(
    ask: Callable[..., Ran], server: OllamaServer, question: str, options: list[str], said: str
) -> None:
    code, out, _ = ask(question, "--model", SMOLLM, *options)
    assert code == 0
    assert said in out
    assert server.requests_to(CHAT) == []
    code, out, _ = ask(question, "--model", SMOLLM, "--json", *options)
    data = json.loads(out)
    assert data["gap"]
    assert (data["answer"], data["context"]["text"], data["degraded"]) == (None, "", False)


def test_the_budget_is_a_cap(ask: Callable[..., Ran], server: OllamaServer) -> None:
    _, out, err = ask("load_ledger", "--budget", "80")
    assert len(out.rstrip("\n")) <= 80
    assert "left out" in err
    code, out, err = ask("load_ledger", "--budget", "20")
    assert (code, out) == (2, "")
    assert "error: the best hit does not fit a budget of 20 characters; raise --budget" in err


def test_the_page_of_the_search(ask: Callable[..., Ran], server: OllamaServer, tmp_path: Path) -> None:
    code, _, err = ask("load_ledger", "--html", tmp_path / "page.html")
    assert code == 0
    assert "wrote" in err
    assert "load_ledger" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "m", "--no-llm"], "--model and --no-llm exclude each other"),
        (["--model", "openai:"], "model is 'openai:'"),
        (["--floor", "nan"], "nan is no number"),
        (["--budget", "0"], "--budget"),
        (["-k", "90"], "k=90 is above recall=80"),
        (["--quiet", "--verbose"], "exclude each other"),
    ],
)
def test_wrong_flags(ask: Callable[..., Ran], options: list[Any], said: str) -> None:
    code, out, err = ask("load_ledger", *options)
    assert (code, out) == (2, "")
    assert said in err


def test_what_the_model_says_cannot_steer_the_terminal(ask: Callable[..., Ran], server: OllamaServer) -> None:
    server.script(CHAT, reply("a\x1b[2Jb src/ledger.py:1\n\tc"))
    out = ask("load_ledger", "--model", SMOLLM)[1]
    assert out.startswith("a\\x1b[2Jb src/ledger.py:1\n\tc\n")
