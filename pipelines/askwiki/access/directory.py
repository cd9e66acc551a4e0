"""``config/groups.yaml``: groups, their members, and names that differ between directory and wiki."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from askwiki.access.rights import fold
from askwiki.errors import SettingsError
from askwiki.system.watched import Stamp, stamp

SECTIONS = ("groups", "aliases", "users")
INSIDE = "@"  # before the name of a group whose members belong too


@dataclass(frozen=True, slots=True)
class Directory:
    """What the file says, all names folded."""

    members: Mapping[str, frozenset[str]] = field(default_factory=dict)  # group -> e-mails
    aliases: Mapping[str, frozenset[str]] = field(default_factory=dict)  # directory's name -> wiki's names
    users: Mapping[str, frozenset[str]] = field(default_factory=dict)  # e-mail -> the wiki's user names

    def groups_of(self, email: str) -> frozenset[str]:
        """The groups that list this person; nobody is listed without an e-mail."""
        person = fold(email)
        return frozenset(group for group, members in self.members.items() if person and person in members)

    def wiki_groups(self, groups: Iterable[str]) -> frozenset[str]:
        """The groups as the wiki calls them; a name without an alias stands for itself."""
        folded = {fold(group) for group in groups}
        return frozenset().union(*(self.aliases.get(group, frozenset({group})) for group in folded))

    def wiki_users(self, email: str) -> frozenset[str]:
        return self.users.get(fold(email), frozenset())


def load_directory(file: Path) -> Directory:
    """The file as it is now; a missing one is an empty directory, a malformed one an error that says where.

    Every question asks for it, so an unchanged file is not read again: one of a whole company takes seconds.
    """
    state = stamp(file)
    return _read(file, state) if state else Directory()


@functools.lru_cache(maxsize=4)
def _read(file: Path, state: Stamp) -> Directory:
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{file} is not valid YAML: {error}") from error
    if not isinstance(tree, dict) or not tree.keys() <= set(SECTIONS):
        raise SettingsError(f"{file} must hold only the sections {', '.join(SECTIONS)}.")
    groups, aliases, users = (_lists(tree.get(section), section, file) for section in SECTIONS)
    return Directory(_with_inner_groups(groups, file), aliases, users)


def _lists(section: Any, name: str, file: Path) -> dict[str, frozenset[str]]:
    """name -> names, whether written as a list or as one text."""
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise SettingsError(f"{file}: {name} must be a table of names, like 'finance: [anna@example.com]'.")
    found = {}
    for key, value in section.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) and text.strip() for text in [key, *values]):
            raise SettingsError(f"{file}: {name}.{key} must be a name or a list of names.")
        found[fold(key)] = frozenset(fold(text) for text in values)
    return found


def _with_inner_groups(groups: Mapping[str, frozenset[str]], file: Path) -> dict[str, frozenset[str]]:
    """Members with those of the groups named inside; circles are harmless, unknown groups an error."""

    def people(group: str) -> frozenset[str]:
        reached, waiting = {group}, [group]
        while waiting:
            inner = {name.removeprefix(INSIDE) for name in groups[waiting.pop()] if name.startswith(INSIDE)} - reached
            for name in sorted(inner - groups.keys()):
                raise SettingsError(f"{file}: the group {name} is named inside another one but not listed itself.")
            reached |= inner
            waiting += inner
        return frozenset(name for one in reached for name in groups[one] if not name.startswith(INSIDE))

    return {group: people(group) for group in groups}
