"""No pattern over text from outside is worse than linear: one message must not hold the interpreter."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from tests.support.patterns import Pattern, attacks, patterns

LENGTH = 3_500  # characters; a quadratic pattern takes six million steps
GROWN = 4  # times longer
# Seconds of a processor below which nothing is judged: a linear pattern takes a tenth of it, a quadratic one twice and
# more, even where its steps are the fastest (a run of one class).
FLOOR = 0.0015
# What four times the text may cost; a linear pattern costs 4 times as much, a quadratic one 16.
MOST = 8
SHARDS = 8
OWN_FILES = ("askwiki.prompts._PARTS",)  # reads the prompts of config/prompts once, at the start
PATTERNS = [pattern for pattern in patterns() if not pattern.place.startswith(OWN_FILES)]


def seconds(pattern: Pattern, method: str, text: Any, tries: int = 1) -> float:
    """The least of some measurements: what else the machine does only adds to it."""
    read = text if isinstance(pattern.compiled.pattern, str) else text.encode("utf-8", "replace")
    least = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        found = getattr(pattern.compiled, method)(read)
        if method == "finditer":
            for _ in found:
                pass
        least = min(least, time.thread_time() - started)
    return least


def above_linear(pattern: Pattern, length: int = LENGTH) -> str:
    """The text on which the pattern takes more than its length, empty when there is none."""
    for place, text in enumerate(attacks(pattern.compiled, length)):
        for method in pattern.methods:
            if seconds(pattern, method, text) < FLOOR or (short := seconds(pattern, method, text, 3)) < FLOOR:
                continue
            longer = next(t for n, t in enumerate(attacks(pattern.compiled, GROWN * length)) if n == place)
            if seconds(pattern, method, longer) <= MOST * short:
                continue
            short, long = (seconds(pattern, method, one, 9) for one in (text, longer))  # the machine may have been busy
            if long > MOST * short:
                return f"{pattern.place}.{method}({text[:40]!r}…{text[-3:]!r}): {short:.4f} s, {long:.4f} s"
    return ""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_pattern_of_both_packages_takes_time_in_proportion_to_the_text(shard: int) -> None:
    assert [slow for pattern in PATTERNS[shard::SHARDS] if (slow := above_linear(pattern))] == []


def test_the_patterns_are_found_wherever_they_stand() -> None:
    places = {pattern.place for pattern in PATTERNS}
    assert len(places) > 150
    assert {"askwiki.stages.fence._TEMPLATE", "indexer.confluence.parse.wiki_inline.STYLES"} <= places


@pytest.mark.parametrize("slow", [r"\s+x", r"\[[^\]]*\]", r"<b>.*?</b>", "&[^;]*x"])
def test_a_pattern_that_is_worse_is_seen(slow: str) -> None:
    assert above_linear(Pattern("here", re.compile(slow), ("search",)))


def test_a_cubic_pattern_is_seen() -> None:
    assert above_linear(Pattern("here", re.compile(r"\s*-?\s*;"), ("search",)), length=300)
