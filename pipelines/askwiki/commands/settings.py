"""``python -m askwiki settings``: every setting, its default and what it does, as the page ``docs/settings.md``."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from askwiki import settings as records
from askwiki.configuration import NOT_SETTINGS, SHORT_NAMES
from askwiki.settings import RoleSettings, Settings

HEAD = """\
# Settings

Made from `pipelines/askwiki/settings.py` by `python -m askwiki settings > docs/settings.md`;
a test fails when it is stale.

Order, later wins: defaults < `config/settings.yaml` < environment < valves. Secrets stand only in the environment. Any
setting is also a variable: `search.candidates` is `ASKWIKI_SEARCH__CANDIDATES=30`.
"""
ROLES = """\
Each task of the language model can have a model of its own: the roles {roles} are sections of `llm` with {fields}
(`ASKWIKI_LLM__ANSWER__MODEL=…`).
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """No options: the page goes to stdout."""


def run(options: argparse.Namespace) -> int:
    print(page(), end="")
    return 0


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD, _short_names(), "## General\n\n" + _table("", Settings, _plain_fields(Settings))]
    for section in dataclasses.fields(Settings):
        record = _hints(Settings)[section.name]
        if not dataclasses.is_dataclass(record):
            continue
        text = f"## `{section.name}`\n\n" + _table(f"{section.name}.", record, _plain_fields(record))
        roles = [name for name, kind in _hints(record).items() if kind is RoleSettings]
        if roles:
            fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(RoleSettings))
            text += "\n" + ROLES.format(roles=", ".join(f"`{name}`" for name in roles), fields=fields)
        parts.append(text)
    return "\n".join(parts)


def _hints(record: Any) -> Mapping[str, Any]:
    return get_type_hints(record, vars(records))


def _plain_fields(record: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(record) if not dataclasses.is_dataclass(_hints(record)[field.name])]


def _table(prefix: str, record: Any, fields: list[dataclasses.Field[Any]]) -> str:
    said, kinds = dict(_comments(record)), _hints(record)
    rows = [
        f"| `{prefix}{field.name}` | {_default(field)} | {_meaning(kinds[field.name], said.get(field.name, ''))} |"
        for field in fields
    ]
    return "\n".join(["| setting | default | what |", "|---|---|---|", *rows]) + "\n"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.metadata.get("secret"):
        return "secret"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    return f"`{field.default}`" if field.default != "" else ""


def _meaning(kind: Any, comment: str) -> str:
    choices = " \\| ".join(get_args(kind)) if get_origin(kind) is Literal else ""
    return "; ".join(part for part in (choices, comment.replace("|", "\\|")) if part)


def _comments(record: Any) -> Iterator[tuple[str, str]]:
    """Field -> the comment behind it in the source, with the lines of comment that go on below it."""
    lines = inspect.getsource(record).splitlines()
    for node in ast.parse("\n".join(lines)).body[0].body:  # type: ignore[attr-defined]
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        end = node.end_lineno or node.lineno
        whole = lines[end - 1].encode()  # places in the tree count bytes
        words = [whole[node.end_col_offset or 0 :].decode().strip().removeprefix("#").strip()]
        for line in lines[end:]:
            if not re.match(r"\s+#", line):
                break
            words.append(line.strip().removeprefix("#").strip())
        yield node.target.id, " ".join(word for word in words if word)


def _short_names() -> str:
    names = ", ".join(
        f"`{name}`" for name in sorted({*SHORT_NAMES, *NOT_SETTINGS, "PIPELINES_API_KEY", "PIPELINES_DIR"})
    )
    return f"Variables with a name of their own: {names}.\n"
