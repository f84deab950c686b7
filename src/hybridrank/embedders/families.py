"""What is put before a text for a family of embedding models, so that queries and documents meet."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Role

_INSTRUCT = "Instruct: {instruction}\nQuery: "


@dataclass(frozen=True, slots=True)
class Family:
    """How the models of a family want their texts.

    Attributes:
        query, document: the instructions of each role that its makers advise for retrieval.
        query_form: what stands before a query, with `{instruction}` where that goes; it is left out where the
            instruction is empty.
    """

    query: str = ""
    document: str = ""
    query_form: str = "{instruction}"


# The name of a family stands somewhere in the names of its models.
FAMILIES = {
    "qwen3-embedding": Family(
        query="Given a web search query, retrieve relevant passages that answer the query",
        query_form=_INSTRUCT,
    ),
    "nomic-embed-text": Family(query="search_query: ", document="search_document: "),
    "embeddinggemma": Family(query="task: search result | query: ", document="title: none | text: "),
    "mxbai-embed": Family(query="Represent this sentence for searching relevant passages: "),
    "bge-m3": Family(),
    "all-minilm": Family(),
}
"""The known families by name. The sources are the model cards on Hugging Face:

- qwen3-embedding: Qwen/Qwen3-Embedding-0.6B, an instruction for queries, none for documents
- nomic-embed-text: nomic-ai/nomic-embed-text-v1.5, a prefix for each role, needed
- embeddinggemma: google/embeddinggemma-300m, a prompt for each role
- mxbai-embed: mixedbread-ai/mxbai-embed-large-v1, a prompt for queries, none for documents
- bge-m3: BAAI/bge-m3, none needed
- all-minilm: sentence-transformers/all-MiniLM-L6-v2, none
"""


def family_of(model: str) -> Family:
    """The family of a model by its name, be it `hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0`.

    One that is not known has no instructions.
    """
    name = model.casefold().replace("_", "-")
    return next((family for known, family in FAMILIES.items() if known in name), Family())


def prefix(model: str, instruction: str, role: Role) -> str:
    """What is put before a text of that role: the instruction in the form that the family wants.

    A document's instruction stands before it as it is, and so does a query's, unless the family wants more.
    """
    if not instruction or role == "document":
        return instruction
    return family_of(model).query_form.replace("{instruction}", instruction)
