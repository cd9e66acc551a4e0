"""What the stages need of the kit, as a Protocol: a stage never makes its own tools."""

from __future__ import annotations

from typing import Protocol

from askwiki.language.glossary import Glossary
from askwiki.llm.port import Llm
from askwiki.prompts import Prompts
from askwiki.texts import Texts


class StageTools(Protocol):
    """``askwiki.kit.Kit`` is one."""

    @property
    def prompts(self) -> Prompts: ...

    @property
    def texts(self) -> Texts: ...

    @property
    def glossary(self) -> Glossary: ...

    @property
    def llm(self) -> Llm | None: ...
