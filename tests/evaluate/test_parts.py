"""The bench of the search's parts: its index in memory is the store's, its made questions know their answers."""

from __future__ import annotations

import json
from pathlib import Path

from askwiki.data import Question, Rights
from askwiki.stages.extractive import scoring
from askwiki.store.port import Leg
from tests.bench.parts.asked import of_changes, of_file, of_headings, of_kinds, of_labels, of_sentences
from tests.bench.parts.memory import load
from tests.bench.parts.quotations import changed
from tests.bench.squad_pages import write
from tests.support.small_wiki import chunk
from tests.support.stores import EMBEDDER, SPARSE, embedded, make_chunk, write_page

TEXTS = ("Пароль меняют раз в год.", "Отпуск длится 28 дней.", "Пароль от почты даёт отдел кадров.", "Лимит перевода.")


def test_the_index_in_memory_finds_what_the_store_finds(tmp_path: Path) -> None:
    store = embedded(tmp_path / "store")
    writer = store.writer()
    for number, text in enumerate(TEXTS):
        write_page(writer, make_chunk(f"p{number}", 1, text))
    writer.commit()
    writer.close()
    legs = [Leg("text", EMBEDDER.query("пароль от почты"), 3), Leg("sparse", SPARSE.query("пароль от почты"), 3)]
    wanted, found = store.reader().search(legs, Rights()), load(tmp_path / "store").search(legs, Rights())
    for name in ("text", "sparse"):
        assert list(found[name]) == list(wanted[name])
        assert [round(hit.score, 4) for hit in found[name].values()] == [
            round(hit.score, 4) for hit in wanted[name].values()
        ]


def test_made_questions_name_the_chunks_that_answer_them() -> None:
    sentence = "Заявку на перевод денег партнёру подписывает главный бухгалтер филиала."
    chunks = [chunk("a", f"{sentence} Так было всегда.", headings=("Заявки",)), chunk("b", "Прочее.")]
    [heading] = of_headings(chunks, 5)
    assert (heading.question.text, heading.holding) == ("Заявки Страница a", (frozenset({"a"}),))
    [half] = of_sentences(chunks, 5)
    kept = half.question.text.split()
    assert half.holding == (frozenset({"a"}),)
    assert len(kept) == 4
    assert [word for word in sentence.split() if word in kept] == kept


def test_a_question_of_another_page_goes_before_one_that_changes_the_topic(tmp_path: Path) -> None:
    chunks = [chunk("a", "Лимит сто рублей."), chunk("b", "Отпуск 28 дней.")]
    lines = [
        {"id": name, "kind": "k", "question": asked, "answerable": True, "gold": [{"page": name, "snippet": said}]}
        for name, asked, said in (("a", "Какой лимит?", "сто рублей"), ("b", "Сколько дней отпуск?", "28 дней"))
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    asked = of_file(file, chunks)
    assert [each.holding for each in asked] == [(frozenset({"a"}),), (frozenset({"b"}),)]
    changed = next(each for each in of_changes(asked, 5) if each.group == "b")
    assert (changed.question.previous, changed.question.text) == ("Какой лимит?", "Какой лимит? Сколько дней отпуск?")


def test_a_page_is_asked_for_with_the_label_that_it_was_dealt(tmp_path: Path) -> None:
    store = embedded(tmp_path / "store")
    writer = store.writer()
    write_page(writer, make_chunk("p", 1, TEXTS[0]))
    writer.commit()
    writer.close()
    index = load(tmp_path / "store")
    [heading] = of_headings(index.chunks, 5)
    [asked], labelled = of_labels([heading], index)
    assert asked.question == Question(
        f"Heading Page p с меткой «{labelled.chunks[0].labels[0]}»", heading.question.original
    )


def test_a_paragraph_is_a_page_and_its_questions_know_it(tmp_path: Path) -> None:
    paragraph = {
        "context": "Река впадает в море у города Ростов.",
        "qas": [{"id": "1", "question": "Куда впадает река?", "answers": [{"text": "море", "answer_start": 15}]}],
    }
    file = tmp_path / "squad.json"
    file.write_text(json.dumps({"data": [{"title": "Rivers", "paragraphs": [paragraph]}]}), encoding="utf-8")
    assert write(file, tmp_path / "wiki") == 1
    [page] = (tmp_path / "wiki").rglob("*.md")
    line = json.loads((tmp_path / "wiki.jsonl").read_text(encoding="utf-8"))
    assert str(page.relative_to(tmp_path / "wiki")) == line["gold"][0]["page"] == "Rivers/0000.md"
    assert line["gold"][0]["snippet"] in page.read_text(encoding="utf-8")


def test_a_chunk_is_asked_for_by_its_kind() -> None:
    chunks = [
        chunk("a", "Кнопка «Далее».", headings=("Заявка",), screen=True),
        chunk("b", "Прочее.", headings=("Срок",)),
    ]
    screen, concept = of_kinds(chunks, 5)
    assert (screen.question.text, screen.question.intent) == ("где на экране Заявка", "screen")
    assert (concept.question.text, concept.question.intent) == ("что такое Срок", "concept")
    assert (screen.holding, concept.holding) == ((frozenset({"a"}),), (frozenset({"b"}),))


def test_a_weight_of_the_quotations_is_changed_only_inside() -> None:
    before = scoring.ABOVE
    with changed(scoring, {"ABOVE": 0.0}):
        assert scoring.ABOVE == 0.0
    assert before == scoring.ABOVE
