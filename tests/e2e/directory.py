"""A real OpenLDAP server on loopback with two employees in different groups."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import process
from tests.support.running import reserved_port
from tests.support.waiting import until

BASE = "dc=example,dc=com"
ADMIN = f"cn=admin,{BASE}"
ADMIN_PASSWORD = "directory-admin"
SCHEMA = Path("/etc/ldap/schema")

CONFIGURATION = """\
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
database mdb
maxsize 16777216
suffix "{base}"
rootdn "{admin}"
rootpw {password}
directory {folder}
overlay memberof
"""


@dataclass(frozen=True, slots=True)
class Employee:
    """One person of the directory; ``groups`` are what Open WebUI will know of them."""

    user: str
    name: str
    password: str
    groups: tuple[str, ...]

    @property
    def email(self) -> str:
        return f"{self.user}@example.com"


# Group names as the sample wiki's restrictions use them.
EMPLOYEES = (
    Employee("a.belova", "Анна Белова", "belova-secret", ("confluence-users", "hr-only")),
    Employee("m.sokolov", "Михаил Соколов", "sokolov-secret", ("confluence-users",)),
)


def is_installed() -> bool:
    """Whether this machine has OpenLDAP's server and its client."""
    return _slapd().exists() and shutil.which("ldapadd") is not None


def _slapd() -> Path:
    return Path(shutil.which("slapd") or "/usr/sbin/slapd")  # sbin is not in everybody's path


@contextlib.contextmanager
def directory(folder: Path) -> Iterator[int]:
    """Start the server, fill it, give its port."""
    if not is_installed():
        raise RuntimeError("OpenLDAP is missing: apt-get install slapd ldap-utils")
    database = folder / "ldap"
    database.mkdir(parents=True, exist_ok=True)
    settings = folder / "slapd.conf"
    settings.write_text(configuration(database))
    log = folder / "slapd.log"
    with reserved_port() as port:
        words = [str(_slapd()), "-f", str(settings), "-h", f"ldap://127.0.0.1:{port}", "-d", "0"]
        with process(words, log) as running:
            until(lambda: running.poll() is not None or _listens(port), "the directory listens")
            if running.poll() is not None:
                raise RuntimeError(f"slapd ended: {log.read_text()[-2000:]}")
            _fill(port)
            yield port


def configuration(database: Path | str) -> str:
    """The server's, with its data in that folder."""
    return CONFIGURATION.format(schema=SCHEMA, base=BASE, admin=ADMIN, password=ADMIN_PASSWORD, folder=database)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _fill(port: int) -> None:
    """Add people, then groups: the memberof overlay writes into people that exist."""
    subprocess.run(
        ["ldapadd", "-x", "-H", f"ldap://127.0.0.1:{port}", "-D", ADMIN, "-w", ADMIN_PASSWORD],
        input=entries(), text=True, check=True, capture_output=True,
    )  # fmt: skip


def entries() -> str:
    """The people and their groups, as LDIF."""
    entries = [f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example"]
    entries += [f"dn: ou={unit},{BASE}\nobjectClass: organizationalUnit\nou: {unit}" for unit in ("people", "groups")]
    members: dict[str, list[str]] = {}
    for person in EMPLOYEES:
        dn = f"uid={person.user},ou=people,{BASE}"
        given, family = person.name.split()
        entries.append(
            f"dn: {dn}\nobjectClass: inetOrgPerson\nuid: {person.user}\ncn: {person.name}\n"
            f"givenName: {given}\nsn: {family}\nmail: {person.email}\nuserPassword: {person.password}"
        )
        for group in person.groups:
            members.setdefault(group, []).append(dn)
    for group, people in members.items():
        lines = "\n".join(f"member: {dn}" for dn in people)
        entries.append(f"dn: cn={group},ou=groups,{BASE}\nobjectClass: groupOfNames\ncn: {group}\n{lines}")
    return "\n\n".join(entries) + "\n"
