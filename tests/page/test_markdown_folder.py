"""A folder of Markdown: titles, paths and front matter, and the page's text letter for letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Clause, Page
from askwiki.errors import SourceError
from askwiki.settings import Settings
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef

CONFIGURATION = Configuration(Settings(), Path(), {})


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        place = folder / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def pages(folder: Path) -> dict[str, Page]:
    return {one.id: one for one in open_source(f"markdown:{folder}", CONFIGURATION).pages() if isinstance(one, Page)}


def failures(folder: Path) -> list[PageFailure]:
    return [one for one in open_source(f"markdown:{folder}", CONFIGURATION).pages() if isinstance(one, PageFailure)]


def test_front_matter_says_everything(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\ntitle: Акты\npath: [Главная, Тара]\nupdated: 2025-03-01\nlabels: [тара, склад]\n"
        "readers:\n  - users: [o@x.example]\n    groups: [legal]\nurl: https://w.example/1\n---\n"
        "\n# Другое\n\nТекст.\n",
        encoding="utf-8",
    )
    found = pages(tmp_path)["a.md"]
    assert (found.title, found.path, found.updated, found.labels) == (
        "Акты",
        ("Главная", "Тара"),
        "2025-03-01",
        ("тара", "склад"),
    )
    assert (found.readers, found.url) == ((Clause(("o@x.example",), ("legal",)),), "https://w.example/1")
    assert found.markdown == "\n# Другое\n\nТекст.\n"


@pytest.mark.parametrize(
    ("matter", "readers"),
    [
        ("title: x", None),
        ("readers:", None),
        ("readers: []", ()),
        ("readers: [legal, o@x.example]", (Clause((), ("legal",)), Clause(("o@x.example",), ()))),
        ("readers: [{groups: 'a, b'}]", (Clause((), ("a", "b")),)),
    ],
)
def test_readers_absent_are_unknown_and_empty_are_everybody(tmp_path: Path, matter: str, readers: object) -> None:
    (tmp_path / "a.md").write_text(f"---\n{matter}\n---\nтекст", encoding="utf-8")
    assert pages(tmp_path)["a.md"].readers == readers


def test_without_front_matter_the_tree_file_says_title_and_path(tmp_path: Path) -> None:
    write(tmp_path, **{"pages__x__a.md": "# Заголовок\n"})
    entries = [{"path": "x/a.md", "title": "Из дерева", "breadcrumbs": ["Корень", "Ветвь"]}]
    (tmp_path / "tree.json").write_text(json.dumps(entries), encoding="utf-8")
    found = pages(tmp_path / "pages")["x/a.md"]
    assert (found.title, found.path) == ("Из дерева", ("Корень", "Ветвь"))


def test_without_both_the_heading_and_the_folders_say_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "net.md": "# Сеть и [узлы](https://x)\n",
            "net__vpn__index.md": "# VPN\n",
            "net__vpn__setup.md": "```\n# не заголовок\n```\n## Настройка\n",
            "net__plain.md": "без заголовка",
        },
    )
    found = pages(tmp_path)
    assert found["net/vpn/setup.md"].title == "Настройка"
    assert found["net/vpn/setup.md"].path == ("Сеть и узлы", "VPN")
    assert (found["net/vpn/index.md"].title, found["net/vpn/index.md"].path) == ("VPN", ("Сеть и узлы",))
    assert found["net/plain.md"].title == "plain"


def test_a_heading_of_any_form_is_a_title_as_a_person_reads_it(tmp_path: Path) -> None:
    write(tmp_path, **{"a.md": "Сеть и узлы\n===\n\nтекст\n", "b.md": "# `snake_case` и *узлы* \\*2\\* #\n"})
    assert [page.title for page in pages(tmp_path).values()] == ["Сеть и узлы", "snake_case и узлы *2*"]


def test_the_text_stays_letter_for_letter(tmp_path: Path) -> None:
    text = "a  \nb\t|c|\r\n\n\n---\nне шапка: да\n---\n"
    (tmp_path / "a.md").write_bytes(text.encode())
    assert pages(tmp_path)["a.md"].markdown == text.replace("\r\n", "\n")


def test_a_rule_at_the_beginning_is_no_front_matter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nпросто строка\n---\nдальше", encoding="utf-8")
    assert pages(tmp_path)["a.md"].markdown == "---\nпросто строка\n---\nдальше"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"---\ntitle: [\n---\nx", "front matter is not valid YAML"),
        (b"---\nreaders: [{people: [a]}]\n---\nx", "must be clauses with users and groups"),
        (b"---\nlabels: 5\n---\nx", "must be a list or a text"),
        (b"---\ntitle: a\nreaders: [hr]\n\n# x", "The front matter has no end"),
        (b"---\nreaders: [hr]", "The front matter has no end"),
        (b"---\nreadrs: [hr]\n---\nx", "the key readrs, which should be readers"),
        (b"---\nReaders: [hr]\n---\nx", "the key Readers, which should be readers"),
        (b"---\nreaders [hr]\n---\nx", "tells of readers"),
        (b"---\nreaders: [hr]\nreaders: []\n---\nx", "names the readers twice"),
        ("слово".encode("cp1251"), "The file is not UTF-8"),
    ],
)
def test_a_bad_file_is_a_failure_and_the_rest_is_read(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "bad.md").write_bytes(data)
    write(tmp_path, **{"good.md": "хорошо"})
    found = failures(tmp_path)
    assert [one.ref.id for one in found] == ["bad.md"]
    assert reason in found[0].reason
    assert list(pages(tmp_path)) == ["good.md"]


def test_pictures_of_the_folder_are_attachments(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "x__a.md": "![план](img/план.png) ![нет](../../out.png) ![сеть](https://x/y.png)",
            "x__img__план.png": "png",
        },
    )
    (tmp_path.parent / "out.png").write_text("x", encoding="utf-8")
    assert [(file.name, file.url) for file in pages(tmp_path)["x/a.md"].attachments] == [("план.png", "img/план.png")]


def test_expected_pages_are_those_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, **{"b.md": "# Б", "a.markdown": "# А", "c.txt": "нет"})
    assert open_source(f"markdown:{tmp_path}", CONFIGURATION).expected() == [
        PageRef("a.markdown", "А"),
        PageRef("b.md", "Б"),
    ]


def test_a_missing_folder_and_one_without_pages_are_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        open_source(f"markdown:{tmp_path / 'nowhere'}", CONFIGURATION)
    with pytest.raises(SourceError, match=r"holds no \.md file"):
        open_source(f"markdown:{tmp_path}", CONFIGURATION)


def test_a_broken_tree_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    write(tmp_path, **{"a.md": "x", "tree.json": '[{"title": "нет пути"}]'})
    with pytest.raises(SourceError, match=r"tree\.json must be a list"):
        open_source(f"markdown:{tmp_path}", CONFIGURATION)
