"""What all foreign formats share: documents in, documents out, and answers set on the mentions of a dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from refusals import complaint, outcome
from world import hand_predictions, write_world

from shadowprobe import Candidate, Card, Dataset, Entity, Prediction, Snippet, formats, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.cli import common
from shadowprobe.errors import InputError
from shadowprobe.formats import nif
from shadowprobe.formats.documents import AnnotatedDocument, Mention, export_documents, import_documents
from shadowprobe.formats.fields import parse_reference
from shadowprobe.formats.imported import Imported, Remark
from shadowprobe.formats.nif_documents import Phrase, to_turtle
from shadowprobe.formats.predictions import match_predictions

TEXT = "Jordan beat Utah and Utah wept."
#       0      7    12       21


def imported(*documents: AnnotatedDocument, several_files: bool = False) -> Imported:
    found = ((Path("file.x"), document) for document in documents)
    return import_documents(Imported(Card(name="foreign")), found, several_files=several_files)


def document(*mentions: Mention, name: str = "d1", text: str = TEXT) -> AnnotatedDocument:
    return AnnotatedDocument(name, text, mentions)


@pytest.fixture
def foreign(tmp_path: Path) -> Dataset:
    """One document with three mentions, the first without a gold entity, and one with a single mention."""
    mentions = (Mention(0, 6), Mention(12, 16, "Utah Jazz", qid="Q170323"), Mention(21, 25, "Utah"))
    return imported(document(*mentions), document(Mention(0, 4, "Utah"), name="d2", text="Utah!")).write(
        tmp_path / "foreign"
    )


def test_every_mention_of_a_document_is_a_snippet_of_its_own(foreign: Dataset) -> None:
    found = [(s.id, s.document, s.mention, s.start, s.gold) for s in foreign.snippets()]
    assert found == [
        ("d1#0", "d1", "Jordan", 0, None),
        ("d1#1", "d1", "Utah", 12, "Utah Jazz"),
        ("d1#2", "d1", "Utah", 21, "Utah"),
        ("d2", "d2", "Utah", 0, "Utah"),
    ]
    assert foreign.subsets == ("all",)


def test_a_mention_without_an_entity_is_kept_and_not_counted_as_gold(
    foreign: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = outcome(capsys, "run", "-l", "oracle", "-d", str(foreign.path), "--out", str(tmp_path / "r"))
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines() if line.strip().startswith("All ")] == [["All", "3", "3"]]


def test_the_documents_of_a_dataset_are_those_that_it_was_made_from(foreign: Dataset) -> None:
    first, second = export_documents(foreign, "all")
    assert first.mentions == (Mention(0, 6), Mention(12, 16, "Utah Jazz", None, "Q170323"), Mention(21, 25, "Utah"))
    assert (first.id, first.text, second.id, second.text) == ("d1", TEXT, "d2", "Utah!")


def test_two_documents_of_one_name_are_kept_apart_and_remarked() -> None:
    found = imported(document(Mention(0, 6, "X")), document(Mention(0, 6, "Y")))
    assert [snippet.id for snippet in found.snippets["all"]] == ["d1", "d1~2"]
    assert [remark.why for remark in found.remarks] == [
        "a second document of one name",
        "the same text and mention with another gold entity",
    ][:1]


def test_documents_of_several_files_carry_the_name_of_their_file() -> None:
    found = imported(document(Mention(0, 6, "X")), several_files=True)
    assert [snippet.id for snippet in found.snippets["all"]] == ["file/d1"]


def test_a_span_outside_the_text_is_dropped_and_white_space_is_trimmed() -> None:
    found = imported(document(Mention(0, 7, "X"), Mention(25, 99, "Y")))
    assert [(s.id, s.mention) for s in found.snippets["all"]] == [("d1#0", "Jordan")]
    assert [(remark.action, remark.why) for remark in found.remarks] == [
        ("repaired", "white space in the span"),
        ("dropped", "offset outside the text"),
    ]


def test_two_entities_with_the_same_label_are_distinguished_by_their_qids() -> None:
    found = imported(document(Mention(12, 16, "Utah", qid="Q829"), Mention(21, 25, "Utah", qid="Q170323")))
    assert [(e.title, e.qid) for e in found.entities] == [("Utah", "Q829"), ("Utah (Q170323)", "Q170323")]
    assert [s.gold for s in found.snippets["all"]] == ["Utah", "Utah (Q170323)"]


def test_one_entity_of_two_labels_is_one_by_its_qid() -> None:
    found = imported(document(Mention(12, 16, "Utah", qid="Q829"), Mention(21, 25, "Utah, USA", qid="Q829")))
    assert [(e.title, e.redirects) for e in found.entities] == [("Utah", ("Utah, USA",))]


def test_an_entity_that_has_only_a_page_id_is_an_entity() -> None:
    found = imported(document(Mention(12, 16, page_id=31716)))
    assert [(e.title, e.page_id) for e in found.entities] == [("Curid:31716", 31716)]


@pytest.mark.parametrize(
    ("reference", "fields"),
    [
        ("Utah_Jazz", {"title": "Utah Jazz"}),
        ("http://dbpedia.org/resource/Utah_Jazz", {"title": "Utah Jazz", "language": "en"}),
        ("http://de.dbpedia.org/resource/Utah", {"title": "Utah", "language": "de"}),
        ("http://zh-min-nan.wikipedia.org/wiki/Utah", {"title": "Utah", "language": "zh-min-nan"}),
        ("http://live.dbpedia.org/resource/Utah", {"title": "Utah"}),
        ("http://www.wikidata.org/entity/Q829", {"qid": "Q829"}),
        ("https://en.wikipedia.org/?curid=31716", {"page_id": 31716, "language": "en"}),
        ("http://aksw.org/notInWiki/Utah", {"nil": True}),
        ("NIL", {"nil": True}),
    ],
)
def test_a_reference_of_any_kind_names_an_entity(reference: str, fields: dict[str, object]) -> None:
    assert parse_reference(reference) == fields


def taken(dataset: Dataset, *documents: AnnotatedDocument) -> dict[str, tuple[str, str | None]]:
    found = match_predictions(Path("answers.x"), ((Path("answers.x"), one) for one in documents), dataset).predictions
    return {key: (prediction.status, prediction.answer) for key, prediction in found.items()}


def test_answers_are_assigned_to_mentions_by_span_and_mentions_without_one_are_skipped(foreign: Dataset) -> None:
    assert taken(foreign, document(Mention(12, 16, "Utah Jazz"), Mention(21, 25, nil=True))) == {
        "d1#0": ("skipped", None),
        "d1#1": ("linked", "Utah Jazz"),
        "d1#2": ("nil", None),
    }


def test_a_document_of_another_name_is_found_by_its_text(foreign: Dataset) -> None:
    assert taken(foreign, document(Mention(0, 4, "Utah"), name="number 7", text="Utah!")) == {"d2": ("linked", "Utah")}


def test_a_document_with_the_same_name_but_another_text_is_not_in_the_dataset(foreign: Dataset) -> None:
    with pytest.raises(InputError, match=r"answers.x: none of its 1 documents is in the dataset `foreign`"):
        taken(foreign, document(Mention(0, 4, "Utah"), name="d2", text="Utah?"))


def test_what_was_left_out_is_counted(foreign: Dataset) -> None:
    strays = document(Mention(0, 4, "Jordan"), Mention(12, 16, "Utah"), Mention(12, 16, "Utah Jazz", score=0.5))
    found = match_predictions(Path("x"), [(Path("x"), strays), (Path("x"), document(name="d9", text="?"))], foreign)
    assert list(found.notes()) == [
        "answers on spans that are no mention of the dataset: 1",
        "mentions with several answers, of which the best-scored counts: 1",
        "documents of which the dataset has no mention: 1",
    ]
    assert found.predictions["d1#1"].answer == "Utah Jazz"


def test_an_answer_that_is_listed_alone_is_a_ranking_where_any_other_answer_has_a_longer_one(foreign: Dataset) -> None:
    one, two = Candidate("Utah"), Candidate("Utah Jazz")
    alone = document(Mention(0, 4, "Utah", candidates=(one,), perhaps_ranked=True), name="d2", text="Utah!")
    ranked = document(Mention(12, 16, "Utah", candidates=(one, two)), Mention(21, 25, "Utah"))
    # The files of a directory are one linker's answers, in whatever order they come.
    found = match_predictions(Path("x"), [(Path("a"), alone), (Path("b"), ranked)], foreign).predictions
    assert (found["d2"].candidates, found["d1#1"].candidates, found["d1#2"].candidates) == ((one,), (one, two), ())
    assert match_predictions(Path("x"), [(Path("a"), alone)], foreign).predictions["d2"].candidates == ()


def test_answers_to_neutral_contexts_go_out_and_come_back(world: Dataset) -> None:
    given = {prediction.id: prediction for prediction in hand_predictions()}
    found = match_predictions(
        Path("x"), ((Path("x"), one) for one in export_documents(world, "neutral", given)), world
    ).predictions
    assert {key: (p.status, p.answer, p.score) for key, p in found.items()} == {
        key: (p.status, p.answer, p.score) for key, p in given.items() if key.startswith("n")
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    (tmp_path / "p.jsonl").write_bytes(encode_lines(hand_predictions()))
    return tmp_path


def written(run: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((run / "results.json").read_text())
    return results


@pytest.mark.parametrize("name", [name for name in formats.FORMATS if name not in {"shadowlink", "hf"}])
def test_answers_exported_in_any_format_give_the_results_of_the_answers(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(capsys, "score", "-d", "world", "-p", "p.jsonl", "--out", "ours")[0] == 0
    code, _, err = outcome(capsys, "export", name, "-d", "world", "-p", "p.jsonl", "--out", "theirs")
    assert code == 0, err
    code, _, err = outcome(capsys, "score", "--format", name, "-d", "world", "-p", "theirs", "--out", "again")
    assert code == 0, err
    found, expected = written(here / "again"), written(here / "ours")
    assert (found["subsets"], found["missing"]) == (expected["subsets"], expected["missing"])
    for probe in ("overshadowing", "prior"):
        assert found["probes"][probe] == expected["probes"][probe]


@pytest.mark.parametrize("name", [name for name in formats.FORMATS if name != "shadowlink"])
def test_a_dataset_exported_in_any_format_has_its_gold_when_it_is_read_again(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = outcome(capsys, "export", name, "-d", "world", "--subset", "tail", "--subset", "top", "--out", "out")
    assert code == 0, err
    code, _, err = outcome(capsys, "import", name, "out", "--out", "back")
    assert code == 0, err
    back = Dataset.read(here / "back")
    assert sorted((s.mention, s.gold) for s in back.snippets()) == [
        *((name, f"{name} (river)") for name in ("Avon", "Berg", "Como", "Dale")),
        ("Ourika", "Ourika"),
    ]


def test_several_mentions_of_a_document_are_answered_apart_in_nif(
    foreign: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        Prediction("d1#1", answer="Utah Jazz"),
        Prediction("d1#2", answer="Utah Jazz"),
        Prediction("d2", answer="Utah"),
    ]
    written_to = formats.write("nif", foreign, tmp_path / "out", (), {p.id: p for p in given})
    assert list(written_to.values()) == [2]
    found = formats.read_predictions("nif", tmp_path / "out", foreign).predictions
    assert {key: prediction.answer for key, prediction in found.items() if prediction.status == "linked"} == {
        "d1#1": "Utah Jazz",
        "d1#2": "Utah Jazz",
        "d2": "Utah",
    }


def test_two_gold_entities_of_one_place_stand_beside_each_other_in_nif() -> None:
    two = Mention(0, 6, "Jordan"), Mention(0, 6, "Michael Jordan", qid="Q41421")
    (phrase,) = nif.make_nif_document(document(*two)).phrases
    dbpedia = "http://dbpedia.org/resource/"
    assert phrase.uris == (f"{dbpedia}Jordan", f"{dbpedia}Michael_Jordan", "http://www.wikidata.org/entity/Q41421")


def test_a_phrase_that_is_both_an_entity_and_outside_of_dbpedia_is_the_entity_in_nif(tmp_path: Path) -> None:
    uris = ("http://aksw.org/notInWiki/Jordan", "http://www.wikidata.org/entity/Q41421")
    turtle = to_turtle([nif.make_nif_document(document())._replace(phrases=(Phrase(0, 6, uris),))])
    (tmp_path / "both.ttl").write_text(turtle)
    (found,) = nif.read_documents(tmp_path / "both.ttl")
    assert found.mentions == (Mention(0, 6, qid="Q41421"),)


def test_an_export_that_would_write_over_a_file_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "export", "nif", "-d", "world", "--out", "out")[0] == 0
    assert complaint(capsys, "export", "nif", "-d", "world", "--out", "out") == (
        "out/world-top.ttl exists; --force writes over it"
    )
    assert outcome(capsys, "export", "nif", "-d", "world", "--out", "out", "--force")[0] == 0


def test_an_export_into_a_file_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "export", "nif", "-d", "world", "--out", "p.jsonl")
    assert said == "p.jsonl is a file; give a directory"


def test_an_import_leaves_what_others_wrote_where_it_writes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "export", "nif", "-d", "world", "--out", "out")[0] == 0
    (here / "busy" / "more").mkdir(parents=True)
    others = {here / "busy" / name: name for name in ("notes.txt", "Top.json", "more/top.jsonl")}
    for path, content in others.items():
        path.write_text(content)
    for force in ([], ["--force"]):
        assert outcome(capsys, "import", "nif", "out", "--out", "busy", *force)[0] == 0
        assert {path: path.read_text() for path in others} == others


def test_a_format_that_is_only_read_says_which_are_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "export", "shadowlink", "-d", "world") == (
        "export writes zelda, nif, aida-conll, kilt, blink, elevant, simple-jsonl, and not shadowlink"
    )


def test_a_subset_that_the_dataset_lacks_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "export", "nif", "-d", "world", "--subset", "all")
    assert said == "--subset all: `world` has top, shadow, tail, neutral"


def test_a_directory_without_files_of_the_format_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "score", "--format", "nif", "-d", "world", "-p", "world")
    assert said == "world holds no *.ttl: nif takes such files, or a directory of them"


def test_the_help_names_every_format() -> None:
    assert f"{', '.join(list(formats.FORMATS)[:-1])} or {list(formats.FORMATS)[-1]}." == common.FORMATS_HELP


def german(path: Path, *titles: str) -> Dataset:
    snippets = [Snippet(title, "all", f"{title} am Rhein", 0, len(title), gold=title) for title in titles]
    return write_dataset(path, Card(name="de", language="de"), map(Entity, titles), [], {"all": snippets})


@pytest.mark.parametrize("name", ["nif", "aida-conll", "blink"])
def test_a_german_dataset_goes_out_with_german_uris_and_comes_back_german(name: str, tmp_path: Path) -> None:
    formats.write(name, german(tmp_path / "de", "Köln", "Bonn"), tmp_path / "out")
    imported = formats.read(name, [tmp_path / "out"])
    assert (imported.card.language, imported.remarks) == ("de", [])
    formats.write("nif", imported.write(tmp_path / "back"), tmp_path / "again")
    (written,) = (tmp_path / "again").iterdir()
    assert "<http://de.dbpedia.org/resource/K%C3%B6ln>" in written.read_text()


def test_uris_of_several_languages_make_an_english_dataset_and_a_remark(tmp_path: Path) -> None:
    mentions = {"Köln": "http://de.dbpedia.org/resource/Köln", "Utah": "http://dbpedia.org/resource/Utah"}
    labels = [
        {"text": name, "labels": [{"start_char": 0, "end_char": 4, "entity_reference": uri}]}
        for name, uri in mentions.items()
    ]
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(encode_lines(labels))
    found = formats.read("simple-jsonl", [path])
    assert found.card.language == "en"
    why = "entities of several languages, taken for English; --language says which"
    assert found.remarks == [Remark("kept", why, "mixed", "de: 1, en: 1")]
    given = formats.read("simple-jsonl", [path], "de")
    assert (given.card.language, given.remarks) == ("de", [])


def test_a_language_that_is_given_is_that_of_the_dataset(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Nothing in the lines tells a language here.
    formats.write("kilt", german(here / "de", "Köln"), here / "out")
    assert outcome(capsys, "import", "kilt", "out", "--out", "back")[0] == 0
    assert Dataset.read(here / "back").card.language == "en"
    assert outcome(capsys, "import", "kilt", "out", "--language", "de", "--out", "back", "--force")[0] == 0
    assert Dataset.read(here / "back").card.language == "de"
    said = complaint(capsys, "import", "kilt", "out", "--language", "German", "--out", "other")
    assert said == "--language German: expected the code of a Wikipedia, such as en or de"


def test_answers_in_another_format_are_not_written_over_a_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "run", "-l", "prior", "-d", "world", "--out", "run")[0] == 0
    # As an interrupt leaves it.
    (here / "run" / "results.json").unlink()
    outcome(capsys, "export", "nif", "-d", "world", "-p", "p.jsonl", "--out", "theirs")
    scoring = ["score", "--format", "nif", "-d", "world", "-p", "theirs", "--out", "run"]
    assert complaint(capsys, *scoring) == "run/run.json exists; give another --out, or --force to write over it"
    assert outcome(capsys, *scoring, "--force")[0] == 0
    # The answers are not those of the run any more, and the card says so.
    assert json.loads((here / "run" / "run.json").read_text())["linker"]["name"] == "theirs"


def test_an_article_of_another_wikipedia_is_not_the_datasets_of_that_title(
    here: Path, foreign: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [Prediction("d1#1", answer="Utah Jazz"), Prediction("d1#2", answer="Utah"), Prediction("d2", answer="Utah")]
    formats.write("nif", foreign, here / "out", (), {p.id: p for p in given})
    file = here / "out" / "foreign-all.ttl"
    file.write_text(
        file.read_text().replace("http://dbpedia.org/resource/Utah>", "http://fr.dbpedia.org/resource/Utah>")
    )
    outcome(capsys, "score", "--format", "nif", "-d", str(foreign.path), "-p", "out", "--out", "scored")
    assert written(here / "scored")["subsets"]["all"]["correct"] == 1


def test_a_text_with_two_gold_entities_is_remarked_in_every_format(tmp_path: Path) -> None:
    lines = [
        {"id": name, "text": "Utah!", "labels": [{"start_char": 0, "end_char": 4, "entity_reference": name}]}
        for name in ("Utah", "Utah Jazz")
    ]
    (tmp_path / "a.jsonl").write_bytes(encode_lines(lines))
    (remark,) = formats.read("simple-jsonl", [tmp_path / "a.jsonl"]).remarks
    assert (remark.why, remark.where) == ("the same text and mention with another gold entity", "Utah Jazz")


def test_a_span_that_is_marked_and_not_linked_is_skipped_unless_nil_is_counted_as_gerbil_does(
    foreign: Dataset, tmp_path: Path
) -> None:
    lines = [{"id": "d2", "text": "Utah!", "index": [[0, 4]], "wikipedia_ids": [None], "wikipedia_titles": [None]}]
    (tmp_path / "a.jsonl").write_bytes(encode_lines(lines))
    assert formats.read_predictions("zelda", tmp_path / "a.jsonl", foreign).predictions["d2"].status == "skipped"
    found = formats.read_predictions("zelda", tmp_path / "a.jsonl", foreign, gerbil_nil=True)
    assert found.predictions["d2"].status == "nil"


def test_documents_of_two_files_have_the_names_of_their_files_and_those_of_one_have_not(
    world: Dataset, tmp_path: Path
) -> None:
    formats.write("simple-jsonl", world, tmp_path / "out", ("top", "tail"))
    first, second = (
        path.rename(tmp_path / name)
        for path, name in zip(sorted((tmp_path / "out").iterdir()), ("a.jsonl", "b.jsonl"), strict=True)
    )
    alone, together = formats.read("simple-jsonl", [first]), formats.read("simple-jsonl", [first, second])
    assert [snippet.id for snippet in alone.snippets["all"]] == ["tail1"]
    assert [snippet.id for snippet in together.snippets["all"]] == [
        "a/tail1",
        "b/tAvon",
        "b/tBerg",
        "b/tComo",
        "b/tDale",
    ]


def test_a_description_has_the_title_of_the_dataset_or_its_name(world: Dataset, tmp_path: Path) -> None:
    card = Card(name="x", title="Rivers")
    titled = write_dataset(tmp_path / "titled", card, [Entity("Ree")], [], {"all": [Snippet("1", "all", "Ree", 0, 3)]})
    formats.write("elevant", world, tmp_path / "out", ("top",))
    formats.write("elevant", titled, tmp_path / "out", ("all",))
    about = [json.loads((tmp_path / "out" / f"{name}.metadata.json").read_text()) for name in ("world-top", "x-all")]
    assert [one["description"] for one in about] == ["world (top)", "Rivers (all)"]


def test_only_a_folder_loses_nothing(world: Dataset) -> None:
    assert formats.describe_losses("hf", world) == ""
    assert formats.describe_losses("nif", world).startswith("nif does not keep ")
    # The tail has neither names nor templates.
    assert formats.describe_losses("nif", world) != formats.describe_losses("nif", world, ("tail",))
