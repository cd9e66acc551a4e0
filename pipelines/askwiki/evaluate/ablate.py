"""What each part of the search and of the answer contributes: the run without it, paired with the run as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from askwiki.configuration import present_name, replace_setting
from askwiki.errors import SettingsError
from askwiki.evaluate.compare import Comparison, ComparisonRow
from askwiki.settings import Settings

# Settings of these sections are built into the index: such a variant needs an index of its own.
INDEX_SECTIONS = frozenset({"embedding", "sparse", "chunking", "context"})
# These decide nothing when only the search is measured, or when there is no LLM.
ANSWER_SECTIONS = frozenset({"relevance", "passages", "answer", "sources", "llm"})
LLM_SECTIONS = frozenset({"relevance", "condense", "llm"})
HEADLINE = ("snippet recall@5", "snippet mrr@10", "snippet ndcg@10", "grade", "grade not 0", "gold in the prompt")


@dataclass(frozen=True, slots=True)
class Variant:
    """A named set of changed settings."""

    name: str
    changes: Mapping[str, Any]

    @property
    def sections(self) -> frozenset[str]:
        return frozenset(key.split(".")[0] for key in self.changes)

    @property
    def needs_index(self) -> bool:
        return not self.sections.isdisjoint(INDEX_SECTIONS)


VARIANTS = (
    Variant("no text vector", {"search.weight_text": 0.0}),
    Variant("no context vector", {"search.weight_context": 0.0}),
    Variant("no sparse vector", {"search.weight_sparse": 0.0}),
    Variant("legs 50 deep", {"search.depth": 50}),
    Variant("no lift by intent and place", {"search.boost_intent": 0.0, "search.boost_place": 0.0}),
    Variant("no condensing", {"condense.enabled": False}),
    Variant("no relevance filter", {"relevance.enabled": False}),
    Variant("no siblings", {"passages.siblings": False}),
    Variant("half the passages", {"passages.tokens": 2000}),
    Variant("no path in the sparse text", {"sparse.path": False}),
    Variant("whole chunks instead of pieces", {"chunking.sub_chunks": 0}),
    Variant("shorter chunks", {"chunking.tokens": 200}),
    Variant("no joining of sections", {"chunking.merge_below": 0}),
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A variant that was not run, and why."""

    variant: Variant
    reason: str


def load_variants(file: Path | None) -> tuple[Variant, ...]:
    """The matrix of ``file`` (YAML: name -> setting -> value), else the one above."""
    if file is None:
        return VARIANTS
    try:
        matrix = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"The matrix {file} cannot be read: {error}") from error
    if not isinstance(matrix, dict) or not all(isinstance(of, dict) and of for of in matrix.values()):
        raise SettingsError(f"The matrix {file} must be: name, below it settings as section.name: value.")
    return tuple(Variant(str(name), changes) for name, changes in matrix.items())


def changed(settings: Settings, variant: Variant) -> Settings:
    """The settings with the variant's changes; an unknown setting raises with the variant's name."""
    origin = f"the variant {variant.name!r}"
    for key, value in variant.changes.items():
        if present := present_name(key, origin):
            settings = replace_setting(settings, present, value, origin)
    return settings


def choose(
    variants: Sequence[Variant], settings: Settings, *, retrieval: bool, has_llm: bool, has_source: bool
) -> tuple[list[Variant], list[Skipped]]:
    """(variants that can show something here, the others with the reason)."""
    chosen, skipped = [], []
    for variant in variants:
        reason = _idle(variant, settings, retrieval, has_llm, has_source)
        if reason:
            skipped.append(Skipped(variant, reason))
        else:
            chosen.append(variant)
    return chosen, skipped


def _idle(variant: Variant, settings: Settings, retrieval: bool, has_llm: bool, has_source: bool) -> str:
    if changed(settings, variant) == settings:
        return "the settings in force are the same"
    if retrieval and variant.sections <= ANSWER_SECTIONS:
        return "it changes nothing about the search"
    if not has_llm and variant.sections <= LLM_SECTIONS:
        return "there is no LLM"
    if variant.needs_index and not has_source:
        return "it needs an index of its own: name the wiki with --source KIND:PATH"
    return ""


def contributions(comparisons: Mapping[str, Comparison]) -> list[list[str]]:
    """A table: for each variant, what the run as it is has over it. Comparisons go variant -> as it is."""
    rows = [["variant", "measure", "without", "with", "contribution", "95 % interval", ""]]
    for name, comparison in comparisons.items():
        for row in (row for row in comparison.rows if row.name in HEADLINE):
            rows.append([name, *_cells(row)])
            name = ""  # once is enough
    return rows


def _cells(row: ComparisonRow) -> list[str]:
    of = row.difference
    interval = f"{of.low:+.3f} … {of.high:+.3f}"
    return [row.name, f"{row.before:.3f}", f"{row.after:.3f}", f"{of.value:+.3f}", interval, "*" if row.sure else ""]
