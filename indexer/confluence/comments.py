"""What people wrote below a page: a document of its own, never mixed into the page's text."""

from __future__ import annotations

from askwiki.data import INSIDE_PAGE, Page
from askwiki.markdown.blocks import parse_blocks
from indexer.confluence.page import is_russian
from indexer.confluence.parse.text import clean, escape


def comments_page(page: Page) -> Page | None:
    """The comments of a page, a heading for each; None when there are none."""
    said = [comment for comment in page.comments if comment.markdown.strip()]
    if not said:
        return None
    russian = is_russian(" ".join(comment.markdown for comment in said))
    word = "Комментарий" if russian else "Comment"
    pieces = []
    for comment in said:
        who = ", ".join(filter(None, (escape(" ".join(clean(comment.author).split())), comment.updated[:10])))
        pieces.append(f"## {word}: {who}" if who else f"## {word}")
        pieces.append(_lowered(comment.markdown))
    return Page(
        id=f"{page.id}{INSIDE_PAGE}comments",
        space=page.space,
        title=page.title,
        path=page.path,
        url=page.url,
        markdown="\n\n".join(pieces),
        updated=max(comment.updated for comment in said),
        labels=page.labels,
        readers=page.readers,
        content="comments",
        state=page.state,
    )


def _lowered(markdown: str) -> str:
    """Headings of a comment stand below the heading that names it."""
    for block in reversed(parse_blocks(markdown)):
        if block.kind == "heading" and markdown[block.start :].lstrip().startswith("#"):
            place = block.start + len(markdown[block.start :]) - len(markdown[block.start :].lstrip())
            level = len(markdown[place:]) - len(markdown[place:].lstrip("#"))
            markdown = f"{markdown[:place]}{'#' * (min(6, level + 2) - level)}{markdown[place:]}"
    return markdown
