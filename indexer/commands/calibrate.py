"""``python -m indexer calibrate``: what the confidence of the index is measured by, made anew."""

from __future__ import annotations

import argparse
import logging
import os
import time

from askwiki.calibration.measure import Asking, is_due, measured
from askwiki.configuration import Configuration, load_configuration
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.errors import AskWikiError
from askwiki.language.glossary import load_glossary
from askwiki.language.synonyms import load_synonyms
from askwiki.store import Reader, open_reader, remember_calibration
from askwiki.store.fingerprint import check_readable

TOO_SMALL = "The index is too small to measure confidence by: nothing is refused for lack of it."

logger = logging.getLogger(__name__)


def arguments(_: argparse.ArgumentParser) -> None:
    """None."""


def run(_: argparse.Namespace) -> int:
    configuration = load_configuration(os.environ)
    reader = open_reader(configuration.settings.store)
    try:
        print(calibrated(reader, configuration))
    finally:
        reader.close()
    return 0


def after_sync(configuration: Configuration) -> None:
    """At the end of a run that changed enough. What fails here leaves the index as it is, for the next run."""
    try:
        reader = open_reader(configuration.settings.store)
        try:
            if is_due(reader):
                logger.info("%s", calibrated(reader, configuration))
        finally:
            reader.close()
    except AskWikiError as error:
        logger.warning("the confidence of the index was not measured, run: python -m indexer calibrate (%s)", error)


def calibrated(reader: Reader, configuration: Configuration) -> str:
    """Measured and kept; a sentence for a person."""
    settings, folder = configuration.settings, configuration.folder
    begun = time.monotonic()
    embedder, sparse = make_embedder(settings.embedding), make_sparse(settings.sparse)
    fingerprint = reader.fingerprint()
    check_readable(fingerprint, embedder, sparse, settings.chunking)
    glossary, synonyms = load_glossary(folder / "glossary.yaml"), load_synonyms(folder / "synonyms.yaml", strict=False)
    found = measured(Asking(reader, embedder, sparse, glossary, synonyms, settings.search))
    if found is None:
        return TOO_SMALL
    remember_calibration(settings.store, found, fingerprint)
    return (
        f"Confidence is measured by the index's own questions now: similarity weighs {found.similarity:.1f} against "
        f"words {found.words:.0f}, middle {found.middle:.2f}, spread {found.spread:.2f} "
        f"({time.monotonic() - begun:.0f} s)."
    )
