"""Reads the settings: defaults < ``settings.yaml`` < environment, each value checked once.

Any setting can be set as ``ASKWIKI_SECTION__NAME`` (``ASKWIKI_SEARCH__CANDIDATES=30``,
``ASKWIKI_LLM__ANSWER__MODEL=…``). Secrets are accepted from the environment only.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import logging
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from askwiki.errors import SettingsError
from askwiki.masking import masked, remember, remember_address, remember_login
from askwiki.settings import Settings

PREFIX = "ASKWIKI_"

# The short names that the documentation gives; each stands for one setting.
SHORT_NAMES = {
    "ASKWIKI_STORE_PATH": "store.path",
    "ASKWIKI_QDRANT_URL": "store.qdrant_url",
    "ASKWIKI_QDRANT_KEY": "store.qdrant_key",
    "ASKWIKI_LLM_URL": "llm.url",
    "ASKWIKI_LLM_KEY": "llm.key",
    "ASKWIKI_WIKI_URL": "wiki.url",
    "ASKWIKI_CONFLUENCE_TOKEN": "confluence.token",
    "ASKWIKI_LANGUAGE": "language",
}
# Read elsewhere: where the settings are (``config_folder``), how ``provision`` calls the model.
NOT_SETTINGS = {"ASKWIKI_CONFIG", "ASKWIKI_MODEL_NAME"}
SECRETS_ELSEWHERE = ("PIPELINES_API_KEY", "WEBUI_ADMIN_PASSWORD", "WEBUI_API_KEY", "WEBUI_SECRET_KEY")

# Settings that had other names: the old ones are still read, with a warning, until the next release.
RENAMED = {
    "search.lift_intent": "search.boost_intent",
    "search.lift_place": "search.boost_place",
    "answer.caution": "answer.low_confidence",
    "chunking.pieces": "chunking.sub_chunks",
}

# Settings that nobody could set better than it is: name -> what holds now. Still read over, with a warning, until the
# next release.
GONE = {
    "llm.connect_timeout": "a server has 5 seconds to take a connection",
    "embedding.margin": "8 tokens are kept free",
    "sparse.k1": "BM25 goes by 1.2",
    "sparse.b": "BM25 goes by 0.75",
    "search.fusion": "scores are fused: ranks found less on every set of questions",
    "search.rrf_k": "scores are fused: ranks found less on every set of questions",
    "search.centre": "questions are asked as they are embedded: taking out what all share found no more",
    "search.query_centering": "questions are asked as they are embedded: taking out what all share found no more",
    "search.enough_words": "words have their full vote from half of the question on",
    "answer.support_dense": "the index measures it itself (python -m indexer calibrate)",
    "answer.support_middle": "the index measures it itself (python -m indexer calibrate)",
    "answer.support_words": "the index measures it itself (python -m indexer calibrate)",
    "search.previous": "the words before a follow-up weigh 0.3",
}

logger = logging.getLogger(__name__)

CHECKOUT = Path(__file__).resolve().parents[2]  # holds pipelines/, config/ …


@dataclasses.dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, the folder they came from, and where each changed value came from."""

    settings: Settings
    folder: Path
    origins: Mapping[str, str]  # "search.candidates" -> "config/settings.yaml" | "ASKWIKI_…"


def config_folder(environ: Mapping[str, str]) -> Path:
    """``ASKWIKI_CONFIG``, else ``config/`` of the working directory, else of the checkout."""
    if named := environ.get("ASKWIKI_CONFIG"):
        if not Path(named).is_dir():
            raise SettingsError(f"ASKWIKI_CONFIG names the folder {named}, which does not exist.")
        return Path(named)
    for folder in (Path("config"), CHECKOUT / "config"):
        if (folder / "settings.yaml").is_file():
            return folder
    raise SettingsError("There is no config/settings.yaml here; set ASKWIKI_CONFIG to its folder.")


def load_configuration(environ: Mapping[str, str], folder: Path | None = None) -> Configuration:
    """Read file and environment once; one error names the key, the place and the allowed values."""
    folder = folder or config_folder(environ)
    changes = dict(_from_file(folder / "settings.yaml"))
    changes.update(_from_environment(environ))
    settings = Settings()
    for key, (value, origin) in changes.items():
        settings = replace_setting(settings, key, value, origin)
    _remember_secrets(settings, environ)
    if holds_login(settings.wiki.url):
        raise SettingsError(
            f"wiki.url (in {changes['wiki.url'][1]}) holds a name or password, and every link in the chat begins with "
            "it: write the address alone, and set ASKWIKI_CONFLUENCE__USER and ASKWIKI_CONFLUENCE_TOKEN."
        )
    return Configuration(settings, folder, {key: origin for key, (_, origin) in changes.items()})


def holds_login(address: str) -> bool:
    """Whether a name or password stands before the host: ``https://anna:key@wiki.example.com``."""
    return "@" in address.partition("://")[2].partition("/")[0]


