"""`hybridrank doctor`: which model servers can be reached, and whether a chat model judges at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps
from ..report.escape import printable
from .models import ModelSpec, chat_of, parse_model
from .output import FAILED, Notes, one_line, reported, write

if TYPE_CHECKING:
    from ..servers import Server
    from ..types import Document

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""

_DIGEST = 12


def _specs(context: click.Context, param: click.Parameter, given: Sequence[str]) -> tuple[ModelSpec, ...]:
    try:
        return tuple(dict.fromkeys(map(parse_model, given)))
    except ValueError as error:
        raise click.BadParameter(str(error), context, param) from error


@click.command(short_help="Tell which model servers can be reached, and try chat models.")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--model",
    "models",
    metavar="MODEL",
    multiple=True,
    callback=_specs,
    help="A chat model to try: NAME or ollama:NAME, openai:NAME. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.pass_obj
def doctor(notes: Notes, path: Path | None, models: tuple[ModelSpec, ...], as_json: bool, quiet: bool) -> int:
    """Tell which model servers can be reached, with version, models and digests; what cannot, and what to do.

    Each --model is asked two questions whose answers are known, made from the source files below PATH (by
    default from hybridrank's own): a candidate that holds a source word for word, and one that holds nothing
    of it. A model that does not tell them apart is refused by name; as a validator it would be worthless.

    Exit code 1: no server was reached, or a model is missing, fails or is refused.
    """
    notes.quiet = quiet
    with reported():
        from .. import servers

        found = (servers.ollama_server(), servers.openai_server())
        documents = _documents(path) if models else ()
        tried = [_tried(notes, spec, documents) for spec in models]
        keys = servers.keys()
    well = any(server.reached for server in found) and all(one["passed"] for one in tried)
    if as_json:
        told = [server.to_dict() for server in found]
        write(dumps({"schema": SCHEMA, "ok": well, "servers": told, "keys": keys, "models": tried}))
    else:
        write(_text(found, keys, tried))
    return 0 if well else FAILED


def _documents(path: Path | None) -> Sequence[Document]:
    from ..code.corpus import load_code

    return load_code(path or Path(__file__).parents[1] / "text").documents


def _tried(notes: Notes, spec: ModelSpec, documents: Sequence[Document]) -> dict[str, Any]:
    """What the canary found, as plain values."""
    from ..errors import ModelError
    from ..validators.direct_evidence import DirectEvidence

    notes.note(f"asking {spec} two questions")
    row: dict[str, Any] = {"model": str(spec), "passed": False, "seconds": None, "said": None}
    try:
        found = DirectEvidence(chat_of(spec)).check(documents)
    except ModelError as error:
        return {**row, "problem": one_line(str(error))}
    return {
        **row,
        "passed": found.passed,
        "seconds": round(found.seconds, 3),
        "said": {"to_known_yes": found.said[0], "to_known_no": found.said[1]},
        "problem": "" if found.passed else one_line(str(found)),
    }


def _text(found: Sequence[Server], keys: Mapping[str, bool], tried: Sequence[Mapping[str, Any]]) -> str:
    lines = [line for server in found for line in _server_lines(server)]
    known = [name for name, is_set in keys.items() if is_set]
    lines.append(_row("keys", f"set: {', '.join(known)}" if known else f"none of {', '.join(keys)} is set"))
    for one in tried:
        took = "" if one["seconds"] is None else f", {one['seconds']:.1f} s for two questions"
        name = one["model"].partition(":")[2]
        told = one["problem"] or f"model {name!r} tells a known yes from a known no"
        lines.append(_row("canary", f"{told}{took}"))
    return "\n".join(map(printable, lines))


def _server_lines(server: Server) -> list[str]:
    if not server.reached:
        return [_row(server.kind, f"not reached: {one_line(server.problem)}"), _row("", server.advice)]
    version = f"version {server.version}, " if server.version else ""
    count = len(server.models)
    lines = [_row(server.kind, f"{server.address}, {version}{count} model{'' if count == 1 else 's'}")]
    for model in server.models:
        size = " ".join(filter(None, (model.parameter_size, model.quantization)))
        digest = f"digest {model.digest[:_DIGEST]}" if model.digest else ""
        lines.append(_row("", "  ".join(filter(None, (model.name, size, digest)))))
    return [*lines, _row("", server.advice)] if server.advice else lines


def _row(name: str, text: str) -> str:
    return f"{name:<8}{text}".rstrip()
