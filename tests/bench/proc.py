"""What the system says of a process: memory, threads, open files, sockets (Linux)."""

from __future__ import annotations

import os
from pathlib import Path


def resident(process: int | str = "self") -> float:
    """Resident memory in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def processor(process: int | str = "self") -> float:
    """Seconds of processor time so far, of all threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def counted(process: int | str = "self") -> dict[str, int]:
    """Threads, open files and, among these, sockets."""
    folder = Path(f"/proc/{process}")
    targets = []
    for link in (folder / "fd").iterdir():
        try:
            targets.append(str(link.readlink()))
        except FileNotFoundError:  # the one that reads this folder
            continue
    return {
        "threads": len(list((folder / "task").iterdir())),
        "files": len(targets),
        "sockets": sum(target.startswith("socket:") for target in targets),
    }
