"""The one place where objects are made: settings in, the tools of the question's way out."""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from askwiki.calls.parts import PartGuard
from askwiki.configuration import Configuration, load_configuration
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.encoders.rerankers import Reranker, make_reranker
from askwiki.language.glossary import Glossary, load_glossary
from askwiki.language.synonyms import Synonyms, load_synonyms
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Llm
from askwiki.prompts import Prompts, load_prompts
from askwiki.settings import Settings
from askwiki.store import Reader, open_reader
from askwiki.texts import Texts, load_texts

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kit:
    """All tools of one process. ``llm`` is None when none is set: answers are extracts then."""

    configuration: Configuration
    prompts: Prompts
    texts: Texts
    glossary: Glossary
    llm: Llm | None
    embedder: Embedder
    sparse: SparseEncoder
    reader: Reader
    reranker: Reranker | None = None
    synonyms: Synonyms = field(default_factory=Synonyms)  # what people say, as the wiki writes it
    guard: PartGuard = field(default_factory=PartGuard)  # remembers which parts are down

    @property
    def settings(self) -> Settings:
        return self.configuration.settings


def build_kit(configuration: Configuration) -> Kit:
    """Make every tool as the settings say; a missing model or folder is one sentence."""
    settings, folder = configuration.settings, configuration.folder
    return Kit(
        configuration=configuration,
        prompts=load_prompts(folder / "prompts", settings.wiki.domain),
        texts=load_texts(folder / "texts", settings.wiki.name),
        glossary=load_glossary(folder / "glossary.yaml", strict=False),
        synonyms=load_synonyms(_synonyms_file(folder), strict=False),
        llm=make_llm(settings.llm),
        embedder=make_embedder(settings.embedding),
        sparse=make_sparse(settings.sparse),
        reader=open_reader(settings.store),
        reranker=make_reranker(settings.rerank),
        guard=PartGuard(here=[part for part, server in _servers(settings).items() if not server]),
    )


def _servers(settings: Settings) -> dict[str, str]:
    """Part, as the guard knows it -> the server it runs on; empty = in this process."""
    return {
        "store": settings.store.qdrant_url,
        "embedder": settings.embedding.url,
        "sparse encoder": settings.sparse.url,
        "reranker": settings.rerank.url,
    }


_lock = threading.Lock()
_kits: list[Kit] = []


def get_kit() -> Kit:
    """The process's kit, made once: both plugins share one model in memory, and it survives a reload."""
    with _lock:
        if not _kits:
            _kits.append(build_kit(load_configuration(os.environ)))
        return _kits[0]


def _synonyms_file(folder: Path) -> Path:
    """``synonyms.yaml``; a folder from before that has only ``everyday.yaml`` keeps its words for one release."""
    file, before = folder / "synonyms.yaml", folder / "everyday.yaml"
    if file.exists() or not before.exists():
        return file
    logger.warning("%s is called synonyms.yaml now; the old name goes with the next release.", before)
    return before
