"""What is asked in the compose tests: two scenes of the chat's own tests, and one about a page that is edited."""

from __future__ import annotations

from tests.e2e.scenes import REFUND, STATUSES
from tests.e2e.script import Scene

EDITED_PAGE = "Статусы перевода"
NEWS = "С декабря перевод в статусе DRAFT живёт сорок пять минут."
EDITED = Scene(
    "Сколько живёт перевод в статусе DRAFT с декабря?",
    (EDITED_PAGE,),
    "С декабря перевод в статусе DRAFT живёт сорок пять минут {Статусы перевода}.",
    judging=0.0,
)
SCENES = (STATUSES, REFUND, EDITED)
