"""How long the quotations of an answer are, and where in them the gold text stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askwiki.evaluate.matching import normalise
from askwiki.evaluate.outcome import Quoted
from askwiki.evaluate.questions import Gold

_QUOTED = re.compile(r"^> ?", re.MULTILINE)
_LINES = re.compile(r"(?:^>[^\n]*(?:\n|\Z))+", re.MULTILINE)


def quoted_of(answer: str, gold: Sequence[Gold]) -> Quoted | None:
    """The block quotations of an answer against its gold entries; None without a quotation."""
    quotations = [_QUOTED.sub("", match[0]) for match in _LINES.finditer(answer)]
    if not quotations:
        return None
    text = normalise("\n".join(quotations))
    places = {
        number: min(found)
        for number, entry in enumerate(gold)
        if (found := [at for place in entry.places if (at := text.find(normalise(place.snippet))) >= 0])
    }
    first = min(places.values()) / len(text) if places and text else None
    return Quoted(sum(map(len, quotations)), tuple(places), first)
