"""What the adapters of heavy libraries share: sentences for what can go wrong, threads, memory."""

from __future__ import annotations

import contextlib
import gc
import logging
import time
from collections.abc import Iterator

from askwiki.errors import ModelError
from askwiki.system import memory

logger = logging.getLogger(__name__)

LARGE_BATCH = 16_384  # tokens; after a larger batch its memory is given back


@contextlib.contextmanager
def loading(model: str, setting: str) -> Iterator[None]:
    """Turn what a library raises while it loads a model into one sentence."""
    started = time.monotonic()
    logger.info("Loading %s; where it is not on this machine yet it is downloaded, which takes its time.", model)
    try:
        yield
        logger.info("Loaded %s in %.0f s.", model, time.monotonic() - started)
    except ImportError as error:
        raise ModelError(
            f"{setting} is {model}, and its library is not installed ({error}); run: pip install 'askwiki[models]'"
        ) from error
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"{setting} is {model}, which cannot be loaded ({reason}). It must be a folder with a model, or a name "
            "that this machine can download."
        ) from error


@contextlib.contextmanager
def running(model: str) -> Iterator[None]:
    """Turn what a library raises while a model works into one sentence."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        raise ModelError(f"The model {model} failed: {str(error).strip().splitlines()[0]}") from error


def set_threads(threads: int) -> None:
    """0 leaves it to the library: all cores."""
    if threads:
        import torch

        torch.set_num_threads(threads)


def give_back(device: str, tokens: int) -> None:
    """Return the memory of a large batch to the system: the libraries would keep it for the next one."""
    if tokens < LARGE_BATCH:
        return
    gc.collect()
    if device.startswith("cuda"):
        import torch

        torch.cuda.empty_cache()
        return
    memory.give_back()