def _remember_secrets(settings: Settings, environ: Mapping[str, str]) -> None:
    """What must never be said again: secret settings, keys and passwords in addresses, those read elsewhere."""
    for name, _, secret in setting_names():
        value = str(functools.reduce(getattr, name.split("."), settings))
        if secret:
            remember(value)
        elif "://" in value:
            remember_address(value)
    remember_login(settings.confluence.user, settings.confluence.token)
    remember(*(environ.get(name, "") for name in SECRETS_ELSEWHERE))


def replace_setting(settings: Settings, key: str, value: object, origin: str) -> Settings:
    """A copy in which ``key`` ("search.candidates") has ``value``, cast to the setting's type."""
    return typing.cast(Settings, _replace(settings, key.split("."), key, value, origin))


def setting_names(of: type = Settings, above: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Every setting as (dotted name, type, secret)."""
    types = typing.get_type_hints(of)
    for item in dataclasses.fields(of):
        name = f"{above}{item.name}"
        if dataclasses.is_dataclass(types[item.name]):
            yield from setting_names(types[item.name], f"{name}.")
        else:
            yield name, types[item.name], bool(item.metadata.get("secret"))


def open_values(settings: Settings) -> dict[str, Any]:
    """Every setting by its dotted name; secrets are left out, those in addresses are masked."""
    values: dict[str, Any] = {
        name: functools.reduce(getattr, name.split("."), settings) for name, _, secret in setting_names() if not secret
    }
    return {name: masked(value) if type(value) is str else value for name, value in values.items()}


@functools.lru_cache(maxsize=64)  # once for each set of valves, not at every question
def settings_digest(settings: Settings) -> str:
    """Sixteen hexadecimal digits that change with every setting but the secrets."""
    return hashlib.sha256(json.dumps(open_values(settings), sort_keys=True).encode()).hexdigest()[:16]


def _from_file(path: Path) -> Iterator[tuple[str, tuple[object, str]]]:
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} must hold sections with settings, not a {type(tree).__name__}.")
    secrets = {name for name, _, secret in setting_names() if secret}
    for key, value in _leaves(tree):
        if key in secrets:
            variable = PREFIX + key.upper().replace(".", "__")
            raise SettingsError(f"{key} is a secret: take it out of {path} and set {variable}.")
        if present := present_name(key, str(path)):
            yield present, (value, str(path))


def _leaves(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[object, str]]]:
    known = {variable_of(name): name for name in [*RENAMED, *GONE, *(name for name, _, _ in setting_names())]}
    for variable, value in environ.items():
        if not variable.startswith(PREFIX) or variable in NOT_SETTINGS or value == "":
            continue
        key = SHORT_NAMES.get(variable) or known.get(variable)
        if key is None:
            raise SettingsError(f"{variable} is no setting of askwiki; see docs/settings.md.")
        if present := present_name(key, variable):
            yield present, (value, variable)


def variable_of(name: str) -> str:
    """The environment variable of a setting: ``search.candidates`` -> ``ASKWIKI_SEARCH__CANDIDATES``."""
    return PREFIX + name.upper().replace(".", "__")


def present_name(key: str, origin: str) -> str:
    """The name that a setting has today, empty when it is none any more; both are said."""
    if key in GONE:
        logger.warning("%s in %s is no setting any more: %s. Take it out.", key, origin, GONE[key])
        return ""
    if key in RENAMED:
        logger.warning("%s in %s is called %s now; the old name goes with the next release.", key, origin, RENAMED[key])
    return RENAMED.get(key, key)


def _replace(record: Any, steps: list[str], key: str, value: object, origin: str) -> Any:
    types = typing.get_type_hints(type(record))
    if steps[0] not in types:
        allowed = ", ".join(sorted(types))
        raise SettingsError(f"{key} (in {origin}) is no setting. Allowed here: {allowed}.")
    kind = types[steps[0]]
    if len(steps) > 1 and dataclasses.is_dataclass(kind):
        inner = _replace(getattr(record, steps[0]), steps[1:], key, value, origin)
        return dataclasses.replace(record, **{steps[0]: inner})
    if len(steps) > 1 or dataclasses.is_dataclass(kind):
        raise SettingsError(f"{key} (in {origin}) is no setting: its place in the tree is wrong.")
    return dataclasses.replace(record, **{steps[0]: _cast(kind, value, key, origin)})


def _cast(kind: Any, value: object, key: str, origin: str) -> object:
    allowed = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
    try:
        if allowed:
            if str(value) not in allowed:
                raise ValueError
            return str(value)
        if kind is bool:
            return _boolean(value)
        if kind is int and isinstance(value, float):
            raise ValueError
        if value is None or isinstance(value, (list, dict)):
            raise ValueError
        number = kind(value)
        if kind in (int, float) and not 0 <= number < float("inf"):
            raise ValueError
        return number
    except (TypeError, ValueError):
        wanted = f"one of {', '.join(allowed)}" if allowed else _WANTED[kind]
        raise SettingsError(f"{key} (in {origin}) is {value!r}; it must be {wanted}.") from None


_WANTED = {bool: "true or false", int: "a whole number, 0 or more", float: "a number, 0 or more", str: "a text"}


def _boolean(value: object) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]
