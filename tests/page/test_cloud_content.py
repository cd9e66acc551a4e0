"""What the Cloud keeps outside the content of a node, and what apps leave in rendered pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from indexer.confluence.page import convert
from indexer.confluence.parse.adf_json import parse_adf
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.links import Context, NoSurroundings
from indexer.confluence.parse.storage import parse_storage

PIECES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "cloud-content.yaml").read_text(encoding="utf-8"))
PARSERS = {
    "adf": lambda text: parse_adf(json.dumps({"type": "doc", "version": 1, "content": json.loads(text)})),
    "storage": lambda text: parse_storage(text)[0],
    "view": parse_fragment,
}
ENGLISH = {
    "макрос": "macro", "см. в вики": "see the wiki", "показано не всё": "not all is shown", "Ошибка": "Error",
    "Предупреждение": "Warning", "К сведению": "Info",
}  # fmt: skip


class Known(NoSurroundings):
    """A wiki with one page that everybody may read and one that only some may."""

    def page_title(self, page_id: str) -> str:
        return {"7": "Приёмка тары", "8": "Оклады"}.get(page_id, "")

    def page_id(self, space: str, title: str) -> str:
        return "7" if title == "Приёмка тары" else ""

    def visible(self, page_id: str, within: str) -> bool:
        return page_id == "7"


CONTEXT = Context("https://w.example/wiki", "1", "KB", "Т", "https://w.example/wiki/pages/1", Known())


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece["markdown"][:40])
def test_a_piece_becomes_markdown(piece: dict[str, str]) -> None:
    markdown = convert(PARSERS[piece["form"]](piece["input"]), CONTEXT).markdown
    for russian, word in ENGLISH.items():
        markdown = markdown.replace(russian, word)
    assert markdown == piece["markdown"]
