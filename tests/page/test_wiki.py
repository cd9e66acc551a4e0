"""The sample wiki is what its builder writes, and every golden question points at text that stands in it."""

import base64
import html
import json
import re
import subprocess
import sys
import urllib.parse
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

HERE = Path(__file__).resolve().parents[1]
WIKI = HERE / "wiki"
DATA = re.compile(r'<ac:parameter ac:name="data">([^<]+)</ac:parameter>')


def _files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _questions() -> list[dict[str, Any]]:
    return _lines(HERE / "golden" / "questions.jsonl")


def _page_text(page: str) -> str:
    """What a reader of the page can see: code and PlantUML as written, tags and macro settings gone."""
    storage = (WIKI / "source" / f"{page}.xml").read_text(encoding="utf-8")
    diagrams = " ".join(_inflate(data) for data in DATA.findall(storage))
    included = _included(storage)
    storage = re.sub(r"<ac:(parameter|task-id|task-status).*?</ac:\1>", " ", storage, flags=re.DOTALL)
    pieces = re.split(r"<!\[CDATA\[(.*?)\]\]>", storage, flags=re.DOTALL)
    visible = [re.sub(r"<[^>]+>", "", piece) if number % 2 == 0 else piece for number, piece in enumerate(pieces)]
    shown = [html.unescape(piece) if number % 2 == 0 else piece for number, piece in enumerate(visible)]
    return _squeezed("".join(shown) + f" {diagrams} {included}")


def _inflate(data: str) -> str:
    return urllib.parse.unquote(zlib.decompress(base64.b64decode(data), -15).decode())


def _included(storage: str) -> str:
    titles = re.findall(r'ac:name="include".*?content-title="([^"]+)"', storage, flags=re.DOTALL)
    return " ".join(_page_text(page) for title in titles for page in PAGES if PAGES[page] == title)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _titles() -> dict[str, str]:
    root = etree.parse(WIKI / "xml" / "entities.xml").getroot()
    current = [one for one in root.iterfind("object[@class='Page']") if _is_current(one)]
    return {one.findtext("id"): one.findtext("property[@name='title']") for one in current}


def _is_current(page: etree._Element) -> bool:
    status = page.findtext("property[@name='contentStatus']")
    return status == "current" and page.find("property[@name='originalVersion']") is None


PAGES = _titles()
MANIFEST = yaml.safe_load((WIKI / "manifest.yaml").read_text(encoding="utf-8"))


def test_committed_export_equals_a_fresh_build(tmp_path: Path) -> None:
    subprocess.run([sys.executable, WIKI / "build.py", tmp_path], check=True)
    for form in ("html", "xml"):
        fresh, committed = _files(tmp_path / form), _files(WIKI / form)
        assert fresh.keys() == committed.keys()
        assert [path for path in fresh if fresh[path] != committed[path]] == []


def test_both_exports_hold_the_same_pages() -> None:
    named = {path.stem.rsplit("_", 1)[-1] for path in (WIKI / "html").glob("*.html")} - {"index"}
    assert named == set(PAGES)
    assert len(PAGES) >= 40


def test_export_stays_small() -> None:
    assert sum(len(data) for data in _files(WIKI).values()) < 3_000_000


def test_question_ids_are_unique() -> None:
    assert [one for one, times in Counter(item["id"] for item in _questions()).items() if times > 1] == []


@pytest.mark.parametrize("item", _questions(), ids=lambda item: str(item["id"]))
def test_question_is_well_formed(item: dict[str, Any]) -> None:
    assert item["split"] in ("tuning", "holdout")
    assert bool(item["gold"]) == item["answerable"] == bool(item["answer"])
    assert ("history" in item) == ("standalone" in item)
    for gold in item["gold"]:
        for place in (gold, *gold.get("alt", [])):
            assert place["page"] in PAGES
            assert len(place["snippet"]) <= 200
            assert _squeezed(place["snippet"]) in _page_text(place["page"]), place
        heading = _squeezed(gold["heading"])
        assert heading == _squeezed(PAGES[gold["page"]]) or heading in _page_text(gold["page"])


def _chain(page: str) -> list[dict[str, Any]]:
    """The page and its ancestors, as the manifest describes them."""
    pages = {str(one["id"]): one for one in MANIFEST["pages"]}
    chain = [pages[page]]
    while chain[-1]["parent"]:
        chain.append(pages[str(chain[-1]["parent"])])
    return chain


def _readers(page: str) -> set[str]:
    """Addresses of those who pass the restrictions of the page and of everything above it."""
    allowed = {one["name"] for one in MANIFEST["users"] if one["email"]}
    for view in (one["view"] for one in _chain(page) if "view" in one):
        members = {name for group in view["groups"] for name in MANIFEST["groups"][group]}
        allowed &= members | set(view["users"])
    return {one["email"] for one in MANIFEST["users"] if one["name"] in allowed}


def test_no_answer_lies_on_a_restricted_page() -> None:
    pages = {gold["page"] for item in _questions() for gold in item["gold"]}
    assert [page for page in pages if any("view" in one for one in _chain(page))] == []


@pytest.mark.parametrize("item", _lines(HERE / "golden" / "restricted.jsonl"), ids=lambda item: str(item["id"]))
def test_restricted_question_names_exactly_the_readers(item: dict[str, Any]) -> None:
    assert set(item["readers"]) == _readers(item["page"])
    assert _squeezed(item["snippet"]) in _page_text(item["page"])


def test_both_splits_have_their_share() -> None:
    splits = Counter(item["split"] for item in _questions())
    assert min(splits.values()) * 5 >= len(_questions()) * 2
