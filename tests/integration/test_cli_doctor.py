"""`hybridrank doctor` and the validators of `hybridrank search`, against a server on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doc_blocks import sample_repository
from hybridrank.cli import main
from ollama_server import PROXY, Answer, OllamaServer

MODEL = "smollm2:135m"
YES = '{"answer": "yes", "quotes": ["revoke_token"]}'
NO = '{"answer": "no", "quotes": []}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        monkeypatch.setenv("OLLAMA_HOST", running.url)
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "CO_API_KEY", "JINA_API_KEY", "VOYAGE_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        yield running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    sample_repository(tmp_path)
    (tmp_path / "src/dates.py").write_text(
        "import datetime\n\n\ndef parse_date(text):\n    return datetime.datetime.fromisoformat(text)\n"
    )
    # In a tree of three files most documents would hold every name.
    for name in ("mean", "median", "variance", "quantile", "spread", "skew"):
        (tmp_path / f"src/{name}.py").write_text(f"def {name}(values):\n    return sorted(values)\n")
    return tmp_path


def honest(body: Any) -> str:
    """Says yes where the source stands in the candidate, and quotes what they share."""
    prompt = body["messages"][0]["content"]
    source = prompt.partition("<source>\n")[2].partition("\n</source>")[0]
    candidate = prompt.partition("<candidate>\n")[2].partition("\n</candidate>")[0]
    shared = [word for word in re.findall(r"[\w.]{6,}", source) if word in candidate]
    return json.dumps({"answer": "yes" if shared else "no", "quotes": shared[:5]})


# doctor


def test_what_is_there_is_told(server: OllamaServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == (
        f"ollama  {server.url}, version 0.13.5, 2 models\n"
        "        all-minilm:latest  22.57M F16  digest 48f94a357ee9\n"
        "        smollm2:135m  134.52M Q4_1  digest 97ad6691415a\n"
        "openai  not reached: OPENAI_BASE_URL is not set\n"
        "        to use one, set OPENAI_BASE_URL, e.g. to http://127.0.0.1:8000/v1\n"
        "keys    none of OPENAI_API_KEY, CO_API_KEY, JINA_API_KEY, VOYAGE_API_KEY is set\n"
    )


def test_json_says_the_same(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")
    monkeypatch.setenv("JINA_API_KEY", "a-secret")
    assert main(["doctor", "--json"]) == 0
    out = capsys.readouterr().out
    told = json.loads(out)
    assert "a-secret" not in out
    assert told["ok"] is True
    ollama, openai = told["servers"]
    assert (ollama["kind"], ollama["reached"], ollama["version"]) == ("ollama", True, "0.13.5")
    assert [model["name"] for model in ollama["models"]] == ["all-minilm:latest", MODEL]
    assert len(ollama["models"][0]["digest"]) == 64
    assert (openai["address"], openai["reached"]) == (f"{server.url}/v1", True)
    assert [model["name"] for model in openai["models"]] == ["all-minilm:latest", MODEL]
    assert told["keys"]["JINA_API_KEY"] is True
    assert told["keys"]["CO_API_KEY"] is False
    assert told["models"] == []


def test_no_server_is_a_failure_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OllamaServer() as gone:
        pass
    monkeypatch.setenv("OLLAMA_HOST", gone.url)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f"ollama  not reached: cannot connect to {gone.url}" in out
    assert "start it with: ollama serve; where it runs elsewhere, set OLLAMA_HOST" in out


@pytest.mark.parametrize("answer", [PROXY, Answer({}), Answer([]), Answer({"error": "no"}, 403)])
def test_another_server_is_not_taken_for_ollama(
    answer: Answer, server: OllamaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script("/api/version", answer)
    assert main(["doctor"]) == 1
    assert "ollama  not reached: " in capsys.readouterr().out


def test_a_server_without_models_says_how_to_get_one(
    server: OllamaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.models.clear()
    assert main(["doctor"]) == 0
    assert "it has no models yet; run e.g.: ollama pull bge-m3" in capsys.readouterr().out


def test_a_model_that_judges_passes(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.replies.append(honest)
    assert main(["doctor", str(tree), "--model", MODEL]) == 0
    told = capsys.readouterr()
    assert f"canary  model '{MODEL}' tells a known yes from a known no" in told.out
    assert told.err == f"asking ollama:{MODEL} two questions\n"
    assert len(server.requests_to("/api/chat")) == 2


@pytest.mark.parametrize(
    ("reply", "said"), [('{"answer": "yes", "quotes": ["x"]}', "yes"), (NO, "no"), ("Well.", "undecided")]
)
def test_a_constant_model_is_refused_by_name(
    reply: str, said: str, server: OllamaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.replies.append(reply)
    assert main(["doctor", "--quiet", "--model", MODEL, "--json"]) == 1
    told = capsys.readouterr()
    (model,) = json.loads(told.out)["models"]
    assert model["problem"] == (
        f"model '{MODEL}' is refused: it says {said} to a known yes and to a known no"
    )
    assert model["said"] == {"to_known_yes": said, "to_known_no": said}
    assert (model["passed"], told.err) == (False, "")


def test_models_that_are_missing_or_cannot_chat_are_told(
    server: OllamaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--model", "nope", "--model", "all-minilm"]) == 1
    out = capsys.readouterr().out
    assert "run: ollama pull nope" in out
    assert '"all-minilm" does not support chat' in out


def test_a_corpus_that_is_too_small_and_a_model_without_a_name_are_wrong(
    server: OllamaServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(tmp_path), "--model", MODEL]) == 2
    assert "give a larger corpus" in capsys.readouterr().err
    assert main(["doctor", "--model", "openai:"]) == 2
    assert "--model" in capsys.readouterr().err


# search --validate


def search(tree: Path, *flags: str) -> int:
    return main(["search", "revoke_token", str(tree), "-k", "3", *flags])


def test_without_a_model_rare_strings_decide(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(tree, "--validate") == 0
    told = capsys.readouterr()
    assert "revoke_token" in told.out
    assert re.search(r"^validator lexical-evidence: 3 judged: \d accepted, \d rejected$", told.err, re.M)


def test_a_model_decides_where_its_quotes_are_true(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.replies.extend([YES, NO, "Yes, clearly."])
    assert search(tree, "--validate-llm", MODEL, "--json") == 0
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert [verdict["answer"] for verdict in answer["verdicts"]] == ["yes", "no", "undecided"]
    assert answer["verdicts"][0]["quotes"] == ["revoke_token"]
    assert answer["verdicts"][0]["places"][0]["in_source"] == [0, 12]
    assert len(answer["hits"]) == 1
    assert f"validator direct-evidence ({MODEL}): 3 judged: 1 accepted, 1 rejected, 1 undecided" in told.err
    assert "warning: 1 of 3 hits are undecided and dropped" in told.err


def test_all_rejected_is_no_hits_and_no_failure(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """VA-05."""
    server.replies.append(NO)
    assert search(tree, "--validate-llm", f"ollama:{MODEL}") == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "none of the 3 hits judged was accepted" in told.err
    assert "3 judged: 0 accepted, 3 rejected" in told.err


def test_a_dead_server_ends_the_search_or_leaves_the_validator_out(
    server: OllamaServer, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(tree, "--validate-llm", "nope") == 1
    assert "run: ollama pull nope" in capsys.readouterr().err
    assert search(tree, "--validate-llm", "nope", "--on-error", "degrade") == 3
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 3
    assert "stage 'validator' failed and was left out" in told.err
