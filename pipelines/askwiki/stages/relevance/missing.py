"""What of a question no relevant fragment tells: asked of the judge, as a question of its own to look for."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from askwiki.data import Candidate, Question
from askwiki.language import en, ru
from askwiki.language.stems import telling_stems
from askwiki.llm.port import Llm, Message
from askwiki.settings import RelevanceSettings
from askwiki.stages.fence import Fence
from askwiki.stages.relevance.judge import fragment_of
from askwiki.stages.tools import StageTools

CHARACTERS = 10_000  # of all fragments that are shown, the best first
LONGEST = 160  # characters of a part; what is longer is an explanation
_NAMED = re.compile(rf"\A(?:{'|'.join((*ru.MISSING, *en.MISSING))})\s*[:—–-]\s*", re.IGNORECASE)  # "Не хватает: …"


def missing_part(
    question: Question,
    relevant: Sequence[Candidate],
    *,
    llm: Llm,
    kit: StageTools,
    settings: RelevanceSettings,
    cancel: threading.Event | None = None,
) -> str:
    """One call: the part that these fragments tell nothing of, empty when there is none. Raises ``ModelError``."""
    fence = Fence()
    shown: list[str] = []
    for number, candidate in enumerate(relevant, 1):
        fragment = fragment_of(number, candidate, fence, settings)
        if shown and sum(map(len, (*shown, fragment))) > CHARACTERS:
            break
        shown.append(fragment)
    system, user = kit.prompts.get("missing", question.language).render(
        mark=fence.mark,
        question=question.text,
        glossary=kit.glossary.lines(question.text) or "—",
        fragments="\n\n".join(shown),
    )
    reply = llm.complete("relevance", [Message("system", system), Message("user", user)], cancel=cancel)
    text = reply.text.strip().rpartition(" ")[0] if reply.cut else reply.text
    return read_part(text, question.text)


def read_part(said: str, question: str) -> str:
    """The part that a reply names; empty for "nothing", for an explanation and for the whole question said back."""
    line = next((bare for line in said.splitlines() if (bare := _bare(line))), "")
    part = _bare(_NAMED.sub("", line))
    words = {word for word in telling_stems(part) if not word.isdigit()}
    if not words or len(part) > LONGEST or words >= set(telling_stems(question)):
        return ""
    return part


def _bare(line: str) -> str:
    return " ".join(line.replace("**", "").split()).strip(" *`\"'«»-#")
