"""The pipe: a question in, its answer out, streamed, with progress and links."""

from collections.abc import Iterator
from typing import Any

from askwiki.openwebui.events import Item
from askwiki.openwebui.plugins import respond
from askwiki.openwebui.process import keep_valves, make_valves, say, warm_up
from askwiki.openwebui.valves import AnswerValves


class Pipeline:
    def __init__(self) -> None:
        self.id = "wiki_answer"
        self.name = say("answer_name")
        self.valves = make_valves(AnswerValves, "wiki_answer")

    async def on_startup(self) -> None:
        keep_valves(self.valves, "wiki_answer", starting=True)
        warm_up()

    async def on_valves_updated(self) -> None:
        keep_valves(self.valves, "wiki_answer")

    def pipe(
        self, user_message: str, model_id: str, messages: list[dict[str, Any]], body: dict[str, Any]
    ) -> Iterator[Item]:
        return respond(messages, body, self.valves)
