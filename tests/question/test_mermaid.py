"""Which diagrams are shown as such: what Mermaid would not draw is an error box in the chat."""

from __future__ import annotations

import pytest

from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.citations.diagrams import CHARACTERS, LINES, check

BROKEN = "Схему нарисовать не получилось, вот её текст."


@pytest.mark.parametrize(
    "diagram",
    [
        "flowchart TD\n  A[Заявка] --> B{Одобрена?}\n  B -- да --> C((Выдача))",
        "graph LR; A-->B;",
        "%% про возврат\nflowchart TD\nA-->B",
        'flowchart TD\nA["Заявка (новая)"] -->|в "СБ"| B',
        "flowchart TD\nA -.-> B\nB ==> C\nC --- D",
        "sequenceDiagram\nКасса->>СБ: Проверить (срочно\nСБ-->>Касса: Готово",
        "sequenceDiagram\nparticipant max-xray\nА->>+Б: да\nNote over А,Б: всё",
        "stateDiagram-v2\n[*] --> Новый\nНовый --> [*]",
        'pie\n"Турция" : 5',
        "gantt\ntitle План\nsection А\nШаг :a1, 2026-01-01, 3d",
        "classDiagram\nПеревод <|-- Возврат",
        "classDiagram\nclass Касса {\n<<interface>>\n}",
        'flowchart TD\nA["Заявка<br/>новая"] --> link2["Портал"]',
        "erDiagram\nA ||--o{ B : has",
    ],
)
def test_a_diagram_that_is_drawn_is_left_as_it_is(diagram: str) -> None:
    assert check(diagram) == diagram


@pytest.mark.parametrize(
    ("diagram", "mended"),
    [
        ("flowchart TD\nA[Заявка (новая)] --> B", 'flowchart TD\nA["Заявка (новая)"] --> B'),
        ("\n\nflowchart TD\nA-->B\n", "flowchart TD\nA-->B"),
    ],
)
def test_a_label_with_brackets_gets_its_quotes(diagram: str, mended: str) -> None:
    assert check(diagram) == mended


@pytest.mark.parametrize(
    "diagram",
    [
        "",
        "flowchart TD",
        "blockchart TD\nA-->B",
        "Вот схема:\nflowchart TD\nA-->B",
        "flowchart TD\nA[Заявка --> B",
        "flowchart TD\nA[Заявка) --> B",
        'flowchart TD\nA["Заявка] --> B',
        "flowchart TD\nA -->",
        "flowchart TD\nA -->|да|\nB",
        "flowchart TD\n--> B",
        "stateDiagram-v2\nНовый -->",
        "sequenceDiagram\nКасса->>СБ",
        "sequenceDiagram\nКасса->>: Проверить",
        'flowchart TD\nclick A href "https://evil.example"\nA-->B',
        "flowchart TD\nA[<img src=x>] --> B",
        "%%{init: {}}%%\nflowchart TD\nA-->B",
        "%% {init: {}}\nflowchart TD\nA-->B",
        'flowchart TD; A-->B; click A "https://evil.example"',
        "flowchart TD\nA-->B;click A call alert()",
        "flowchart TD\nA[\"<a href='/x'>x</a>\"] --> B",
        'flowchart TD\nA@{ "img": "a.png" } --> B',
        "flowchart TD\nA[<video poster=x>] --> B",
        'flowchart TD\nA["`![x](a.png)`"] --> B',
        'flowchart TD\nA["#lt;img#gt;"] --> B',
        "flowchart TD\nA[//evil.example] --> B",
        "---\nconfig: {}\n---\nflowchart TD\nA-->B",
        "flowchart TD\n" + "A-->B\n" * LINES,
        "flowchart TD\nA[" + "я" * CHARACTERS + "]-->B",
    ],
)
def test_what_would_not_be_drawn_or_may_do_harm_is_refused(diagram: str) -> None:
    assert check(diagram) is None


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("```mermaid\nflowchart TD\nA-->B\n```\nВсё.", "```mermaid\nflowchart TD\nA-->B\n```\nВсё."),
        ("```mermaid\nflowchart TD\nA[-->B\n```\nВсё.", f"```text\nflowchart TD\nA[-->B\n```\n*{BROKEN}*\nВсё."),
        ("```mermaid\nflowchart TD\nA-->B", "```mermaid\nflowchart TD\nA-->B\n```\n"),
        ('~~~mermaid\npie\n"а": 5\n~~~\n', '~~~mermaid\npie\n"а": 5\n~~~\n'),
    ],
    ids=["valid", "invalid", "never closed", "another fence"],
)
def test_a_diagram_leaves_whole_or_as_text_with_a_note(said: str, shown: str) -> None:
    gate = SentenceGate({}, hosts=frozenset(), least_share=0.0, broken_diagram=BROKEN)
    assert "".join(map(gate.feed, said)) + gate.finish() == shown
