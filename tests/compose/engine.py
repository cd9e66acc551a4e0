"""The words for Docker: one compose project in a folder of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.waiting import until

START_SECONDS = 900.0  # of a first start on a busy machine: Open WebUI makes its database for minutes
STATES = ("ok", "warning", "failure")  # of the doctor, the worst last
FILES = ("docker-compose.yml", "tests/compose/compose.yml")


def call(*words: str, folder: Path | None = None, check: bool = True) -> str:
    """What a command prints; where it fails, both its outputs are the error."""
    done = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Project:
    """A started compose file."""

    name: str
    folder: Path

    def compose(self, *words: str, check: bool = True) -> str:
        files = [word for file in FILES for word in ("-f", file)]
        plain = ("docker", "compose", "--ansi", "never", "-p", self.name)
        return call(*plain, *files, *words, folder=self.folder, check=check)

    def run(self, service: str, *words: str, check: bool = True) -> str:
        """A command inside of the running container."""
        return self.compose("exec", "-T", service, *words, check=check)

    def container(self, service: str) -> Mapping[str, Any]:
        """What Docker knows of the service's container, running or not."""
        found = self.compose("ps", "--all", "--quiet", service).split()
        inspected: list[Mapping[str, Any]] = json.loads(call("docker", "inspect", *found))
        return inspected[0]

    def health(self, service: str) -> str:
        state = self.container(service)["State"]
        return str(state.get("Health", state)["Status"])

    def await_health(self, *services: str) -> None:
        for service in services:
            until(
                lambda service=service: self.health(service) == "healthy",
                f"{service} is healthy; its log ends: {self.log(service)[-1500:]}",
                seconds=START_SECONDS,
                every=1.0,
            )

    def await_indexed(self) -> None:
        until(lambda: self.doctor()["freshness"] == "ok", "all is indexed", seconds=START_SECONDS, every=2.0)

    def await_ended(self, service: str) -> int:
        """The exit code of a container that runs once."""
        until(lambda: self.container(service)["State"]["Status"] == "exited", f"{service} ended",
              seconds=START_SECONDS, every=1.0)  # fmt: skip
        return int(self.container(service)["State"]["ExitCode"])

    def log(self, service: str) -> str:
        """As the container wrote it: compose would put signs of its own before some lines."""
        found = self.compose("ps", "--all", "--quiet", service, check=False).split()
        words = ["docker", "logs", *found[:1]]
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout

    def kill(self, service: str) -> None:
        """End the container's process as a fault would; Docker's own kill would keep it from coming back."""
        call("kill", "-9", str(self.container(service)["State"]["Pid"]))

    def doctor(self) -> dict[str, str]:
        """Part -> ok, warning or failure; of the parts of the language model the worst."""
        report = json.loads(self.run("pipelines", "python", "-m", "askwiki", "doctor", "--json", check=False))
        found = dict[str, str]()
        for finding in report["findings"]:
            part = str(finding["part"]).partition(" ")[0]
            found[part] = max(found.get(part, "ok"), str(finding["state"]), key=STATES.index)
        return found
