"""Looks at everything an answer needs and says of each part whether it works and how to mend it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from askwiki.access.directory import load_directory
from askwiki.access.rights import NOBODY, acl_key, names, unbelieved, unknown_policy
from askwiki.configuration import CHECKOUT, Configuration, setting_names
from askwiki.data import PUBLIC
from askwiki.doctor.confidence import probe_confidence
from askwiki.doctor.llm import probe_llm
from askwiki.doctor.openwebui import probe_chat
from askwiki.doctor.prefixes import unprefixed
from askwiki.doctor.qdrant import probe_qdrant
from askwiki.doctor.rights import closed_by_age, longest
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.errors import AskWikiError
from askwiki.language.glossary import load_glossary
from askwiki.language.synonyms import load_synonyms
from askwiki.masking import masked
from askwiki.openwebui.valve_memory import recall
from askwiki.prompts import load_prompts
from askwiki.server.stock import plugins_folder, server_key
from askwiki.settings import Settings
from askwiki.store import Reader, open_reader
from askwiki.store.fingerprint import check_readable
from askwiki.texts import load_texts

State = Literal["ok", "warning", "failure"]
KINDS = ("html", "xml", "rest", "markdown")
HIDDEN = "(set, hidden)"
STALE_DAYS = 7.0
MOST_EMBEDDED = 50_000  # chunks; above it a question holds up the others too long (README, "How it grows")
PROBE = "Как проходит проверка?"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. ``mend`` says what to do, empty when nothing is to be done."""

    part: str
    state: State
    said: str
    mend: str = ""


def examine(configuration: Configuration, environ: Mapping[str, str], webui: str = "") -> list[Finding]:
    """All findings, in the order an answer needs the parts; nothing here raises. ``webui`` = address of the chat."""
    settings = configuration.settings
    findings = [_guarded("configuration", lambda: _files(configuration))]
    findings += [_guarded("server", lambda: _server(environ)), _guarded("groups", lambda: _groups(configuration))]
    models: list[tuple[Embedder, SparseEncoder]] = []
    findings.append(_guarded("encoders", lambda: _encoders(settings, models)))
    readers: list[Reader] = []
    findings.append(_guarded("store", lambda: _store(settings, readers)))
    if settings.store.qdrant_url:
        findings += [Finding(*line) for line in probe_qdrant(settings.store)]
    if readers:
        findings += _index(settings, readers[0], models)
        readers[0].close()
    findings += [Finding(*line) for line in probe_llm(settings)]
    findings.append(Finding(*probe_chat(webui)))
    return [replace(finding, said=masked(finding.said), mend=masked(finding.mend)) for finding in findings]


def _index(settings: Settings, reader: Reader, models: list[tuple[Embedder, SparseEncoder]]) -> list[Finding]:
    built = [_guarded("fingerprint", lambda: _fingerprint(settings, reader, *models[0]))] if models else []
    return [
        *built,
        _guarded("confidence", lambda: Finding(*probe_confidence(reader))),
        _guarded("rights", lambda: _with_times(_rights(settings, reader), settings, reader)),
        _guarded("freshness", lambda: _freshness(reader)),
    ]


def changed_settings(configuration: Configuration) -> Iterator[tuple[str, str, str]]:
    """(name, value, where it came from) of every setting that is not the default; secrets are hidden."""
    for name, _, secret in setting_names():
        if name in configuration.origins:
            value: object = configuration.settings
            for step in name.split("."):
                value = getattr(value, step)
            yield name, HIDDEN if secret else masked(str(value)), configuration.origins[name]


def _guarded(part: str, check: Callable[[], Finding]) -> Finding:
    """An error of ours is a finding, its sentence says how to mend it."""
    try:
        return check()
    except AskWikiError as error:
        return Finding(part, "failure", str(error))


def _files(configuration: Configuration) -> Finding:
    folder = configuration.folder
    prompts = load_prompts(folder / "prompts")
    load_texts(folder / "texts")
    load_glossary(folder / "glossary.yaml")
    load_synonyms(folder / "synonyms.yaml")
    return Finding("configuration", "ok", f"{folder}: {len(prompts.names())} prompts, texts and glossary are in order.")


def _server(environ: Mapping[str, str]) -> Finding:
    server_key(environ)
    folder = plugins_folder(environ, CHECKOUT / "pipelines")
    if failed := sorted(file.name for file in (folder / "failed").glob("*.py")):
        return Finding(
            "server",
            "failure",
            f"The Pipelines server put {', '.join(failed)} into {folder / 'failed'}.",
            "Read the server's log, mend the cause and move the files back.",
        )
    if closed := _unwritable(folder):
        said = f"{', '.join(map(str, closed))} cannot be written by the account that this command runs as."
        return Finding("server", "failure", said, "The server keeps the admin's valves there: give it to that account.")
    refused = [one for plugin in sorted(folder.glob("wiki_*/")) for one in recall(plugin).refused]
    if refused:
        said = f"Wrong values in the admin panel, the last good ones are in force: {'; '.join(refused)}."
        return Finding("server", "warning", said, "Mend them in Open WebUI: Admin Panel, Settings, Pipelines.")
    return Finding("server", "ok", f"The key is set; plugins and valves are in {folder}.")


def _unwritable(folder: Path) -> list[Path]:
    """Where valves cannot be saved: a folder of each plugin's own, the plugins' folder before there is one."""
    places = {place if (place := plugin.with_suffix("")).is_dir() else folder for plugin in folder.glob("wiki_*.py")}
    return sorted(place for place in places or {folder} if not os.access(place, os.W_OK))


