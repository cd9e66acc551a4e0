"""Numbers as tables, for the terminal and for Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from askwiki.evaluate.metrics import NAMES

_NUMERIC = re.compile(r"[-+−–\d.,%*… \[\]]*")
_HEADINGS = {name: name.replace("recall@", "R@").replace("mrr", "MRR").replace("ndcg", "nDCG") for name in NAMES}


def plain(rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned with blanks, numbers right, words left; the first row is the header."""
    columns = [_aligned(column) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table; marks in the cells are escaped."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


def ranking_rows(retrieval: Mapping[str, Any], by_split: Mapping[str, Any]) -> list[list[str]]:
    """Measures of a report: by snippet, by page, then by snippet for each part of the file and each kind."""
    rows = [["", *_HEADINGS.values(), "n"]]
    rows += [_ranking(f"by {view}", retrieval[view]) for view in ("snippet", "page")]
    groups = {**{side: of["retrieval"] for side, of in by_split.items()}, **retrieval["by_kind"]}
    return rows + [_ranking(f"  {name}", of["snippet"]) for name, of in groups.items() if of["snippet"]["n"]]


def seconds_rows(seconds: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """Stages with their median and 95th percentile in milliseconds."""
    rows = [["stage, ms", "p50", "p95"]]
    return rows + [[stage, _milliseconds(of["p50"]), _milliseconds(of["p95"])] for stage, of in seconds.items()]


def _ranking(name: str, means: Mapping[str, float]) -> list[str]:
    return [name, *(f"{means[measure]:.3f}" for measure in NAMES), str(means["n"])]


def _milliseconds(spent: float) -> str:
    return f"{spent * 1000:.1f}"


def _aligned(column: Sequence[str]) -> list[str]:
    width = max(map(len, column))
    numbers = all(_NUMERIC.fullmatch(cell) for cell in column[1:])
    return [cell.rjust(width) if numbers else cell.ljust(width) for cell in column]
