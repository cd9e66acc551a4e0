"""One contract for every store: embedded folder, client in memory, a Qdrant server when there is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from askwiki.data import PUBLIC, Clause, LegHit, Rights, Sparse
from askwiki.errors import StoreError, StoreMismatch
from askwiki.store import reader as reading
from askwiki.store.engine import Engine, Row, Scroll
from askwiki.store.port import Freshness, Leg, PageState
from askwiki.store.reader import RecordReader
from tests.support.stores import (
    EMBEDDER,
    FINGERPRINT,
    SOURCE,
    SPARSE,
    Store,
    embedded,
    in_memory,
    make_chunk,
    make_point,
    make_state,
    real_server,
    write_page,
)

KINDS = [
    "embedded",
    "in memory",
    pytest.param("server over REST", marks=pytest.mark.server),
    pytest.param("server over gRPC", marks=pytest.mark.server),
]
EVERYBODY = Rights()
TEAM = Rights(frozenset({PUBLIC, "team"}))
ONLY_TEAM = (Clause(groups=("team",)),)


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param.startswith("server"):
        with real_server(replace(request.getfixturevalue("qdrant"), grpc=request.param.endswith("gRPC"))) as found:
            yield found
    else:
        yield embedded(tmp_path / "store") if request.param == "embedded" else in_memory()


def legs(text: str, depth: int = 10) -> list[Leg]:
    query = EMBEDDER.query(text)
    return [Leg("text", query, depth), Leg("context", query, depth), Leg("sparse", SPARSE.query(text), depth)]


def test_a_store_that_is_not_there_is_empty(store: Store) -> None:
    reader = store.reader()
    assert (reader.count(), reader.fingerprint(), reader.conjunctions(), reader.freshness()) == (0, {}, {}, [])
    assert reader.search(legs("пароль"), EVERYBODY) == {"text": {}, "context": {}, "sparse": {}}
    assert reader.fetch(["1#0"], EVERYBODY) == {}
    assert reader.chunks_of(["1"], EVERYBODY)["1"] == []


def test_a_chunk_comes_back_as_it_was_written(store: Store) -> None:
    chunk = make_chunk("1", 0, "Сброс пароля", kind="subsection", screen=True, part=2, parts=3, overlap=7)
    writer, reader = store.writer(), store.reader()
    write_page(writer, chunk)
    writer.commit()
    assert reader.fetch(["1#0", "unknown"], EVERYBODY) == {"1#0": chunk}
    assert reader.fingerprint() == FINGERPRINT
    writer.close()


def test_the_first_index_of_a_server_answers_while_it_is_filled_that_of_a_folder_when_it_is_published(
    store: Store, request: pytest.FixtureRequest
) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "Сброс пароля"))
    assert reader.count() == (0 if request.node.callspec.params["store"] == "embedded" else 1)
    assert reader.whole() is (reader.count() == 0)  # what is seen before its time is said to be a part
    writer.commit()
    writer.close()
    late = store.reader()
    assert (late.count(), late.whole()) == (1, True)


def test_a_rebuilt_index_is_not_seen_before_it_is_whole(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "Сброс пароля"))
    writer.commit()
    writer.close()
    anew = store.writer(rebuild=True)
    write_page(anew, make_chunk("1", 0, "Сброс пароля"), make_chunk("1", 1, "Смена ключа"))
    assert reader.count() == 1
    anew.commit()
    anew.close()
    assert store.reader().count() == 2


def test_each_leg_ranks_by_score_and_equal_scores_by_id(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("2", 0, "сброс пароля"), make_chunk("2", 1, "создание машины"))
    write_page(writer, make_chunk("1", 0, "сброс пароля"))
    writer.commit()
    writer.close()
    found = store.reader().search(legs("пароль"), EVERYBODY)
    assert list(found["text"]) == ["1#0", "2#0", "2#1"]
    assert list(found["sparse"]) == ["1#0", "2#0"]
    assert [hit.rank for hit in found["sparse"].values()] == [1, 2]
    assert found["text"]["1#0"].score == pytest.approx(float(EMBEDDER.query("пароль") @ EMBEDDER.query("сброс пароля")))


def test_a_chunk_scores_as_its_best_piece(store: Store) -> None:
    writer = store.writer()
    chunk, other = make_chunk("1", 0, "сброс пароля"), make_chunk("1", 1, "создание машины")
    vectors = replace(make_point(chunk).vectors, text=EMBEDDER.documents(["сброс пароля", "смена ключа", "аренда"]))
    writer.replace_page(
        SOURCE, make_state([chunk, other]), [replace(make_point(chunk), vectors=vectors), make_point(other)], ()
    )
    writer.commit()
    writer.close()
    found = store.reader().search([Leg("text", EMBEDDER.query("смена ключа"), 5)], EVERYBODY)["text"]
    assert list(found) == ["1#0", "1#1"]
    assert found["1#0"].score == pytest.approx(1.0, abs=1e-6)


def test_each_leg_keeps_to_its_depth(store: Store) -> None:
    writer = store.writer()
    write_page(writer, *(make_chunk("1", number, f"пароль {number}") for number in range(5)))
    writer.commit()
    writer.close()
    found = store.reader().search(legs("пароль", depth=2), EVERYBODY)
    assert [len(hits) for hits in found.values()] == [2, 2, 2]


def test_a_query_without_words_finds_nothing_in_the_sparse_leg(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    writer.close()
    found = store.reader().search([Leg("sparse", Sparse((), ()), 5)], EVERYBODY)
    assert found == {"sparse": {}}


def test_what_the_rights_do_not_pass_is_not_there(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"))
    write_page(writer, make_chunk("2", 0, "пароль", acl="team"), readers=ONLY_TEAM)
    write_page(writer, make_chunk("3", 0, "пароль", acl=""))
    writer.commit()
    writer.close()
    reader = store.reader()
    assert [list(hits) for hits in reader.search(legs("пароль"), EVERYBODY).values()] == [["1#0"]] * 3
    assert [list(hits) for hits in reader.search(legs("пароль"), TEAM).values()] == [["1#0", "2#0"]] * 3
    assert list(reader.fetch(["1#0", "2#0", "3#0"], EVERYBODY)) == ["1#0"]
    for rights, seen in ((EVERYBODY, []), (TEAM, ["2#0"])):
        of_pages = reader.chunks_of(["2", "1", "none"], rights)
        assert {page: [chunk.id for chunk in of_pages[page]] for page in of_pages} == {
            "2": seen,
            "1": ["1#0"],
            "none": [],
        }
    assert reader.search(legs("пароль"), Rights(frozenset())) == {"text": {}, "context": {}, "sparse": {}}


def test_conjunctions_are_kept_while_a_page_has_them(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "пароль"))
    write_page(writer, make_chunk("2", 0, "пароль", acl="team"), readers=ONLY_TEAM)
    writer.commit()
    assert reader.conjunctions() == {PUBLIC: (), "team": ONLY_TEAM}
    writer.remove_page(SOURCE, "2")
    writer.commit()
    writer.close()
    assert store.reader().conjunctions() == {PUBLIC: ()}


def test_a_replaced_page_has_only_its_new_chunks(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, *(make_chunk("1", number, f"старый {number}") for number in range(5)))
    writer.commit()
    new = [make_chunk("1", 0, "старый 0"), make_chunk("1", 9, "новый")]
    write_page(writer, *new, mark="2")
    writer.commit()
    assert reader.chunks_of(["1"], EVERYBODY)["1"] == new
    assert writer.pages(SOURCE) == {"1": "page hash 2"}
    assert writer.page(SOURCE, "1") == PageState(
        "1", "page hash 2", {"1#0": "hash of старый 0", "1#9": "hash of новый"}
    )
    assert writer.page(SOURCE, "2") is None
    assert reader.count() == 2
    writer.close()


def test_chunks_of_a_page_come_in_page_order(store: Store) -> None:
    writer = store.writer()
    second = make_chunk("1", 1, "второй")._replace(id="1#a", part=2, parts=2)
    first = make_chunk("1", 1, "первый")._replace(id="1#b", part=1, parts=2)
    write_page(writer, second, first, make_chunk("1", 0, "нулевой"))
    writer.commit()
    writer.close()
    assert [chunk.text for chunk in store.reader().chunks_of(["1"], EVERYBODY)["1"]] == ["нулевой", "первый", "второй"]


def test_changed_payload_leaves_the_vectors(store: Store) -> None:
    chunk = make_chunk("1", 0, "пароль")
    moved = chunk._replace(path=("Home", "Elsewhere"), labels=("new",), acl="team")
    writer, reader = store.writer(), store.reader()
    write_page(writer, chunk)
    writer.update_payload(SOURCE, make_state([moved], "2"), [moved], ONLY_TEAM)
    writer.commit()
    assert reader.fetch(["1#0"], TEAM) == {"1#0": moved}
    assert reader.fetch(["1#0"], EVERYBODY) == {}
    assert reader.conjunctions() == {"team": ONLY_TEAM}
    assert list(reader.search([Leg("text", EMBEDDER.query("пароль"), 5)], TEAM)["text"]) == ["1#0"]
    assert list(reader.search([Leg("sparse", SPARSE.query("пароль"), 5)], TEAM)["sparse"]) == ["1#0"]
    writer.close()


def test_an_empty_question_of_chunks_or_addresses_finds_nothing(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    writer.close()
    assert (reader.fetch([], EVERYBODY), reader.visible_urls([], EVERYBODY)) == ({}, frozenset())
    assert reader.chunks_of([], EVERYBODY) == {}
    assert reader.visible_urls(["https://wiki/1#h", "https://wiki/2"], EVERYBODY) == {"https://wiki/1#h"}


def test_other_readers_are_given_to_one_page_of_one_source_and_its_texts_are_compared_again(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "пароль"), make_chunk("1", 1, "ключ"), source="a")
    write_page(writer, make_chunk("2", 0, "вход"), source="a")
    write_page(writer, make_chunk("1", 0, "пароль"), source="b")
    writer.update_access("a", "1", "team", ONLY_TEAM)
    writer.commit()
    assert (writer.access("a"), writer.access("b")) == ({"1": "team", "2": PUBLIC}, {"1": PUBLIC})
    assert (writer.pages("a"), writer.pages("b")) == ({"1": "", "2": "page hash "}, {"1": "page hash "})
    assert reader.conjunctions() == {PUBLIC: (), "team": ONLY_TEAM}
    assert [chunk.id for chunk in reader.chunks_of(["1"], EVERYBODY)["1"]] == ["1#0"]
    assert [chunk.id for chunk in reader.chunks_of(["1"], TEAM)["1"]] == ["1#0", "1#1"]
    assert list(reader.search(legs("ключ"), TEAM)["sparse"]) == ["1#1"]
    writer.close()


def test_records_keep_their_ids_from_version_to_version(store: Store) -> None:
    """Else the next sync would write each record a second time beside the one that an older version wrote."""
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    writer.finish(Freshness(SOURCE, "2026-01-01T00:00:00Z", 1, 1))
    writer.commit()
    writer.close()
    known = {
        "page": "4d72ee60-6ef7-5693-928d-9cf33a328acf",
        "chunk": "c52fcc65-c4a8-5888-9515-d71b6419c799",
        "acl": "9d6bd674-6a68-5dcb-9148-4b4378cfbfa4",
        "run": "a239d64a-83b0-528c-93b9-1c34e2d0db23",
    }
    ids = {row.payload["record"]: str(row.id) for row in store.rows()}
    ids.setdefault("run", known["run"])  # the embedded store keeps runs in a file
    assert ids == known


class Changing:
    """Of an engine, the one access key that is in it now."""

    key = "team"

    def scroll(self, _: Scroll) -> list[Row]:
        return [Row("1", {"key": self.key, "readers": []})]


@pytest.mark.parametrize(("immutable", "after"), [(False, "boss"), (True, "team")])
def test_access_keys_are_learned_again_after_ten_seconds_where_the_content_may_change(
    monkeypatch: pytest.MonkeyPatch, immutable: bool, after: str
) -> None:
    now, engine = [500.0], Changing()
    monkeypatch.setattr(reading.time, "monotonic", lambda: now[0])
    reader = RecordReader(cast(Engine, engine), immutable=immutable, vectors=())
    assert list(reader.conjunctions()) == ["team"]
    engine.key = "boss"
    now[0] += 10
    assert list(reader.conjunctions()) == ["team"]
    now[0] += 0.1
    assert list(reader.conjunctions()) == [after]


def test_an_index_without_contexts_has_nothing_in_that_leg(store: Store) -> None:
    chunk = make_chunk("1", 0, "пароль")
    whole = make_point(chunk)
    writer = store.writer({**FINGERPRINT, "sizes": {"text": EMBEDDER.size}})
    writer.replace_page(SOURCE, make_state([chunk]), [replace(whole, vectors=replace(whole.vectors, context=None))], ())
    writer.commit()
    writer.close()
    found = store.reader().search(legs("пароль"), EVERYBODY)
    assert {name: list(hits) for name, hits in found.items()} == {
        "text": [chunk.id],
        "context": [],
        "sparse": [chunk.id],
    }


def test_a_chunk_without_an_access_key_gives_none(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"), make_chunk("1", 1, "ключ", acl=""))
    writer.commit()
    writer.close()
    assert store.reader().conjunctions() == {PUBLIC: ()}


def test_sources_do_not_touch_one_another(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"), source="a")
    write_page(writer, make_chunk("1", 0, "пароль"), make_chunk("1", 1, "ключ"), source="b")
    writer.remove_page("a", "1")
    writer.commit()
    assert (writer.count("a"), writer.count("b"), writer.count()) == (0, 2, 2)
    assert writer.pages("b") == {"1": "page hash "}
    assert writer.pages("a") == {}
    writer.close()


def test_a_page_in_two_sources_is_found_once(store: Store) -> None:
    writer = store.writer()
    older = make_chunk("1", 0, "пароль", updated="2025-01-01T00:00:00Z", title="Old")
    newer = make_chunk("1", 0, "пароль", title="New")
    write_page(writer, newer, source="a")
    write_page(writer, older, source="b")
    writer.commit()
    writer.close()
    reader = store.reader()
    assert reader.search([Leg("text", EMBEDDER.query("пароль"), 5)], EVERYBODY)["text"] == {
        "1#0": LegHit(1, pytest.approx(1.0, abs=1e-6))
    }
    assert reader.fetch(["1#0"], EVERYBODY) == {"1#0": newer}
    assert reader.chunks_of(["1"], EVERYBODY)["1"] == [newer]


def test_records_without_vectors_do_not_count_as_chunks(store: Store) -> None:
    """Neither in the count nor in the document frequencies behind the sparse scores."""
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"), make_chunk("1", 1, "ключ"))
    writer.commit()
    before = store.reader().search([Leg("sparse", SPARSE.query("пароль"), 5)], EVERYBODY)
    for number in range(20):
        writer.finish(Freshness(f"source {number}", "2026-01-01T00:00:00Z", 1, 1))
    writer.commit()
    assert store.reader().search([Leg("sparse", SPARSE.query("пароль"), 5)], EVERYBODY) == before
    assert writer.count() == 2
    writer.close()


def test_the_last_run_of_every_source_is_remembered(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    writer.finish(Freshness("b", "2026-01-01T00:00:00Z", 1, 1))
    writer.finish(Freshness("a", "2026-01-02T00:00:00Z", 2, 3, "2026-01-01T00:00:00Z"))
    writer.finish(Freshness("b", "2026-01-03T00:00:00Z", 4, 5))
    expected = [
        Freshness("a", "2026-01-02T00:00:00Z", 2, 3, "2026-01-01T00:00:00Z"),
        Freshness("b", "2026-01-03T00:00:00Z", 4, 5),
    ]
    assert reader.freshness() == expected
    assert writer.freshness() == expected
    writer.close()


def test_another_fingerprint_is_refused_with_the_way_out(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    writer.close()
    other = {**FINGERPRINT, "embedder": {**FINGERPRINT["embedder"], "model": "another"}}
    with pytest.raises(
        StoreMismatch, match=r"\(embedder.model hash in the index, another in the settings\).*indexer rebuild"
    ):
        store.writer(other)


def test_a_rebuild_answers_from_the_old_index_until_it_is_complete(store: Store) -> None:
    writer, reader = store.writer(), store.reader()
    write_page(writer, make_chunk("1", 0, "старый"))
    writer.commit()
    writer.close()
    other = {**FINGERPRINT, "chunker": {"version": 99}}
    building = store.writer(other, rebuild=True)
    write_page(building, make_chunk("1", 0, "новый"))
    assert [chunk.text for chunk in reader.chunks_of(["1"], EVERYBODY)["1"]] == ["старый"]
    building.commit()
    building.close()
    after = store.reader()
    assert [chunk.text for chunk in after.chunks_of(["1"], EVERYBODY)["1"]] == ["новый"]
    assert after.fingerprint() == other
    assert [chunk.text for chunk in reader.chunks_of(["1"], EVERYBODY)["1"]] == ["новый"]
    store.writer(other).close()


def test_an_interrupted_rebuild_resumes(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "старый"))
    writer.commit()
    writer.close()
    other = {**FINGERPRINT, "chunker": {"version": 99}}
    building = store.writer(other, rebuild=True)
    write_page(building, make_chunk("1", 0, "новый"))
    building.close()
    again = store.writer(other, rebuild=True)
    assert list(again.pages(SOURCE)) == ["1"]
    again.close()


def test_an_interrupted_rebuild_with_other_models_is_cleaned(store: Store) -> None:
    store.writer().close()
    building = store.writer({**FINGERPRINT, "chunker": {"version": 98}}, rebuild=True)
    write_page(building, make_chunk("1", 0, "новый"))
    building.close()
    again = store.writer({**FINGERPRINT, "chunker": {"version": 99}}, rebuild=True)
    assert list(again.pages(SOURCE)) == []
    again.close()


def test_an_unknown_vector_size_is_a_sentence_and_changes_nothing(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    chunk = make_chunk("1", 0, "другой")
    vectors = make_point(chunk).vectors
    with pytest.raises(StoreError):
        point = replace(make_point(chunk), vectors=replace(vectors, text=vectors.text[:, :3]))
        writer.replace_page(SOURCE, make_state([chunk], "2"), [point], ())
    writer.commit()
    writer.close()
    assert [chunk.text for chunk in store.reader().chunks_of(["1"], EVERYBODY)["1"]] == ["пароль"]
