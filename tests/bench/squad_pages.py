"""``python -m tests.bench.squad_pages FILE FOLDER [QUESTIONS.json]``: a file in the form of SQuAD as a wiki.

Every paragraph is a page under a page named after its article; the questions go to ``FOLDER.jsonl``. ``QUESTIONS.json``
is the same file in another language: its questions, asked over these paragraphs. Articles have numbers for names
then: the titles of a translated file are often still in the first language.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BEFORE = 20  # characters of the paragraph that a snippet has before and behind its answer


def write(file: Path, folder: Path, other: Path | None = None) -> int:
    """Pages below ``folder`` and a question file beside it; how many questions."""
    asked = {each["id"]: each["question"] for paragraph in _paragraphs(other or file) for each in paragraph["qas"]}
    lines = []
    for number, paragraph in enumerate(_paragraphs(file)):
        named = re.sub(r"[^\w ()-]+", "_", paragraph["title"]).strip() or "_"
        article = f"{paragraph['number']:02}" if other else named
        page = folder / article / f"{number:04}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(paragraph["context"] + "\n", encoding="utf-8")
        for each in paragraph["qas"]:
            snippet = _around(paragraph["context"], each["answers"][0])
            gold = [{"page": str(page.relative_to(folder)), "snippet": snippet}]
            line = {"id": each["id"], "kind": "squad", "question": asked[each["id"]], "answerable": True, "gold": gold}
            lines.append(json.dumps(line, ensure_ascii=False))
    folder.with_suffix(".jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)


def _paragraphs(file: Path) -> Iterator[dict[str, Any]]:
    for number, article in enumerate(json.loads(file.read_text(encoding="utf-8"))["data"]):
        for paragraph in article["paragraphs"]:
            yield {**paragraph, "title": article["title"].replace("_", " "), "number": number}


def _around(context: str, answer: dict[str, Any]) -> str:
    """The answer with some letters around it: a number alone stands in many places."""
    start = int(answer["answer_start"])
    return context[max(0, start - BEFORE) : start + len(answer["text"]) + BEFORE].strip()


if __name__ == "__main__":
    names = [Path(name) for name in sys.argv[1:]]
    print(write(*names), "questions")
