"""How this machine reaches Debian's packages and the package index: a fresh machine is told the same."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PASSED = re.compile(
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)|(https?|all|no)_proxy", re.IGNORECASE
)
FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", CERTIFICATES)


def environment() -> dict[str, str]:
    """The variables with which pip works here; a bundle of certificates that names a company's own comes as a file."""
    passed = {name: value for name, value in os.environ.items() if PASSED.fullmatch(name)}
    return {
        **passed,
        "PIP_CERT": CERTIFICATES,
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    }


def copy_files(root: Path) -> None:
    for name in FILES:
        if Path(name).is_file():
            target = root / name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(name, target)


def debian_mirror(apt: Path = Path("/etc/apt"), release: Path = Path("/etc/os-release")) -> str | None:
    """Where this machine gets Debian from; None (the tool's own choice) on another system than Debian."""
    if not release.is_file() or not re.search(r"^ID=debian$", release.read_text(), re.MULTILINE):
        return None
    for file in [apt / "sources.list", *sorted(apt.glob("sources.list.d/*"))]:
        if not file.is_file():
            continue
        for address in re.findall(r"^(?:URIs:\s*|deb\s+(?:\[[^\]\n]*\]\s*)?)(\S+)", file.read_text(), re.MULTILINE):
            if address.rstrip("/").endswith("/debian"):
                return address
    return None
