"""`hybridrank info`: what is in an index, and whether it still holds what is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps
from ..report.escape import printable
from .output import Notes, reported, write

if TYPE_CHECKING:
    from ..store.layout import Stored

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""

_SHOWN = 10


@click.command(short_help="Tell what is in an index, and whether it is stale.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--index",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the index lives.  [default: in the user's cache]",
)
@click.option("--verify", is_flag=True, help="Read the whole index and compare it with its digests.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-v", "--verbose", is_flag=True, help="Name every changed and every skipped file.")
@click.pass_obj
def info(
    notes: Notes, path: Path | None, index: Path | None, verify: bool, as_json: bool, verbose: bool
) -> int:
    """Tell about the index of PATH (default: here), or that in --index DIR.

    Nothing is written. Only source files whose size, times or inode differ are opened, to see whether they
    changed.
    """
    notes.verbose = verbose
    with reported():
        from ..store import layout
        from .indexed import place_of

        stored = layout.read(place_of(path, index))
        if verify:
            stored.verify()
        data = _data(stored, path, verify, verbose)
    write(dumps(data) if as_json else _text(data, verbose))
    return 0


def _data(stored: Stored, path: Path | None, verified: bool, names: bool) -> dict[str, Any]:
    from collections import Counter
    from contextlib import closing

    from ..errors import InvalidValueError
    from ..store.saving import corpus_of, sound, symbols_of
    from .indexed import source_in

    manifest = stored.manifest
    source = source_in(stored, path)
    settings = manifest["source"] or {}
    stale: bool | None = None
    changes: dict[str, list[str]] | None = None
    remarks: list[str] = []
    with sound(stored.directory, InvalidValueError):
        corpus = corpus_of(stored)
        symbols = None
        if (table := symbols_of(stored)) is not None:
            with closing(table):
                symbols = table.counts()
        if source is not None:
            try:
                found = source.changes(stored)
                stale, changes = bool(found), {k: list(v) for k, v in found._asdict().items()}
            except InvalidValueError as error:
                remarks.append(f"whether it is stale cannot be told: {error}")
    skipped = list(corpus.skipped) if corpus is not None else []
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "index": str(stored.directory),
        "kind": settings.get("kind", "pipeline"),
        "root": settings.get("root"),
        "format": manifest["version"],
        "hybridrank": manifest["hybridrank"],
        "written": manifest["created"],
        "seconds": manifest["seconds"],
        "build_seconds": manifest["build_seconds"],
        "bytes": stored.size,
        "verified": verified,
        "stale": stale,
        "changes": changes,
        "documents": manifest["documents"],
        "symbols": symbols,
        "seen": len(corpus.files) + len(skipped) if corpus is not None else None,
        "files": len(corpus.files) if corpus is not None else None,
        "skipped": len(skipped),
        "skipped_by_reason": dict(sorted(Counter(reason for _, reason in skipped).items())),
        "notes": [*(corpus.notes if corpus is not None else ()), *remarks],
        "fingerprint": manifest["fingerprint"],
        "parts": [_part(stored, name, entry) for name, entry in manifest["parts"].items()],
        "config": manifest["config"],
        "ablation": manifest["ablation"],
    }
    if names:
        data["skipped_files"] = [{"path": name, "reason": reason} for name, reason in skipped]
    return data


def _part(stored: Stored, name: str, entry: dict[str, Any]) -> dict[str, Any]:
    prefix = f"part{entry['number']}."
    sizes = [a["size"] for key, a in stored.manifest["arrays"].items() if key.startswith(prefix)]
    return {
        "name": name,
        "fingerprint": entry["fingerprint"],
        "tokenizer": entry["tokenizer"],
        "bytes": sum(sizes),
        "lag": entry["lag"],
    }


def _text(data: dict[str, Any], verbose: bool) -> str:
    rows = [
        ("index", data["index"]),
        ("of", f"{data['kind']} {data['root'] or ''}".rstrip()),
        ("state", _state(data)),
        ("documents", f"{data['documents']:,}"),
    ]
    if data["symbols"] is not None:
        told = ", ".join(f"{count:,} {kind}" for kind, count in data["symbols"].items())
        rows.append(("symbols", f"{sum(data['symbols'].values()):,}" + (f": {told}" if told else "")))
    if data["seen"] is not None:
        counts = f"{data['seen']:,} seen, {data['files']:,} indexed, {data['skipped']:,} skipped"
        rows.append(("lines" if data["kind"] == "records" else "files", counts))
    rows += [("skipped", f"{count:,} {reason}") for reason, count in data["skipped_by_reason"].items()]
    rows += [("note", note) for note in data["notes"]]
    written = f"{data['written']} by hybridrank {data['hybridrank']}, format {data['format']}"
    if data["seconds"] is not None:
        written += f", in {data['seconds']:.1f} s (all anew: {data['build_seconds']:.1f} s)"
    rows.append(("written", written))
    rows.append(("size", f"{data['bytes']:,} bytes" + (", as written" if data["verified"] else "")))
    rows.append(("fingerprint", data["fingerprint"]))
    for part in data["parts"]:
        told = f"{part['name']} {part['fingerprint']}, {part['bytes']:,} bytes"
        if part["lag"] is not None:
            told += f", {part['lag']:,} documents changed since it was fitted"
        rows.append(("part", told))
    for what, paths in (data["changes"] or {}).items():
        shown = paths if verbose else paths[:_SHOWN]
        rows += [(what, path) for path in shown]
        if len(paths) > len(shown):
            rows.append((what, f"… {len(paths) - len(shown):,} more, --verbose names them"))
    for skipped in data.get("skipped_files", ()):
        rows.append(("skipped", f"{skipped['path']}: {skipped['reason']}"))
    return "\n".join(f"{name:<11}  {printable(value)}" for name, value in rows)


def _state(data: dict[str, Any]) -> str:
    if data["stale"] is None:
        return "unknown" if data["root"] else "kept as it was saved"
    if not data["stale"]:
        return "up to date"
    return "stale: " + ", ".join(f"{len(paths):,} {what}" for what, paths in data["changes"].items() if paths)
