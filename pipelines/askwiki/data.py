"""Every record that flows through askwiki, in the order of the flow. Read this file first.

    Page -> Section -> Chunk (+ Vectors) -> point -> Candidate -> Passage -> Answer

All records are frozen: a stage takes some and gives back new ones. Those that are made by the thousand
are tuples, which are made three times as fast. Dictionaries appear only at the edges (JSON, payloads of
the store, events of the chat).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

INSIDE_PAGE = "!/"  # in the id of a document, behind the id of the page that it is a part of: "17!/act.pdf"
PUBLIC = "*"  # the access key of what everybody may read

Content = Literal["page", "blogpost", "attachment", "comments", "entity"]  # what of a wiki a record tells of
State = Literal["", "outdated", "archived", "draft", "verified"]
Kind = Literal["section", "subsection", "merged", "note", "comment"]
Intent = Literal["concept", "screen"]
Verdict = Literal["yes", "no", "unanswered"]
# outside: searched, but no wiki is likely to know; sources: of the last answer, once more; about: the assistant itself
Need = Literal["search", "dialogue", "smalltalk", "outside", "sources", "about"]
Refusal = Literal["", "nothing_found", "insufficient", "outside", "smalltalk", "empty"]


# --- the page's way -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of a page that the conversion could not carry over, or carried over with less."""

    kind: str  # macro | include | image | link | table | diagram | text | rights | encoding | …
    name: str  # of the macro, the picture, the target, …
    count: int = 1
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How many of one construct the source of a page has, and how many its Markdown.

    Of the rest, for how many a mark stands there, and how many are left out on purpose (``Page.dropped`` says why).
    """

    kind: (
        str  # tables | rows | cells | links | cards | images | signs | tasks | code | plantuml | macros | characters …
    )
    source: int
    markdown: int
    marked: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a page. ``file`` is its place on this machine, empty when the export has it not."""

    name: str
    url: str = ""
    media_type: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Clause:
    """One set of permitted readers: any of the users OR a member of any of the groups.

    ``unknown``: there is such a restriction or may be one, but not whom it lets in. Only the settings can open
    it (``access.known_readers``); whoever does not look at the mark sees a clause that nobody passes.
    """

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    unknown: bool = False


def whole_page(page_id: str) -> str:
    """The page of the wiki that a document (a file, comments) is a part of; another id is its own."""
    return page_id.partition(INSIDE_PAGE)[0]


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody wrote below a page, as Markdown."""

    author: str
    updated: str  # ISO 8601, empty when the source does not say
    markdown: str


@dataclass(frozen=True, slots=True)
class Page:
    """One wiki page as Markdown, with its place in the tree and who may read it.

    ``readers`` is a conjunction: a person must satisfy every clause. ``()`` = everybody,
    ``None`` = unknown (the source does not say); a single clause may be unknown beside known ones.
    """

    id: str  # Confluence's own id, or the path relative to a Markdown folder
    space: str
    title: str
    path: tuple[str, ...]  # titles of the ancestors, root first, the page itself not included
    url: str
    markdown: str
    updated: str = ""  # ISO 8601, empty when the source does not say
    version: int = 0
    labels: tuple[str, ...] = ()
    readers: tuple[Clause, ...] | None = None
    attachments: tuple[Attachment, ...] = ()
    losses: tuple[Loss, ...] = ()
    counts: tuple[Count, ...] = ()
    dropped: tuple[Loss, ...] = ()  # left out on purpose, ``detail`` says why
    content: Content = "page"
    author: str = ""  # names of people as the wiki shows them, "" where the source does not say
    editor: str = ""  # who edited last
    owner: str = ""
    state: State = ""  # as the wiki says it; what labels say comes with the chunks
    comments: tuple[Comment, ...] = ()  # read by a setting


class Section(NamedTuple):
    """One node of a page's heading tree. All sections of a page joined give its Markdown back."""

    page_id: str
    ordinal: int
    level: int  # 0 = text under no heading
    headings: tuple[str, ...]  # breadcrumb inside the page, its own heading last
    anchor: str
    markdown: str  # its own heading line included, letter for letter


