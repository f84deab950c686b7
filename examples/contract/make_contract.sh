#!/bin/sh
# Writes contract.json anew, after a change that is meant.
cd "$(dirname "$0")" && hybridrank lock --force \
    --config pipeline.toml --cases cases.jsonl --records passages.jsonl \
    --id library-railway-bicycle \
    --scope nine_passages_written_for_this_example_no_benchmark_of_methods \
    --description "Nine short passages on public knowledge; five questions that they answer, three that they do not." \
    --forbid label --forbid answer --forbid reader_name \
    --require documents.role=passage --require cases.uses_personal_data=false
