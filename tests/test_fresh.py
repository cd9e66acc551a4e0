"""A fresh machine: what is missing is said in one sentence before anything is installed, and why pip failed after."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("sh", "awk", "cat", "chmod", "dirname", "df", "grep", "head", "id", "make", "mkdir", "mktemp", "rm", "sed")
APT = "sudo apt-get install make python3 python3-venv"
INDEX_FAULT = "WARNING: Retrying (Retry(total=0)) after connection broken by "
NONE_FOUND = "ERROR: No matching distribution found for "


class Machine:
    """A checkout and a PATH of its own, whose programs are small scripts."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.checkout = folder / "askwiki"
        self.bin.mkdir()
        shutil.copytree(ROOT / "tests" / "fresh", self.checkout / "tests" / "fresh")
        for name in ("pyproject.toml", "requirements.lock"):
            shutil.copyfile(ROOT / name, self.checkout / name)
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name) or pytest.fail(f"no {name} on this machine"))
        self.program("python3", self.python("3.13"))

    def program(self, name: str, script: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    @staticmethod
    def python(version: str, pip: str = "exit 0") -> str:
        """Answers for its version and its modules; as ``-m venv`` it makes one whose pip does what is given."""
        return f"""case "$*" in
*version_info*) echo {version} ;;
"-m venv"*) for folder; do :; done; mkdir -p "$folder/bin"; cat >"$folder/bin/python" <<'PYTHON'
#!/bin/sh
{pip}
PYTHON
chmod +x "$folder/bin/python" ;;
esac"""

    def sentence(self, *words: str, user: int | None = None) -> list[str]:
        done = subprocess.run(
            ["sh", *words],
            cwd=self.checkout,
            env={"PATH": str(self.bin), "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
            user=user,
        )
        assert done.returncode == (2 if done.stderr else 0), done
        return done.stderr.splitlines()

    def look(self, user: int | None = None) -> list[str]:
        return self.sentence("tests/fresh/look.sh", user=user)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_machine_that_has_all_is_let_through_without_a_word(machine: Machine) -> None:
    assert machine.look() == []


@pytest.mark.parametrize(("missing", "tool"), [("make", "make"), ("python3", "python3")])
def test_a_missing_program_is_named_with_its_package(machine: Machine, missing: str, tool: str) -> None:
    (machine.bin / missing).unlink()
    assert machine.look() == [
        f"askwiki: there is no {tool} here. On Debian and Ubuntu: {APT}",
        f"askwiki: здесь нет {tool}. В Debian и Ubuntu: {APT}",
    ]


@pytest.mark.parametrize(
    ("version", "english", "russian"),
    [("2.7", "old", "старый"), ("3.10", "old", "старый"), ("3.15", "new", "новый"), ("4.0", "new", "новый")],
)
def test_a_python_out_of_range_is_refused(machine: Machine, version: str, english: str, russian: str) -> None:
    machine.program("python3", machine.python(version))
    assert machine.look() == [
        f"askwiki: Python {version} is too {english}, 3.11 to 3.14 work: "
        "install one of them, then make demo PYTHON=python3.14",
        f"askwiki: Python {version} слишком {russian}, подходят от 3.11 до 3.14: "
        "поставьте один из них, затем make demo PYTHON=python3.14",
    ]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_both_ends_of_the_range_and_what_lies_between_are_let_through(machine: Machine, version: str) -> None:
    machine.program("python3", machine.python(version))
    assert machine.look() == []


def test_another_python_that_is_here_is_offered(machine: Machine) -> None:
    machine.program("python3", machine.python("3.9"))
    machine.program("python3.12", machine.python("3.12"))
    assert machine.look()[0] == "askwiki: Python 3.9 is too old, 3.11 to 3.14 work: make demo PYTHON=python3.12"


def test_a_python_that_does_not_run_is_said(machine: Machine) -> None:
    machine.program("python3", "exit 127")
    assert machine.look()[0] == (
        'askwiki: python3 does not run: try "python3 --version", or name another: make demo PYTHON=python3.14'
    )


def test_a_python_without_venv_names_debians_package(machine: Machine) -> None:
    machine.program("python3", f'case "$*" in *ensurepip*) exit 1 ;; esac\n{machine.python("3.12")}')
    assert machine.look() == [
        "askwiki: Python 3.12 here lacks its module venv. "
        "On Debian and Ubuntu: sudo apt-get install python3-venv (or python3.12-venv)",
        "askwiki: у Python 3.12 здесь нет модуля venv. "
        "В Debian и Ubuntu: sudo apt-get install python3-venv (или python3.12-venv)",
    ]


@pytest.mark.parametrize(("free", "fits"), [(700, True), (699, False)])
def test_the_room_on_disk_is_looked_at(machine: Machine, free: int, fits: bool) -> None:
    machine.program("df", f"echo Filesystem Blocks Used Available; echo disk 1 1 {free * 1024} 1% /")
    said = [
        f"askwiki: no room on disk: {machine.checkout} has {free} MB free, 700 MB are needed",
        f"askwiki: на диске нет места: в {machine.checkout} свободно {free} МБ, нужно 700 МБ",
    ]
    assert machine.look() == ([] if fits else said)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may read: pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    (folder / "askwiki").chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_of_somebody_else_is_said(open_folder: Path) -> None:
    machine = Machine(open_folder)
    machine.checkout.chmod(0o555)
    said = machine.look(user=65534 if os.geteuid() == 0 else None)  # root writes everywhere
    assert len(said) == 2
    assert said[0].startswith(f"askwiki: the folder {machine.checkout} cannot be written by ")
    assert said[0].endswith(": put the project into a folder of yours")


# The words of pip 23 and 26 as they were seen: without a network, with a closed port as proxy, and so on.
FAULTS = {
    "no network": (
        f"{INDEX_FAULT}'NewConnectionError('<HTTPSConnection>: Failed to establish a new connection: "
        f"[Errno -3] Temporary failure in name resolution')': /simple/pip/\n{NONE_FOUND}pip==26.3",
        "no way to the package index: behind a proxy set https_proxy, with an index of your own PIP_INDEX_URL",
        "нет пути к индексу пакетов: за прокси задайте https_proxy, со своим индексом — PIP_INDEX_URL",
    ),
    "proxy": (
        f"{INDEX_FAULT}'ProxyError('Cannot connect to proxy.', NewConnectionError('<HTTPSConnection>: Failed to "
        f"establish a new connection: [Errno 111] Connection refused'))': /simple/pip/\n{NONE_FOUND}pip==26.3",
        "the proxy in https_proxy or pip's settings lets nobody through: correct its address or give a login, "
        "http://USER:PASSWORD@HOST:PORT",
        "прокси из https_proxy или настроек pip не пропускает: исправьте его адрес или укажите вход, "
        "http://USER:PASSWORD@HOST:PORT",
    ),
    "certificate": (
        f"{INDEX_FAULT}'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify "
        f"failed'))': /simple/pip/\n{NONE_FOUND}pip==26.3",
        "a proxy in between signs with a certificate that Python does not know: "
        "export PIP_CERT=/path/to/your-company.pem and call make again",
        "прокси подписывает своим сертификатом, которого Python не знает: "
        "export PIP_CERT=/путь/к/сертификату.pem и повторите make",
    ),
    "hash": (
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        "a package is not the one that was tested, its hash differs from requirements.lock: "
        "ask who runs your package index",
        "пакет не тот, что проверен, его хеш не совпадает с requirements.lock: "
        "спросите того, кто ведёт ваш индекс пакетов",
    ),
    "full": (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "the disk became full while installing: make room and call make again",
        "во время установки кончилось место на диске: освободите его и повторите make",
    ),
    "no wheel": (
        f"{NONE_FOUND}qdrant-edge-py==0.9.0 (from askwiki)",
        "the package index has no build of qdrant-edge-py==0.9.0 for this Python and machine: "
        "try another Python, make demo PYTHON=python3.13",
        "в индексе нет сборки qdrant-edge-py==0.9.0 для этого Python и этой машины: "
        "попробуйте другой Python, make demo PYTHON=python3.13",
    ),
    "not ours": (
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '.venv/bin/pip'",
        "a file could not be written: was the project or its .venv made by another user?",
        "не удалось записать файл: проект или его .venv создан другим пользователем?",
    ),
}


@pytest.mark.parametrize(("said", "english", "russian"), FAULTS.values(), ids=FAULTS)
def test_why_pip_failed_is_one_sentence_that_names_the_file(
    machine: Machine, said: str, english: str, russian: str
) -> None:
    machine.program("python3", machine.python("3.13", pip=f"cat <<'SAID'\n{said}\nSAID\nexit 1"))
    assert machine.sentence("tests/fresh/install.sh") == [
        f"askwiki: {english} (all that was said: .venv-install.log)",
        f"askwiki: {russian} (всё, что было сказано: .venv-install.log)",
    ]
    assert said in (machine.checkout / ".venv-install.log").read_text(encoding="utf-8")


def explained(machine: Machine, said: str) -> str:
    (machine.checkout / "log").write_text(said, encoding="utf-8")
    return machine.sentence("tests/fresh/why.sh", "log")[0]


def test_what_an_earlier_command_got_over_is_not_taken_for_the_reason(machine: Machine) -> None:
    said = (
        f"$ pip install pip\n{INDEX_FAULT}'ReadTimeoutError'\nSuccessfully installed\n$ pip install\n{NONE_FOUND}x==1\n"
    )
    assert explained(machine, said).startswith("askwiki: the package index has no build of x==1 ")


def test_a_fault_that_nobody_foresaw_points_to_the_file(machine: Machine) -> None:
    assert explained(machine, "Segmentation fault") == (
        "askwiki: the installation failed: the last lines of log say why"
    )


def planned(environment: Path) -> str:
    done = subprocess.run(
        ["make", "--dry-run", f"VENV={environment}", f"{environment}/.base"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_make_installs_again_where_the_environments_python_went_away(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / ".base").touch()
    (tmp_path / "bin" / "python").symlink_to("/bin/sh")
    assert "install.sh" not in planned(tmp_path)
    (tmp_path / "bin" / "python").unlink()
    (tmp_path / "bin" / "python").symlink_to(tmp_path / "python3.10")  # what an upgraded system leaves
    assert "sh tests/fresh/install.sh" in planned(tmp_path)


@pytest.mark.parametrize(("version", "kept"), [("3.13", True), ("3.11", False), ("", False)])
def test_an_environment_of_another_python_or_a_dead_one_is_made_anew(
    machine: Machine, version: str, kept: bool
) -> None:
    old = machine.checkout / ".venv"
    (old / "bin").mkdir(parents=True)
    (old / "pyvenv.cfg").touch()
    (old / "bin" / "python").write_text(f"#!/bin/sh\necho {version}\n")
    (old / "bin" / "python").chmod(0o755)
    assert machine.sentence("tests/fresh/install.sh") == []
    assert (old / "pyvenv.cfg").exists() is kept
