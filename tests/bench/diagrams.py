"""How much of a diagram comes back from its picture: known PlantUML drawn to PNG, read by the vision model.

    python -m tests.bench diagrams

Needs Debian's ``plantuml`` and a vision model (ASKWIKI_LLM_URL, ASKWIKI_LLM__VISION__MODEL). Precision =
share of what the model names that the diagram has; recall = share of what it has that the model names.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from askwiki.configuration import load_configuration
from askwiki.data import Attachment, Page
from askwiki.language.glossary import Glossary
from askwiki.llm.factory import make_llm
from askwiki.prompts import load_prompts
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache
from indexer.enrich.plantuml import find_source, syntax_error
from indexer.enrich.vision import recover_diagrams
from indexer.sources import read_attachment

ROOT = Path(__file__).resolve().parents[2]
DIAGRAMS = 12
SEED = 20261130
DRAW_SECONDS = 120
NAMES = [
    "Заявка",
    "Проверка",
    "Резерв",
    "Оплата",
    "Склад",
    "Доставка",
    "Отказ",
    "Архив",
    "Биллинг",
    "Шлюз",
    "CRM",
    "АБС",
]
ACTIONS = ["создать", "проверить", "списать", "вернуть", "отправить", "отклонить"]

Edge = tuple[str, str]


class Graph(NamedTuple):
    """What a diagram says, however it is written: names of boxes, and pairs that an arrow joins."""

    nodes: frozenset[str]
    edges: frozenset[Edge]


class Score(NamedTuple):
    """Shares, 0 to 1. Nothing named: precision 1, recall 0."""

    node_precision: float
    node_recall: float
    edge_precision: float
    edge_recall: float


_DECLARED = re.compile(
    r"^\s*(?:state|participant|actor|database|component|rectangle|node|queue|entity|usecase|cloud|class|object)\s+"
    r'(?:"(?P<label>[^"]+)"|\[(?P<box>[^\]]+)\]|(?P<name>[\w.]+))(?:\s+as\s+(?:"(?P<called>[^"]+)"|(?P<alias>[\w.]+)))?'
)
_BOX = re.compile(r"^\s*\[(?P<box>[^\]]+)\](?:\s+as\s+(?P<alias>[\w.]+))?\s*$")
_END = r'(?:\[\*\]|\[[^\]]+\]|"[^"]+"|\([^)]+\)|[\w.]+)'
_LINE = r"[-.]+(?:\[[^\]]*\])?(?:left|right|up|down|[lrud])?[-.]*"  # -->, ..>, -[#red]->, -left->
_ARROW = re.compile(rf"^\s*(?P<left>{_END})\s*(?P<arrow><{{0,2}}{_LINE}>{{0,2}})\s*(?P<right>{_END})")


def read_graph(source: str) -> Graph:
    """Boxes and arrows of PlantUML state, sequence and component diagrams; start and end points are no boxes."""
    labels: dict[str, str] = {}
    nodes: set[str] = set()
    edges: set[Edge] = set()
    for line in source.splitlines():
        if line.strip().startswith(("@", "'", "skinparam", "note", "title")):
            continue
        declared = _DECLARED.match(line) or _BOX.match(line)
        if declared:
            found = declared.groupdict()
            label = found.get("called") or found.get("label") or found.get("box") or found.get("name") or ""
            labels[found.get("alias") or found.get("name") or label] = label
            nodes.add(_key(label))
        elif (arrow := _ARROW.match(line)) and set(arrow["arrow"]) & set("<>"):
            left, right = (_key(labels.get(_bare(arrow[side]), _bare(arrow[side]))) for side in ("left", "right"))
            nodes.update((left, right))
            edges.add((right, left) if arrow["arrow"].startswith("<") else (left, right))
    start_or_end = _key("[*]")
    return Graph(frozenset(nodes - {start_or_end}), frozenset(edges))


def _bare(end: str) -> str:
    return end if end == "[*]" else end.strip('[]"()')


def _key(label: str) -> str:
    return " ".join(label.replace("\\n", " ").casefold().split())


def score(truth: Graph, found: Graph) -> Score:
    """Precision and recall of boxes and of arrows (ends and direction)."""

    def shares(true: frozenset[Any], said: frozenset[Any]) -> tuple[float, float]:
        right = len(true & said)
        return right / len(said) if said else 1.0, right / len(true) if true else 1.0

    return Score(*shares(truth.nodes, found.nodes), *shares(truth.edges, found.edges))


def make_diagrams(number: int, seed: int) -> list[tuple[str, str]]:
    """(name, source) of state, sequence and component diagrams in turn, the same for the same seed."""
    chance = random.Random(seed)
    forms = {"state": _state, "sequence": _sequence, "component": _component}
    kinds = list(forms)
    return [(f"{kinds[n % 3]}-{n}", forms[kinds[n % 3]](chance)) for n in range(number)]


def _edges(chance: random.Random, names: Sequence[str]) -> Iterator[Edge]:
    """A path through all boxes, and some more arrows."""
    yield from pairwise(names)
    for _ in range(len(names) // 2):
        one, other = chance.sample(list(names), 2)
        yield one, other


def _state(chance: random.Random) -> str:
    names = chance.sample(NAMES, chance.randint(4, 6))
    arrows = [f"{one} --> {other} : {chance.choice(ACTIONS)}" for one, other in _edges(chance, names)]
    return "\n".join(["@startuml", *(f"state {name}" for name in names), f"[*] --> {names[0]}", *arrows, "@enduml"])


def _sequence(chance: random.Random) -> str:
    names = chance.sample(NAMES, chance.randint(3, 5))
    arrows = [f"{one} -> {other} : {chance.choice(ACTIONS)}" for one, other in _edges(chance, names)]
    return "\n".join(["@startuml", *(f"participant {name}" for name in names), *arrows, "@enduml"])


def _component(chance: random.Random) -> str:
    names = chance.sample(NAMES, chance.randint(4, 6))
    arrows = [f"[{one}] --> [{other}] : {chance.choice(ACTIONS)}" for one, other in _edges(chance, names)]
    return "\n".join(["@startuml", *(f"[{name}]" for name in names), *arrows, "@enduml"])


def draw(name: str, source: str, folder: Path) -> Path:
    """The diagram as a PNG file."""
    written = folder / f"{name}.puml"
    written.write_text(source, encoding="utf-8")
    subprocess.run(
        ["plantuml", "-tpng", "-charset", "UTF-8", str(written)], check=True, capture_output=True, timeout=120
    )
    return written.with_suffix(".png")


def recover(pictures: Sequence[Path], desk: Desk, check: Callable[[str], str] = syntax_error) -> list[str]:
    """The PlantUML that the indexer itself gets from each picture, empty where it got none."""
    found = []
    for picture in pictures:
        attachment = Attachment(picture.name, picture.name, "image/png", str(picture))
        page = Page(picture.stem, "", "Схема", (), "", f"![Схема]({picture.name})\n", attachments=(attachment,))
        ready = recover_diagrams(page, desk=desk, read=read_attachment, check=check)
        found.append(find_source(ready.markdown))
    return found


def measure(diagrams: Sequence[tuple[str, str]], recovered: Sequence[str]) -> Mapping[str, float]:
    """Mean shares over all diagrams."""
    scores = [
        score(read_graph(source), read_graph(said)) for (_, source), said in zip(diagrams, recovered, strict=True)
    ]
    return {name: sum(getattr(one, name) for one in scores) / len(scores) for name in Score._fields}


def rows() -> list[dict[str, Any]]:
    """Four rows with the shares, or one that says what is missing."""
    configuration = load_configuration(os.environ, ROOT / "config")
    llm = make_llm(configuration.settings.llm)
    missing = [] if llm else ["a vision model (ASKWIKI_LLM_URL, ASKWIKI_LLM__VISION__MODEL)"]
    missing += [] if shutil.which("plantuml") else ["plantuml (apt-get install plantuml)"]
    if missing:
        return [_row("diagrams recovered from pictures", None, f"not measured, missing: {', '.join(missing)}")]
    diagrams = make_diagrams(DIAGRAMS, SEED)
    cache = Cache(None)
    desk = Desk(llm, load_prompts(ROOT / "config" / "prompts"), Glossary(), cache, Counters())
    with tempfile.TemporaryDirectory() as folder:
        recovered = recover([draw(name, source, Path(folder)) for name, source in diagrams], desk)
    cache.close()
    return [
        _row(f"diagrams: {name.replace('_', ' ')}", share, "") for name, share in measure(diagrams, recovered).items()
    ]


def _row(name: str, value: float | None, why: str) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "unit": "share",
        "goal": None,
        "met": None,
        "against": f"{DIAGRAMS} known diagrams",
        "why": why or "depends on the model; there is no goal",
    }
