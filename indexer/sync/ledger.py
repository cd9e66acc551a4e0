"""The ledger of a run: what the source has, what of it arrived, and what was lost on the way.

It is built up, never changed in place: ``ledger = ledger.with_page(page)``.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from askwiki.data import INSIDE_PAGE, Content, Count, Loss, Page
from askwiki.masking import masked
from indexer.sources import PageFailure, PageRef

THRESHOLD = 0.98  # share of the text, of the code, … of a page below which it is listed
JUDGED = frozenset({"characters", "code", "plantuml", "tables", "images", "links", "cards", "tasks"})
ROWS = "rows"  # merged and empty ones have no place of their own: told, not judged
NAMES: dict[Content, str] = {"page": "pages", "blogpost": "blog posts among them", "attachment": "files of pages",
    "comments": "comments of pages", "entity": "entities"}  # fmt: skip
SHOWN = 20  # names printed in the text; the JSON has them all


@dataclass(frozen=True, slots=True)
class WeakPage:
    """A page of which less arrived than the threshold allows."""

    id: str
    title: str
    kept: float  # smallest share of a construct that arrived, 0 to 1
    losses: tuple[Loss, ...] = ()
    counts: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """Counts of one run over one source. ``read`` = pages that came out of the source as Markdown."""

    source: str = ""
    expected: int = 0
    read: int = 0
    indexed: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    removed: int = 0
    chunks: int = 0  # of this source in the store after the run
    truncated: int = 0  # texts an encoder cut off; must be 0
    collisions: int = 0  # pages with an id that another page already had
    sparse_collisions: int = 0  # terms of the indexed pages whose index in the sparse vectors belongs to another one
    model_calls: int = 0
    seconds: float = 0.0
    losses: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (kind, name) -> count
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # construct -> (source, Markdown)
    failures: tuple[PageFailure, ...] = ()
    missing: tuple[PageRef, ...] = ()  # expected, but neither read nor failed
    weak: tuple[WeakPage, ...] = ()
    aside: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # construct -> (marked, dropped on purpose)
    dropped: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (construct or macro, reason) -> count
    others: tuple[tuple[Content, PageRef], ...] = ()  # what was read and is no page of the tree
    notes: tuple[str, ...] = ()  # sentences for the person who runs it

    def add(self, **changes: float) -> Ledger:
        """A copy with numbers added: ``ledger.add(indexed=1, chunks=7)``."""
        return dataclasses.replace(self, **{name: getattr(self, name) + value for name, value in changes.items()})

    def with_page(self, page: Page) -> Ledger:
        """A page that was read: its losses, its counts, and its name when too little of it arrived."""
        counted = (
            self.add(read=int(page.content not in ("attachment", "comments")))
            .with_losses(page.losses)
            .with_counts(page.counts)
            .with_dropped(page.dropped)
        )
        kept = kept_share(page)
        if page.content != "page":
            other = (page.content, PageRef(page.id, page.title))
            counted = dataclasses.replace(counted, others=(*counted.others, other))
        weak = WeakPage(page.id, page.title, kept, page.losses, page.counts)
        return counted.with_weak(weak) if kept < THRESHOLD or unaccounted(page) else counted

    def with_counts(self, counts: Sequence[Count]) -> Ledger:
        if not counts:
            return self
        summed, aside = dict(self.counts), dict(self.aside)
        for count in counts:
            source, markdown = summed.get(count.kind, (0, 0))
            summed[count.kind] = (source + count.source, markdown + count.markdown)
            marked, dropped = aside.get(count.kind, (0, 0))
            aside[count.kind] = (marked + count.marked, dropped + count.dropped)
        return dataclasses.replace(self, counts=summed, aside=aside)

    def with_dropped(self, dropped: Sequence[Loss]) -> Ledger:
        """What the pages hold and the Markdown is not to hold, each with the reason."""
        if not dropped:
            return self
        summed = Counter(self.dropped)
        for one in dropped:
            summed[f"{one.kind} {one.name}".rstrip(), one.detail] += one.count
        return dataclasses.replace(self, dropped=dict(summed))

    @property
    def things(self) -> tuple[int, int]:
        """(things of the pages, those that are shown, marked or left out on purpose)."""
        kinds = [kind for kind in self.counts if kind not in (ROWS, "characters")]
        there = sum(self.counts[kind][0] for kind in kinds)
        return there, sum(self.counts[kind][1] + sum(self.aside.get(kind, (0, 0))) for kind in kinds)

    def with_failure(self, failure: PageFailure) -> Ledger:
        of_file = INSIDE_PAGE in failure.ref.id  # not among the pages that were expected: told, not counted
        counted = self if of_file else self.add(skipped=1) if failure.skipped else self.add(failed=1)
        return dataclasses.replace(counted, failures=(*self.failures, failure))

    def with_losses(self, losses: Sequence[Loss]) -> Ledger:
        if not losses:
            return self
        counted = Counter(self.losses)
        for loss in losses:
            counted[loss.kind, loss.name] += loss.count
        return dataclasses.replace(self, losses=dict(counted))

    def with_weak(self, page: WeakPage) -> Ledger:
        return dataclasses.replace(self, weak=(*self.weak, page))

    def with_note(self, sentence: str) -> Ledger:
        return self if sentence in self.notes else dataclasses.replace(self, notes=(*self.notes, sentence))

    def with_missing(self, expected: Sequence[PageRef], arrived: Sequence[str]) -> Ledger:
        """Compare what the source says it has with the ids that came (read, failed or skipped)."""
        there = set(arrived)
        missing = tuple(ref for ref in expected if ref.id not in there)
        return dataclasses.replace(self, expected=len(expected), missing=missing)

    @classmethod
    def unchanged_since(cls, report: Mapping[str, Any]) -> Ledger:
        """The ledger of a run that found everything as the run of ``report`` (its JSON) left it."""
        pages = report["pages"]
        failures = [
            PageFailure(PageRef(one["id"], one["title"]), one["reason"], one["skipped"]) for one in report["failures"]
        ]
        return cls(
            source=report["source"],
            expected=pages["expected"],
            read=pages["read"],
            unchanged=pages["read"],
            skipped=pages["skipped"],
            collisions=report["collisions"],
            losses={(one["kind"], one["name"]): one["count"] for one in report["losses"]},
            failures=tuple(failures),
            notes=tuple(report["notes"]),
        )

    @property
    def exit_code(self) -> int:
        """0 = all is in, 1 = some pages are not, 2 = nothing could be done."""
        if not self.read and (self.failed or self.expected):
            return 2
        return 1 if self.failed or self.missing else 0

    def to_json(self) -> dict[str, Any]:
        names = ("expected", "read", "indexed", "unchanged", "skipped", "failed", "removed")
        ordered = sorted(self.losses.items(), key=lambda item: (-item[1], item[0]))
        return {
            "source": self.source,
            "pages": {name: getattr(self, name) for name in names},
            "chunks": self.chunks,
            "model_calls": self.model_calls,
            "truncated": self.truncated,
            "collisions": self.collisions,
            "sparse_collisions": self.sparse_collisions,
            "seconds": round(self.seconds, 3),
            "losses": [{"kind": kind, "name": name, "count": count} for (kind, name), count in ordered],
            "counts": {
                kind: {"source": there, "markdown": here, "marked": aside[0], "dropped": aside[1]}
                for kind, (there, here) in sorted(self.counts.items())
                for aside in [self.aside.get(kind, (0, 0))]
            },
            "things": dict(zip(("source", "accounted"), self.things, strict=True)),
            "dropped": [
                {"what": what, "reason": reason, "count": count}
                for (what, reason), count in sorted(self.dropped.items(), key=lambda item: (-item[1], item[0]))
            ],
            "failures": [
                {"id": one.ref.id, "title": one.ref.title, "reason": one.reason, "skipped": one.skipped}
                for one in self.failures
            ],
            "missing": [dataclasses.asdict(ref) for ref in self.missing],
            "below_threshold": [
                {
                    "id": page.id,
                    "title": page.title,
                    "kept": round(page.kept, 4),
                    "losses": [dataclasses.asdict(loss) for loss in page.losses],
                    "counts": {one.kind: {"source": one.source, "markdown": one.markdown} for one in page.counts},
                }
                for page in self.weak
            ],
            "contents": dict(Counter(content for content, _ in self.others)),
            "notes": list(self.notes),
        }

    def _sum(self) -> list[str]:
        """The sum of all things, and what is left out on purpose."""
        there, accounted = self.things
        if not there:
            return []
        marked, dropped = (sum(numbers) for numbers in zip(*self.aside.values(), strict=True))
        whole = "100 %" if accounted >= there else f"{int(1000 * accounted / there) / 10} %"
        lines = [
            f"accounted for: {accounted} of {there} things, {whole} ({marked} by a mark, {dropped} left out on purpose)"
        ]
        ordered = sorted(self.dropped.items(), key=lambda item: (-item[1], item[0]))
        return lines + _listed("left out on purpose", [f"{count} x {what}: {why}" for (what, why), count in ordered])

    def to_text(self) -> str:
        """The ledger for a person: counts, then names, the most frequent losses first."""
        counts = [
            (name, getattr(self, name))
            for name in ("expected", "read", "indexed", "unchanged", "skipped", "failed", "removed")
        ]
        lines = [self.source, "pages: " + ", ".join(f"{name} {value}" for name, value in counts)]
        if self.chunks or self.model_calls:
            lines.append(f"chunks {self.chunks}, model calls {self.model_calls}, truncated {self.truncated}")
        lines.append(f"{self.seconds:.1f} s")
        lines += _listed(
            "failed or skipped", [f"{one.ref.title} ({one.ref.id}): {one.reason}" for one in self.failures]
        )
        for content in dict.fromkeys(content for content, _ in self.others):
            refs = [ref for kind, ref in self.others if kind == content]
            lines += _listed(NAMES[content], [f"{ref.title} ({ref.id})" for ref in refs])
        lines += _listed("expected but not found", [f"{ref.title} ({ref.id})" for ref in self.missing])
        ordered = sorted(self.losses.items(), key=lambda item: (-item[1], item[0]))
        kinds = [f"{kind} {here} of {there}" for kind, (there, here) in sorted(self.counts.items())]
        lines += ["in Markdown: " + ", ".join(kinds)] if kinds else []
        lines += self._sum()
        lines += _listed("losses", [f"{count} x {kind} {name}".rstrip() for (kind, name), count in ordered])
        lines += _listed(
            "pages that did not arrive whole",
            [f"{page.title} ({page.id}): {int(page.kept * 1000) / 10}% kept" for page in self.weak],
        )
        return masked("\n".join([*lines, *self.notes]))


def kept_share(page: Page) -> float:
    """The smallest share that is in the Markdown among the constructs of the page; a mark alone keeps nothing."""
    return min(
        ((one.markdown + one.dropped) / one.source for one in page.counts if one.kind in JUDGED and one.source),
        default=1.0,
    )


def unaccounted(page: Page) -> int:
    """How many things of the page are neither shown nor marked nor left out on purpose."""
    things = (one for one in page.counts if one.kind not in (ROWS, "characters"))
    return sum(max(one.source - _accounted(one), 0) for one in things)


def _accounted(count: Count) -> int:
    return min(count.markdown + count.marked + count.dropped, count.source)


def _listed(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    rest = [f"  … and {len(names) - SHOWN} more (see --json)"] if len(names) > SHOWN else []
    return [f"{title}: {len(names)}", *(f"  {name}" for name in names[:SHOWN]), *rest]
