"""The steps of one search as HTML, from the query to what was accepted. Everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from ..types import Contribution, Stage
from .explanation import Step, dropped_words
from .text import SHOWN, reasons, score_text
from .trace_lines import movement
from .trace_view import RESULT, Candidate, View, breakable, marked_text, safe

TOKENS, OPEN, FOLDED = 400, 4, 20
"""How many tokens of the query are shown, how many verdicts stand open, how many rows notebooks show."""


def sections(view: View, *, linked: bool) -> list[tuple[str, str]]:
    """Title and body of each step, in order.

    Args:
        linked: rows lead to the candidates below, as on a page.
    """
    rows = Rows(view, linked)
    found = [("Query", query(view))]
    found += [(_leg_title(stage), rows.leg(stage)) for stage in view.of_kind("retriever")]
    found += [(f"Union by {stage.name}", rows.union(stage)) for stage in view.of_kind("fuser")]
    found.append(("Rank movement", movement(view, live=linked)))
    found += [(f"Reranker {stage.name}", rows.reranker(stage)) for stage in view.of_kind("reranker")]
    found.append(("Verdicts", rows.verdicts()))
    found.append(("Accepted and rejected" if view.result.verdicts else "Hits", rows.outcome()))
    return [(title, body) for title, body in found if body]


def query(view: View) -> str:
    """The query as it was typed, what was searched for, and its tokens."""
    result = view.result
    searched = result.trace.query if result.trace.stages else result.query
    parts = [f'<pre class="box">{marked_text(result.query.typed, first=view.query_line, limit=400)}</pre>']
    dropped = dropped_words(result)
    if searched.text != result.query.typed:
        told = f"; dropped: {', '.join(dropped)}" if dropped else ""
        parts.append(f"<p>searched for <b>{safe(' '.join(searched.text.split()))}</b>{safe(told)}</p>")
    for leg, tokens in result.trace.tokens.items():
        matched = {
            one.name for stages in result.explanations.values() for one in stages.get(leg, ()) if one.value
        }
        once = list(dict.fromkeys(tokens))
        chips = "".join(
            f'<span class="chip{"" if token in matched else " none"}">{safe(token)}</span>'
            for token in once[:TOKENS]
        )
        left = f" {len(once) - TOKENS:,} more" if len(once) > TOKENS else ""
        none = sum(token not in matched for token in once)
        told = f"{len(once):,} different tokens for {leg}" + (
            f", {none:,} of them (dashed) in none of its candidates" if none else ""
        )
        parts.append(f'<p class="soft">{safe(told)}</p><div class="chips box">{chips}{left}</div>')
    return "".join(parts)


class Rows:
    """Tables whose rows are candidates."""

    def __init__(self, view: View, linked: bool) -> None:
        self.view, self.linked = view, linked

    def leg(self, stage: Stage) -> str:
        """The candidates of a leg, with scores and the terms that made them."""
        if not stage.ids_out:
            return '<p class="soft">It found nothing.</p>'
        top = max((abs(score) for score in stage.scores), default=0.0) or 1.0
        told = any(self.view.told(id, stage.name) for id in stage.ids_out)
        rows = [
            self._row(
                id,
                f'<td class="n">{place}</td>'
                f'<td class="what">{self._what(id)}{_terms(self.view.told(id, stage.name))}</td>'
                f'<td class="n score">{score_text(score)}<span class="bar">'
                f'<i style="width:{100 * abs(score) / top:.0f}%"></i></span></td>',
            )
            for place, (id, score) in enumerate(zip(stage.ids_out, stage.scores, strict=True), 1)
        ]
        what = "candidate, matched terms and what each adds" if told else "candidate"
        return self._table(("#", what, "score"), rows)

    def union(self, stage: Stage) -> str:
        """What the legs found together, by place after fusion, and which leg found what."""
        legs = [leg.name for leg in self.view.of_kind("retriever")]
        ranked = zip(stage.ids_out, stage.scores, strict=True)
        rows = [
            self._row(
                id,
                f'<td class="n">{place}</td><td class="what">{self._what(id)}</td>'
                f'<td class="n">{score_text(score)}</td>'
                + "".join(_place_cell(self.view.place(leg, id)) for leg in legs),
            )
            for place, (id, score) in enumerate(ranked, 1)
        ]
        return self._who(legs) + self._table(("#", "candidate", "score", *legs), rows)

    def reranker(self, stage: Stage) -> str:
        """Place before and after, score, and what it is made of."""
        rows = []
        for id in stage.ids_out:
            step = next(step for step in self.view.steps(id) if step.stage == stage.name)
            moved = (step.rank_before or 0) - (step.rank or 0)
            way, sign = ("rise", "▲") if moved > 0 else ("fall", "▼")
            arrow = f'<span class="{way}">{sign}{abs(moved)}</span>'
            rows.append(
                self._row(
                    id,
                    f'<td class="n">{step.rank}</td><td class="n move">{arrow if moved else "="}</td>'
                    f'<td class="what">{self._what(id)}{_reasons(step)}</td>'
                    f'<td class="n">{"" if step.score is None else score_text(step.score)}</td>',
                )
            )
        if not rows:
            return '<p class="soft">It kept nothing.</p>'
        return self._table(("#", "moved", "candidate", "score"), rows)

    def verdicts(self) -> str:
        """Each verdict with its quotes, marked in the query and in the candidate."""
        return "".join(
            self._verdict(self.view.candidates[verdict.id], place < OPEN)
            for place, verdict in enumerate(self.view.result.verdicts)
        )

    def outcome(self) -> str:
        """The hits, and what was rejected."""
        named = {"hit": "accepted", "rejected": "rejected"}
        judged = bool(self.view.result.verdicts)
        rows = [
            self._row(
                one.id,
                f'<td class="n">{one.rank or ""}</td>'
                f'<td><span class="tag {one.state}">{named[one.state] if judged else "hit"}</span></td>'
                f'<td class="what">{self._what(one.id)}{self._way(one)}</td>',
            )
            for one in self.view.candidates.values()
            if one.state in named
        ]
        left = sum(one.state == "left" for one in self.view.candidates.values())
        note = f'<p class="soft">{left:,} further candidates were not {"judged" if judged else "taken"}.</p>'
        if not rows:
            return f'<p class="found">Nothing was found.</p>{note if left else ""}'
        return self._table(("#", "", "candidate and its way"), rows) + (note if left else "")

    def _way(self, one: Candidate) -> str:
        places = []
        for stage in self.view.stages:
            place = self.view.place(stage.name, one.id)
            places.append(f"<small>{safe(stage.name)}</small> {'–' if place is None else place}")
        return f'<div class="why">{" → ".join(places)}</div>'

    def _who(self, legs: Sequence[str]) -> str:
        counts: dict[tuple[str, ...], int] = {}
        for one in self.view.candidates.values():
            counts[one.legs] = counts.get(one.legs, 0) + 1
        total = len(self.view.candidates) or 1
        groups = sorted(counts.items(), key=lambda item: (len(item[0]), [legs.index(leg) for leg in item[0]]))
        told = ", ".join(
            f"{count:,} by {' and '.join(found)}{' alone' if len(found) == 1 < len(legs) else ''}"
            for found, count in groups
        )
        bars = "".join(
            f'<i class="k{at % 8}" style="width:{100 * count / total:.2f}%"></i>'
            for at, (_, count) in enumerate(groups)
        )
        return f'<p>{len(self.view.candidates):,} candidates: {safe(told)}</p><div class="share">{bars}</div>'

    def _verdict(self, one: Candidate, opened: bool) -> str:
        verdict = one.verdict
        assert verdict is not None
        state = "accepted" if verdict.accepted else "rejected"
        source = self.view.result.trace.query.text
        in_source = [quote.in_source for quote in verdict.quotes if quote.in_source]
        in_document = [quote.in_document for quote in verdict.quotes if quote.in_document]
        quotes = "".join(
            f'<span class="chip quote">{safe(" ".join(q.text.split()))}</span>' for q in verdict.quotes
        )
        candidate = ""
        if one.document is not None:
            inside = marked_text(one.document.text, in_document, first=one.document.start_line, around=2)
            candidate = f'<figure><figcaption>candidate</figcaption><pre class="box">{inside}</pre></figure>'
        inside = marked_text(source, in_source, first=self.view.query_line, around=2)
        beside = (
            '<div class="pair"><figure><figcaption>source</figcaption>'
            f'<pre class="box">{inside}</pre></figure>{candidate}</div>'
        )
        return (
            f'<details class="verdict" data-c="{one.number}"{" open" if opened else ""}><summary>'
            f'<span class="tag {one.state}">{verdict.answer}, {state}</span> {self._what(one.id)}'
            f'<span class="soft reason">{safe(" ".join(verdict.reason.split()))}</span></summary>'
            f'<div class="chips">{quotes or "<small>no quotes</small>"}</div>{beside}</details>'
        )

    def _table(self, heads: Sequence[str], rows: Sequence[str]) -> str:
        head = "".join(
            f'<th class="{"what" if name.startswith("candidate") else "n" if name else ""}">{safe(name)}</th>'
            for name in heads
        )
        shown = rows if self.linked else rows[:FOLDED]
        left = len(rows) - len(shown)
        more = f"<p><small>{left:,} more</small></p>" if left else ""
        body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(shown)}</tbody>"
        return f'<div class="box"><table>{body}</table></div>{more}'

    def _row(self, id: str, cells: str) -> str:
        one = self.view.candidates[id]
        return f'<tr class="{one.state}" data-c="{one.number}">{cells}</tr>'

    def _what(self, id: str) -> str:
        one = self.view.candidates[id]
        where = breakable(one.where)
        link = f'<a href="#c{one.number}">{where}</a>' if self.linked else where
        symbol = f" <b>{breakable(one.symbol)}</b>" if one.symbol else ""
        return f'<span class="mono">{link}{symbol}</span>' + (
            f" <small>{safe(one.kind)}</small>" if one.kind else ""
        )


def steps_table(view: View, one: Candidate) -> str:
    """Its way through every stage: place, score, reasons."""
    rows = "".join(
        f'<tr><td>{safe(step.stage)}</td><td class="n">{_moved(step)}</td>'
        f'<td class="n">{"" if step.score is None else score_text(step.score)}</td>'
        f"<td>{_terms(step.contributions) if step.kind == 'retriever' else _reasons(step)}</td></tr>"
        for step in view.steps(one.id)
    )
    end = view.place(RESULT, one.id)
    told = {"hit": f"#{end}", "rejected": "rejected", "left": "not taken"}[one.state]
    end_row = f'<tr><td>result</td><td class="n"><b>{told}</b></td><td></td><td></td></tr>'
    return f'<table class="way"><tbody>{rows}{end_row}</tbody></table>'


def _moved(step: Step) -> str:
    if step.rank is None:
        return '<span class="none">–</span>'
    if step.rank_before is None or step.rank_before == step.rank:
        return f"#{step.rank}"
    return f"#{step.rank_before} → #{step.rank}"


def _terms(told: Sequence[Contribution]) -> str:
    if not told:
        return ""
    ordered = sorted(told, key=lambda one: (-abs(one.value), one.name))
    chips = "".join(
        f'<span class="chip" title="{safe(one.detail)}">{safe(one.name)} '
        f"<small>{one.value:+.3g}</small></span>"
        for one in ordered[:SHOWN]
    )
    rest = ordered[SHOWN:]
    more = f"<small>{len(rest)} more {sum(one.value for one in rest):+.3g}</small>" if rest else ""
    return f'<div class="chips">{chips}{more}</div>'


def _reasons(step: Step) -> str:
    told = reasons(step)
    return f'<div class="why">{safe("; ".join(told))}</div>' if told else ""


def _place_cell(place: int | None) -> str:
    return '<td class="n none">·</td>' if place is None else f'<td class="n">{place}</td>'


def _leg_title(stage: Stage) -> str:
    count = len(stage.ids_out)
    return f"{stage.name}: {count:,} candidate{'' if count == 1 else 's'}"
