"""The commands of docs/context.md print what the page says; a server on loopback plays the model."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import pytest

from doc_blocks import blocks, run_console, sample_repository
from ollama_server import Answer, OllamaServer

PAGE = Path(__file__).parents[2] / "docs/context.md"
SAID = (
    "revoke_token takes it out of the tokens [src/auth.py:1-3]; Session.logout calls it [src/session.py:7].\n"
    "Expired ones are swept up elsewhere [src/sweep.py:10-20]."
)


def model(body: Any) -> Answer:
    message = {"role": "assistant", "content": SAID}
    return Answer({"model": body["model"], "message": message, "done": True, "done_reason": "stop"})


@pytest.mark.slow
def test_commands_print_what_the_page_says(tmp_path: Path) -> None:
    sample_repository(tmp_path)
    found = [block for block in blocks(PAGE) if block.language == "console"]
    assert len(found) == 3
    with OllamaServer() as server:
        server.on["/api/chat"] = model
        env = {
            "PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin",
            "HYBRIDRANK_CACHE": str(tmp_path.parent / "cache-of-context"),
            "OLLAMA_HOST": server.url,
        }
        for block in found:
            run_console(block, tmp_path, env)
        assert len(server.requests_to("/api/chat")) == 1
