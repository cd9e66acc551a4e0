"""The filter: a dialogue in, the question that stands alone handed on to the pipe."""

from typing import Any

from askwiki.openwebui.plugins import prepare
from askwiki.openwebui.process import keep_valves, make_valves, say
from askwiki.openwebui.valves import CondenseValves


class Pipeline:
    def __init__(self) -> None:
        self.type = "filter"
        self.id = "wiki_condense"
        self.name = say("condense_name")
        self.valves = make_valves(CondenseValves, "wiki_condense")

    async def on_startup(self) -> None:
        keep_valves(self.valves, "wiki_condense", starting=True)

    async def on_valves_updated(self) -> None:
        keep_valves(self.valves, "wiki_condense")

    async def inlet(self, body: dict[str, Any], user: dict[str, Any] | None = None) -> dict[str, Any]:
        return await prepare(body, user, self.valves)
