"""`hybridrank ablate`: what each part of a pipeline earns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..report.data import dumps, plain
from .experiments import (
    SCHEMA,
    check_options,
    named,
    parsed,
    read,
    runs_variants,
    tell_failures,
    write_html,
)
from .models import ModelSpec
from .output import Notes, reported, write
from .progress import progress
from .reranking import llm_patch, rerank_llm_option


@click.command(short_help="Compare a pipeline with itself without a part, or with another setting.")
@click.option("--without", "left_out", metavar="PART", multiple=True, help="Leave a part out. Repeatable.")
@click.option(
    "--set",
    "settings",
    metavar="PATH=VALUE",
    multiple=True,
    help="Set a value of the configuration, e.g. rerankers.definition.depth=10. Repeatable.",
)
@click.option(
    "--ablation",
    "names",
    metavar="NAME",
    multiple=True,
    help="One of the configuration's ablations. Repeatable.  [default: all, unless others are given]",
)
@rerank_llm_option
@click.option(
    "--rerank-depth",
    "llm_depth",
    type=click.IntRange(min=1),
    metavar="N",
    help="Hits that the model of --rerank-llm sees.  [default: 20]",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests; intervals cover 1 - alpha.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=9_999,
    show_default=True,
    help="Samples of bootstrap and randomisation test.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of both.")
@runs_variants
@click.pass_obj
def ablate(
    notes: Notes,
    /,
    left_out: tuple[str, ...],
    settings: tuple[str, ...],
    names: tuple[str, ...],
    rerank_llm: ModelSpec | None,
    llm_depth: int | None,
    alpha: float,
    samples: int,
    seed: int,
    measures: tuple[str, ...],
    k: int | None,
    contract: Path | None,
    no_share: bool,
    html: Path | None,
    as_json: bool,
    quiet: bool,
    max_bytes: int | None,
    **files: Any,
) -> int:
    """Run the cases through a pipeline and through variants of it, and tell the differences.

    Variants are the [ablations.*] of the configuration, or those given here: each --without, --set,
    --ablation and --rerank-llm is one. The last adds a chat model as the last reranker, so that the answers
    with and without it stand side by side.

    For each measure: the difference to the pipeline as it is, a bootstrap interval, the p-value of a paired
    randomisation test, and wins, ties and losses. Too few cases to tell are told.
    """
    notes.quiet = quiet
    check_options(html, max_bytes, files)
    if llm_depth is not None and rerank_llm is None:
        raise click.UsageError("--rerank-depth goes with --rerank-llm; for other rerankers see --set")
    values = named("--set", settings, "rerankers.definition.depth=10")
    with reported():
        from ..evaluation.ablation import ablate as run
        from ..evaluation.experiment import MEASURES
        from ..evaluation.policy import contract_policy

        policy = "" if contract is None else contract_policy(contract)
        given = read(max_bytes=max_bytes, **files)
        with progress(not quiet) as watch:
            ablation = run(
                given.config,
                given.source,
                given.cases,
                variants=_variants(given.config, left_out, values, names, rerank_llm, llm_depth),
                measures=measures or MEASURES,
                k=k,
                alpha=alpha,
                samples=samples,
                seed=seed,
                policy=policy,
                share=not no_share,
                max_bytes=max_bytes,
                progress=watch,
            )
        write_html(notes, html, ablation)
    write(dumps({"schema": SCHEMA, **plain(ablation.to_dict())}) if as_json else repr(ablation))
    return tell_failures(notes, ablation.comparison.evaluations.values())


def _variants(
    config: Mapping[str, Any],
    left_out: tuple[str, ...],
    values: Mapping[str, str],
    names: tuple[str, ...],
    llm: ModelSpec | None,
    llm_depth: int | None,
) -> dict[str, Any] | None:
    from ..errors import UnknownNameError
    from ..evaluation.variants import without

    if not (left_out or values or names or llm):
        return None
    own = config.get("ablations", {})
    variants: dict[str, Any] = {}
    for name in names:
        if name not in own:
            raise UnknownNameError("ablation", name, own)
        variants[name] = own[name]
    for name in left_out:
        variants[f"without {name}"] = without(config, name)
    for path, value in values.items():
        variants[f"{path}={value}"] = {path: parsed(value)}
    if llm is not None:
        variants[f"with {llm}"] = llm_patch(config, llm, llm_depth)
    return variants
