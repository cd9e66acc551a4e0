"""Two kinds of fresh machine: a container where an engine answers, else a root file system and ``chroot``."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.fresh import trust

PACKAGES = ("ca-certificates", "git", "iproute2", "make", "python3-venv")  # README's, and what a server has anyway
PERSON = "employee"
PROJECT = f"/home/{PERSON}/askwiki"
LEFT_OUT = shutil.ignore_patterns(".venv*", ".git", ".askwiki", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")


class NotToBeHadError(Exception):
    """A machine that cannot be made here; the message says why."""


class Machine(Protocol):
    def run(self, command: str, *, network: bool = True) -> subprocess.CompletedProcess[str]:
        """A command of the ordinary user in the project's folder; both its outputs in ``stdout``."""
        ...

    def read(self, name: str) -> str: ...


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, check=False, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def must(*words: str) -> str:
    done = call(*words)
    if done.returncode:
        raise NotToBeHadError(f"{' '.join(words[:3])} …: {' '.join(done.stdout.split()[-40:])}")
    return done.stdout


class Container:
    """A running container; without a network its bridge is taken away, its loopback stays."""

    def __init__(self, engine: str, name: str) -> None:
        self._engine, self._name = engine, name

    def run(self, command: str, *, network: bool = True) -> subprocess.CompletedProcess[str]:
        if not network:
            must(self._engine, "network", "disconnect", "--force", NETWORK, self._name)
        try:
            passed = [word for name, value in trust.environment().items() for word in ("--env", f"{name}={value}")]
            user = ("--user", PERSON, "--workdir", PROJECT, "--env", f"HOME=/home/{PERSON}")
            return call(self._engine, "exec", *passed, *user, self._name, "sh", "-c", command)
        finally:
            if not network:
                must(self._engine, "network", "connect", NETWORK, self._name)

    def read(self, name: str) -> str:
        return self.run(f"cat {shlex.quote(name)}").stdout


NETWORK = "askwiki-fresh"


@contextmanager
def container(engine: str, suite: str, checkout: Path) -> Iterator[Machine]:
    name = f"askwiki-fresh-{suite}"
    must(engine, "network", "create", NETWORK)
    try:
        must(engine, "run", "--detach", "--network", NETWORK, "--name", name, f"debian:{suite}", "sleep", "infinity")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(checkout, Path(folder) / "askwiki", ignore=LEFT_OUT, symlinks=True)
            inside = (engine, "exec", name)
            must(*inside, "sh", "-c", f"apt-get update -qq && apt-get install -y -qq {' '.join(PACKAGES)}")
            must(*inside, "useradd", "--create-home", PERSON)
            must(engine, "cp", f"{folder}/askwiki", f"{name}:{PROJECT}")
            for file in ("/etc/pip.conf", trust.CERTIFICATES):
                if Path(file).is_file():
                    must(engine, "cp", "--follow-link", file, f"{name}:{file}")
            must(*inside, "chown", "-R", f"{PERSON}:", PROJECT)
        yield Container(engine, name)
    finally:
        call(engine, "rm", "--force", name)
        call(engine, "network", "rm", NETWORK)


# In namespaces of its own: what is mounted and whatever still runs goes away with the command.
ENTER = """
mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" || exit 70
[ "$1" = network ] || chroot "$0" ip link set lo up || exit 70
exec chroot "$0" su --preserve-environment "$2" --command "$3"
"""


class ChangedRoot:
    """A root file system entered by ``chroot``; without a network only the loopback is there."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def run(self, command: str, *, network: bool = True) -> subprocess.CompletedProcess[str]:
        variables = [f"{name}={value}" for name, value in trust.environment().items()]
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"])]
        inside = ["sh", "-c", ENTER, str(self._root), "network" if network else "alone", PERSON]
        home = f"HOME=/home/{PERSON}"
        return call("env", "-i", home, *variables, *apart, *inside, f"cd {PROJECT} && {command}")

    def read(self, name: str) -> str:
        return (self._root / PROJECT.lstrip("/") / name).read_text(encoding="utf-8")


@contextmanager
def changed_root(suite: str, checkout: Path, cache: Path) -> Iterator[Machine]:
    base = base_root(suite, cache)
    folder = Path(tempfile.mkdtemp(prefix=f"{suite}-", dir=cache))
    try:
        root = folder / "root"
        must("cp", "--archive", "--reflink=auto", str(base), str(root))
        trust.copy_files(root)
        must("chroot", str(root), "useradd", "--create-home", PERSON)
        shutil.copytree(checkout, root / PROJECT.lstrip("/"), ignore=LEFT_OUT, symlinks=True)
        must("chroot", str(root), "chown", "-R", f"{PERSON}:", f"/home/{PERSON}")
        yield ChangedRoot(root)
    finally:
        shutil.rmtree(folder)


def base_root(suite: str, cache: Path) -> Path:
    """Debian's own packages and nothing else, kept for the next time; half a minute to some minutes to make."""
    base = cache / suite
    if base.exists():
        return base
    if shutil.which("debootstrap") is None:
        must("apt-get", "install", "-y", "-qq", "debootstrap")
    unfinished = Path(tempfile.mkdtemp(prefix=f"{suite}-", dir=cache))
    try:
        unfinished.chmod(0o755)
        mirror = trust.debian_mirror()
        include = f"--include={','.join(PACKAGES)}"
        must("debootstrap", "--variant=minbase", include, suite, str(unfinished), *([mirror] if mirror else []))
        return unfinished.rename(base)
    finally:
        if unfinished.exists():
            shutil.rmtree(unfinished)
