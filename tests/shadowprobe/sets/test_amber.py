"""AmbER sets from a small Wikidata, every set and count worked out by hand from `wikidata_world`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from service import serving
from wikibase_standin import COUNTER, Both
from wikidata_world import (
    BUSINESS,
    CITY,
    DOCUMENTS,
    ENTITIES,
    NAMES,
    SONG,
    amount,
    entity,
    item,
    statement,
    write_documents,
    write_dump,
    write_views,
)

from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.errors import BuildError, UsageError
from shadowprobe.queries.amber_sets import AmberSet, read_amber_sets
from shadowprobe.sets.amber import AmberCard, refuse_to_overwrite, write_amber
from shadowprobe.sets.article_documents import find_documents
from shadowprobe.sets.fact_source import Origin, open_service
from shadowprobe.sets.namesakes import SHARED_PROPERTY
from shadowprobe.sets.popularity import FileViews, ServiceViews

# What is left out of the whole world.
LEFT_OUT = {
    # Namenlos has a German name only, the fourth Ada Quill no article, the sailor no document.
    "entities without a name in the language": 1,
    "entities without an article in the language": 1,
    "entities without a document": 1,
    # The battle of the judoka has a German name only.
    "values without a name in the language": 1,
    # Lise Orrin's sports; performers and labels of the song and the album.
    "facts whose property a namesake has too": 6,
    "names of which fewer than two entities have a property of their own": 1,
    # Mill Reach: 3 and 2.95, 0.015 of their mean apart.
    "names whose head is hardly more popular than the next entity": 1,
    # The screenwriter comes after 350 words.
    "facts that the beginning of no article states": 1,
}


class Fixed:
    """Counts that are known beforehand."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def count(self, titles: Mapping[str, str], progress: Progress = ignore_progress) -> dict[str, int]:
        return {qid: self._counts[qid] for qid in titles if qid in self._counts}

    def describe(self) -> dict[str, Any]:
        return {"measure": "fixed"}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "documents.jsonl")


@pytest.fixture
def views(tmp_path: Path) -> FileViews:
    return FileViews(write_views(tmp_path / "views.tsv"), "en")


@pytest.fixture
def dump(tmp_path: Path) -> Origin:
    return Origin(dump=write_dump(tmp_path / "dump.json.gz"))


def parts(out: Path) -> dict[tuple[str, str], dict[str, AmberSet]]:
    return {part: {each.name: each for each in sets} for part, sets in read_amber_sets(out).items()}


def asked(amber_set: AmberSet) -> dict[str, list[tuple[str, Any]]]:
    return {
        qid: [(query.input, query.output.answer) for query in entity.queries] for qid, entity in amber_set.qids.items()
    }


def test_the_sets_have_the_names_the_heads_and_the_slots_that_are_expected(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "out")
    found = parts(tmp_path / "out")
    assert asked(found["human", "sf"]["Ada Quill"]) == {
        "Q1001": [("Ada Quill [SEP] instrument", ["trombone", "slide trombone"])],
        "Q1002": [("Ada Quill [SEP] sport", ["judo"])],
    }
    assert asked(found["human", "sf"]["Bo Tarn"]) == {
        "Q1071": [("Bo Tarn [SEP] sport", ["rowing"])],
        "Q1072": [("Bo Tarn [SEP] instrument", ["piano"])],
    }
    assert asked(found["nonhuman", "sf"]["Her Lantern"]) == {
        "Q1011": [("Her Lantern [SEP] cast member", ["Ines Marlow"])],
        "Q1013": [("Her Lantern [SEP] tracklist", ["Marsh Lights"])],
        "Q1012": [],
    }
    assert asked(found["nonhuman", "sf"]["Varn"]) == {
        "Q1061": [("Varn [SEP] population", ["20,405", "20405"])],
        "Q1062": [("Varn [SEP] industry", ["glassmaking"])],
    }
    assert {part: sorted(sets) for part, sets in found.items()} == {
        ("human", task): ["Ada Quill", "Bo Tarn"] for task in ("fc", "sf", "qa")
    } | {("nonhuman", task): ["Her Lantern", "Varn"] for task in ("fc", "sf", "qa")}


def test_heads_are_the_most_popular_and_popularity_is_a_logarithm(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "out")
    lantern = parts(tmp_path / "out")["nonhuman", "qa"]["Her Lantern"].qids
    assert {qid: (each.is_head, each.popularity) for qid, each in lantern.items()} == {
        "Q1011": (True, 5.0),
        "Q1013": (False, 3.0),
        "Q1012": (False, 0.0),
    }


