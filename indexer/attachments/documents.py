"""Files of a page -> pages of their own: their text as Markdown, a heading for each page, slide or sheet."""

from __future__ import annotations

import json
import posixpath
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from askwiki.data import INSIDE_PAGE, Attachment, Count, Loss, Page
from askwiki.errors import SourceError
from askwiki.settings import AttachmentSettings
from indexer.attachments.readers import PACKED
from indexer.confluence.comments import comments_page
from indexer.confluence.page import is_russian
from indexer.confluence.parse.text import clean, escape, escape_line_start, permitted
from indexer.sources import INSIDE_ZIP, PageFailure, PageRef, read_attachment

ROOT = Path(__file__).resolve().parents[2]  # an isolated interpreter does not see the folder it was started in
WORKER = f"import sys; sys.path.append({str(ROOT)!r}); from indexer.attachments.worker import main; main()"
ENDINGS = (".pdf", *PACKED, ".txt", ".md", ".log", ".csv", ".tsv")
OTHER = {  # documents too, of kinds that no reader here knows: a person is told what to save them as
    **dict.fromkeys((".doc", ".rtf", ".odt"), ".docx"),
    **dict.fromkeys((".xls", ".xlsb", ".ods"), ".xlsx"),
    **dict.fromkeys((".ppt", ".odp"), ".pptx"),
    **dict.fromkeys((".djvu", ".vsd", ".vsdx"), ".pdf"),
}
TITLES = {"page": ("Page", "Страница"), "slide": ("Slide", "Слайд"), "sheet": ("Sheet", "Лист")}
PATIENCE = 4
LOOKED_AT = 3_000  # characters that tell the language


Fetch = Callable[[str, str], bytes | None]  # page id, name of the file


def documents_of(page: Page, settings: AttachmentSettings, fetch: Fetch | None = None) -> Iterator[Page | PageFailure]:
    """A page for the comments of the page, and one for each of its files that holds text, with the page's readers.

    ``fetch`` gets a file that is not on this machine. A file that cannot be read is a failure with its name: what is
    stored of it stays.
    """
    if (comments := comments_page(page)) is not None:
        yield comments
    if not settings.read or page.content not in ("page", "blogpost"):
        return
    for attachment in page.attachments:
        ending = posixpath.splitext(attachment.name)[1].lower()
        if ending in OTHER and (attachment.file or fetch):
            reason = f"text of {ending} files is not read: save it as {OTHER[ending]}"
            yield PageFailure(_ref(page, attachment), reason, skipped=True)
        elif ending in ENDINGS and (attachment.file or fetch):
            yield _document(page, attachment, ending, settings, fetch)


def _document(
    page: Page, attachment: Attachment, ending: str, settings: AttachmentSettings, fetch: Fetch | None
) -> Page | PageFailure:
    ref = _ref(page, attachment)
    try:
        fetched = fetch(page.id, attachment.name) if fetch and not attachment.file else b""
        if fetched is None:
            return PageFailure(ref, "the wiki does not give the file, or it is too large")
        if (size := _size(attachment) if attachment.file else len(fetched)) > settings.megabytes << 20:
            return PageFailure(
                ref, f"a file of {size >> 20} MB; attachments.megabytes allows {settings.megabytes}", True
            )
        found = _read(read_attachment(attachment) if attachment.file else fetched, ending, settings)
    except (SourceError, OSError) as error:
        return PageFailure(ref, str(error))
    if not found["parts"]:
        return PageFailure(ref, f"its text cannot be read: {found['cut'] or 'it is empty'}")
    markdown = _markdown(found["parts"])
    losses = [Loss("attachment", attachment.name, detail=found["cut"])] if found["cut"] else []
    if not any(character.isalnum() for character in _words(found["parts"])):
        return PageFailure(ref, "it holds no text (a scan?)", skipped=True)
    return Page(
        id=ref.id,
        space=page.space,
        title=attachment.name,
        path=(*page.path, page.title),
        url=attachment.url,
        markdown=markdown,
        updated=page.updated,
        version=page.version,
        labels=page.labels,
        readers=page.readers,
        losses=tuple(losses),
        counts=(Count("documents", 1, 1),),
        content="attachment",
        author=page.author,
        owner=page.owner,
        state=page.state,
    )


def _ref(page: Page, attachment: Attachment) -> PageRef:
    return PageRef(f"{page.id}{INSIDE_PAGE}{attachment.name}", attachment.name)


def _size(attachment: Attachment) -> int:
    archive, inside, entry = attachment.file.partition(INSIDE_ZIP)
    if not inside:
        return Path(attachment.file).stat().st_size
    with zipfile.ZipFile(archive) as opened:
        return opened.getinfo(entry).file_size


def _read(data: bytes, ending: str, settings: AttachmentSettings) -> dict[str, Any]:
    """What the worker says; what it does not survive is its fault, and told as such."""
    limits = {
        "memory": settings.memory << 20,
        "seconds": settings.seconds,
        "pages": settings.pages,
        "characters": settings.characters,
    }
    longest = PATIENCE * settings.seconds  # of the clock: the machine may do other things beside
    command = [sys.executable, "-I", "-c", WORKER, ending, json.dumps(limits)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=longest, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else {}
    except subprocess.TimeoutExpired:
        return {"parts": [], "cut": f"it takes longer than {longest} seconds"}
    except ValueError:
        found = {}
    if not found:
        return {
            "parts": [],
            "cut": f"its reader ended with {done.returncode}: too much time or memory, or a fault in it",
        }
    return dict(found)


def _markdown(parts: list[list[Any]]) -> str:
    russian = is_russian(_words(parts)[:LOOKED_AT])
    pieces: list[str] = []
    for kind, number, title, blocks in parts:
        shown = " ".join(clean(title).split())
        if kind:
            name = f"{TITLES[kind][russian]} {number}"
            pieces.append(f"## {name}: {escape(shown)}" if shown else f"## {name}")
        pieces += [text for block in blocks if (text := _block(block))]
    return "\n\n".join(pieces)


def _block(block: list[Any]) -> str:
    kind = block[0]
    if kind == "table":
        return _table(block[1])
    lines = [" ".join(clean(permitted(line)).split()) for line in str(block[-1]).split("\n")]
    lines = [escape_line_start(escape(line)) for line in lines if line]
    if not lines:
        return ""
    if kind == "h":
        return f"{'#' * min(6, max(1, int(block[1])))} {' '.join(lines)}"
    return f"- {' '.join(lines)}" if kind == "li" else "\n".join(lines)


def _table(rows: list[list[Any]]) -> str:
    """A pipe table; the first row that holds anything is the header."""
    cells = [[_cell(value) for value in row] for row in rows]
    cells = [row for row in cells if any(row)]
    width = max((number + 1 for row in cells for number, value in enumerate(row) if value), default=0)
    if not width:
        return ""
    lines = [(row + [""] * width)[:width] for row in cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], ["---"] * width, *lines[1:]))


def _cell(value: Any) -> str:
    lines = (" ".join(clean(permitted(line)).split()) for line in str(value).split("\n"))
    return "<br>".join(escape(line) for line in lines if line).replace("|", "\\|")


def _words(parts: list[list[Any]]) -> str:
    return " ".join(str(one) for _, _, title, blocks in parts for one in (title, *(block[-1] for block in blocks)))
