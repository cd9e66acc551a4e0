"""``python -m askwiki doctor [--json]``: one screen that says what works and how to mend what does not."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict

from askwiki.configuration import Configuration, load_configuration
from askwiki.doctor.checks import Finding, changed_settings, examine

SIGNS = {"ok": "ok", "warning": "!", "failure": "FAILS"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the findings and settings as one JSON object")
    parser.add_argument("--webui", default="", metavar="ADDRESS", help="of Open WebUI, to look at its version")


def run(options: argparse.Namespace) -> int:
    """0 when nothing fails (warnings allowed), else 1."""
    configuration = load_configuration(os.environ)
    findings = examine(configuration, os.environ, options.webui)
    print(_as_json(configuration, findings) if options.json else _as_screen(configuration, findings))
    return int(any(finding.state == "failure" for finding in findings))


def _as_json(configuration: Configuration, findings: Sequence[Finding]) -> str:
    settings = {name: {"value": value, "from": origin} for name, value, origin in changed_settings(configuration)}
    report = {
        "ok": all(finding.state != "failure" for finding in findings),
        "findings": [asdict(finding) for finding in findings],
        "settings": settings,
    }
    return json.dumps(report, ensure_ascii=False, indent=2)


def _as_screen(configuration: Configuration, findings: Sequence[Finding]) -> str:
    lines = [f"Settings of {configuration.folder}, those that differ from the defaults:"]
    lines += [f"  {name} = {value}   ({origin})" for name, value, origin in changed_settings(configuration)] or [
        "  none"
    ]
    lines.append("")
    width = max(len(finding.part) for finding in findings)
    for finding in findings:
        lines.append(f"{SIGNS[finding.state]:>5}  {finding.part:<{width}}  {finding.said}")
        if finding.mend:
            lines.append(f"{'':>5}  {'':<{width}}  -> {finding.mend}")
    return "\n".join(lines)
