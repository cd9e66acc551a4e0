"""A copy of the project to change, and the tests run in it: the work tree is never touched."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("pipelines", "indexer", "config", "tests", "pyproject.toml")
CALM = 10  # niceness: a long run on a machine where others work too
FAILED, PASSED = 1, 0  # exit codes of pytest


@dataclass(frozen=True, slots=True)
class Copy:
    """``seconds``: after so long a test counts as failed, for a change may make a loop endless."""

    folder: Path
    seconds: float

    def fails(self, tests: Sequence[str], left_out: str) -> bool:
        """Whether any of the tests fails here; a test run that could not be done is an error, not a failure."""
        words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests]
        paths = os.pathsep.join([str(self.folder), str(self.folder / "pipelines")])
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(
            [*words, "-k", f"not {left_out}"],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                said, _ = running.communicate(timeout=self.seconds)
            except subprocess.TimeoutExpired:
                return True
            finally:
                if running.poll() is None:
                    os.killpg(running.pid, signal.SIGKILL)  # with the servers that its tests have started
        if running.returncode not in (PASSED, FAILED) and "rror" not in said:
            raise RuntimeError(f"The tests could not be run: {said[-2000:]}")
        return running.returncode != PASSED

    @contextmanager
    def changed(self, module: str, source: str) -> Iterator[None]:
        """The module with other text, for a while. Its compiled form goes: it may look as new as the text."""
        file = self.folder / module
        kept = file.read_text(encoding="utf-8")
        compiled = Path(cache_from_source(str(file)))
        compiled.unlink(missing_ok=True)
        file.write_text(source, encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(kept, encoding="utf-8")
            compiled.unlink(missing_ok=True)


@contextmanager
def project_copy(seconds: float) -> Iterator[Copy]:
    with tempfile.TemporaryDirectory(prefix="askwiki-mutations-") as name:
        folder = Path(name)
        for part in COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy2(ROOT / part, folder / part)
        compile_all = [sys.executable, "-m", "compileall", "-q", "pipelines", "indexer"]
        subprocess.run(compile_all, cwd=folder, check=True)
        yield Copy(folder, seconds)