def test_documents_are_found_by_qid_or_else_by_title(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "out")
    found = parts(tmp_path / "out")["human", "qa"]
    assert found["Ada Quill"].qids["Q1001"].documents == {"1"}
    assert found["Ada Quill"].qids["Q1002"].documents == {"2"}
    # Document 12 has the title of the rower, and the QID of a mountain.
    assert found["Bo Tarn"].qids["Q1071"].documents == {"3"}
    assert {query.gold for _, query in found["Bo Tarn"].queries()} == {frozenset({"3"}), frozenset({"4"})}


def test_a_false_claim_takes_the_most_common_other_value(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "out")
    found = parts(tmp_path / "out")
    # Each instrument and each sport stands in one fact: the first by the alphabet that is not one's own.
    expected = {"Q1001": ("trombone", "piano"), "Q1002": ("judo", "rowing")}
    expected |= {"Q1071": ("rowing", "judo"), "Q1072": ("piano", "trombone")}
    claims = {qid: many for each in found["human", "fc"].values() for qid, many in asked(each).items()}
    assert claims.keys() == expected.keys()
    for qid, (own, other) in expected.items():
        (right, supported), (wrong, refuted) = claims[qid]
        assert (supported, refuted) == (["SUPPORTS"], ["REFUTES"])
        assert own in right
        assert wrong == right.replace(own, other)
    # Of cast members, tracks, industries and numbers of people there is but one: nothing false can be said.
    labels = [query.output.answer for each in found["nonhuman", "fc"].values() for _, query in each.queries()]
    assert labels == [["SUPPORTS"]] * 4


