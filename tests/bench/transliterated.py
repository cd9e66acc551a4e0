"""``python -m tests.bench.transliterated QUESTIONS {passport,chat} > FILE``: the questions in Latin letters.

Only questions with an answer and without a dialogue before them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

_LETTERS = "абвгдезийклмнопрстуфыэ"
_PASSPORT = {
    **dict(zip(_LETTERS, "abvgdeziyklmnoprstufye", strict=True)),
    **{"ё": "e", "ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ь": "", "ю": "yu"},
    "я": "ya",
}
_CHAT = {**_PASSPORT, "ё": "yo", "х": "h", "ц": "c", "щ": "sch", "й": "j", "ь": "'", "ю": "ju", "я": "ja"}
SPELLINGS = {"passport": _PASSPORT, "chat": _CHAT}


def in_latin(text: str, spelling: dict[str, str]) -> str:
    capitals = {letter.upper(): latin.capitalize() for letter, latin in spelling.items()}
    return text.translate(str.maketrans({**capitals, **spelling}))


def main(file: str, spelling: str) -> None:
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        if asked["answerable"] and not asked.get("history"):
            asked["question"] = in_latin(asked["question"], SPELLINGS[spelling])
            print(json.dumps(asked, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
