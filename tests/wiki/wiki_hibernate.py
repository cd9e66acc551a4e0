"""The words of Hibernate's generic XML: objects, properties, references, collections."""

from xml.sax.saxutils import escape

from wiki_source import User

PAGES = "com.atlassian.confluence.pages"
CORE = "com.atlassian.confluence.core"
SECURITY = "com.atlassian.confluence.security"
LABELS = "com.atlassian.confluence.labels"
SPACES = "com.atlassian.confluence.spaces"
CUSTOM = "com.atlassian.confluence.content"
USER = "com.atlassian.confluence.user"


def cdata(text: str) -> str:
    """Confluence breaks the end mark of a nested section with a blank."""
    return f"<![CDATA[{text.replace(']]>', ']] >')}]]>"


def prop(name: str, value: str | int | bool | None, *, text: bool = False) -> str:
    if value is None or value == "":
        return f'<property name="{name}"/>\n'
    shown = cdata(str(value)) if text else escape(str(value).lower() if isinstance(value, bool) else str(value))
    return f'<property name="{name}">{shown}</property>\n'


def ref(name: str, kind: str, package: str, target: int | str) -> str:
    key = f'<id name="key">{cdata(target)}</id>' if isinstance(target, str) else f'<id name="id">{target}</id>'
    return f'<property name="{name}" class="{kind}" package="{package}">{key}\n</property>\n'


def user_ref(name: str, user: User) -> str:
    return ref(name, "ConfluenceUserImpl", USER, user.key)


def many(name: str, kind: str, package: str, ids: list[int]) -> str:
    items = "".join(
        f'<element class="{kind}" package="{package}"><id name="id">{one}</id>\n</element>\n' for one in ids
    )
    return f'<collection name="{name}" class="java.util.Collection">{items}</collection>\n' if ids else ""


def entity(kind: str, package: str, key: int | str, body: str) -> str:
    name, shown = ("key", cdata(key)) if isinstance(key, str) else ("id", str(key))
    return f'<object class="{kind}" package="{package}">\n<id name="{name}">{shown}</id>\n{body}</object>\n'
