"""One line of ``bench.json`` for a figure that should stay at or below its goal."""

from __future__ import annotations

from typing import Any


def row(name: str, value: float, unit: str, goal: float, against: str, why: str) -> dict[str, Any]:
    """``why`` is kept where the goal is missed."""
    met = value <= goal
    figures = {"name": name, "value": round(value, 3), "unit": unit, "goal": goal, "met": met}
    return {**figures, "against": against, "why": "" if met else why}
