"""Wiki text inside a prompt: behind marks that nobody who writes a page can guess."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

# What could be taken for the prompt's own structure or for a turn of a chat template, of any known family:
# <|im_start|> and the like (ChatML, Llama 3, Phi, Harmony), <｜User｜> (DeepSeek), [INST] (Mistral, Llama 2), Gemma's.
_TEMPLATE = re.compile(r"<[|｜](?=/?[\w▁])|</?(?:system|user|assistant|s|bos|eos|pad|unk)>", re.I)
_INSTRUCTION_TAGS = re.compile(
    r"\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"  # [/INST]
    r"|<</?SYS>>"  # <<SYS>>
    r"|</?(?:start|end)_of_turn>",  # <end_of_turn>
    re.I,
)
# Characters that a reader does not see and a model does: zero width, direction, tags, variants (but for emoji).
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b-\u200f"  # soft hyphen, zero width space, left-to-right mark
    "\u202a-\u202e\u2060-\u2064\u2066-\u206f"  # right-to-left override, word joiner, isolates
    "\ufeff\ufe00-\ufe0e\U000e0000-\U000e01ef]"  # byte order mark, variants, tags
)


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
        text = _INSTRUCTION_TAGS.sub(_spread, _TEMPLATE.sub(_spread, _INVISIBLE.sub("", text)))
        return text.replace(self.mark, self.mark[:4] + " " + self.mark[4:])


def one_line(text: str) -> str:
    """A title or heading as one line, whatever stands in it."""
    return " ".join(text.split())


def _spread(match: re.Match[str]) -> str:
    """The tag with a blank after its bracket: still readable, no longer a tag."""
    return match.group()[0] + " " + match.group()[1:]
