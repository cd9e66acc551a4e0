"""What an XML export holds beside the current pages, and a reader must not take for one."""

from typing import TYPE_CHECKING

from wiki_hibernate import CORE, CUSTOM, PAGES, SPACES, many, ref

if TYPE_CHECKING:
    from wiki_xml import Entities


def add_hidden(entities: "Entities") -> None:
    """Add old versions, a draft, a deleted page, a comment and what apps leave behind."""
    _old_versions(entities)
    _never_published(entities)
    _comments(entities)
    _machine_text(entities)


def _old_versions(entities: "Entities") -> None:
    """They claim to be current; only the reference to the original gives them away."""
    for one in entities.wiki.hidden["old_versions"]:
        page = entities.wiki.by_id(one["of"])
        editor = entities.wiki.users[one["editor"]]
        stem = entities.stem(page.title, one["version"], page.author, page.created, editor, one["modified"], "current")
        _plain_page(entities, one["id"], stem + ref("originalVersion", "Page", PAGES, page.id), one["body"])


def _never_published(entities: "Entities") -> None:
    for status, key in (("draft", "drafts"), ("deleted", "deleted")):
        for one in entities.wiki.hidden[key]:
            user = entities.wiki.users[one["creator"]]
            stem = entities.stem(one["title"], 1, user, one["created"], user, one["created"], status)
            place = ref("space", "Space", SPACES, entities.space) + ref("parent", "Page", PAGES, one["parent"])
            _plain_page(entities, one["id"], stem + place, one["body"])


def _comments(entities: "Entities") -> None:
    for one in entities.wiki.comments:
        user = entities.wiki.users[one["creator"]]
        stem = entities.stem("", 1, user, one["created"], user, one["created"], "current")
        body = entities.body("Comment", PAGES, one["id"], one["body"])
        place = many("bodyContents", "BodyContent", CORE, [body]) + ref("containerContent", "Page", PAGES, one["page"])
        entities.add("Comment", PAGES, stem + place, one["id"])


def _machine_text(entities: "Entities") -> None:
    """A private label and an app's JSON, both tied to the home page."""
    home = entities.wiki.by_id(entities.wiki.space["home"])
    entities.labelling(home, "favourite", "my")
    own = next(entities.numbers)
    body = entities.body("CustomContentEntityObject", CUSTOM, own, '{"type":"inline-tasks","items":[]}', 1)
    place = many("bodyContents", "BodyContent", CORE, [body]) + ref("containerContent", "Page", PAGES, home.id)
    entities.add("CustomContentEntityObject", CUSTOM, place, own)


def _plain_page(entities: "Entities", number: int, stem: str, text: str) -> None:
    bodies = many("bodyContents", "BodyContent", CORE, [entities.body("Page", PAGES, number, text)])
    entities.add("Page", PAGES, stem + bodies, number)
