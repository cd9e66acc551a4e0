"""Whether a model gets the words in front of a text that it was trained with; without them it finds less, silently."""

from __future__ import annotations

from askwiki.settings import EmbeddingSettings

# Part of the model's name, in lower letters -> before a question, before a text, as its card says.
PREFIXES = {
    "frida": ("search_query: ", "search_document: "),
    "e5": ("query: ", "passage: "),
}


def unprefixed(settings: EmbeddingSettings) -> str:
    """What to set for a known model that gets others; empty when all is well, or the server puts them in front."""
    known = next((known for name, known in PREFIXES.items() if name in settings.model.lower()), None)
    if known is None or settings.kind == "openai" or known == (settings.query_prefix, settings.document_prefix):
        return ""
    return (
        f"{settings.model} was trained with {known[0]!r} before a question and {known[1]!r} before a text: set "
        "embedding.query_prefix and embedding.document_prefix (EMBEDDING_QUERY_PREFIX … in .env), then rebuild."
    )
