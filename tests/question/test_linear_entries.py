"""What reads foreign text as a whole takes time in proportion to it: no loop makes it grow with the square."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from askwiki.data import Turn
from askwiki.language.stems import stems
from askwiki.language.terms import terms
from askwiki.markdown.blocks import parse_blocks
from askwiki.markdown.plain_text import plain_text
from askwiki.openwebui.events import text_of
from askwiki.openwebui.service_requests import first_question, plain_title
from askwiki.settings import CondenseSettings
from askwiki.stages.citations.support import exact_facts
from askwiki.stages.condense import by_rule
from askwiki.stages.dialogue import clean
from askwiki.stages.extractive.groups import groups_of
from askwiki.stages.extractive.pieces import pieces_of
from askwiki.stages.history import links
from askwiki.stages.relevance import read_verdicts
from indexer.chunking.sections import plain
from indexer.chunking.sentences import sentence_ends
from indexer.confluence.parse.repair import mend
from indexer.confluence.parse.text import escape, escape_line_start
from indexer.confluence.parse.wiki_markup import to_storage
from indexer.confluence.sources.forms import guess_form

LENGTH, GROWN = 3_000, 16  # characters, and how many times more
# Seconds of a processor that nobody minds, for a loaded machine; a loop that grows with the square takes a second.
FLOOR = 0.3
MOST = 64  # what sixteen times the text may cost: four times linear, a quarter of quadratic
RUNS = (
    " ", "\n", "\t", "\u00a0", "_", "*", "[", "(", "|", "-", "`", "1", "1.", "а", "😀", "\u0301", "> ", ">", "#",
    "![](", "[a](", "{", "{{", "<", "<a ", "&", "\\", "~", "**a", "- a\n", "| a ", "```\n", "а. ", "http://", "a\n",
    ">\n", "|\n", "{panel:a}", "<div>", "<b>", "a-", "a_", "« ", "[1]", "<!--", "\r", "|-", "<user_query>",
    "<attached_files>",
)  # fmt: skip


def dialogue(text: str) -> object:
    return by_rule([Turn("user", text), Turn("assistant", text), Turn("user", text)], CondenseSettings())


READERS: dict[str, Callable[[str], object]] = {
    "message": text_of,
    "dialogue": dialogue,
    "earlier answer": lambda text: (clean([Turn("assistant", text)]), links(text)),
    "title": lambda text: plain_title(first_question(text)),
    "verdicts": lambda text: (read_verdicts(text, 1), read_verdicts(text, 5)),
    "facts": exact_facts,
    "pieces": lambda text: groups_of(pieces_of(text)),
    "terms": lambda text: list(terms(text)),
    "stems": stems,
    "wiki markup": to_storage,
    "form": guess_form,
    "mended": mend,
    "escaped": lambda text: escape_line_start(escape(text)),
    "blocks": parse_blocks,
    "plain text": lambda text: (plain_text(text), plain(text)),
    "sentences": lambda text: sentence_ends(text, "ru"),
}


def seconds(read: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    read(text)
    return time.thread_time() - started


@pytest.mark.parametrize("name", READERS)
def test_a_long_run_of_one_sign_costs_no_more_than_its_length(name: str) -> None:
    slow = []
    for run in RUNS:
        for ending in ("", "x"):
            short, long = (run * (length // len(run)) + ending for length in (LENGTH, GROWN * LENGTH))
            if seconds(READERS[name], long) > FLOOR:
                most = MOST * max(seconds(READERS[name], short), 1e-4)
                if (taken := min(seconds(READERS[name], long) for _ in range(2))) > max(FLOOR, most):
                    slow.append((run, ending, taken))
    assert slow == []


def test_sentences_of_a_long_text_end_where_those_of_a_short_one_do() -> None:
    sentence = "Перевод идёт три дня. "
    ends = sentence_ends(sentence * 1_000, "ru")
    assert ends == [len(sentence) * number for number in range(1, 1_001)]


def test_tags_that_nobody_closes_are_left_out_from_a_depth_on_and_their_text_stays() -> None:
    mended = mend("<div>" * 1_000 + "слово" + "</div>" * 1_000 + "конец")
    assert mended.count("<div>") == mended.count("</div>") == 300
    assert "слово" in mended and mended.endswith("конец")
