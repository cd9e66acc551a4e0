"""Our search stage over the index in ``FOLDER/store``, asked as the peers are; the vectors are given, as to them."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from askwiki.access.rights import rights_of
from askwiki.configuration import load_configuration
from askwiki.data import Identity, Question
from askwiki.encoders.factory import make_sparse
from askwiki.language.glossary import load_glossary
from askwiki.language.synonyms import load_synonyms
from askwiki.settings import StoreSettings
from askwiki.stages.search import Query, boost_preferred, question_sparse, search, search_terms
from askwiki.store import open_reader
from tests.bench.peers.peer import resident

CONFIG = Path(__file__).resolve().parents[3] / "config"


def main(folder: Path) -> dict[str, object]:
    """All times are processor seconds but ``clock``."""
    settings = load_configuration({}, CONFIG).settings
    glossary, synonyms = load_glossary(CONFIG / "glossary.yaml"), load_synonyms(CONFIG / "synonyms.yaml")
    reader, encoder = open_reader(StoreSettings(path=str(folder / "store"))), make_sparse(settings.sparse)
    asked = [Question(**fields) for fields in json.loads((folder / "ours-questions.json").read_text("utf-8"))]

    def ask(question: Question, dense: np.ndarray) -> list[str]:
        terms = search_terms(question, glossary, synonyms)
        sparse = question_sparse(question, terms, encoder)
        rights = rights_of(Identity(), reader.conjunctions(), settings.access)
        query = Query(dense, sparse, question.text)
        found = search(query, rights, reader=reader, settings=settings.search)
        return [candidate.chunk.id for candidate in boost_preferred(found, question, settings.search)]

    vectors = np.load(folder / "ours-questions.npy")
    ask(asked[0], vectors[0])  # opens the index
    found, times, clock = [], [], []
    for question, vector in zip(asked, vectors, strict=True):
        started, begun = time.process_time(), time.perf_counter()
        found.append(ask(question, vector))
        times.append(time.process_time() - started)
        clock.append(time.perf_counter() - begun)
    return {"found": found, "search": times, "clock": clock, "resident": resident()}


if __name__ == "__main__":
    print("\n" + json.dumps(main(Path(sys.argv[1]))))
