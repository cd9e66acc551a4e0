"""The XML space export: `entities.xml` in Hibernate's generic form, descriptor, attachments."""

import itertools

from wiki_hibernate import CORE, LABELS, PAGES, SECURITY, SPACES, USER, entity, many, prop, ref, user_ref
from wiki_hidden import add_hidden
from wiki_html import Files, attachment_bytes
from wiki_source import Page, Restriction, User, Wiki

_STORAGE, _WIKI_MARKUP = 2, 0


class Entities:
    """Collects the objects of one export; numbers of small objects are handed out in order."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self.space = int(wiki.space["id"])
        self.parts: list[str] = []
        self.numbers = itertools.count(720897)
        self._labels: dict[tuple[str, str], int] = {}

    def xml(self) -> str:
        for page in reversed(self.wiki.pages):
            self._page(page)
        add_hidden(self)
        self._space()
        self._users()
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic datetime="2026-11-30 02:00:00">\n'
        return head + "".join(self.parts) + "</hibernate-generic>\n"

    def add(self, kind: str, package: str, body: str, key: int | None = None) -> int:
        number = next(self.numbers) if key is None else key
        self.parts.append(entity(kind, package, number, body))
        return number

    def body(self, kind: str, package: str, owner: int, text: str, body_type: int = _STORAGE) -> int:
        content = ref("content", kind, package, owner)
        shown = prop("body", text, text=True) if text else '<property name="body"><![CDATA[]]></property>\n'
        return self.add("BodyContent", CORE, shown + content + prop("bodyType", body_type))

    def _page(self, page: Page) -> None:
        old = [one["id"] for one in self.wiki.hidden["old_versions"] if one["of"] == page.id]
        body = (
            self.stem(page.title, page.version, page.author, page.created, page.editor, page.modified, "current")
            + many("bodyContents", "BodyContent", CORE, [self.body("Page", PAGES, page.id, page.storage)])
            + ref("space", "Space", SPACES, self.space)
            + (ref("parent", "Page", PAGES, page.parent) if page.parent else "")
            + prop("position", page.position)
            + many("children", "Page", PAGES, [one.id for one in self.wiki.children(page.id)])
            + many("attachments", "Attachment", PAGES, self._attachments(page))
            + many("labellings", "Labelling", LABELS, [self.labelling(page, name) for name in page.labels])
            + many("contentPermissionSets", "ContentPermissionSet", SECURITY, self._permissions(page))
            + many("historicalVersions", "Page", PAGES, old)
        )
        self.add("Page", PAGES, body, page.id)

    def stem(
        self, title: str, version: int, author: User, created: str, editor: User, modified: str, status: str
    ) -> str:
        return (
            prop("hibernateVersion", version + 2)
            + prop("title", title, text=True)
            + prop("lowerTitle", title.lower(), text=True)
            + prop("version", version)
            + user_ref("creator", author)
            + prop("creationDate", created)
            + user_ref("lastModifier", editor)
            + prop("lastModificationDate", modified)
            + '<property name="versionComment"><![CDATA[]]></property>\n'
            + prop("contentStatus", status, text=True)
        )

    def _attachments(self, page: Page) -> list[int]:
        for item in page.attachments:
            for version in range(1, item.version):
                self._attachment(page, item.id, item.file, version, item.id * 100 + version)
            self._attachment(page, item.id, item.file, item.version, item.id)
        return [item.id for item in page.attachments]

    def _attachment(self, page: Page, current: int, file: str, version: int, number: int) -> None:
        original = ref("originalVersion", "Attachment", PAGES, current) if number != current else ""
        body = (
            self.stem(file, version, page.author, page.created, page.editor, page.modified, "current")
            + ref("space", "Space", SPACES, self.space)
            + ref("containerContent", "Page", PAGES, page.id)
            + original
        )
        self.add("Attachment", PAGES, body, number)

    def labelling(self, page: Page, name: str, namespace: str = "global") -> int:
        known = (namespace, name)
        if known not in self._labels:
            body = prop("name", name, text=True) + prop("namespace", namespace, text=True)
            self._labels[known] = self.add("Label", LABELS, body)
        body = (
            ref("label", "Label", LABELS, self._labels[known])
            + ref("content", "Page", PAGES, page.id)
            + user_ref("owningUser", page.author)
            + prop("labelableId", page.id)
            + prop("labelableType", "CONTENT", text=True)
        )
        return self.add("Labelling", LABELS, body)

    def _permissions(self, page: Page) -> list[int]:
        sets = []
        for kind, restriction in (("View", page.view), ("Edit", page.edit)):
            if restriction is not None:
                sets.append(self._permission_set(page, kind, restriction))
        return sets

    def _permission_set(self, page: Page, kind: str, restriction: Restriction) -> int:
        own = next(self.numbers)
        start = prop("type", kind, text=True)
        end = ref("owningSet", "ContentPermissionSet", SECURITY, own) + prop("creationDate", page.created)
        nobody, no_group = prop("userSubject", None), prop("groupName", None)
        subjects = [user_ref("userSubject", self.wiki.users[name]) + no_group for name in restriction.users]
        subjects += [nobody + prop("groupName", name, text=True) for name in restriction.groups]
        ids = [self.add("ContentPermission", SECURITY, start + subject + end) for subject in subjects]
        body = (
            start
            + many("contentPermissions", "ContentPermission", SECURITY, ids)
            + ref("owningContent", "Page", PAGES, page.id)
        )
        return self.add("ContentPermissionSet", SECURITY, body, own)

    def _space(self) -> None:
        space = self.wiki.space
        creator = self.wiki.users[space["creator"]]
        description = next(self.numbers)
        bodies = [self.body("SpaceDescription", SPACES, description, space["description"], _WIKI_MARKUP)]
        self.add(
            "SpaceDescription",
            SPACES,
            many("bodyContents", "BodyContent", CORE, bodies) + ref("space", "Space", SPACES, self.space),
            description,
        )
        subjects = [("VIEWSPACE", prop("group", None) + prop("userSubject", None))]
        subjects += [
            (kind, prop("group", "confluence-users", text=True)) for kind in ("VIEWSPACE", "EDITSPACE", "COMMENT")
        ]
        subjects.append(("SETSPACEPERMISSIONS", user_ref("userSubject", creator)))
        permissions = [
            self.add(
                "SpacePermission",
                SECURITY,
                ref("space", "Space", SPACES, self.space) + prop("type", kind, text=True) + subject,
            )
            for kind, subject in subjects
        ]
        body = (
            prop("name", space["name"], text=True)
            + prop("key", space["key"], text=True)
            + prop("lowerKey", space["key"].lower(), text=True)
            + ref("description", "SpaceDescription", SPACES, description)
            + ref("homePage", "Page", PAGES, space["home"])
            + many("permissions", "SpacePermission", SECURITY, permissions)
            + user_ref("creator", creator)
            + prop("creationDate", space["created"])
            + prop("spaceType", "global", text=True)
            + prop("spaceStatus", "CURRENT", text=True)
        )
        self.add("Space", SPACES, body, self.space)

    def _users(self) -> None:
        for user in self.wiki.users.values():
            body = prop("name", user.name, text=True) + prop("lowerName", user.name, text=True)
            body += prop("email", user.email, text=True) if user.email else ""
            self.parts.append(entity("ConfluenceUserImpl", USER, user.key, body))


def xml_export(wiki: Wiki) -> Files:
    """All files of the export, path to bytes."""
    descriptor = (
        "#Mon Nov 30 02:00:00 MSK 2026\nexportType=space\n"
        f"spaceKey={wiki.space['key']}\n"
        "createdByBuildNumber=8804\nversionNumber=7.19.30\nbackupAttachments=true\n"
        "defaultUsersGroup=confluence-users\n"
    )
    files: Files = {"entities.xml": Entities(wiki).xml().encode(), "exportDescriptor.properties": descriptor.encode()}
    for page in wiki.pages:
        for item in page.attachments:
            for version in range(1, item.version + 1):
                files[f"attachments/{page.id}/{item.id}/{version}"] = attachment_bytes(item)
    return files
