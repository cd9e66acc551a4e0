"""Source kind ``markdown``: a folder of Markdown files, the simplest source of truth.

Front matter may give title, path, updated, labels, readers and url; what it does not give comes from
``tree.json`` (list of {path, title, breadcrumbs}), then from the text and the place of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from askwiki.configuration import Configuration
from askwiki.data import Attachment, Clause, Page, State
from askwiki.errors import PageError, SourceError
from askwiki.markdown.blocks import parse_blocks
from indexer.chunking.sections import plain
from indexer.markdown.front_matter import split_front_matter
from indexer.sources import PageFailure, PageRef, files_below

PICTURE = re.compile(r"!\[(?:\\.|[^\[\]\\])*+\]\(<?([^)<>\s]+)")
INDEX_NAMES = ("index.md", "README.md", "_index.md")  # the page of the folder that holds them
ENDINGS = (".md", ".markdown")


class MarkdownFolder:
    """Every ``.md`` below the folder is a page; its id is its path relative to the folder."""

    kind = "markdown"

    def __init__(self, path: str, configuration: Configuration) -> None:
        self.name = f"markdown:{path}"
        self._root = Path(path)
        if not self._root.is_dir():
            found = "is a file" if self._root.exists() else "does not exist"
            raise SourceError(f"The folder {path} {found}; give a folder of Markdown files.")
        whole = self._root.resolve()
        self._files = sorted(
            file
            for file in files_below(self._root)
            if file.suffix.lower() in ENDINGS and file.resolve().is_relative_to(whole)
        )
        if not self._files:
            raise SourceError(f"The folder {path} holds no .md file; give a folder of Markdown files.")
        self._tree = _read_tree(self._root)
        self._titles: dict[Path, str] = {}

    def expected(self) -> list[PageRef]:
        return [PageRef(self._id(file), self._title(file)) for file in self._files]

    def pages(self) -> Iterator[Page | PageFailure]:
        for file in self._files:
            try:
                yield self._page(file)
            except (PageError, OSError) as error:
                yield PageFailure(PageRef(self._id(file), file.stem), str(error))

    def _page(self, file: Path) -> Page:
        matter, body = split_front_matter(file)
        identity = self._id(file)
        branch = matter.get("path", self._tree.get(identity, {}).get("breadcrumbs"))
        path = _texts(branch, "path", file) if branch is not None else self._folders(file)
        return Page(
            id=identity,
            space=str(matter.get("space", "")),
            title=self._title(file),
            path=path,
            url=str(matter.get("url") or ""),
            markdown=body,
            updated=_day(matter.get("updated")),
            labels=_texts(matter.get("labels") or (), "labels", file),
            readers=_readers(matter, file),
            attachments=self._attachments(file, body),
            author=_line(matter.get("author")),
            editor=_line(matter.get("editor")),
            owner=_line(matter.get("owner")),
            state=_state(matter.get("state")),
        )

    def _id(self, file: Path) -> str:
        return file.relative_to(self._root).as_posix()

    def _title(self, file: Path) -> str:
        if file not in self._titles:
            try:
                matter, body = split_front_matter(file)
            except (PageError, OSError):
                matter, body = {}, ""
            named = matter.get("title") or self._tree.get(self._id(file), {}).get("title")
            self._titles[file] = str(named or first_heading(body) or file.stem)
        return self._titles[file]

    def _folders(self, file: Path) -> tuple[str, ...]:
        """Titles of the pages of the folders above, the folder's own name where it has no page."""
        titles = []
        folder = file.parent
        if file.name in INDEX_NAMES and folder != self._root:
            folder = folder.parent
        while folder != self._root:
            owner = next((page for page in self._owners(folder) if page.is_file()), None)
            titles.append(self._title(owner) if owner else folder.name)
            folder = folder.parent
        return tuple(reversed(titles))

    def _owners(self, folder: Path) -> Iterator[Path]:
        yield folder.with_name(f"{folder.name}.md")
        yield from (folder / name for name in (*INDEX_NAMES, f"{folder.name}.md"))

    def _attachments(self, file: Path, body: str) -> tuple[Attachment, ...]:
        """Local pictures that the page shows and the folder has."""
        whole = self._root.resolve()
        found: dict[str, Attachment] = {}
        for target in PICTURE.findall(body):
            place = (file.parent / target).resolve()
            if "://" not in target and place.is_relative_to(whole) and place.is_file():
                found[target] = Attachment(name=place.name, url=target, file=str(place))
        return tuple(found.values())


def first_heading(body: str) -> str:
    """The text of the first heading, as a person reads it."""
    return next((title for block in parse_blocks(body) if (title := plain(block.title))), "")


def _read_tree(root: Path) -> Mapping[str, Mapping[str, Any]]:
    """``tree.json`` of the folder, or beside it: file path -> its entry."""
    for place in (root / "tree.json", root.parent / "tree.json"):
        if place.is_file():
            try:
                entries = json.loads(place.read_text(encoding="utf-8"))
                return {str(entry["path"]): entry for entry in entries}
            except (ValueError, KeyError, TypeError) as error:
                raise SourceError(
                    f"{place} must be a list of objects with path, title, breadcrumbs: {error}"
                ) from error
    return {}


def _texts(value: Any, name: str, file: Path) -> tuple[str, ...]:
    if isinstance(value, str):
        separator = "/" if name == "path" else ","
        return tuple(part.strip() for part in value.split(separator) if part.strip())
    if not isinstance(value, (list, tuple)):
        raise PageError(f"{name} in the front matter of {file.name} must be a list or a text.")
    return tuple(str(part) for part in value)


def _line(value: Any) -> str:
    """A name, or several; front matter of other tools may hold anything under these keys."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_line, value)))
    return " ".join(value.split()) if isinstance(value, str) else ""


def _state(value: Any) -> State:
    return next((state for state in get_args(State) if state == value), "")


def _day(value: Any) -> str:
    """YAML makes dates of its own accord; they go back to ISO."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value or "")


def _readers(matter: Mapping[str, Any], file: Path) -> tuple[Clause, ...] | None:
    """``readers``: absent = unknown, ``[]`` = everybody, else clauses {users, groups} that must all hold."""
    if "readers" not in matter or matter["readers"] is None:
        return None
    value = matter["readers"]
    clauses = value if isinstance(value, list) else [value]
    found = []
    for clause in clauses:
        if isinstance(clause, str):
            found.append(Clause(users=(clause,)) if "@" in clause else Clause(groups=(clause,)))
        elif isinstance(clause, dict) and clause and set(clause) <= {"users", "groups"}:
            users = _texts(clause.get("users") or (), "readers", file)
            found.append(Clause(users, _texts(clause.get("groups") or (), "readers", file)))
        else:
            raise PageError(f"readers in the front matter of {file.name} must be clauses with users and groups.")
    return tuple(found)
