"""Wiki text inside a prompt: behind marks that nobody who writes a page can guess."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

# What could be taken for the prompt's own structure or for a turn of the chat template.
_TEMPLATE = re.compile(
    r"<\|?/?(?:im_start|im_end|system|user|assistant|end|eot_id|start_header_id|end_header_id)\|?>", re.I
)
_INSTRUCTION_TAGS = re.compile(r"\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>", re.I)


def _mark() -> str:
    return secrets.token_hex(4)


@dataclass(frozen=True, slots=True)
class Fence:
    """One request's marks. Equal marks for all its texts, so that the prompt can say what they mean."""

    mark: str = field(default_factory=_mark)

    def around(self, text: str, name: str = "") -> str:
        """``text`` as data: between an opening and a closing mark, its own look-alikes made harmless."""
        head = f"{name} " if name else ""
        return f"<<{head}{self.mark}>>\n{self._harmless(text)}\n<<end {self.mark}>>"

    def _harmless(self, text: str) -> str:
        text = _INSTRUCTION_TAGS.sub(_spread, _TEMPLATE.sub(_spread, text))
        return text.replace(self.mark, self.mark[:4] + " " + self.mark[4:])


def _spread(match: re.Match[str]) -> str:
    """The tag with a blank after its bracket: still readable, no longer a tag."""
    return match.group()[0] + " " + match.group()[1:]
