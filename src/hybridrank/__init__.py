"""Pluggable hybrid retrieval and reranking over code and text.

    >>> from hybridrank import Pipeline
    >>> Pipeline.for_code("path/to/repo").search("where are redirects followed", k=5)  # doctest: +SKIP

Importing this package loads nothing heavy: every public name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# By subject: values, pipeline, parts, evaluation, protocols, errors.
_MODULES = {
    "types": (
        "ChatMessage ChatReply ChatRequest Component Contribution Document Event Filter Hit Query Quote "
        "Ranking Result SourceFile Stage Trace Verdict"
    ),
    "pipeline": "Pipeline",
    "context": "Context assemble_context",
    "context_blocks": "ContextBlock",
    "answer": "Answer answer_question",
    "guardrails.citations": "Citation",
    "registry": "ComponentInfo components load_component",
    "text.tokenizer": "Tokenizer",
    "text.normalize": "QueryNormalizer normalize_query",
    "code.chunk": "TreeSitterChunker",
    "code.lines": "LineChunker",
    "code.corpus": "Corpus load_code",
    "code.symbols": "Symbol",
    "graph": "CodeGraph",
    "code.calls": "Call",
    "code.imports": "Import",
    "store.symbols": "SymbolTable",
    "retrievers.bm25": "BM25",
    "retrievers.dense": "Dense",
    "retrievers.symbol": "SymbolRetriever",
    "embedders.lsa": "LSA",
    "embedders.ollama": "OllamaEmbedder",
    "embedders.openai_compatible": "OpenAICompatibleEmbedder",
    "embedders.e5": "E5Embedder",
    "fusers.rrf": "RRF",
    "fusers.scores": "CombMNZ CombSUM",
    "fusers.relative": "DistributionBased RelativeScore",
    "fusers.positional": "Borda ISR",
    "rerankers.definition_first": "DefinitionFirst",
    "rerankers.code_priors": "CodePriors",
    "rerankers.priors_weights": "CodePriorsWeights",
    "rerankers.listwise": "ListwiseReranker",
    "chat.ollama": "OllamaChat",
    "chat.openai_compatible": "OpenAICompatibleChat",
    "chat.scripted": "ScriptedChat",
    "guardrails.ranking": "ParsedRanking parse_ranking",
    "rerankers.spread_files": "SpreadFiles",
    "rerankers.evidence_overlap": "EvidenceOverlap",
    "rerankers.api": "ApiReranker",
    "validators.lexical_evidence": "LexicalEvidence",
    "validators.direct_evidence": "DirectEvidence",
    "validators.canary": "Canary",
    "evaluation.cases": "Case load_cases",
    "evaluation.contract": "Contract",
    "evaluation.targets": "Target",
    "evaluation.measures": "Measure parse_measure",
    "evaluation.scores": "Scores score_run",
    "evaluation.experiment": "compare evaluate",
    "evaluation.comparison": "Comparison",
    "evaluation.ablation": "Ablation ablate",
    "evaluation.sweep": "Sweep sweep",
    "evaluation.diagnosis": "Diagnosis diagnose",
    "report.experiment_page": "experiment_page write_page",
    "report.trace_page": "result_page write_result_page",
    "evaluation.outcomes": "Evaluation",
    "protocols": (
        "AsyncReranker AsyncRetriever BatchRetriever ChatModel Chunker Closeable Embedder Explainable "
        "Fingerprinted FitEmbedder Fittable Fuser Indexable Normalized Normalizer Reranker Retriever "
        "Served Storable SymbolChunker Updatable Validator Weighted"
    ),
    "errors": (
        "ConfigError ContractError DuplicateIdError HybridRankError IndexFormatError IndexNotFoundError "
        "InvalidValueError LockError MismatchError MissingExtraError ModelError ModelReplyError "
        "ModelRequestError ModelUnavailableError NotIndexedError PluginError StoreError UnknownNameError"
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "__version__",
    *_HOME,
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
