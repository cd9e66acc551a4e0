"""The changes: one comparison, constant, ``and``/``or`` or sign of a module turned into its neighbour.

Left alone is what only people read (sentences, the log) and how a class or a memory of results is made.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

OTHER_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
STRANGE = "~"  # added to a text that decides
SMALL = 10  # a larger number is a limit or a time: it is doubled or halved, for one more or less is the same to people
SAID = {"debug", "info", "warning", "error", "exception", "Loss", "TypeVar"}  # calls whose texts only people read


@dataclass(frozen=True, slots=True)
class Flip:
    """One change of one module. ``place``: the function it is in; ``before``, ``after``: the expression around it."""

    module: str
    place: str
    line: int
    before: str
    after: str
    source: str  # the whole module with the change

    @property
    def name(self) -> str:
        return f"{self.module} {self.place}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Site:
    """A node that can be changed, by its position in the walk of its tree."""

    position: int
    around: int  # position of the expression to show
    place: str


def sites_of(source: str) -> list[Site]:
    """Every place of a module where a change may show in what it does, not only in what it says."""
    tree = ast.parse(source)
    positions = {id(node): position for position, node in enumerate(ast.walk(tree))}
    return [
        Site(positions[id(node)], positions[id(around)], place)
        for node, around, place in _reached(tree, tree, ())
        if _others(node)
    ]


def flip_of(module: str, source: str, site: Site, dice: random.Random) -> Flip:
    """The module with one change at this site; the dice choose where several are possible."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    node, around = nodes[site.position], nodes[site.around]
    before = ast.unparse(around)
    other = dice.choice(_others(node))
    if type(other) is type(node):
        for field, value in ast.iter_fields(other):
            setattr(node, field, value)
    else:  # `not x` and `a - b` give way to a part of them
        holder = _Instead(node, other)
        around = holder.visit(around)
        tree = holder.visit(tree)
    return Flip(module, site.place, getattr(node, "lineno", 0), before, ast.unparse(around), ast.unparse(tree))


class _Instead(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)


def _reached(node: ast.AST, around: ast.AST, place: tuple[str, ...]) -> Iterator[tuple[ast.AST, ast.AST, str]]:
    """(node, the expression around it, function); not annotations, docstrings, or sentences for people."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        place = (*place, node.name)
    if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp | ast.UnaryOp | ast.Call | ast.Assign | ast.Dict):
        around = node
    if isinstance(node, ast.Return | ast.Subscript | ast.AnnAssign | ast.keyword | ast.IfExp | ast.comprehension):
        around = node
    if isinstance(node, ast.arguments | ast.AugAssign):
        around = node
    yield node, around, ".".join(place)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _only_said(child):
                yield from _reached(child, around, place)


def _only_said(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
        return True  # a sentence
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in SAID


def _others(node: ast.AST) -> Sequence[ast.AST]:
    """What the node may become: of its own type, or an expression in its place."""
    if isinstance(node, ast.Compare):
        return [
            ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]], node.comparators)
            for at, operator in enumerate(node.ops)
            for other in OTHER_COMPARISONS[type(operator)]
        ]
    if isinstance(node, ast.BoolOp):
        return [ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return [copy.copy(node.left)]  # the other sign would fail at once where these are lists or sets
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd):
        return [ast.BinOp(node.left, ast.BitAnd() if isinstance(node.op, ast.BitOr) else ast.BitOr(), node.right)]
    if isinstance(node, ast.AugAssign):
        return [ast.Pass()]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return [copy.copy(node.operand)]
    if isinstance(node, ast.Constant):
        return [ast.Constant(value) for value in _other_values(node.value)]
    return []


def _other_values(value: object) -> list[str | bytes | bool | int | float]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1] if abs(value) < SMALL else [value * 2, value / 2 if value % 2 else value // 2]
    if isinstance(value, str):
        return [value + STRANGE]
    return [value + STRANGE.encode()] if isinstance(value, bytes) else []
