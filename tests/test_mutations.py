"""The script that changes the code to see whether the tests notice: what it changes, and that its lists hold."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.flips import flip_of, sites_of
from tests.mutations.table import NEAREST

ROOT = Path(__file__).resolve().parents[1]


def changes(source: str) -> set[str]:
    """Every change of a small function, as the expression before and after."""
    text = f"def f(a, b):\n    {source}\n"
    made = [flip_of("m", text, site, random.Random(seed)) for site in sites_of(text) for seed in range(9)]
    return {f"{flip.before} -> {flip.after}" for flip in made}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("return a == b", {"a == b -> a != b"}),
        ("return a <= b", {"a <= b -> a < b", "a <= b -> a > b"}),
        ("return a not in b", {"a not in b -> a in b"}),
        ("return a and b", {"a and b -> a or b"}),
        ("return not a", {"not a -> a"}),
        ("return a - b", {"a - b -> a"}),
        ("return a & b", {"a & b -> a | b"}),
        ("a += b", {"a += b -> pass"}),
        ("return 3", {"return 3 -> return 4", "return 3 -> return 2"}),
        ("return 600", {"return 600 -> return 1200", "return 600 -> return 300"}),
        ("return True", {"return True -> return False"}),
        ("return a['key']", {"a['key'] -> a['key~']"}),
        ("raise ValueError('wrong')", set()),
        ("logger.info('said')", set()),
        ("return 'a sentence for people'", set()),
        ("'''what it does'''", set()),
    ],
)
def test_a_change_is_one_comparison_constant_junction_or_sign(source: str, expected: set[str]) -> None:
    assert changes(source) == expected


def test_all_modules_and_tests_of_the_table_are_there() -> None:
    named = {*NEAREST, *(file for files in NEAREST.values() for file in files)}
    assert sorted(name for name in named if not (ROOT / name).is_file()) == []


def test_what_is_kept_as_equivalent_is_of_a_module_of_the_table() -> None:
    assert {name.split(" ")[0] for name in EQUIVALENT} <= NEAREST.keys()
