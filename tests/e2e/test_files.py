"""Ten files of one page, asked about in the real chat without a language model: the right file, its link, its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api")

from tests.demo import PLACE as DEMO
from tests.page.test_attachments import pdf
from tests.support.rest_wiki import page as rest_page
from tests.support.running import environment

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

    from tests.e2e.browser import Chat

pytestmark = pytest.mark.e2e
WIKI_URL = "https://wiki.example.com"
ADDRESS = f"{WIKI_URL}/download/attachments/1"


def write_files(folder: Path) -> None:
    """Two PDFs, three Word files, Excel, PowerPoint, two texts and a table, each with something that no other says."""
    import docx
    import openpyxl
    from pptx import Presentation

    pdf(
        folder / "gates.pdf", "The warehouse gate opens at seven in the morning", "At night the guard Orlov has the key"
    )
    pdf(folder / "scales.pdf", "The scales are checked every March by the company Metra")
    for name, heading, text in (
        ("vesy.docx", "Весы", "Весы на складе поверяют раз в два года, следующая поверка в 2027 году."),
        ("tara.docx", "Возврат тары", "Пустые лотки возвращают поставщику по пятницам до обеда."),
        ("brak.docx", "Брак", "Акт о браке подписывают кладовщик и водитель, фотографии прикладывают обязательно."),
    ):
        word = docx.Document()
        word.add_heading(heading, 1)
        word.add_paragraph(text)
        word.save(folder / name)
    book = openpyxl.Workbook()
    book.active.title = "Цены"
    for row in (("Тара", "Цена, руб."), ("лоток пластиковый", 370), ("паллета деревянная", 950)):
        book.active.append(row)
    book.save(folder / "ceny.xlsx")
    slides = Presentation()
    for title, text in (("План приёмки", "Осенью склад работает в две смены"), ("Итоги", "Приняли 1 240 паллет")):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    slides.save(folder / "itogi.pptx")
    (folder / "ohrana.txt").write_text("Пропуск на склад водителю выписывает диспетчер Лебедева.", encoding="utf-8")
    (folder / "holod.txt").write_text("В холодильной камере держат минус восемнадцать градусов.", encoding="utf-8")
    (folder / "telefony.csv").write_text("Служба;Телефон\nдиспетчерская;2-14\nохрана;2-03\n", encoding="cp1251")


@pytest.fixture(scope="module")
def office(tools: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    """A chat over one page and its ten files."""
    from tests.e2e.browser import chromium, person, sign_in_by_directory, window
    from tests.e2e.stack import index, stack

    folder = tmp_path_factory.mktemp("files")
    files = folder / "export" / "attachments" / "1"
    files.mkdir(parents=True)
    write_files(files)
    names = sorted(file.name for file in files.iterdir())
    assert len(names) == 10
    held = {"children": {"attachment": {"results": [{"title": name} for name in names]}}}
    record = rest_page("1", "Склад", **held)
    (folder / "export" / "1.json").write_text(json.dumps(record), encoding="utf-8")
    environ = environment(
        ASKWIKI_STORE_PATH=str(folder / "store"),
        ASKWIKI_SYNC__CACHE=str(DEMO / "cache"),
        ASKWIKI_WIKI_URL=WIKI_URL,
        ASKWIKI_ACCESS__UNKNOWN_REST="open",
    )
    index(f"rest:{folder / 'export'}", environ)
    with stack(folder / "run", environ) as running, chromium(tools, {}) as browser:
        chat = window(person(browser, set()), running.webui.url)
        sign_in_by_directory(chat, "m.sokolov")
        yield chat


@pytest.mark.parametrize(
    ("question", "said", "link"),
    [
        ("Who has the key of the warehouse gate at night?", "guard Orlov has the key", f"{ADDRESS}/gates.pdf#page=2"),
        ("Когда следующая поверка весов на складе?", "следующая поверка в 2027 году", f"{ADDRESS}/vesy.docx"),
        ("Сколько стоит деревянная паллета?", "950", f"{ADDRESS}/ceny.xlsx"),
        ("Сколько паллет приняли по итогам?", "1 240 паллет", f"{ADDRESS}/itogi.pptx"),
        ("Кто выписывает водителю пропуск на склад?", "диспетчер Лебедева", f"{ADDRESS}/ohrana.txt"),
        ("Какой телефон у диспетчерской?", "2-14", f"{ADDRESS}/telefony.csv"),
        ("Когда возвращают пустые лотки?", "по пятницам до обеда", f"{ADDRESS}/tara.docx"),
    ],
)
def test_the_answer_comes_from_the_file_and_leads_to_it(office: Chat, question: str, said: str, link: str) -> None:
    answer = office.open().ask_and_wait(question)
    assert said in answer.inner_text()
    links = answer.locator("ol a").evaluate_all("links => links.map(link => link.href)")
    assert links[0].removesuffix("/") == link
