"""The XML space export: `entities.xml` in Hibernate's generic form, descriptor, attachments."""

import itertools

from wiki_hibernate import entity, many, prop, ref, user_ref
from wiki_html import Files, attachment_bytes
from wiki_source import Page, Restriction, User, Wiki

_PAGES = "com.atlassian.confluence.pages"
_CORE = "com.atlassian.confluence.core"
_SECURITY = "com.atlassian.confluence.security"
_LABELS = "com.atlassian.confluence.labels"
_SPACES = "com.atlassian.confluence.spaces"
_USER = "com.atlassian.confluence.user"
_CUSTOM = "com.atlassian.confluence.content"
_STORAGE, _WIKI_MARKUP = 2, 0


class Entities:
    """Collects the objects of one export; numbers of small objects are handed out in order."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self.space = int(wiki.space["id"])
        self.parts: list[str] = []
        self._numbers = itertools.count(720897)
        self._labels: dict[tuple[str, str], int] = {}

    def xml(self) -> str:
        for page in reversed(self.wiki.pages):
            self._page(page)
        self._hidden()
        self._space()
        self._users()
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic datetime="2026-11-30 02:00:00">\n'
        return head + "".join(self.parts) + "</hibernate-generic>\n"

    def _add(self, kind: str, package: str, body: str, key: int | None = None) -> int:
        number = next(self._numbers) if key is None else key
        self.parts.append(entity(kind, package, number, body))
        return number

    def _body(self, kind: str, package: str, owner: int, text: str, body_type: int = _STORAGE) -> int:
        content = ref("content", kind, package, owner)
        shown = prop("body", text, text=True) if text else '<property name="body"><![CDATA[]]></property>\n'
        return self._add("BodyContent", _CORE, shown + content + prop("bodyType", body_type))

    def _page(self, page: Page) -> None:
        old = [one["id"] for one in self.wiki.hidden["old_versions"] if one["of"] == page.id]
        body = (
            self._stem(page.title, page.version, page.author, page.created, page.editor, page.modified, "current")
            + many("bodyContents", "BodyContent", _CORE, [self._body("Page", _PAGES, page.id, page.storage)])
            + ref("space", "Space", _SPACES, self.space)
            + (ref("parent", "Page", _PAGES, page.parent) if page.parent else "")
            + prop("position", page.position)
            + many("children", "Page", _PAGES, [one.id for one in self.wiki.children(page.id)])
            + many("attachments", "Attachment", _PAGES, self._attachments(page))
            + many("labellings", "Labelling", _LABELS, [self._labelling(page, name) for name in page.labels])
            + many("contentPermissionSets", "ContentPermissionSet", _SECURITY, self._permissions(page))
            + many("historicalVersions", "Page", _PAGES, old)
        )
        self._add("Page", _PAGES, body, page.id)

    def _stem(
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
        original = ref("originalVersion", "Attachment", _PAGES, current) if number != current else ""
        body = (
            self._stem(file, version, page.author, page.created, page.editor, page.modified, "current")
            + ref("space", "Space", _SPACES, self.space)
            + ref("containerContent", "Page", _PAGES, page.id)
            + original
        )
        self._add("Attachment", _PAGES, body, number)

    def _labelling(self, page: Page, name: str, namespace: str = "global") -> int:
        known = (namespace, name)
        if known not in self._labels:
            body = prop("name", name, text=True) + prop("namespace", namespace, text=True)
            self._labels[known] = self._add("Label", _LABELS, body)
        body = (
            ref("label", "Label", _LABELS, self._labels[known])
            + ref("content", "Page", _PAGES, page.id)
            + user_ref("owningUser", page.author)
            + prop("labelableId", page.id)
            + prop("labelableType", "CONTENT", text=True)
        )
        return self._add("Labelling", _LABELS, body)

    def _permissions(self, page: Page) -> list[int]:
        sets = []
        for kind, restriction in (("View", page.view), ("Edit", page.edit)):
            if restriction is not None:
                sets.append(self._permission_set(page, kind, restriction))
        return sets

    def _permission_set(self, page: Page, kind: str, restriction: Restriction) -> int:
        own = next(self._numbers)
        start = prop("type", kind, text=True)
        end = ref("owningSet", "ContentPermissionSet", _SECURITY, own) + prop("creationDate", page.created)
        nobody, no_group = prop("userSubject", None), prop("groupName", None)
        subjects = [user_ref("userSubject", self.wiki.users[name]) + no_group for name in restriction.users]
        subjects += [nobody + prop("groupName", name, text=True) for name in restriction.groups]
        ids = [self._add("ContentPermission", _SECURITY, start + subject + end) for subject in subjects]
        body = (
            start
            + many("contentPermissions", "ContentPermission", _SECURITY, ids)
            + ref("owningContent", "Page", _PAGES, page.id)
        )
        return self._add("ContentPermissionSet", _SECURITY, body, own)

    def _hidden(self) -> None:
        """What a reader must not take for a page: versions, draft, deleted page, comment, machine text."""
        for one in self.wiki.hidden["old_versions"]:
            page = self.wiki.by_id(one["of"])
            editor = self.wiki.users[one["editor"]]
            stem = self._stem(page.title, one["version"], page.author, page.created, editor, one["modified"], "current")
            self._plain_page(one["id"], stem + ref("originalVersion", "Page", _PAGES, page.id), one["body"])
        for status, key in (("draft", "drafts"), ("deleted", "deleted")):
            for one in self.wiki.hidden[key]:
                user = self.wiki.users[one["creator"]]
                stem = self._stem(one["title"], 1, user, one["created"], user, one["created"], status)
                place = ref("space", "Space", _SPACES, self.space) + ref("parent", "Page", _PAGES, one["parent"])
                self._plain_page(one["id"], stem + place, one["body"])
        for one in self.wiki.comments:
            user = self.wiki.users[one["creator"]]
            stem = self._stem("", 1, user, one["created"], user, one["created"], "current")
            body = self._body("Comment", _PAGES, one["id"], one["body"])
            place = many("bodyContents", "BodyContent", _CORE, [body]) + ref(
                "containerContent", "Page", _PAGES, one["page"]
            )
            self._add("Comment", _PAGES, stem + place, one["id"])
        home = self.wiki.by_id(self.wiki.space["home"])
        self._labelling(home, "favourite", "my")
        noise = next(self._numbers)
        text = '{"type":"inline-tasks","items":[]}'
        bodies = many(
            "bodyContents", "BodyContent", _CORE, [self._body("CustomContentEntityObject", _CUSTOM, noise, text, 1)]
        )
        self._add(
            "CustomContentEntityObject", _CUSTOM, bodies + ref("containerContent", "Page", _PAGES, home.id), noise
        )

    def _plain_page(self, number: int, stem: str, text: str) -> None:
        bodies = many("bodyContents", "BodyContent", _CORE, [self._body("Page", _PAGES, number, text)])
        self._add("Page", _PAGES, stem + bodies, number)

    def _space(self) -> None:
        space = self.wiki.space
        creator = self.wiki.users[space["creator"]]
        description = next(self._numbers)
        bodies = [self._body("SpaceDescription", _SPACES, description, space["description"], _WIKI_MARKUP)]
        self._add(
            "SpaceDescription",
            _SPACES,
            many("bodyContents", "BodyContent", _CORE, bodies) + ref("space", "Space", _SPACES, self.space),
            description,
        )
        subjects = [("VIEWSPACE", prop("group", None) + prop("userSubject", None))]
        subjects += [
            (kind, prop("group", "confluence-users", text=True)) for kind in ("VIEWSPACE", "EDITSPACE", "COMMENT")
        ]
        subjects.append(("SETSPACEPERMISSIONS", user_ref("userSubject", creator)))
        permissions = [
            self._add(
                "SpacePermission",
                _SECURITY,
                ref("space", "Space", _SPACES, self.space) + prop("type", kind, text=True) + subject,
            )
            for kind, subject in subjects
        ]
        body = (
            prop("name", space["name"], text=True)
            + prop("key", space["key"], text=True)
            + prop("lowerKey", space["key"].lower(), text=True)
            + ref("description", "SpaceDescription", _SPACES, description)
            + ref("homePage", "Page", _PAGES, space["home"])
            + many("permissions", "SpacePermission", _SECURITY, permissions)
            + user_ref("creator", creator)
            + prop("creationDate", space["created"])
            + prop("spaceType", "global", text=True)
            + prop("spaceStatus", "CURRENT", text=True)
        )
        self._add("Space", _SPACES, body, self.space)

    def _users(self) -> None:
        for user in self.wiki.users.values():
            body = prop("name", user.name, text=True) + prop("lowerName", user.name, text=True)
            body += prop("email", user.email, text=True) if user.email else ""
            self.parts.append(entity("ConfluenceUserImpl", _USER, user.key, body))


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