def _groups(configuration: Configuration) -> Finding:
    access = configuration.settings.access
    directory = load_directory(configuration.folder / "groups.yaml")
    sources = ", ".join(names(access.groups_from)) or "nowhere"
    said = f"Groups come from: {sources}; the file lists {len(directory.members)} groups."
    if mend := unbelieved(access):
        return Finding("groups", "warning", said, mend)
    return Finding("groups", "ok", said)


def _encoders(settings: Settings, models: list[tuple[Embedder, SparseEncoder]]) -> Finding:
    started = time.perf_counter()
    embedder, sparse = make_embedder(settings.embedding), make_sparse(settings.sparse)
    loaded = time.perf_counter()
    embedder.query(PROBE)
    sparse.query(PROBE)
    asked = time.perf_counter() - loaded
    models.append((embedder, sparse))
    said = (
        f"{settings.embedding.kind} {settings.embedding.model} ({embedder.size} numbers, {embedder.limit} tokens) and "
        f"{settings.sparse.kind}: loaded in {loaded - started:.1f} s, a question takes {asked * 1000:.0f} ms."
    )
    if mend := unprefixed(settings.embedding):
        return Finding("encoders", "warning", said, mend)
    return Finding("encoders", "ok", said)


def _store(settings: Settings, readers: list[Reader]) -> Finding:
    reader = open_reader(settings.store)
    readers.append(reader)
    return of_size(reader.count(), settings)


def of_size(chunks: int, settings: Settings) -> Finding:
    """What to say of an index of so many chunks in the store of the settings."""
    place = settings.store.qdrant_url or f"the folder {Path(settings.store.path).resolve()}"
    said = f"{chunks} chunks in {place}."
    if not chunks:
        mend = "Run: python -m indexer sync --source KIND:PATH"
        return Finding("store", "warning", f"There is no index in {place} yet.", mend)
    if chunks > MOST_EMBEDDED and not settings.store.qdrant_url:
        mend = "Start a Qdrant server, set ASKWIKI_QDRANT_URL and sync again; the cache saves the model's work."
        return Finding("store", "warning", f"{said} The embedded store is for up to {MOST_EMBEDDED}.", mend)
    return Finding("store", "ok", said)


def _fingerprint(settings: Settings, reader: Reader, embedder: Embedder, sparse: SparseEncoder) -> Finding:
    check_readable(reader.fingerprint(), embedder, sparse, settings.chunking)
    return Finding("fingerprint", "ok", "The index was built with the models and settings in force.")


def _rights(settings: Settings, reader: Reader) -> Finding:
    """How many restriction sets there are, and what stays hidden because the source told no readers."""
    conjunctions = reader.conjunctions()
    groups = names(settings.access.unknown_groups)
    closed = [kind for kind in KINDS if unknown_policy(kind, settings.access) == "closed"]
    said = f"Sets of readers in the index: {len([key for key in conjunctions if key != PUBLIC])}."
    if acl_key(NOBODY) in conjunctions:
        return Finding(
            "rights",
            "warning",
            f"{said} Some pages are hidden from everybody: their source ({', '.join(closed)}) does not say who may "
            "read them.",
            f"Name groups that may (ASKWIKI_ACCESS__UNKNOWN_GROUPS=A,B; now: {', '.join(groups) or 'none'}), or open "
            "them to everybody (ASKWIKI_ACCESS__UNKNOWN_HTML=open, likewise XML, REST), then sync again.",
        )
    with_comma = sorted(
        {group for clauses in conjunctions.values() for clause in clauses for group in clause.groups if "," in group}
    )
    if with_comma and "header" in names(settings.access.groups_from):
        return Finding(
            "rights",
            "warning",
            f"{said} Names with a comma: {'; '.join(with_comma[:5])}. Open WebUI sends a person's groups joined by "
            "commas, so who is in one of them is taken to be in no group at all.",
            "Give the group in Open WebUI another name, or write its id there under aliases in groups.yaml.",
        )
    return Finding("rights", "ok", said)


def _with_times(found: Finding, settings: Settings, reader: Reader) -> Finding:
    """The same line with the longest time that a right lives on; a failure where the index's own are too old."""
    said, closed = f"{found.said} {longest(settings)}", closed_by_age(settings, reader.freshness())
    if closed:
        return Finding(found.part, "failure", f"{closed} {said}", "Run: python -m indexer sync, or start the schedule.")
    return replace(found, said=said)


def _freshness(reader: Reader) -> Finding:
    runs = reader.freshness()
    if not reader.whole():
        said = f"The first index is being built, {reader.count()} chunks so far; what is there is answered from."
        return Finding("freshness", "warning", said, "Wait: the indexer's log says how long it will take.")
    if not runs:
        return Finding("freshness", "warning", "No sync has finished yet.", "Run: python -m indexer sync")
    oldest = min(runs, key=lambda run: run.started)
    days = (datetime.now(UTC) - datetime.fromisoformat(oldest.started)).total_seconds() / 86_400
    said = "; ".join(f"{run.source}: {run.pages} pages, {run.started}" for run in runs)
    if days > STALE_DAYS:
        mend = "Start the schedule (python -m indexer schedule) or sync again."
        return Finding("freshness", "warning", f"{oldest.source} was last read {days:.0f} days ago. {said}", mend)
    return Finding("freshness", "ok", said)
