"""``kill -9`` at random moments of a sync: the next run ends where an undisturbed one would have."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import CHECKOUT
from tests.support import crash_sync
from tests.support.stores import embedded

pytestmark = pytest.mark.long

MOMENTS = 20


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.crash_sync", str(folder), "after"]
    return subprocess.Popen(command, cwd=CHECKOUT, env={"PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'pipelines'}"})


def writing(folder: Path, process: subprocess.Popen[bytes]) -> bool:
    """Wait for the first write: the writer marks its folder as changed before it. False: it has ended already."""
    while not (folder / "store" / "dirty").exists():
        if process.poll() is not None:
            return False
        time.sleep(0.001)
    return True


class Stage:
    """The index before, what an undisturbed run makes of it, and how long its writing takes."""

    def __init__(self, folder: Path) -> None:
        self.start = folder / "start"
        crash_sync.run(self.start, crash_sync.before())
        self.before = embedded(self.start / "store").contents()
        undisturbed, process = self.begun(folder / "undisturbed")
        started = time.monotonic()
        assert process.wait() == 0
        self.seconds = time.monotonic() - started
        self.after = embedded(undisturbed / "store").contents()

    def begun(self, target: Path) -> tuple[Path, subprocess.Popen[bytes]]:
        """A run that writes just now; one that was over before this process had a look at it is begun anew."""
        while True:
            shutil.rmtree(target, ignore_errors=True)
            subprocess.run(["cp", "--archive", "--sparse=always", str(self.start), str(target)], check=True)
            process = start(target)
            if writing(target, process):
                return target, process
            assert process.returncode == 0


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("crash"))


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_a_killed_sync_is_mended_by_the_next_one(stage: Stage, tmp_path: Path, moment: int) -> None:
    share = random.Random(moment).random()
    while True:
        folder, process = stage.begun(tmp_path / "index")
        time.sleep(share * stage.seconds)
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            break
        share *= 0.8  # it was done already: once more, a little earlier
    found: Any = embedded(folder / "store").contents()
    assert found in (stage.before, stage.after), "a reader must see the old index or the new one, nothing between"
    crash_sync.run(folder, crash_sync.after())
    assert embedded(folder / "store").contents() == stage.after
