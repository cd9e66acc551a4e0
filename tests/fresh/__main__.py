"""``make test-fresh``: README's two commands on fresh machines, as an ordinary user.

python -m tests.fresh [bookworm trixie …]   names of Debian's releases; needs an engine for containers, or root

Standard library only: it runs before there is an environment.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fresh.machines import Machine, NotToBeHadError, call, changed_root, container

ROOT = Path(__file__).resolve().parents[2]
DEBIAN_PYTHON = {"bookworm": "3.11", "trixie": "3.13"}  # Debian 12 and 13
SUITES = tuple(DEBIAN_PYTHON)
SECOND_DEMO_SECONDS = 15.0
LOG = ".venv-install.log"


@dataclass(frozen=True, slots=True)
class Step:
    command: str
    seconds: float
    megabytes: float  # of packages fetched
    network: bool
    fault: str  # empty when all is well


def main(words: list[str]) -> int:
    engine = answering_engine()
    if engine is None and not may_change_root():
        print("test-fresh needs root on Linux (for chroot), or Docker or Podman that answers: sudo make test-fresh")
        return 2
    good = True
    seen = 0
    for suite in words or SUITES:
        print(f"== {suite}", flush=True)
        try:
            with ExitStack() as stack:
                fresh = machine(engine, suite, stack)
                seen += 1
                print(f"Python {fresh.run('python3 --version').stdout.split()[-1]}", flush=True)
                for step in steps(fresh):
                    good = report(step) and good
        except NotToBeHadError as error:
            print(f"{suite} was not to be had: {error}", flush=True)
    if not seen:
        return 2
    return 0 if good else 1


def may_change_root() -> bool:
    return os.geteuid() == 0 and sys.platform == "linux"


def answering_engine() -> str | None:
    for engine in ("docker", "podman"):
        if shutil.which(engine) and call(engine, "info").returncode == 0:
            return engine
    return None


def machine(engine: str | None, suite: str, stack: ExitStack) -> Machine:
    """A container; where the engine has no image of this Debian, or there is no engine, a root file system."""
    if engine:
        try:
            return stack.enter_context(container(engine, suite, ROOT))
        except NotToBeHadError as error:
            if not may_change_root():
                raise
            print(f"no container ({error}), chroot instead", flush=True)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "askwiki" / "roots"
    cache.mkdir(parents=True, exist_ok=True)
    return stack.enter_context(changed_root(suite, ROOT, cache))


def steps(fresh: Machine) -> Iterator[Step]:
    first = measure(fresh, "make demo")
    yield first
    if first.fault:
        return
    # The quicker of two: the limit is a promise for a machine that does nothing else.
    second = min((measure(fresh, "make demo", network=False) for _ in range(2)), key=lambda step: step.seconds)
    slow = f"takes {SECOND_DEMO_SECONDS:.0f} s and more" if second.seconds >= SECOND_DEMO_SECONDS else ""
    yield replace(second, fault=second.fault or slow)
    yield measure(fresh, "make test")


def measure(fresh: Machine, command: str, *, network: bool = True) -> Step:
    fresh.run(f": > {LOG}")
    start = time.monotonic()
    done = fresh.run(command, network=network)
    seconds = time.monotonic() - start
    fault = "" if done.returncode == 0 else "\n".join(done.stdout.splitlines()[-40:]) or f"exit {done.returncode}"
    return Step(command, seconds, megabytes(fresh.read(LOG)), network, fault)


def megabytes(said: str) -> float:
    """What pip says that it fetched: packages, not the pages of the index (about 1 % more)."""
    units = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
    fetched = re.findall(r"^ *Downloading \S+ \(([\d.]+) (bytes|kB|MB|GB)\)", said, re.MULTILINE)
    return sum(float(number) * units[unit] for number, unit in fetched)


def report(step: Step) -> bool:
    where = "" if step.network else " without a network"
    print(f"{step.command}{where}: {step.seconds:.0f} s, {step.megabytes:.0f} MB of packages fetched", flush=True)
    if step.fault:
        print(f"FAILED: {step.fault}", flush=True)
    return not step.fault


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
