"""Laws of runs, over any texts: what is written is sound, and is the same when it is written again."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hybridrank.evaluation.locking import lock
from hybridrank.evaluation.runs import evaluate_contract
from hybridrank.evaluation.verifying import verify_run

CONFIG = """
[retrievers.dense]
use = "dense"
complete = true
embedder = { use = "lsa", dimensions = 4 }
[retrievers.bm25]
use = "bm25"
complete = true
[fuser]
use = "rrf"
same_candidates = true
"""
# Lone surrogates, NUL, line separators and whatever else JSON can hold.
text = st.text(st.characters(), max_size=20).map(lambda made: made + " word")
ids = st.lists(st.text(st.characters(), min_size=1, max_size=6), min_size=1, max_size=6, unique=True)


@settings(max_examples=6)
@given(st.data())
def test_a_run_is_sound_and_repeats_itself(data: st.DataObject) -> None:
    documents = data.draw(ids)
    records = [{"id": id, "text": data.draw(text)} for id in documents]
    cases = [
        {"id": f"c{number}", "query": query, "relevant": [data.draw(st.sampled_from(documents))]}
        for number, query in enumerate(data.draw(st.lists(text, min_size=1, max_size=3)))
    ]
    gap = {"id": "gap", "query": data.draw(text), "expected": "disclose_gap", "gap_id": "g"}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, lines in (("d.jsonl", records), ("c.jsonl", [*cases, gap])):
            (folder / file).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        (folder / "p.toml").write_text(CONFIG, "utf-8")
        files = {"config": folder / "p.toml", "cases": folder / "c.jsonl", "corpus": folder / "d.jsonl"}
        contract = lock(**files, base=folder, experiment_id="x")  # type: ignore[arg-type]
        (folder / "contract.json").write_text(json.dumps(contract.to_dict()), "utf-8")
        one = evaluate_contract(folder / "contract.json").path
        two = evaluate_contract(folder / "contract.json").path
        assert one is not None
        assert two is not None
        for path in one.rglob("*"):
            if path.is_file() and path.name != "manifest.json":
                assert path.read_bytes() == (two / path.relative_to(one)).read_bytes()
        assert verify_run(one) == ()
        summary = json.loads((one / "public-summary.json").read_text("utf-8"))
        assert summary["checks"]["same_candidates_for_all_methods"]
        for method in summary["evaluation"]["aggregate"].values():
            assert method["cases"] == len(cases)
            assert all(0 <= mean <= 1 for mean in method["means"].values())
