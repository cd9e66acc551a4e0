"""The XML export: what is current, who may read it, what the file may be spoiled with."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Clause, Page
from askwiki.errors import SourceError
from askwiki.settings import ConfluenceSettings, Settings, WikiSettings
from indexer.confluence.sources.xml.export import XmlExport
from indexer.confluence.sources.xml.objects import BLOCK, CleanStream, read_entities
from indexer.confluence.sources.xml.space import WANTED
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef, read_attachment

SAMPLE = Path(__file__).parents[1] / "wiki" / "xml"


def configuration(base: str = "", archived: bool = False) -> Configuration:
    settings = Settings(wiki=WikiSettings(url=base), confluence=ConfluenceSettings(include_archived=archived))
    return Configuration(settings, Path(), {})


def thing(kind: str, identity: str, *parts: str) -> str:
    return f'<object class="{kind}" package="p"><id name="id">{identity}</id>{"".join(parts)}</object>'


def value(name: str, text: str) -> str:
    return f'<property name="{name}"><![CDATA[{text}]]></property>'


def target(name: str, kind: str, identity: str, key: str = "id") -> str:
    return f'<property name="{name}" class="{kind}" package="p"><id name="{key}">{identity}</id></property>'


def page(identity: str, title: str, *parts: str, status: str = "current") -> str:
    fixed = value("title", title) + value("contentStatus", status) + target("space", "Space", "9")
    return thing("Page", identity, fixed, *parts)


def body(owner: str, text: str, kind: str = "2") -> str:
    return thing(
        "BodyContent",
        f"b{owner}",
        value("body", text.replace("]]>", "]] >")),
        target("content", "Page", owner),
        value("bodyType", kind),
    )


def view(*members: str, owner: str, number: str = "70") -> str:
    """A View set of a page: "g:NAME" for groups, "u:KEY" for users."""
    pieces = [thing("ContentPermissionSet", number, value("type", "View"), target("owningContent", "Page", owner))]
    for place, member in enumerate(members):
        who = (
            value("groupName", member[2:])
            if member[0] == "g"
            else target("userSubject", "ConfluenceUserImpl", member[2:], "key")
        )
        pieces.append(
            thing(
                "ContentPermission",
                f"{number}{place}",
                value("type", "View"),
                who,
                target("owningSet", "ContentPermissionSet", number),
            )
        )
    return "".join(pieces)


SPACE = thing("Space", "9", value("name", "Тара"), value("key", "TARA"), target("homePage", "Page", "1"))
EVERYBODY = thing(
    "SpacePermission", "60", value("type", "VIEWSPACE"), target("space", "Space", "9"), '<property name="group"/>'
)
STAFF = thing(
    "SpacePermission", "61", value("type", "VIEWSPACE"), value("group", "staff"), target("space", "Space", "9")
)


def write(folder: Path, *things: str) -> Path:
    file = folder / "entities.xml"
    file.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?><hibernate-generic>{"".join(things)}</hibernate-generic>',
        encoding="utf-8",
    )
    return file


def source(path: Path, **settings: bool) -> XmlExport:
    opened = open_source(f"xml:{path}", configuration("https://w.example", **settings))
    assert isinstance(opened, XmlExport)
    return opened


def pages(folder: Path, *things: str) -> dict[str, Page]:
    return {one.id: one for one in source(write(folder, *things)).pages() if isinstance(one, Page)}


@pytest.mark.parametrize("kind", ["Folder", "Whiteboard", "Database", "Embed"])
def test_a_page_below_a_folder_of_the_cloud_keeps_its_path_and_readers(tmp_path: Path, kind: str) -> None:
    within = target("space", "Space", "9")
    held = thing(kind, "2", value("title", "Папка"), within, target("parent", "Page", "1"))
    below = page("3", "Ниже", target("parent", kind, "2"))
    found = pages(tmp_path, SPACE, STAFF, page("1", "Главная"), held, below)
    assert list(found) == ["1", "3"]
    assert (found["3"].path, found["3"].readers) == (("Главная", "Папка"), (Clause(groups=("staff",)),))


def test_children_are_listed_out_of_the_export(tmp_path: Path) -> None:
    macro = '<ac:structured-macro ac:name="children"/>'
    above = target("parent", "Page", "1")
    found = pages(
        tmp_path, SPACE, STAFF, page("1", "Главная"), body("1", macro), page("3", "Б", above, value("position", "2")),
        page("2", "А", above, value("position", "1")), page("4", "Оклады", above), view("g:boss", owner="4"),
    )  # fmt: skip
    address = "https://w.example/pages/viewpage.action?pageId="
    names = f"- [А]({address}2)\n- [Б]({address}3)"
    assert found["1"].markdown == names


def test_the_pages_of_an_archived_space_are_archived(tmp_path: Path) -> None:
    space = thing("Space", "9", value("key", "TARA"), value("spaceStatus", "ARCHIVED"))
    found = source(write(tmp_path, space, page("1", "А"))).pages()
    assert list(found) == [PageFailure(PageRef("1", "А"), "archived", skipped=True)]


def test_every_page_of_the_sample_wiki_is_read() -> None:
    export = open_source(f"xml:{SAMPLE}", configuration())
    found = list(export.pages())
    assert [one.id for one in found if isinstance(one, Page)] == [ref.id for ref in export.expected()]
    assert [one for one in found if isinstance(one, PageFailure)] == []


def test_the_sample_wiki_has_the_same_tree_in_both_forms() -> None:
    trees = []
    for spec in (f"xml:{SAMPLE}", f"html:{SAMPLE.parent / 'html'}"):
        found = [one for one in open_source(spec, configuration()).pages() if isinstance(one, Page)]
        trees.append({one.id: (one.title, one.path, one.updated[:10]) for one in found})
    assert trees[0] == trees[1]


def test_both_exports_of_a_space_are_joined() -> None:
    spec = f"xml:{SAMPLE}+html:{SAMPLE.parent / 'html'}"
    found = {one.id: one for one in open_source(spec, configuration()).pages() if isinstance(one, Page)}
    assert "| Партнёр | Страны |" in found["65643"].markdown  # a report, which only the wiki computes
    assert "Владелец раздела: Анна Белова." in found["65610"].markdown  # a name, which only rendering shows
    assert "@startuml" in found["65631"].markdown  # a source, which only the storage format holds
    assert found["65631"].readers is not None


def test_pages_come_in_the_order_of_the_tree(tmp_path: Path) -> None:
    export = source(
        write(
            tmp_path,
            page("5", "Без места Б", target("parent", "Page", "1")),
            page("4", "Без места А", target("parent", "Page", "1")),
            page("3", "Вторая", value("position", "1"), target("parent", "Page", "1")),
            page("2", "Первая", value("position", "0"), target("parent", "Page", "1")),
            page("6", "Внутри первой", target("parent", "Page", "2")),
            page("0", "Рядом с главной"),
            page("1", "Главная"),
            SPACE,
        )
    )
    assert [ref.id for ref in export.expected()] == ["1", "2", "6", "3", "4", "5", "0"]


def test_archived_pages_are_skipped_with_a_reason_and_blog_posts_are_read(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        SPACE,
        page("1", "Главная"),
        page("2", "Старая", status="archived"),
        thing("BlogPost", "3", value("title", "Новость")),
    )
    found = list(source(file).pages())
    assert [one for one in found if isinstance(one, PageFailure)] == [
        PageFailure(PageRef("2", "Старая"), "archived", skipped=True)
    ]
    assert [(one.title, one.content) for one in found if isinstance(one, Page)] == [
        ("Главная", "page"), ("Новость", "blogpost"),
    ]  # fmt: skip
    assert [ref.id for ref in source(file, archived=True).expected()] == ["1", "3", "2"]


def test_a_space_open_to_everybody_gives_public_pages(tmp_path: Path) -> None:
    found = pages(
        tmp_path,
        SPACE,
        EVERYBODY,
        STAFF,
        page("1", "А"),
        page("2", "Б", target("parent", "Page", "1")),
        view("g:legal", owner="2"),
    )
    assert (found["1"].readers, found["2"].readers) == ((), (Clause((), ("legal",)),))


def test_readers_are_the_space_and_the_page_and_every_ancestor(tmp_path: Path) -> None:
    user = (
        '<object class="ConfluenceUserImpl" package="p"><id name="key">k1</id>'
        + value("name", "o.veresova")
        + value("email", "")
        + "</object>"
    )
    found = pages(
        tmp_path, SPACE, STAFF, user, page("1", "А"), page("2", "Б", target("parent", "Page", "1")),
        page("3", "В", target("parent", "Page", "2")), view("g:legal", "u:k1", owner="1"),
        view("u:k9", owner="3", number="71"),
    )  # fmt: skip
    staff, legal = Clause((), ("staff",)), Clause(("o.veresova",), ("legal",))
    assert found["2"].readers == (staff, legal)
    assert found["3"].readers == (staff, Clause(("k9",), ()), legal)


def test_a_view_set_without_members_lets_nobody_in(tmp_path: Path) -> None:
    assert pages(tmp_path, SPACE, EVERYBODY, page("1", "А"), view(owner="1"))["1"].readers == (Clause(),)


def test_a_space_that_nobody_may_view_lets_nobody_in(tmp_path: Path) -> None:
    edit = thing(
        "SpacePermission", "62", value("type", "EDITSPACE"), value("group", "staff"), target("space", "Space", "9")
    )
    assert pages(tmp_path, SPACE, edit, page("1", "А"))["1"].readers == (Clause(),)


def test_missing_and_circular_parents_make_the_readers_unknown(tmp_path: Path) -> None:
    found = pages(
        tmp_path, SPACE, EVERYBODY, page("1", "Сирота", target("parent", "Page", "404")),
        page("2", "Круг А", target("parent", "Page", "3")), page("3", "Круг Б", target("parent", "Page", "2")),
        page("4", "Сам себе", target("parent", "Page", "4")),
    )  # fmt: skip
    assert {one.id: one.readers for one in found.values()} == {"1": None, "2": None, "3": None, "4": None}
    assert found["4"].path == ()


def test_a_body_of_a_machine_is_a_page_with_a_stated_loss(tmp_path: Path) -> None:
    found = pages(tmp_path, SPACE, page("1", "А"), body("1", '{"a": 1}', "1"))["1"]
    assert (found.markdown, [loss.kind for loss in found.losses]) == ("", ["body"])


def test_links_between_pages_and_files_get_addresses(tmp_path: Path) -> None:
    text = (
        '<p><ac:link><ri:page ri:content-title="Б"/></ac:link> '
        '<ac:link><ri:attachment ri:filename="а б.png"/></ac:link> '
        '<ac:link ac:anchor="Вид"><ri:page ri:content-title="Нет такой"/></ac:link></p>'
    )
    found = pages(tmp_path, SPACE, page("1", "А"), page("2", "Б"), body("1", text))["1"]
    assert found.markdown == (
        "[Б](https://w.example/pages/viewpage.action?pageId=2) "
        "[а б.png](https://w.example/download/attachments/1/а%20б.png) "
        "[Нет такой](https://w.example/display/TARA/Нет%20такой#id-Неттакой-Вид)"
    )


def test_a_drawing_in_the_zip_is_read_into_plantuml(tmp_path: Path) -> None:
    drawing = (
        '<mxfile><diagram><mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/>'
        '<mxCell id="a" value="Касса &lt;b&gt;1&lt;/b&gt;" vertex="1" parent="1"/>'
        '<mxCell id="b" value="Склад" vertex="1" parent="1"/>'
        '<mxCell id="e" value="заявка" edge="1" source="a" target="b" parent="1"/>'
        "</root></mxGraphModel></diagram></mxfile>"
    )
    named = '<ac:parameter ac:name="diagramName">сеть</ac:parameter>'
    macro = f'<p>Сеть касс.</p><ac:structured-macro ac:name="drawio">{named}</ac:structured-macro>'
    attachment = thing(
        "Attachment", "50", value("title", "сеть"), value("version", "2"), target("containerContent", "Page", "1")
    )
    file = write(tmp_path, SPACE, page("1", "А"), body("1", macro), attachment)
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(file, "entities.xml")
        archive.writestr("attachments/1/50/2", drawing)
    found = next(one for one in source(tmp_path / "export.zip").pages() if isinstance(one, Page))
    assert found.markdown.split("\n") == [
        "Сеть касс.", "", "![Диаграмма сеть](https://w.example/download/attachments/1/сеть.png)", "",
        "```plantuml", "@startuml",
        'rectangle "Касса 1" as n1', 'rectangle "Склад" as n2', "n1 --> n2 : заявка", "@enduml",
        "```",
    ]  # fmt: skip
    assert read_attachment(found.attachments[0]) == drawing.encode()


def test_forbidden_characters_and_references_are_taken_out_at_any_border() -> None:
    text = "а" * (BLOCK - 3) + "&#x1c;\x1d\x01ё&#28;"
    stream = CleanStream(io.BytesIO(text.encode()))
    read = b"".join(iter(lambda: stream.read(1000), b"")).decode()
    assert read == "а" * (BLOCK - 3) + " ё"
    assert stream.mended == 4


@pytest.mark.parametrize("place", range(BLOCK - 14, BLOCK + 2))
def test_references_in_a_section_stay_wherever_a_block_ends(place: int) -> None:
    text = "a" * place + "<![CDATA[&#x1d;]]>&#x1d;б"
    stream = CleanStream(io.BytesIO(text.encode()))
    read = b"".join(iter(lambda: stream.read(1000), b"")).decode()
    assert read == "a" * place + "<![CDATA[&#x1d;]]>б"


@pytest.mark.parametrize("text", ["", "no xml at all", "<other/>", "{}"])
def test_a_file_that_is_no_export_is_told_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "entities.xml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match="not the file of a Confluence XML export"):
        source(tmp_path / "entities.xml")


def test_an_external_entity_is_never_loaded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("тайна", encoding="utf-8")
    file = tmp_path / "entities.xml"
    content = SPACE + thing("Page", "1", '<property name="title">&leak;</property>', value("contentStatus", "current"))
    file.write_text(
        f'<!DOCTYPE x [<!ENTITY leak SYSTEM "{secret.as_uri()}">]><hibernate-generic>{content}</hibernate-generic>',
        encoding="utf-8",
    )
    assert [ref.title for ref in source(file).expected()] == [""]


def test_memory_does_not_grow_with_the_file() -> None:
    class Endless(io.RawIOBase):
        """An export of ``count`` objects that exists only while it is read."""

        def __init__(self, count: int) -> None:
            text = thing("BodyContent", "1", value("body", "слово " * 2000), target("content", "Page", "1")).encode()
            self._pieces = iter([b"<hibernate-generic>", *[text] * count, b"</hibernate-generic>"])

        def read(self, size: int = -1) -> bytes:
            return next(self._pieces, b"")

    def peak(count: int) -> int:
        tracemalloc.start()
        read = sum(1 for _ in read_entities(Endless(count), WANTED, print))  # type: ignore[arg-type]
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert read == count
        return highest

    assert peak(800) < 1.5 * peak(100)


def space_permission(*parts: str, number: str = "65") -> str:
    return thing("SpacePermission", number, value("type", "VIEWSPACE"), target("space", "Space", "9"), *parts)


@pytest.mark.parametrize(
    "subject",
    [
        target("group", "InternalGroup", "g1"),
        '<property name="group"><b>staff</b></property>',
        value("team", "staff"),
        value("allUsersSubject", "paying-guests"),
        target("userSubject", "ConfluenceUserImpl", "", "key"),
        value("group", "staff\N{REPLACEMENT CHARACTER}"),
        value("group", "staff") + value("userName", "o.veresova"),
    ],
)
def test_a_space_permission_that_names_nobody_known_lets_nobody_in_and_says_so(tmp_path: Path, subject: str) -> None:
    found = pages(tmp_path, SPACE, space_permission(subject), page("1", "А"))["1"]
    assert found.readers == (Clause(),)
    assert [(loss.kind, loss.name, loss.count) for loss in found.losses] == [("readers", "VIEWSPACE", 1)]


@pytest.mark.parametrize(
    ("subject", "readers"),
    [
        ("", ()),
        ('<property name="group"/><property name="userSubject"/>' + value("creatorName", "a"), ()),
        (value("allUsersSubject", "anonymous-users"), ()),
        (value("allUsersSubject", "authenticated-users"), (Clause((), ("confluence-users",)),)),
        (value("userName", "o.veresova"), (Clause(("o.veresova",), ()),)),
        (target("userSubject", "ConfluenceUserImpl", "k1", "key"), (Clause(("k1",), ()),)),
    ],
)
def test_a_space_permission_says_whom_it_lets_in(tmp_path: Path, subject: str, readers: tuple[Clause, ...]) -> None:
    assert pages(tmp_path, SPACE, space_permission(subject), page("1", "А"))["1"].readers == readers


def test_a_permission_that_is_not_understood_leaves_the_others_of_the_space(tmp_path: Path) -> None:
    strange = space_permission(value("team", "x"))
    assert pages(tmp_path, SPACE, STAFF, strange, page("1", "А"))["1"].readers == (Clause((), ("staff",)),)


def test_without_permissions_of_the_space_its_clause_is_unknown_beside_the_page_s_own(tmp_path: Path) -> None:
    found = pages(tmp_path, SPACE, page("1", "А"), page("2", "Б"), view("g:legal", owner="2"))
    assert (found["1"].readers, found["2"].readers) == (None, (Clause(unknown=True), Clause((), ("legal",))))


def test_a_space_left_out_of_the_permissions_lets_nobody_in(tmp_path: Path) -> None:
    other = thing("Space", "8", value("key", "X"))
    theirs = thing("SpacePermission", "66", value("type", "VIEWSPACE"), target("space", "Space", "8"))
    assert pages(tmp_path, SPACE, other, theirs, page("1", "А"))["1"].readers == (Clause(),)


def test_below_a_missing_parent_the_known_clauses_stay(tmp_path: Path) -> None:
    orphan = page("1", "Сирота", target("parent", "Page", "404"))
    found = pages(tmp_path, SPACE, STAFF, orphan, view("g:legal", owner="1"))["1"]
    assert found.readers == (Clause((), ("staff",)), Clause((), ("legal",)), Clause(unknown=True))


@pytest.mark.parametrize("kind", ["View", "Edit", ""])
def test_a_set_whose_members_may_view_restricts_whatever_its_own_type(tmp_path: Path, kind: str) -> None:
    text = view("g:legal", owner="1").replace(value("type", "View"), value("type", kind), 1)
    assert pages(tmp_path, SPACE, EVERYBODY, page("1", "А"), text)["1"].readers == (Clause((), ("legal",)),)


def test_a_page_that_another_lists_below_itself_is_closed_when_it_does_not_say_so(tmp_path: Path) -> None:
    below = '<collection name="children"><element class="Page"><id name="id">2</id></element></collection>'
    found = pages(tmp_path, SPACE, EVERYBODY, page("1", "А", below), page("2", "Б"), view("g:hr", owner="1"))
    assert found["2"].readers == (Clause(),)


def test_a_page_in_an_unknown_state_and_one_without_its_text_are_failures(tmp_path: Path) -> None:
    text = '<collection name="bodyContents"><element class="BodyContent"><id name="id">5</id></element></collection>'
    first, second = page("1", "А", text), page("2", "Б", status="currend")
    found = list(source(write(tmp_path, SPACE, first, second, page("3", "В"))).pages())
    assert [(one.ref.id, one.reason) for one in found if isinstance(one, PageFailure)] == [
        ("1", "the export names its text, but does not hold it"),
        ("2", "has the state 'currend', which is not known"),
    ]
    assert [one.id for one in found if isinstance(one, Page)] == ["3"]


@pytest.mark.parametrize(
    "known",
    [
        thing("InternalUser", "u1", value("name", "e.titova"), value("displayName", "Елена Титова")),
        thing(
            "InternalUser", "u1", value("name", "e.titova"), value("firstName", "Елена"), value("lastName", "Титова")
        ),
        thing("PersonalInformation", "u1", value("username", "e.titova"), value("fullName", "Елена Титова")),
        thing("Space", "77", value("key", "~e.titova"), value("name", "Елена Титова")),
    ],
)
@pytest.mark.parametrize("named", ['ri:userkey="k1"', 'ri:username="e.titova"'])
def test_a_person_is_called_by_the_full_name_that_the_export_knows(tmp_path: Path, known: str, named: str) -> None:
    user = f'<object class="ConfluenceUserImpl" package="p"><id name="key">k1</id>{value("name", "e.titova")}</object>'
    text = f"<p>Звонить: <ac:link><ri:user {named}/></ac:link></p>"
    found = pages(tmp_path, SPACE, EVERYBODY, user, known, page("1", "Главная"), body("1", text))
    assert found["1"].markdown == "Звонить: Елена Титова"
