"""A model server on loopback, in a thread: recorded exchanges of a real Ollama, scripted answers, and faults.

    with OllamaServer() as server:
        server.script("/api/embed", Answer({"embeddings": [[]]}), Answer(status=503))
        OllamaEmbedder("all-minilm", host=server.url).embed(["hello"], role="query")
        server.requests_to("/api/embed")

What answers a request, in this order: the next of the answers scripted for its path; `on[path]`, a function
of the request's JSON; the exchange that was recorded for just this request; a made-up answer of its form.
Made-up vectors depend on the words of a text, so that texts that share words are close.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

RECORDED = Path(__file__).parent / "recorded"
MINILM, SMOLLM = "all-minilm:latest", "smollm2:135m"


@dataclass(frozen=True)
class Answer:
    """What the server does with one request.

    Attributes:
        body: sent as JSON, or as it is if it is bytes.
        delay: seconds before it answers.
        drip: seconds between two bytes of the body.
        cut: close the connection after this many bytes of the body, though more were announced.
        hang_up: close the connection without a word.
    """

    body: Any = None
    status: int = 200
    content_type: str = "application/json; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    hang_up: bool = False

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


PROXY = Answer(b"<html><body>Gateway login</body></html>", content_type="text/html")
OVERLOADED = Answer({"error": "server busy, please try again"}, 503)
HANG_UP = Answer(hang_up=True)
NEVER = Answer({}, delay=60.0)
TOO_LONG = Answer({"error": "the input length exceeds the context length"}, 400)
NAN_ERROR = Answer({"error": "failed to encode response: json: unsupported value: NaN"}, 500)


def half(answer: Any) -> Answer:
    """An answer whose connection breaks in the middle of it."""
    whole = answer if isinstance(answer, Answer) else Answer(answer)
    return replace(whole, cut=len(whole.content) // 2)


@dataclass(frozen=True)
class Model:
    """A model that the server has."""

    name: str
    digest: str
    dimensions: int
    family: str = "bert"
    parameter_size: str = "22.57M"
    quantization: str = "F16"
    context: int = 512
    chat: bool = False

    @property
    def details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": self.parameter_size,
            "quantization_level": self.quantization,
        }


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Any
    headers: dict[str, str] = field(default_factory=dict, hash=False)


@cache
def recorded_exchanges() -> tuple[dict[str, Any], ...]:
    """Every exchange that was recorded, its vectors filled up to their length."""
    lines = (RECORDED / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple({**entry, "response": _whole(entry["response"])} for entry in map(json.loads, lines))


def recorded(name: str) -> Answer:
    """The answer of a recorded exchange, by its name."""
    entry = next(entry for entry in recorded_exchanges() if entry["name"] == name)
    return _answer_of(entry)


@cache
def recorded_replies() -> tuple[dict[str, Any], ...]:
    """Every recorded reply of a small chat model: kind, constraint, ids, gold, finish_reason, reply, …"""
    lines = (RECORDED / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(map(json.loads, lines))


def vector(text: str, dimensions: int, model: str = "") -> list[float]:
    """A unit vector; texts that share words are close."""
    total = [0.0] * dimensions
    words = re.findall(r"\w" if len(text) < 3 else r"\w+", text.lower())
    for word in words or [text]:
        for place in range(dimensions):
            if place % 16 == 0:
                noise = sha256(f"{model}\0{word}\0{place}".encode("utf-8", "surrogatepass")).digest()
            at = 2 * (place % 16)
            total[place] += int.from_bytes(noise[at : at + 2], "big") / 32767.5 - 1.0
    length = math.sqrt(sum(x * x for x in total)) or 1.0
    return [x / length for x in total]


class OllamaServer:
    """See the module.

    Attributes:
        url: where it listens.
        requests: what was asked, in order.
        models: by name; those of the recorded server to begin with. Another digest is another model.
        replies: what the chat model answers next: texts, or functions of the request's JSON; the last one
            stays. Empty: the last message of the user again.
        on: by path, a function of the request's JSON that answers, or gives None to leave it to the rest.
        scores: what `/v1/rerank` gives a document: a function of query and document.
    """

    def __init__(self, *, replay: bool = True) -> None:
        self.replay = replay
        self.requests: list[Request] = []
        self.models: dict[str, Model] = {}
        self.replies: deque[str | Callable[[Any], str]] = deque()
        self.on: dict[str, Callable[[Any], Answer | None]] = {}
        self.scores: Callable[[str, str], float] = _shared_words
        self._scripts: dict[str, deque[Answer]] = {}
        self._stopped = threading.Event()
        tags = next(entry for entry in recorded_exchanges() if entry["name"] == "tags")
        for one in tags["response"]["models"]:
            details = one["details"]
            chat = one["name"] == SMOLLM
            size, quantization = details["parameter_size"], details["quantization_level"]
            width, context = (576, 8192) if chat else (384, 512)
            self.add_model(
                Model(one["name"], one["digest"], width, details["family"], size, quantization, context, chat)
            )

    def reset(self) -> None:
        """Forget what was asked, scripted and changed."""
        fresh = OllamaServer(replay=self.replay)
        self.requests, self.models, self.replies = [], fresh.models, deque()
        self.on, self.scores, self._scripts = {}, _shared_words, {}

    def add_model(self, model: Model) -> None:
        """Have this model, instead of one of its name."""
        self.models[model.name] = model

    def change_digest(self, name: str = MINILM, digest: str = "f" * 64, **changed: Any) -> None:
        """Have another model under the name of one that was there."""
        self.models[name] = replace(self.models[name], digest=digest, **changed)

    def script(self, path: str, *answers: Answer) -> None:
        """Give these answers to the next requests to a path."""
        self._scripts.setdefault(path, deque()).extend(answers)

    def requests_to(self, path: str) -> list[Any]:
        """The JSON of each request to a path, in order."""
        return [request.body for request in self.requests if request.path == path]

    def sent_texts(self) -> list[str]:
        """Every text that was sent to be embedded, in order."""
        return [
            text
            for request in self.requests
            if request.path in ("/api/embed", "/v1/embeddings")
            for text in _inputs(request.body)
        ]

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the server."""
        self._stopped.wait(seconds)

    def answer(self, request: Request) -> Answer:
        """What is answered to a request."""
        self.requests.append(request)
        script = self._scripts.get(request.path)
        if script:
            return script.popleft()
        if request.path in self.on:
            found = self.on[request.path](request.body)
            if found is not None:
                return found
        if self.replay:
            for entry in recorded_exchanges():
                asked = entry["method"], entry["path"], entry["request"]
                if asked in _told(request) and not self._is_changed(entry):
                    return _answer_of(entry)
        route = _ROUTES.get((request.method, request.path))
        if route is not None:
            return route(self, request.body if isinstance(request.body, dict) else {})
        known = request.path in {path for _, path in _ROUTES}
        status, text = (405, b"405 method not allowed") if known else (404, b"404 page not found")
        return Answer(text, status, "text/plain")

    def _is_changed(self, entry: dict[str, Any]) -> bool:
        """Whether what was recorded is no longer what the server has."""
        if entry["path"] in ("/api/tags", "/v1/models"):
            return True
        given = entry["request"].get("model") if isinstance(entry["request"], dict) else None
        model = self.find(given) if given else None
        return model is not None and model != OllamaServer.original(model.name)

    @staticmethod
    @cache
    def original(name: str) -> Model | None:
        return OllamaServer(replay=False).models.get(name)

    def find(self, name: str) -> Model | None:
        """A model by its name, `:latest` where it has no tag."""
        return self.models.get(name if ":" in name else f"{name}:latest")

    # Made-up answers

    def _root(self, body: dict[str, Any]) -> Answer:
        return Answer(b"Ollama is running", content_type="text/plain; charset=utf-8")

    def _version(self, body: dict[str, Any]) -> Answer:
        return Answer({"version": "0.13.5"})

    def _tags(self, body: dict[str, Any]) -> Answer:
        return Answer(
            {
                "models": [
                    {
                        "name": m.name,
                        "model": m.name,
                        "modified_at": "2026-11-29T17:52:15.03677471Z",
                        "size": 46220678,
                        "digest": m.digest,
                        "details": m.details,
                    }
                    for m in self.models.values()
                ]
            }
        )

    def _show(self, body: dict[str, Any]) -> Answer:
        name = body.get("model", "")
        if not name:
            return Answer({"error": "model is required"}, 400)
        model = self.find(name)
        if model is None:
            return Answer({"error": f"model '{name}' not found"}, 404)
        info = {
            "general.architecture": model.family,
            f"{model.family}.context_length": model.context,
            f"{model.family}.embedding_length": model.dimensions,
        }
        capabilities = ["completion"] if model.chat else ["embedding"]
        return Answer({"details": model.details, "model_info": info, "capabilities": capabilities})

    def _embed(self, body: dict[str, Any]) -> Answer:
        model = self.find(str(body.get("model", "")))
        if model is None:
            error = f'model "{body.get("model", "")}" not found, try pulling it first'
            return Answer({"error": error}, 404)
        texts = body.get("input")
        if texts is not None and not isinstance(texts, str | list):
            return Answer({"error": "invalid input type"}, 400)
        texts = _inputs(body)
        if not all(isinstance(text, str) for text in texts):
            return Answer({"error": "invalid input type"}, 400)
        if body.get("truncate") is False and any(_tokens(text) > model.context for text in texts):
            return TOO_LONG
        width = model.dimensions
        if 0 < body.get("dimensions", 0) < width:
            width = body["dimensions"]
        vectors = [vector(text, width, model.digest) for text in texts]
        found = {"model": body["model"], "embeddings": vectors}
        return Answer({**found, "prompt_eval_count": sum(map(_tokens, texts))} if texts else found)

    def _chat(self, body: dict[str, Any]) -> Answer:
        model = self.find(str(body.get("model", "")))
        if model is None:
            return Answer({"error": f"model '{body.get('model', '')}' not found"}, 404)
        if not model.chat:
            return Answer({"error": f'"{body["model"]}" does not support chat'}, 400)
        text = self._reply(body)
        return Answer(
            {
                "model": body["model"],
                "created_at": "2026-11-29T18:10:46.080947258Z",
                "message": {"role": "assistant", "content": text},
                "done": True,
                "done_reason": "stop",
                "total_duration": 71107422,
                "prompt_eval_count": sum(_tokens(m["content"]) for m in body.get("messages", [])),
                "eval_count": _tokens(text),
            }
        )

    def _v1_models(self, body: dict[str, Any]) -> Answer:
        listed = [{"id": name, "object": "model", "owned_by": "library"} for name in self.models]
        return Answer({"object": "list", "data": listed}, content_type="application/json")

    def _v1_embeddings(self, body: dict[str, Any]) -> Answer:
        model = self.find(str(body.get("model", "")))
        if model is None:
            return _openai_error(f'model "{body.get("model", "")}" not found, try pulling it first', 404)
        texts = _inputs(body)
        width = min(body.get("dimensions") or model.dimensions, model.dimensions)
        data = [
            {"object": "embedding", "embedding": vector(text, width, model.digest), "index": index}
            for index, text in enumerate(texts)
        ]
        tokens = sum(map(_tokens, texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Answer({"object": "list", "data": data, "model": body["model"], "usage": usage})

    def _v1_chat(self, body: dict[str, Any]) -> Answer:
        if self.find(str(body.get("model", ""))) is None:
            return _openai_error(f"model '{body.get('model', '')}' not found", 404)
        text = self._reply(body)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": _tokens(text), "total_tokens": 1 + _tokens(text)}
        return Answer(
            {"object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}
        )

    def _rerank(self, body: dict[str, Any]) -> Answer:
        texts = [one["text"] if isinstance(one, dict) else one for one in body.get("documents", [])]
        scored = [
            {"index": index, "relevance_score": self.scores(str(body.get("query", "")), text)}
            for index, text in enumerate(texts)
        ]
        scored.sort(key=lambda one: -float(one["relevance_score"]))
        return Answer({"model": body.get("model", ""), "results": scored[: body.get("top_n") or len(scored)]})

    def _reply(self, body: dict[str, Any]) -> str:
        messages = body.get("messages", [])
        if not self.replies:
            return next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
        reply = self.replies.popleft() if len(self.replies) > 1 else self.replies[0]
        return reply if isinstance(reply, str) else reply(body)


_ROUTES: dict[tuple[str, str], Callable[[OllamaServer, dict[str, Any]], Answer]] = {
    ("GET", "/"): OllamaServer._root,
    ("GET", "/api/version"): OllamaServer._version,
    ("GET", "/api/tags"): OllamaServer._tags,
    ("POST", "/api/show"): OllamaServer._show,
    ("POST", "/api/embed"): OllamaServer._embed,
    ("POST", "/api/chat"): OllamaServer._chat,
    ("GET", "/v1/models"): OllamaServer._v1_models,
    ("POST", "/v1/embeddings"): OllamaServer._v1_embeddings,
    ("POST", "/v1/chat/completions"): OllamaServer._v1_chat,
    ("POST", "/v1/rerank"): OllamaServer._rerank,
}


def _handler(server: OllamaServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._handle()

        def do_POST(self) -> None:
            self._handle()

        def _handle(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", "0")))
            try:
                body = json.loads(content) if content else None
            except ValueError:
                body = content.decode("utf-8", "replace")
            self.close_connection = True
            path = self.path.partition("?")[0]
            self._send(server.answer(Request(self.command, path, body, dict(self.headers.items()))))

        def _send(self, answer: Answer) -> None:
            if answer.delay:
                server.wait(answer.delay)
            if answer.hang_up:
                return
            content = answer.content
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(content)))
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.end_headers()
                for part in _parts(content[: answer.cut], answer.drip):
                    if answer.drip:
                        server.wait(answer.drip)
                    self.wfile.write(part)
                    self.wfile.flush()
            except OSError:
                # The client went away, as it should when its time is up.
                pass

    return Handler


def _parts(content: bytes, drip: float) -> Iterable[bytes]:
    return (content[at : at + 1] for at in range(len(content))) if drip else (content,)


def _answer_of(entry: dict[str, Any]) -> Answer:
    response, content_type = entry["response"], entry["content_type"]
    if "ndjson" in content_type:
        lines = "".join(json.dumps(line) + "\n" for line in response)
        return Answer(lines.encode(), entry["status"], content_type)
    if "json" not in content_type:
        return Answer(str(response).encode(), entry["status"], content_type)
    return Answer(response, entry["status"], content_type)


def _whole(value: Any) -> Any:
    """The value with each cut list of numbers (`[0.1, 0.2, "... 384 numbers"]`) filled up."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        cut = (
            re.fullmatch(r"\.\.\. (\d+) numbers", value[-1]) if value and isinstance(value[-1], str) else None
        )
        if cut is None:
            return [_whole(item) for item in value]
        known = value[:-1]
        if all(isinstance(number, int) for number in known):
            return [*known, *range(int(cut[1]) - len(known))]
        rest = vector(json.dumps(known), int(cut[1]) - len(known))
        left = math.sqrt(max(0.0, 1.0 - sum(x * x for x in known)))
        return [*known, *(left * x for x in rest)]
    return value


def _told(request: Request) -> list[tuple[str, str, Any]]:
    """The request, and for a short text the same without `truncate`, which makes no difference there."""
    told = [(request.method, request.path, request.body)]
    short = all(len(str(text)) < 100 for text in _inputs(request.body))
    if isinstance(request.body, dict) and request.body.get("truncate") is False and short:
        rest = {key: value for key, value in request.body.items() if key != "truncate"}
        told.append((request.method, request.path, rest))
    return told


def _inputs(body: Any) -> list[Any]:
    texts = body.get("input") if isinstance(body, dict) else None
    if isinstance(texts, list):
        return texts
    return [texts] if texts else []


def _tokens(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text)) + 2


def _shared_words(query: str, document: str) -> float:
    asked, there = ({*re.findall(r"\w+", text.lower())} for text in (query, document))
    return len(asked & there) / max(1, len(asked))


def _openai_error(message: str, status: int) -> Answer:
    return Answer({"error": {"message": message, "type": "api_error", "param": None, "code": None}}, status)
