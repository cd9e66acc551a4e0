"""The language model's 1 or 0 for each candidate: asked in waves, collected as they come, read in any clothes."""

from askwiki.stages.relevance.judge import judge
from askwiki.stages.relevance.verdicts import read_verdicts

__all__ = ["judge", "read_verdicts"]
