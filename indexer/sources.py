"""Where pages come from: one small Protocol, one table of kinds.

``open_source("html:export.zip", configuration)`` gives a source; ``pages()`` yields its pages one by
one, a page that cannot be read as a PageFailure, never as an exception.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from askwiki.data import Attachment, Page
from askwiki.errors import SourceError, SourceNotWhole

FAULTS_SHOWN = 3  # in a sentence
INSIDE_ZIP = "!/"  # parts the file and the entry in ``Attachment.file``: "export.zip!/attachments/1/2.png"


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page that the source says it has."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class PageFailure:
    """A page that did not come: by rule (``skipped``) or because of a fault."""

    ref: PageRef
    reason: str
    skipped: bool = False


class PageSource(Protocol):
    """A wiki in one of its forms. ``name`` = its stable key in the store, "KIND:PATH".

    A source that is not whole raises SourceNotWhole when it is opened, from ``expected`` or before its first page.
    """

    name: str
    kind: str

    def expected(self) -> list[PageRef]:
        """Every page that the source itself says it has."""
        ...

    def pages(self) -> Iterator[Page | PageFailure]:
        """Every page, one in memory at a time where the form allows it."""
        ...


def not_whole(name: str, faults: Sequence[str]) -> SourceNotWhole:
    """What a person is told of a source that lost a part: what is broken, and what to do."""
    shown = "; ".join(faults[:FAULTS_SHOWN])
    more = f"; and {len(faults) - FAULTS_SHOWN} faults more" if len(faults) > FAULTS_SHOWN else ""
    return SourceNotWhole(
        f"{name} is not whole: {shown}{more}. Nothing was changed. "
        "If it is still being copied, wait for the end; else export or copy it again."
    )


def files_below(root: Path) -> list[Path]:
    """All files below a folder, sorted; a folder that cannot be listed is a part of the source that is lost."""

    def refuse(error: OSError) -> None:
        raise not_whole(str(root), [f"the folder {error.filename} cannot be read ({error.strerror})"]) from error

    found = (Path(folder, name) for folder, _, names in os.walk(root, onerror=refuse) for name in names)
    return sorted(path for path in found if path.is_file())


def read_attachment(attachment: Attachment) -> bytes:
    """The bytes of an attachment that the export holds, in a folder or in a zip."""
    if not attachment.file:
        raise SourceError(f"The export does not hold the file {attachment.name!r}.")
    try:
        archive, inside, entry = attachment.file.partition(INSIDE_ZIP)
        if not inside:
            return Path(attachment.file).read_bytes()
        with zipfile.ZipFile(archive) as opened:
            return opened.read(entry)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"The file of the attachment {attachment.name!r} cannot be read: {error}.") from error
