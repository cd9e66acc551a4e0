"""A source in memory, and an indexer over it whose only fake is the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askwiki.configuration import CHECKOUT
from askwiki.data import PUBLIC, Page, Rights
from askwiki.language.glossary import load_glossary
from askwiki.llm.port import Llm
from askwiki.prompts import load_prompts
from askwiki.settings import Settings
from askwiki.store.fingerprint import fingerprint_of
from askwiki.store.port import Writer
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache
from indexer.sources import PageFailure, PageRef
from indexer.sync.ledger import Ledger
from indexer.sync.sync import Rules, sync
from indexer.sync.tools import Tools, open_as_it_is, with_contexts
from tests.support.fakes import HashEmbedder
from tests.support.stores import SPARSE, Store, in_memory


def make_page(number: str, markdown: str, **fields: Any) -> Page:
    values: dict[str, Any] = {
        "id": number, "space": "DOC", "title": f"Page {number}", "path": ("Home",), "url": f"https://wiki/{number}",
        "markdown": markdown, "updated": "2026-01-01T00:00:00Z", "version": 1, "labels": ("howto",), "readers": (),
    }  # fmt: skip
    return Page(**{**values, **fields})


@dataclass
class ListSource:
    """Gives the pages of a list. ``silent``: ids that it names but does not give."""

    items: Sequence[Page | PageFailure]
    name: str = "html:wiki"
    kind: str = "html"
    silent: Sequence[str] = ()

    def expected(self) -> list[PageRef]:
        arriving = [item.ref if isinstance(item, PageFailure) else PageRef(item.id, item.title) for item in self.items]
        return [*dict.fromkeys(arriving), *(PageRef(name, name) for name in self.silent)]

    def pages(self) -> Iterator[Page | PageFailure]:
        yield from self.items


@dataclass
class Indexer:
    """An index that is kept from run to run, in memory unless another store is given. ``folder``: for the cache."""

    folder: Path
    store: Store = field(default_factory=in_memory)
    settings: Settings = field(default_factory=Settings)
    embedder: Any = field(default_factory=HashEmbedder)
    llm: Llm | None = None

    def sync(self, *items: Page | PageFailure, rules: Rules = Rules(), **source: Any) -> Ledger:
        return self.run(ListSource(items, **source), rules)

    def run(self, source: Any, rules: Rules = Rules(), *, rebuild: bool = False) -> Ledger:
        """One run as ``python -m indexer sync`` makes it."""
        writer, _, contexts = open_as_it_is(
            lambda fingerprint: self.store.writer(fingerprint, rebuild=rebuild),
            self.fingerprint,
            self.has_contexts(),
        )
        tools = replace(self.tools(writer), settings=with_contexts(self.settings, contexts))
        try:
            ledger = sync(source, rules, using=tools)
            writer.commit()
        finally:
            writer.close()
            tools.vectors.close()
        return ledger

    def texts(self, page: str, *keys: str) -> list[str]:
        """The page's chunks as somebody with these access keys reads them."""
        reader = self.store.reader()
        found = [chunk.text for chunk in reader.chunks_of([page], Rights(frozenset({PUBLIC, *keys})))[page]]
        reader.close()
        return found

    def tools(self, writer: Writer) -> Tools:
        config, counters = CHECKOUT / "config", Counters()
        cache = Cache(self.folder / "cache")
        desk = Desk(
            self.llm, load_prompts(config / "prompts"), load_glossary(config / "glossary.yaml"), cache, counters
        )
        return Tools(self.settings, desk, self.embedder, SPARSE, cache, writer)

    def has_contexts(self) -> bool:
        return self.llm is not None and self.settings.context.llm

    def fingerprint(self, contexts: bool | None = None) -> dict[str, Any]:
        wanted = self.has_contexts() if contexts is None else contexts
        return fingerprint_of(self.embedder, SPARSE, self.settings.chunking, contexts=wanted)
