"""The five commands of docs/models.md, typed as they stand there, against a server on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from doc_blocks import sample_repository
from ollama_server import Answer, Model, OllamaServer

PAGE = Path(__file__).parents[2] / "docs/models.md"

# What `ollama pull` does as far as hybridrank sees it: afterwards the server has the model.
PULL = f"""#!{sys.executable}
import json, os, sys, urllib.request
assert sys.argv[1] == "pull"
body = json.dumps({{"model": sys.argv[2]}}).encode()
urllib.request.urlopen(os.environ["OLLAMA_HOST"] + "/api/pull", body).read()
"""


def commands() -> list[str]:
    block = PAGE.read_text(encoding="utf-8").split("<!-- five commands -->")[1].split("```")[1]
    return re.findall(r"^\$ (.+)$", block, re.MULTILINE)


def reply(body: Any) -> str:
    """Puts the second of a ranking first; says yes where the texts share a longer word."""
    prompt = body["messages"][0]["content"]
    if "Ranked JSON Array:" in prompt:
        first, second, *others = sorted(map(int, re.findall(r"^\[ID (\d+)\]", prompt, re.MULTILINE)))
        return f"Ranked JSON Array: {[second, first, *others]}"
    source = prompt.partition("<source>\n")[2].partition("\n</source>")[0]
    candidate = prompt.partition("<candidate>\n")[2].partition("\n</candidate>")[0]
    shared = [word for word in re.findall(r"\w{5,}", source) if word in candidate]
    return json.dumps({"answer": "yes" if shared else "no", "quotes": shared})


@pytest.mark.slow
def test_the_five_commands_lead_from_nothing_to_an_answer(tmp_path: Path) -> None:
    typed = commands()
    assert len(typed) == 5
    repository = tmp_path / "repository"
    repository.mkdir()
    sample_repository(repository)
    # In a tree of three files most documents would hold every name.
    for number in range(60):
        (repository / f"src/part{number}.py").write_text(
            f"def part{number}(values):\n    return [value * {number} for value in values]\n"
        )
    (tmp_path / "bin").mkdir()
    ollama = tmp_path / "bin/ollama"
    ollama.write_text(PULL)
    ollama.chmod(0o755)
    with OllamaServer() as server:
        server.models.clear()
        server.replies.append(reply)

        def pull(body: Any) -> Answer:
            name = body["model"] if ":" in body["model"] else f"{body['model']}:latest"
            server.add_model(Model(name, name.encode().hex().ljust(64, "0"), 8, chat="qwen" in name))
            return Answer({"status": "success"})

        server.on["/api/pull"] = pull
        path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OLLAMA_"))},
            "PATH": path,
            "OLLAMA_HOST": server.url,
            "HYBRIDRANK_CACHE": str(tmp_path / "cache"),
        }
        outputs = []
        for command in typed:
            done = subprocess.run(
                ["bash", "-c", command], cwd=repository, env=env, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"$ {command}\n{done.stdout}\n{done.stderr}"
            outputs.append(done)
        assert sorted(server.models) == ["bge-m3:latest", "qwen3:4b"]
        prompts = [body["messages"][0]["content"] for body in server.requests_to("/api/chat")]
        embedded = server.sent_texts()
    doctor, index, search = outputs[2:]
    assert "canary  model 'qwen3:4b' tells a known yes from a known no" in doctor.stdout
    assert "built: " in index.stdout
    assert any("revoke_token called" in text for text in embedded)
    assert sum("Ranked JSON Array:" in prompt for prompt in prompts) == 1
    assert sum("<candidate>" in prompt for prompt in prompts) > 2
    assert "Session.logout (method)  (Reranked #1, was #2)" in search.stdout
    assert "revoke_token (function)  (Reranked #2, was #1)" in search.stdout
    assert "Fallback triggered: NO" in search.stderr
    assert re.search(r"validator direct-evidence \(qwen3:4b\): \d judged: [1-9]", search.stderr)


@pytest.mark.parametrize("model", ["bge-m3", "qwen3:4b"])
def test_both_models_are_pulled_before_they_are_used(model: str) -> None:
    uses = [place for place, command in enumerate(commands()) if model in command]
    assert commands()[uses[0]] == f"ollama pull {model}"
    assert len(uses) > 1
