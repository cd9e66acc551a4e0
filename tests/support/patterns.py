"""Every regular expression of both packages, and the texts on which each would be slow if it can be slow at all."""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

PACKAGES = ("askwiki", "indexer")
METHODS = ("search", "finditer", "match", "fullmatch")
FROM_FUNCTION = {"sub": "finditer", "subn": "finditer", "findall": "finditer", "split": "finditer"}
SIGNS = "aZя7 _-\n\t.,:\"'`*#|<>()[]{}/\\&=+~!@%;^?" + "\u00a0\u0301\x02"  # what a class may hold
ENDINGS = ("", "\n\x07")  # the end of the text; the end of a line and a sign that fits no pattern
PAIRED = 7  # signs of a pattern of which pairs are made


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, where it stands (`askwiki.stages.fence._TEMPLATE`) and the methods its code calls."""

    place: str
    compiled: re.Pattern[Any]
    methods: tuple[str, ...]


def patterns() -> list[Pattern]:
    """Compiled ones that stand in a module, in what a module holds, and literals given to a function of `re`."""
    modules = [importlib.import_module(name) for package in PACKAGES for name in _names(package)]
    used = _uses(modules)
    found: dict[tuple[Any, int], Pattern] = {}
    for module in modules:
        for name, value in vars(module).items():
            for compiled in _inside(value):
                methods = used.get(compiled, set())
                found.setdefault(
                    (compiled.pattern, compiled.flags),
                    Pattern(f"{module.__name__}.{name}", compiled, tuple(sorted(methods)) or METHODS[:3]),
                )
        for line, compiled, method in _literals(module):
            key = (compiled.pattern, compiled.flags)
            found.setdefault(key, Pattern(f"{module.__name__}:{line}", compiled, (method,)))
    return sorted(found.values(), key=lambda pattern: pattern.place)


def attacks(compiled: re.Pattern[Any], length: int) -> Iterator[str]:
    """Texts of about `length` characters made of what the pattern names: runs, pairs, beginnings told again.

    The n-th text for one length is the n-th for another, only longer.
    """
    tree = parser.parse(compiled.pattern, compiled.flags & ~re.DEBUG)
    signs, beginnings, pumps = _parts(tree)
    repeated = {*signs, *beginnings, *map("".join, itertools.permutations(sorted(signs)[:PAIRED], 2))}
    texts = [unit * (length // len(unit)) for unit in sorted(repeated)]
    texts += [start + pump * (length // len(pump)) for start, pump in sorted(pumps)]
    texts += [a * (length // 2) + b * (length // 2) for a, b in itertools.permutations(sorted(signs)[:PAIRED], 2)]
    for text in texts:
        for ending in ENDINGS:
            yield text + ending


def _names(package: str) -> list[str]:
    top = importlib.import_module(package)
    return [package, *(m.name for m in pkgutil.walk_packages(top.__path__, package + ".") if "__main__" not in m.name)]


def _inside(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, Mapping):
        for item in itertools.chain(value.keys(), value.values()):
            yield from _inside(item, depth + 1)
    elif depth < 3 and isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from _inside(item, depth + 1)


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text("utf-8"))


def _uses(modules: list[ModuleType]) -> dict[re.Pattern[Any], set[str]]:
    """The methods each pattern is called with anywhere; one that is handed on counts as called with all of them."""
    used: dict[re.Pattern[Any], set[str]] = defaultdict(set)
    for module in modules:
        tree, names = _tree(module), vars(module)
        called: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called.add(id(node.value))
                method = FROM_FUNCTION.get(node.attr, node.attr)
                if method in METHODS and isinstance(pattern := names.get(node.value.id), re.Pattern):
                    used[pattern].add(method)
        for node in ast.walk(tree):
            read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called
            if read and isinstance(pattern := names.get(node.id), re.Pattern):  # type: ignore[attr-defined]
                used[pattern].update(METHODS[:3])
    return used


def _literals(module: ModuleType) -> Iterator[tuple[int, re.Pattern[Any], str]]:
    for node in ast.walk(_tree(module)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        text = _text(node.args[0])
        method = FROM_FUNCTION.get(node.func.attr, node.func.attr)
        if text is not None and method in METHODS:
            yield node.lineno, re.compile(text), method


def _text(node: ast.expr) -> str | bytes | None:
    """The literal; what an f-string fills in stands as `2`, a letter of a name and a count at once."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "2" for part in node.values)
    return None


def _parts(tree: Any) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Signs named by the pattern; beginnings of what it matches; a beginning with what may be repeated after it."""
    signs: set[str] = set()
    beginnings: set[str] = set()
    pumps: set[tuple[str, str]] = set()

    def walk(sequence: Any, before: str) -> None:
        for kind, value in sequence:
            signs.update(_signs(kind, value))
            if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
                if sample := _sample(value[2]):
                    pumps.add((before, sample))
                walk(value[2], before)
            elif kind is ops.SUBPATTERN:
                walk(value[3], before)
            elif kind is ops.ATOMIC_GROUP:
                walk(value, before)
            elif kind is ops.BRANCH:
                for branch in value[1]:
                    walk(branch, before)
            elif kind in (ops.ASSERT, ops.ASSERT_NOT):
                walk(value[1], before)
                continue
            before += _sample([(kind, value)])
            if before:
                beginnings.add(before[:200])

    walk(tree, "")
    return signs, beginnings, pumps


def _signs(kind: Any, value: Any) -> set[str]:
    if kind is ops.LITERAL:
        return {chr(value)}
    if kind in (ops.NOT_LITERAL, ops.ANY):
        return {"a", " "}
    if kind is ops.IN:
        compiled = _class(value)
        fits = [sign for sign in SIGNS if compiled(sign)]
        named = {chr(v) for k, v in value if k is ops.LITERAL}
        return {*fits[:4], *(s for s in fits if s in " \n_"), *sorted(named)[:6]}
    return set()


def _class(items: Any) -> Any:
    negated = bool(items) and items[0][0] is ops.NEGATE

    def fits(sign: str) -> bool:
        code, inside = ord(sign), False
        for kind, value in items:
            if kind is ops.LITERAL:
                inside |= value == code
            elif kind is ops.RANGE:
                inside |= value[0] <= code <= value[1]
            elif kind is ops.CATEGORY:
                inside |= bool(re.match(_CATEGORIES[value], sign))
        return inside is not negated

    return fits


_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d", ops.CATEGORY_NOT_DIGIT: r"\D", ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S", ops.CATEGORY_WORD: r"\w", ops.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _sample(sequence: Any) -> str:
    """A short text that the sequence matches (lookarounds and references apart)."""
    text = ""
    for kind, value in sequence:
        if kind is ops.LITERAL:
            text += chr(value)
        elif kind is ops.NOT_LITERAL:
            text += "b" if value == ord("a") else "a"
        elif kind is ops.ANY:
            text += "a"
        elif kind is ops.IN:
            fits = _class(value)
            first = next((chr(v) for k, v in value if k is ops.LITERAL and fits(chr(v))), "")
            text += first or next((sign for sign in SIGNS if fits(sign)), "")
        elif kind is ops.BRANCH:
            text += _sample(value[1][0])
        elif kind is ops.SUBPATTERN:
            text += _sample(value[3])
        elif kind is ops.ATOMIC_GROUP:
            text += _sample(value)
        elif kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            text += _sample(value[2]) * max(1, min(value[0], 20))
    return text
