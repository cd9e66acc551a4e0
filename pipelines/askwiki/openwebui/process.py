"""What one server process makes once and keeps for its chats: valves, models, the seal, the figures."""

from __future__ import annotations

import dataclasses
import functools
import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from askwiki.configuration import CHECKOUT, load_configuration
from askwiki.errors import AskWikiError
from askwiki.kit import Kit, get_kit
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Llm
from askwiki.metrics import METRICS
from askwiki.openwebui.sealing import Signer
from askwiki.openwebui.valve_memory import LastGood, keep, recall
from askwiki.openwebui.valves import Knobs, Valves, starting_valves
from askwiki.settings import LlmSettings, Settings
from askwiki.system.memory import one_heap
from askwiki.texts import Texts, load_texts

UNREADABLE = "Настройки ассистента не читаются, сообщите администратору. The assistant's settings cannot be read."

logger = logging.getLogger(__name__)


def make_valves(kind: type[Valves], plugin: str) -> Valves:
    """Valves as the settings have them, labelled in their language; what cannot be read is told with an answer."""
    good = recall(_plugin_folder(plugin)).values
    try:
        settings = load_configuration(os.environ).settings
        texts, language = _voice()
        return starting_valves(kind, settings, lambda name: texts.say(name, language), good)
    except AskWikiError:
        return starting_valves(kind, Settings(), good=good)


def keep_valves(valves: Knobs, plugin: str, *, starting: bool = False) -> None:
    """Remember what is in force beyond a restart, and tell the admin in the log what is not.

    ``starting``: the saved values were read, nobody has mended what was refused before.
    """
    folder = _plugin_folder(plugin)
    for problem in valves.problems:
        logger.warning(
            "A wrong value for %s in the admin panel is not in force, the last good one stays: %s", plugin, problem
        )
    before = recall(folder).refused if starting else ()
    keep(folder, LastGood(valves.good, valves.problems or before))


def _plugin_folder(plugin: str) -> Path:
    """Where the stock server keeps the plugin's valves."""
    return Path(os.environ.get("PIPELINES_DIR") or CHECKOUT / "pipelines", plugin)


def warm_up() -> None:
    """Load the models beside the start of the server, so that the first question need not wait."""

    def load() -> None:
        try:
            get_kit()
        except AskWikiError as error:
            logger.error("not ready: %s", error)

    one_heap()  # the stock server's process does not begin with our command line
    threading.Thread(target=load, name="warm-up", daemon=True).start()


def measure_index() -> None:
    """Size and age of the index, for the metrics."""
    try:
        reader = get_kit().reader
        METRICS.put("askwiki_index_chunks", reader.count())
        started = [datetime.fromisoformat(run.started) for run in reader.freshness()]
    except AskWikiError as error:
        logger.warning("the index cannot be measured: %s", error)
        return
    if started:
        METRICS.put("askwiki_index_age_seconds", (datetime.now(UTC) - max(started)).total_seconds())


@functools.cache
def signer() -> Signer:
    return Signer(os.environ.get("PIPELINES_API_KEY", ""))


def say(name: str, **values: object) -> str:
    """A sentence of ours in the settings' language; where not even that can be read, one in both."""
    try:
        texts, language = _voice()
        return texts.say(name, language, **values)
    except AskWikiError as error:
        logger.error("the sentence %s cannot be said: %s", name, error)
        return UNREADABLE


@functools.cache
def _voice() -> tuple[Texts, str]:
    """Read once: a crowd that is turned away must not wait for the disk."""
    configuration = load_configuration(os.environ)
    settings = configuration.settings
    return load_texts(configuration.folder / "texts", settings.wiki.name), settings.language


def told(status: int, request: str) -> str:
    """What a person in the chat reads of a request that failed; empty = not for the chat."""
    name = (
        "fault"
        if status >= 500
        else {400: "unreadable", 408: "unreadable", 413: "too_long", 422: "unreadable"}.get(status)
    )
    return say(name, request=request) if name else ""


def kit_for(kit: Kit, settings: Settings) -> Kit:
    """The kit with the language model and the text on the company that the valves ask for."""
    if settings.wiki.domain != kit.settings.wiki.domain:
        kit = dataclasses.replace(kit, prompts=kit.prompts.about(settings.wiki.domain))
    return kit if settings.llm == kit.settings.llm else dataclasses.replace(kit, llm=_other_llm(settings.llm))


@functools.lru_cache(maxsize=4)
def _other_llm(settings: LlmSettings) -> Llm | None:
    return make_llm(settings)
