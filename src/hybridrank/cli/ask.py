"""`hybridrank ask`: search, assemble a context, let a chat model answer from it, check what it cites."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..report.data import dumps, result_data
from ..report.escape import printable
from ..report.text import score_text
from . import searching
from .judging import tell_verdicts
from .models import ModelSpec, chat_of, model_option
from .output import DEGRADED, WRONG, Failure, Notes, reported, write
from .pages import html_option, write_html
from .reranking import tell_reranking
from .summary import corpus_data, is_degraded, is_of_records, tell, unmatched

if TYPE_CHECKING:
    from ..answer import Answer
    from ..context import Context
    from ..pipeline import Pipeline
    from ..types import Result

SCHEMA = 1
"""Raised when a field of `--json` changes its meaning or goes away; new fields do not raise it."""

MODEL = "HYBRIDRANK_MODEL"
"""Environment variable with the model, where no flag names one."""
_HITS = 20


def _finite(context: click.Context, param: click.Parameter, given: float | None) -> float | None:
    if given is not None and not math.isfinite(given):
        raise click.BadParameter(f"{given} is no number to compare with", context, param)
    return given


@click.command(short_help="Answer a question from what a search finds, with citations.")
@click.argument("question")
@click.argument("path", default=".", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--model",
    metavar="MODEL",
    callback=model_option,
    envvar=MODEL,
    help=f"Chat model: NAME of Ollama, or openai:NAME.  [default: {MODEL}, else none]",
)
@click.option("--no-llm", is_flag=True, help="Print the context instead of asking a model.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="N",
    default=6000,
    show_default=True,
    help="Most characters of the context.",
)
@click.option(
    "--floor",
    type=float,
    metavar="X",
    callback=_finite,
    help="Do not answer where the best hit scores below.  [default: none]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Wait so long for the model.  [default: 120]",
)
@click.option(
    "-k",
    "--k",
    "--top-k",
    "k",
    type=click.IntRange(min=1),
    help=f"Hits that the context is made of.  [default: {_HITS}]",
)
@searching.search_options
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, documented in docs/cli.md.")
@click.option("-v", "--verbose", is_flag=True, help="List skipped files and all events on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings on stderr.")
@click.pass_context
def ask(
    context: click.Context,
    /,
    question: str,
    path: Path,
    model: ModelSpec | None,
    no_llm: bool,
    budget: int,
    floor: float | None,
    timeout: float | None,
    k: int | None,
    html: Path | None,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Answer QUESTION from the source files below PATH (default: here).

    Searches as `hybridrank search` does, assembles the hits into a context, and lets a chat model answer
    from it, with path and lines. What it cites is checked: a place that is not in the context is flagged.

    Without a model the context is printed. Where the search found nothing that can be used, that is said,
    and no model is asked. QUESTION may be "-" for standard input.
    """
    notes: Notes = context.obj
    if no_llm and model is not None:
        if context.get_parameter_source("model") is not click.core.ParameterSource.ENVIRONMENT:
            raise click.UsageError("--model and --no-llm exclude each other")
        model = None
    where = searching.check_flags(given, notes, quiet=quiet, verbose=verbose)
    with reported():
        from ..context import assemble_context

        question = searching.typed(question)
        wanted = min(_HITS, given["recall"] or _HITS) if k is None else k
        explain = html is not None and "all"
        pipeline, result = searching.search(
            context, question, path, given, k=wanted, where=where, explain=explain, change=_in_rank_order
        )
        write_html(notes, html, result)
        gap = _gap(result, floor)
        found = assemble_context(result, 0 if gap else budget)
        if not gap and not found.text:
            raise Failure(f"the best hit does not fit a budget of {budget} characters; raise --budget", WRONG)
        answer = None if gap else _answer(notes, question, found, model, no_llm, timeout)
    corpus = corpus_data(pipeline, files=verbose)
    degraded = is_degraded(result) or (answer is None and model is not None and not gap)
    if as_json:
        head = {"schema": SCHEMA, "question": question, "model": str(model) if model else None}
        told = {"gap": gap or None, "answer": answer.to_dict() if answer else None}
        rest = {"context": found.to_dict(), "degraded": degraded, **result_data(result), "corpus": corpus}
        write(dumps({**head, **told, **rest}))
    else:
        write(printable(f"No answer: {gap}" if gap else _text(found, answer), keep="\n\t"))
    if is_of_records(pipeline):
        corpus["unit"] = "line"
    tell(notes, result, corpus, unmatched(pipeline, where))
    tell_reranking(notes, result)
    tell_verdicts(notes, pipeline, result)
    _tell(notes, found, answer)
    return DEGRADED if degraded else 0


def _in_rank_order(pipeline: Pipeline) -> Pipeline:
    """Without spreading over files: the context has the files together anyway."""
    from ..rerankers.spread_files import SpreadFiles

    spreading = [name for name, part in pipeline.rerankers.items() if isinstance(part, SpreadFiles)]
    return pipeline.without(*spreading) if spreading else pipeline


def _gap(result: Result, floor: float | None) -> str:
    """Why the search found nothing to answer from; `""` where it did."""
    if not result.hits:
        rejected = [event.message for event in result.events if event.code == "all-rejected"]
        return rejected[0] if rejected else "nothing was found"
    best = result.hits[0].score
    if floor is not None and best < floor:
        return f"the best hit scores {score_text(best)}, which is below the floor of {floor:g}"
    return ""


def _answer(
    notes: Notes,
    question: str,
    context: Context,
    model: ModelSpec | None,
    no_llm: bool,
    timeout: float | None,
) -> Answer | None:
    if model is None:
        if not no_llm:
            notes.note(f"no model is given (--model, or {MODEL}): this is the context that it would be given")
        return None
    from ..answer import answer_question
    from ..errors import ModelError

    try:
        return answer_question(question, context, chat_of(model), timeout=timeout)
    except ModelError as error:
        notes.warning(f"{model} did not answer, this is the context instead: {error}")
        return None


def _text(context: Context, answer: Answer | None) -> str:
    if answer is None:
        return context.text
    if not answer.found:
        return "No answer: the model says that the context does not hold it"
    if not answer.citations:
        return answer.text
    cited = [
        f"  {one.text.strip()}{f'  NOT IN THE CONTEXT: {one.problem}' if one.problem else ''}"
        for one in answer.citations
    ]
    return "\n".join([answer.text, "", "cited", *cited])


def _tell(notes: Notes, context: Context, answer: Answer | None) -> None:
    if context.text:
        notes.note(
            f"context: {context.used} of {context.budget} characters; {len(context.included)} hits whole, "
            f"{len(context.cut)} cut, {len(context.left_out)} left out"
        )
    if answer is None:
        return
    if answer.truncated:
        notes.warning("the answer is cut: it reached the token limit")
    if answer.found and not answer.citations:
        notes.warning("the answer cites nothing; check it")
    if answer.flagged:
        notes.warning(
            f"{len(answer.flagged)} of {len(answer.citations)} citations do not point into the context"
        )