class Chunk(NamedTuple):
    """What is found and read: a whole thought of a page, letter for letter, with its place.

    ``overlap`` = how many leading characters of ``text`` repeat earlier text of the page (overlap
    between parts, a repeated table header): without them all chunks joined give the page.
    """

    id: str
    page_id: str
    space: str
    title: str
    path: tuple[str, ...]
    headings: tuple[str, ...]
    url: str  # with the heading's anchor
    kind: Kind
    screen: bool
    ordinal: int
    part: int  # from 1
    parts: int
    text: str
    overlap: int = 0
    context: str = ""
    updated: str = ""
    labels: tuple[str, ...] = ()
    acl: str = ""  # key of the readers' conjunction, PUBLIC for everybody, "" = nobody
    content: Content = "page"
    author: str = ""
    editor: str = ""  # who edited last
    owner: str = ""
    state: State = ""
    hash: str = ""  # of everything above that must lead to a new point when it changes


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: distinct indices (unsigned 32 bit) and their weights, same length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The representations of one chunk. Dense rows are unit length, float32.

    ``text``: one row for each piece of the chunk, shape (pieces, size); the chunk scores as its best
    piece. ``context``: shape (size,); None where no model wrote one.
    """

    text: NDArray[np.float32]
    context: NDArray[np.float32] | None
    sparse: Sparse


# --- the question's way ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the dialogue."""

    role: str  # user | assistant | system
    content: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks. Without ``known`` only what everybody may read is visible.

    ``groups_age`` = seconds since the groups were learned, None when they were not.
    """

    id: str = ""
    email: str = ""
    name: str = ""
    role: str = ""
    groups: tuple[str, ...] = ()
    known: bool = False
    groups_age: float | None = None
    aliases: tuple[str, ...] = ()  # the person's user names in Confluence, from config/groups.yaml
    note: str = ""  # a sentence for the chat when rights could not be fully learned


@dataclass(frozen=True, slots=True)
class Rights:
    """The access keys whose conjunction the person passes; PUBLIC is always among them."""

    keys: frozenset[str] = frozenset({PUBLIC})
    note: str = ""
    sources: frozenset[str] | None = None  # only what these hold; None = all of them


@dataclass(frozen=True, slots=True)
class Question:
    """A question that stands alone, as the filter hands it to the pipe."""

    text: str
    original: str = ""  # the last message, as typed
    previous: str = ""  # the question before it, when ``text`` begins with it: made by rule, not by a model
    intent: Intent | None = None  # None = ambiguous
    language: str = "ru"
    terms: tuple[str, ...] = ()  # further words for the sparse search
    searches: tuple[
        str, ...
    ] = ()  # of a question of several parts, one for each: looked for where the first search lacks it
    need: Need = "search"
    history: tuple[Turn, ...] = ()  # what the answer may refer to, own links stripped
    begun: str = ""  # the answer so far, where the chat wants it continued
    shown: str = ""  # the list of sources of the last answer, where the person wants more than it
    note: str = ""  # why it is not better than it is ("LLM did not answer")


class LegHit(NamedTuple):
    """Place and score of a chunk in one leg of the search. Ranks count from 1. Hundreds are made a question."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that was found, what each leg and each gate said of it."""

    chunk: Chunk
    score: float  # fused
    legs: Mapping[str, LegHit] = field(default_factory=dict)
    rerank: float | None = None
    verdict: Verdict | None = None  # None = never asked


@dataclass(frozen=True, slots=True)
class PassageNote:
    """What a passage is to another: an ``older`` edition of it, or nearly its text that ``differs`` in its data."""

    kind: Literal["older", "differs"]
    number: int  # of the other passage


class PassagePart(NamedTuple):
    """One of the sections that a passage joins."""

    headings: tuple[str, ...]
    url: str  # with its anchor
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """What the model reads and the answer cites: siblings joined in page order, numbered from 1."""

    number: int
    page_id: str
    title: str
    path: tuple[str, ...]
    headings: tuple[str, ...]
    url: str
    updated: str
    text: str
    chunk_ids: tuple[str, ...]
    score: float = 0.0
    rebuilt: bool = False  # joined from several parts
    shortened: bool = False  # did not fit whole
    note: PassageNote | None = None
    parts: tuple[PassagePart, ...] = ()  # the sections that it joins, in page order
    cited_for: str = ""  # the first sentence of the answer that cites it
    also: tuple[Passage, ...] = ()  # the same for further sentences that speak of other sections or lines of it
    part: tuple[int, int, int] = (1, 1, 1)  # first and last part of a split section, of how many
    content: Content = "page"
    author: str = ""
    editor: str = ""
    owner: str = ""
    state: State = ""


@dataclass(frozen=True, slots=True)
class Status:
    """A line of progress in the chat. The last one of an answer has ``done``."""

    text: str
    step: str = ""  # condense | search | rerank | relevance | passages | answer | …
    done: bool = False
    warning: bool = False  # a degraded part: always shown


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text, in order."""

    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as the chat shows it beside the answer, sent before the text."""

    number: int
    id: str  # a string that is not a URL
    title: str
    url: str
    text: str
    updated: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the index's own questions are supported by what is found for them: what confidence is measured by.

    Support = ``similarity`` times the dense score + ``words`` times the share of words. ``middle`` is the median of the
    support, ``spread`` its deviation downwards; ``words_middle`` and ``words_spread`` of the share of words alone.
    """

    similarity: float
    words: float
    middle: float
    spread: float
    words_middle: float
    words_spread: float
    chunks: int = 0  # in the index when it was made


@dataclass(frozen=True, slots=True)
class Trace:
    """What each stage saw, for ``--json``, evaluation and logs."""

    question: Question
    found: tuple[Candidate, ...] = ()
    gated: tuple[Candidate, ...] = ()
    judged: tuple[Candidate, ...] = ()
    passages: tuple[Passage, ...] = ()
    confidence: float | None = None  # how well what was found covers the question, 0 to 1; None = not known
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds per stage so far


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of the flow: the whole text, what it really cites, and how it came about."""

    text: str
    sources: tuple[Source, ...] = ()  # really cited, in the order of their numbers
    refused: Refusal = ""
    degraded: tuple[str, ...] = ()  # one sentence for each part that was missing
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds per stage
    tokens: Mapping[str, int] = field(default_factory=dict)  # per role, as the server counted
    trace: Trace | None = None
    settings: str = ""  # digest of the settings in force: what a rating of this answer is about


Event = Status | Source | Token | Answer
