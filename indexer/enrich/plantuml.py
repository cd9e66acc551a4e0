"""Is a text valid PlantUML? By the real parser where it is installed, else by its frame."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from askwiki.markdown.fences import first_code

SECONDS = 60  # a Java start on a busy machine
_START = re.compile(r"@start(\w+)")
_END = re.compile(r"^[ \t]*+@end(\w+)", re.MULTILINE)
# A recovered diagram needs no files and no addresses, and must not make the parser read any.
_FORBIDDEN = re.compile(r"^[^\S\n]*+!(?:include|import|theme|procedure|function)", re.MULTILINE)


def find_source(reply: str) -> str:
    """The first ``@startuml … @enduml`` of a reply, empty when there is none."""
    code = first_code(reply)
    if framed := _framed(code) or _framed(reply):
        return framed
    if code.strip() and "@start" not in code:
        return f"@startuml\n{code.strip()}\n@enduml"
    return ""


def syntax_error(source: str, program: str | None = None) -> str:
    """What is wrong, empty when nothing is. ``program``: path of plantuml, found by itself when None."""
    if _framed(source) != source or source.count("@start") != 1:
        return "It must be one @startuml … @enduml."
    if len(source.splitlines()) < 3:
        return "The diagram is empty."
    if forbidden := _FORBIDDEN.search(source):
        return f"{forbidden[0].strip()} is not allowed here."
    parser = shutil.which("plantuml") if program is None else program
    return _ask_parser(source, parser) if parser else ""


def _ask_parser(source: str, parser: str) -> str:
    """``plantuml -syntax`` prints the kind of diagram, or ERROR, the line's number and the reason."""
    environment = {**os.environ, "PLANTUML_SECURITY_PROFILE": "SANDBOX"}
    try:
        done = subprocess.run(
            [parser, "-syntax", "-charset", "UTF-8"],
            input=source.encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"The parser did not answer ({error})."
    said = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if said and said[0] == "ERROR":
        return "; ".join(said[1:]) or "The parser calls it an error."
    return ""


def _framed(text: str) -> str:
    """From the first ``@start…`` to the first line that begins with its ``@end…``, empty when one is missing."""
    ends: dict[str, list[re.Match[str]]] = {}
    for end in _END.finditer(text):
        ends.setdefault(end[1], []).append(end)
    for start in _START.finditer(text):
        mine = ends.get(start[1])
        if mine and mine[-1].start() > start.end():
            return text[start.start() : next(end for end in mine if end.start() > start.end()).end()]
    return ""