def test_the_card_counts_as_table_4_does_and_says_what_was_left_out(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    write_amber(dump, documents, views, tmp_path / "out")
    card = json.loads((tmp_path / "out" / "amber.json").read_text())
    human = {"sets": 2, "entities": 4, "entities_with_properties": 4, "properties": 4}
    others = {"sets": 2, "entities": 5, "entities_with_properties": 4, "properties": 4}
    assert card["counts"] == {
        "human": human
        | {
            "queries": {"fc": 8, "sf": 4, "qa": 4},
            "per_set": {"entities": 2.0, "entities_with_properties": 2.0, "properties": 2.0},
        },
        "nonhuman": others
        | {
            "queries": {"fc": 4, "sf": 4, "qa": 4},
            "per_set": {"entities": 2.5, "entities_with_properties": 2.0, "properties": 2.0},
        },
    }
    assert card["dropped"] == LEFT_OUT
    assert card["source"] == {"dump": "dump.json.gz"}
    assert card["documents"] == "documents.jsonl"
    assert card["popularity"] == {"measure": "page views", "file": "views.tsv"}
    assert (card["language"], card["subclasses"], card["made"]) == ("en", True, "1970-01-01")


def test_from_the_dump_and_from_the_api_come_the_same_sets(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "dump")
    both = Both()
    both.wikibase.leads, both.wikibase.stale = {"Q9001": "Q1002"}, {"Q9001": "Ada Quill", "Q9002": "Ada Quill"}
    with serving(both) as running:
        host = running.url.removesuffix("/api")
        origin = Origin(api=host, names=(*NAMES, "Nobody"), user_agent="tests")
        service = open_service(tmp_path / "api", "pageviews.warc.gz", "tests")
        counted = ServiceViews(host + COUNTER, service, "en")
        card = write_amber(origin, documents, counted, tmp_path / "api")
        service.close()
    for path in sorted((tmp_path / "dump").rglob("*.jsonl")):
        assert (tmp_path / "api" / path.relative_to(tmp_path / "dump")).read_bytes() == path.read_bytes()
    assert parts(tmp_path / "api").keys() == parts(tmp_path / "dump").keys()
    # Namenlos is found under no name of these, and under Nobody nobody.
    expected = {
        reason: count for reason, count in LEFT_OUT.items() if reason != "entities without a name in the language"
    }
    expected["names that no two entities of a collection share"] = 1
    expected["entities that the search knows and the wiki does not"] = 1
    assert card.dropped == expected
    assert card.source == {"api": f"{host}/w/api.php", "names": 7}
    assert card.popularity == {"measure": "page views", "service": host + COUNTER, "month": "2019-10"}


def test_a_second_run_sends_no_requests(documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def run(url: str) -> AmberCard:
        service = open_service(out, "pageviews.warc.gz", "tests")
        try:
            origin = Origin(api=url, names=NAMES, user_agent="tests")
            return write_amber(origin, documents, ServiceViews(url + COUNTER, service, "en"), out, force=True)
        finally:
            service.close()

    with serving(Both()) as running:
        host = running.url.removesuffix("/api")
        first = run(host)
        before = len(running.requests)
        assert run(host) == first
        assert len(running.requests) == before


def test_without_subclasses_a_short_film_is_no_film(documents: Path, views: FileViews, tmp_path: Path) -> None:
    origin = Origin(dump=write_dump(tmp_path / "dump.json"), subclasses=False)
    card = write_amber(origin, documents, views, tmp_path / "out")
    assert sorted(parts(tmp_path / "out")["nonhuman", "qa"]) == ["Varn"]
    assert not card.subclasses


def test_a_dump_that_was_read_serves_with_and_without_subclasses(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "out")
    facts = tmp_path / "out" / "wikidata" / "facts.sqlite"
    before = facts.stat().st_mtime_ns
    write_amber(Origin(dump=dump.dump, subclasses=False), documents, views, tmp_path / "out", force=True)
    assert facts.stat().st_mtime_ns == before
    assert sorted(parts(tmp_path / "out")["nonhuman", "qa"]) == ["Varn"]


def test_a_dump_can_be_restricted_to_names(documents: Path, views: FileViews, tmp_path: Path) -> None:
    origin = Origin(dump=write_dump(tmp_path / "dump.json"), names=("Bo Tarn", "Nobody", "Lise Orrin"))
    card = write_amber(origin, documents, views, tmp_path / "out")
    assert {part: sorted(sets) for part, sets in parts(tmp_path / "out").items()} == {
        ("human", task): ["Bo Tarn"] for task in ("fc", "sf", "qa")
    }
    assert card.dropped["names that no two entities of a collection share"] == 1
    assert card.source == {"dump": "dump.json", "names": 3}


def test_a_limit_takes_the_first_names_of_each_collection(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    write_amber(dump, documents, views, tmp_path / "out", limit=1)
    found = parts(tmp_path / "out")
    assert [sorted(found[collection, "qa"]) for collection in ("human", "nonhuman")] == [["Ada Quill"], ["Her Lantern"]]


def test_a_property_that_does_not_tell_a_namesakes_kind_apart_is_shared_all_the_same(tmp_path: Path) -> None:
    # Of cities no performer is asked for; but who performed Dusk would be answered by the city too.
    made = [
        entity("Q1", "Dusk", statement("P175", item("Q3")), statement("P264", item("Q3")), title="Dusk", kind=SONG),
        entity("Q2", "Dusk", statement("P1082", amount("+7")), statement("P175", item("Q3")), title="D", kind=CITY),
        entity("Q3", "The Owls"),
    ]
    (tmp_path / "documents.jsonl").write_text(
        '{"id": "1", "title": "Dusk", "text": "By The Owls."}\n{"id": "2", "title": "D", "text": "A city of 7."}\n'
    )
    origin = Origin(dump=write_dump(tmp_path / "dump.json", made))
    card = write_amber(origin, tmp_path / "documents.jsonl", Fixed({"Q1": 1000, "Q2": 10}), tmp_path / "out")
    (dusk,) = read_amber_sets(tmp_path / "out")["nonhuman", "sf"]
    assert [query.input for _, query in dusk.queries()] == ["Dusk [SEP] record label", "Dusk [SEP] population"]
    assert card.dropped == {SHARED_PROPERTY: 1}


def test_an_entity_whose_popularity_is_not_known_stands_last(documents: Path, tmp_path: Path) -> None:
    made = [each for each in ENTITIES if each["id"] not in {"Q1011", "Q1012", "Q1013"}]
    origin = Origin(dump=write_dump(tmp_path / "dump.json", made), names=("Varn",))
    write_amber(origin, documents, Fixed({"Q1062": 50}), tmp_path / "out")
    ((varn,),) = (sets for part, sets in read_amber_sets(tmp_path / "out").items() if part == ("nonhuman", "qa"))
    assert [(qid, each.is_head, each.popularity) for qid, each in varn.qids.items()] == [
        ("Q1062", True, pytest.approx(1.69897)),
        ("Q1061", False, None),
    ]


def test_an_entity_of_kinds_of_both_collections_is_a_human(tmp_path: Path) -> None:
    sports = [statement("P641", item("Q3")), statement("P452", item("Q3"))]
    made = [
        entity("Q1", "Dusk", *sports, statement("P31", item("Q5")), title="Dusk", kind=BUSINESS),
        entity("Q2", "Dusk", statement("P1303", item("Q4")), title="D", kind="Q5"),
        entity("Q3", "rowing"),
        entity("Q4", "lute"),
    ]
    (tmp_path / "documents.jsonl").write_text(
        '{"id": "1", "title": "Dusk", "text": "Known for rowing."}\n{"id": "2", "title": "D", "text": "On the lute."}\n'
    )
    origin = Origin(dump=write_dump(tmp_path / "dump.json", made))
    write_amber(origin, tmp_path / "documents.jsonl", Fixed({"Q1": 1000, "Q2": 10}), tmp_path / "out")
    found = read_amber_sets(tmp_path / "out")
    assert list(found) == [("human", task) for task in ("fc", "sf", "qa")]
    assert [query.input for _, query in found["human", "sf"][0].queries()] == [
        "Dusk [SEP] sport",
        "Dusk [SEP] instrument",
    ]


def test_an_entity_that_stands_twice_in_a_dump_is_no_namesake_of_itself(
    documents: Path, views: FileViews, tmp_path: Path
) -> None:
    alone = [each for each in ENTITIES if each["id"] in {"Q1001", "Q2001", "Q5"}]
    origin = Origin(dump=write_dump(tmp_path / "dump.json", alone * 2))
    with pytest.raises(
        BuildError, match=r"no AmbER set could be made \(no two entities of the wanted kinds share a name\)"
    ):
        write_amber(origin, documents, views, tmp_path / "out")


def test_the_error_says_why_no_set_can_be_made(documents: Path, tmp_path: Path) -> None:
    origin = Origin(dump=write_dump(tmp_path / "dump.json"), names=("Lise Orrin", "Varn"))
    with pytest.raises(
        BuildError,
        match=r"^no AmbER set could be made \(.*1 names whose head is hardly more popular than the next entity\)$",
    ):
        write_amber(origin, documents, Fixed({"Q1061": 7, "Q1062": 7}), tmp_path / "out")
    assert not (tmp_path / "out" / "amber.json").exists()


def test_sets_are_not_written_over_without_a_word(
    dump: Origin, documents: Path, views: FileViews, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write_amber(dump, documents, views, out)
    with pytest.raises(UsageError, match="out holds AmbER sets already; --force writes over them"):
        write_amber(dump, documents, views, out)
    # What the new ones do not have is not left of the old ones.
    write_amber(Origin(dump=dump.dump, names=("Varn",)), documents, views, out, force=True)
    assert list(read_amber_sets(out)) == [("nonhuman", task) for task in ("fc", "sf", "qa")]


def test_the_passages_of_an_article_count_as_one_document(tmp_path: Path) -> None:
    path = tmp_path / "passages.jsonl"
    passages = [
        {"id": f"p{number}", "title": "Dusk", "text": f"{'word ' * 100}end{number}", "page": "77", "qid": "Q1"}
        for number in range(5)
    ]
    path.write_text("".join(f"{json.dumps(passage)}\n" for passage in passages))
    ((found,),) = find_documents(path, {"Q1": "Dusk"}, {"Q1"}).values()
    # 350 words: three passages of 101 and 47 of the fourth.
    assert (found.id, found.page, len(found.text.split())) == ("77", None, 350)
    assert "end2" in found.text
    assert "end3" not in found.text


def test_no_text_is_kept_for_entities_without_questions(documents: Path) -> None:
    found = find_documents(documents, {"Q1001": "Ada Quill", "Q1012": "Her Lantern (song)"}, {"Q1001"})
    assert [each.text for each in found["Q1001"]] == [DOCUMENTS[0]["text"]]
    assert [(each.id, each.text) for each in found["Q1012"]] == [("7", "")]


def test_progress_is_reported_after_each_ten_thousand_documents(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(f'{{"id": "{number}", "title": "T", "text": ""}}\n' for number in range(20_001)))
    steps: list[tuple[str, int, int | None]] = []
    assert find_documents(path, {"Q1": "Dusk"}, (), lambda *step: steps.append(step)) == {}
    assert steps == [("documents", 10_000, None), ("documents", 20_000, None)]


@pytest.mark.parametrize("name", ["amber.json", "human/qa/amber_sets.jsonl"])
def test_a_card_or_sets_alone_are_not_written_over(tmp_path: Path, name: str) -> None:
    refuse_to_overwrite(tmp_path, force=False)
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with pytest.raises(UsageError, match="holds AmbER sets already; --force writes over them"):
        refuse_to_overwrite(tmp_path, force=False)
    refuse_to_overwrite(tmp_path, force=True)
