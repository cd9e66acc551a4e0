"""How much of an answer its own sources bear out, by the same rule that checks it while it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askwiki.data import Passage, Turn
from askwiki.language.stems import telling_stems
from askwiki.markdown.fences import without_code
from askwiki.stages.citations.support import known, supporting
from askwiki.stages.dialogue import clean

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")


def supported_share(answer: str, cited: Sequence[Passage], least_share: float) -> float | None:
    """Share of the sentences with something to support whose facts and words the cited passages hold.

    None when there is no such sentence. Code and diagrams are left out: they have no sentences.
    """
    (turn,) = clean([Turn("assistant", answer)]) or (Turn("assistant", ""),)
    said = [part for part in _SENTENCE_END.split(without_code(turn.content)) if telling_stems(part)]
    if not said:
        return None
    passages = {passage.number: known(passage) for passage in cited}
    borne_out = [sentence for sentence in said if supporting(sentence, list(passages), passages, least_share)]
    return len(borne_out) / len(said)
