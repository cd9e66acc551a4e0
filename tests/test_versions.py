"""One range of Python versions and one set of packages, wherever they are stated."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from askwiki.store.qdrant.versions import TESTED, fits
from tests.fresh.__main__ import DEBIAN_PYTHON, SUITES
from tests.support.qdrant import HOW

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RANGE = SpecifierSet(PROJECT["project"]["requires-python"])
MINORS = [f"3.{minor}" for minor in range(40) if f"3.{minor}.0" in RANGE]
ENDS = ["3.11.0", "3.11.2", "3.12.3", "3.13.5", "3.14.0"]  # the oldest of all; of Debian 12, Ubuntu 24.04, Debian 13
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
# "soupsieve==2.10 ; python_full_version < '3.12' \" and its hashes, each on a line of its own
PINS = [Requirement(line) for line in re.findall(r"^([a-z].*?)(?: \\)?$", LOCK, re.MULTILINE)]
DECLARED = [
    Requirement(text)
    for texts in [
        PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ]
    for text in texts
]


def machine(python: str) -> dict[str, str]:
    return {
        "python_version": python.rpartition(".")[0],
        "python_full_version": python,
        "sys_platform": "linux",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
    }


def pins(python: str) -> dict[str, str]:
    """The version of each package on a machine with this Python; a second one for the same package is a fault."""
    chosen = [pin for pin in PINS if pin.marker is None or pin.marker.evaluate(machine(python))]
    named = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in chosen}
    assert len(named) == len(chosen)
    return named


def test_the_readme_states_the_range() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"needs Python (3\.\d+) to (3\.\d+)", readme) == [(MINORS[0], MINORS[-1])]


def test_the_oldest_python_is_what_the_linters_check_against() -> None:
    assert PROJECT["tool"]["mypy"]["python_version"] == MINORS[0]
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{MINORS[0].replace('.', '')}"


def test_the_images_stand_on_a_python_and_a_debian_that_are_tested() -> None:
    bases = re.findall(r"^FROM python:(\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert bases in [[f"{DEBIAN_PYTHON[suite]}-slim-{suite}"] for suite in SUITES]


def test_the_fresh_machines_lie_in_the_range() -> None:
    assert [suite for suite in SUITES if DEBIAN_PYTHON[suite] not in MINORS] == []


@pytest.mark.parametrize("python", ENDS)
def test_the_lock_has_what_is_declared_for_every_python(python: str) -> None:
    locked = pins(python)
    wrong = [
        str(need)
        for need in DECLARED
        if (need.marker is None or need.marker.evaluate(machine(python)))
        and not need.specifier.contains(locked.get(canonicalize_name(need.name), "0"), prereleases=True)
    ]
    assert wrong == []


def test_every_minor_version_of_the_range_is_looked_at() -> None:
    assert sorted({python.rpartition(".")[0] for python in ENDS}) == MINORS


def test_every_pin_is_exact_and_has_its_hashes() -> None:
    blocks = re.findall(
        r"^([a-z]\S+?)==\S+(?: ;[^\\\n]*)? ((?:\\\n    --hash=sha256:[0-9a-f]{64} ?)+)$", LOCK, re.MULTILINE
    )
    assert [canonicalize_name(name) for name, _ in blocks] == [canonicalize_name(pin.name) for pin in PINS]


def test_the_lock_forces_no_package_for_graphics_cards() -> None:
    assert [pin.name for pin in PINS if re.match(r"nvidia|cuda|triton", pin.name)] == []


def test_soupsieve_fits_the_python_of_debian_12() -> None:
    """Its 4.1.3 asks for Python 3.11.5: the demo could not be installed on Debian 12."""
    assert pins("3.11.2")["soupsieve"] == "2.10"


# --- the Qdrant server ----------------------------------------------------------------------------


def test_compose_runs_the_qdrant_server_that_was_tested() -> None:
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert re.findall(r"image: qdrant/qdrant:(\S+)", compose) == [f"v{TESTED}"]
    assert f"qdrant/qdrant:v{TESTED}`" in HOW


@pytest.mark.parametrize("python", ENDS)
def test_the_locked_client_is_made_for_that_server(python: str) -> None:
    assert fits(TESTED, pins(python)["qdrant-client"])
