"""Gold URIs of unknown knowledge bases in NIF: `owl:sameAs`, and GERBIL's counting of what is in no knowledge base.

The worked cases are those of GERBIL's own D2KBTest (https://github.com/dice-group/gerbil, commit 358e5e4e,
src/test/java/org/aksw/gerbil/execute/D2KBTest.java), on documents of the same structure: twelve mentions with gold URIs
of a dataset's own, of which nine are the same as a DBpedia resource. The expected figures are micro P and R of that
test. Two of its cases need URIs that GERBIL gets from the web; here `owl:sameAs` in the answer gives them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from refusals import complaint, outcome

from shadowprobe import Dataset, formats
from shadowprobe.base.identity import is_unknown_uri
from shadowprobe.formats import nif_documents as nif
from shadowprobe.formats.nif_documents import NifDocument, Phrase, to_turtle

OWN = "http://own.example/task/"
DBPEDIA = "http://dbpedia.org/resource/"
NOT_IN_WIKI = "http://aksw.org/notInWiki/"
# In each document, the mentions and the DBpedia titles of their gold entities; None where there is none.
GOLD: dict[str, dict[str, str | None]] = {
    "Ada Byrne learned at a college in Perth with Tom Quill.": {
        "Ada Byrne": "Ada_Byrne",
        "college": None,
        "Perth": "Perth",
        "Tom Quill": None,
    },
    "The aides were Joe Rand, a pollster of Sue Hall, and Kim West, the press agent of Bob Ray.": {
        "Joe Rand": "Joe_Rand",
        "pollster": "Opinion_poll",
        "Sue Hall": "Sue_Hall",
        "Kim West": "Kim_West",
        "press agent": "Publicist",
        "Bob Ray": "Bob_Ray",
    },
    "The mayor has a degree of Oslo University.": {"mayor": None, "Oslo University": "University_of_Oslo"},
}


def own(mention: str) -> str:
    return OWN + mention.replace(" ", "_")


def make_documents(uris_of: Mapping[str, tuple[str, ...]]) -> str:
    """Writes the texts with a phrase for each mention that has an entry."""
    documents = []
    for number, (text, mentions) in enumerate(GOLD.items(), start=1):
        named = [(text.index(mention), mention) for mention in (*mentions, *EXTRA) if mention in text]
        phrases = [
            Phrase(start, start + len(mention), uris_of[mention]) for start, mention in named if mention in uris_of
        ]
        documents.append(NifDocument(f"{OWN}sentence-{number}", text, tuple(phrases)))
    return to_turtle(documents)


# Words that are no mention of the gold.
EXTRA = ("aides", "degree")
MENTIONS = {mention: title for mentions in GOLD.values() for mention, title in mentions.items()}
SAME_AS = "".join(
    f"<{own(mention)}> <{nif.SAME_AS}> <{DBPEDIA}{title}> .\n" for mention, title in MENTIONS.items() if title
)
LINKED = {mention: (DBPEDIA + title,) for mention, title in MENTIONS.items() if title}
UNLINKED = [mention for mention, title in MENTIONS.items() if title is None]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    (tmp_path / "gold.ttl").write_text(make_documents({mention: (own(mention),) for mention in MENTIONS}) + SAME_AS)
    return formats.read("nif", [tmp_path / "gold.ttl"]).write(tmp_path / "gold")


def score(tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: str, *options: str) -> tuple[float, float]:
    (tmp_path / "answers.ttl").write_text(answers)
    arguments = ["-d", str(tmp_path / "gold"), "-p", str(tmp_path / "answers.ttl"), "--out", str(tmp_path / "r")]
    code, out, _ = outcome(capsys, "score", "--format", "nif", *arguments, "--force", "--json", *options)
    assert code == 0
    row = json.loads(out)["subsets"]["all"]
    return row["precision"], row["recall"]


# The two other knowledge bases of GERBIL's test: YAGO, whose titles are known, and another language edition.
OTHER_BASES = {
    **{mention: ("http://yago-knowledge.org/resource/" + str(MENTIONS[mention]),) for mention in LINKED},
    "Perth": ("http://cs.dbpedia.org/resource/Perth_(Austrálie)",),
    **dict.fromkeys(UNLINKED, (NOT_IN_WIKI + "x",)),
}
PERTH = f"<http://cs.dbpedia.org/resource/Perth_(Austrálie)> <{nif.SAME_AS}> <{DBPEDIA}Perth> .\n"
# For each answer: P and R by default, where only the nine linked mentions count, and as in GERBIL, where all twelve do.
CASES = {
    # All twelve answers are outside of DBpedia: right for three mentions, wrong for nine.
    "the dataset's own URIs": (make_documents({m: (own(m),) for m in MENTIONS}), (0.0, 0.0), (0.25, 0.25)),
    "nothing for what is not in DBpedia": (make_documents(LINKED), (1.0, 1.0), (1.0, 0.75)),
    "a phrase without a URI": (make_documents(LINKED | dict.fromkeys(UNLINKED, ())), (1.0, 1.0), (1.0, 1.0)),
    "a URI that means NIL": (
        make_documents(LINKED | dict.fromkeys(UNLINKED, (NOT_IN_WIKI + "x",))),
        (1.0, 1.0),
        (1.0, 1.0),
    ),
    "other knowledge bases": (make_documents(OTHER_BASES) + PERTH, (1.0, 1.0), (1.0, 1.0)),
    "other knowledge bases, and more answers than mentions": (
        make_documents(OTHER_BASES | {word: (DBPEDIA + word,) for word in EXTRA}) + PERTH,
        (1.0, 1.0),
        (1.0, 1.0),
    ),
    "several URIs, of which one is the gold's": (
        make_documents({m: ("http://a.example/x", *uris) for m, uris in LINKED.items()}),
        (1.0, 1.0),
        (1.0, 0.75),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_figures_are_those_of_gerbils_own_test(
    case: str, dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, ours, gerbils = CASES[case]
    assert score(tmp_path, capsys, answers) == ours
    assert score(tmp_path, capsys, answers, "--gerbil-nil") == gerbils


def test_same_as_inside_the_file_maps_a_gold_uri_and_the_rest_is_in_no_knowledge_base(dataset: Dataset) -> None:
    assert [snippet.gold for snippet in dataset.snippets()] == [
        title and title.replace("_", " ") for title in MENTIONS.values()
    ]


def test_an_import_says_how_many_gold_uris_were_mapped_and_how_many_were_not(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = outcome(capsys, "import", "nif", str(tmp_path / "gold.ttl"), "--out", str(tmp_path / "again"))
    assert code == 0
    assert "repaired: a gold URI of an unknown knowledge base, mapped by owl:sameAs (9)" in out
    assert "kept: a gold URI of an unknown knowledge base that nothing maps: no gold entity (3)" in out
    assert f"{OWN}sentence-1#1  {own('college')}" in out


def test_same_as_is_followed_in_both_directions_and_over_several_steps() -> None:
    chain = ("urn:a", "urn:b", "urn:c", "urn:d")
    turtle = to_turtle([NifDocument("http://x.example/d", "Avon", (Phrase(0, 4, ("urn:b",)),))])
    turtle += "".join(f"<{first}> <{nif.SAME_AS}> <{second}> .\n" for first, second in itertools.pairwise(chain))
    # What is no URI is nothing's equal, and does not connect two.
    turtle += f"<urn:e> <{nif.SAME_AS}> <urn:f>, [], 'text' .\n<urn:d> <{nif.SAME_AS}> 'text' .\n"
    turtle += f"_:x <{nif.SAME_AS}> <urn:e>, <urn:d> .\n"
    (document,) = nif.parse(turtle)
    assert document.phrases == (Phrase(0, 4, ("urn:b",), None, ("urn:a", "urn:c", "urn:d")),)


def test_an_entity_with_hundreds_of_uris_is_refused() -> None:
    same = "".join(f"<urn:{number}> <{nif.SAME_AS}> <urn:{number + 1}> .\n" for number in range(nif.MOST_SAME))
    with pytest.raises(nif.NifError, match="owl:sameAs declares more than 500 URIs to be the same"):
        nif.parse(same)
    assert nif.parse(same.partition("\n")[2]) == []


def test_a_mention_with_several_gold_uris_is_right_with_any_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = {"Perth": (DBPEDIA + "Perth", DBPEDIA + "Perth,_Western_Australia")}
    (tmp_path / "gold.ttl").write_text(make_documents(both))
    formats.read("nif", [tmp_path / "gold.ttl"]).write(tmp_path / "gold")
    for uri in both["Perth"]:
        assert score(tmp_path, capsys, make_documents({"Perth": (uri,)})) == (1.0, 1.0)
    assert score(tmp_path, capsys, make_documents({"Perth": (DBPEDIA + "Perth,_Scotland",)})) == (0.0, 0.0)


def test_a_second_gold_entity_that_is_the_gold_of_another_mention_is_remarked(tmp_path: Path) -> None:
    both = {"Perth": (DBPEDIA + "Perth", DBPEDIA + "Tay"), "Tom Quill": (DBPEDIA + "Tay",)}
    (tmp_path / "gold.ttl").write_text(make_documents(both))
    found = formats.read("nif", [tmp_path / "gold.ttl"])
    assert [snippet.gold for snippet in found.snippets["all"]] == ["Perth", "Tay"]
    assert [(remark.action, remark.detail) for remark in found.remarks][-1] == ("kept", "'Tay' besides 'Perth'")


def test_the_english_title_counts_if_same_as_gives_several_languages(tmp_path: Path) -> None:
    turtle = make_documents({"Perth": (own("Perth"),)})
    for host in ("cs.dbpedia.org", "dbpedia.org", "es.dbpedia.org"):
        turtle += f"<{own('Perth')}> <{nif.SAME_AS}> <http://{host}/resource/Perth_{host[:2]}> .\n"
    (tmp_path / "gold.ttl").write_text(turtle)
    found = formats.read("nif", [tmp_path / "gold.ttl"])
    assert [(entity.title, entity.redirects) for entity in found.entities] == [("Perth db", ())]
    assert found.card.language == "en"


def test_a_run_that_counts_nil_is_not_compared_with_one_that_does_not(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ttl").write_text(CASES["the dataset's own URIs"][0])
    for name, options in {"nil": ["--gerbil-nil"], "plain": []}.items():
        arguments = ["-d", str(dataset.path), "-p", str(tmp_path / "a.ttl"), "--out", str(tmp_path / name)]
        code, out, err = outcome(capsys, "score", "--format", "nif", *arguments, *options)
        assert code == 0
        counted = "counted with --gerbil-nil: NIL is right for 3 mentions without an entity"
        assert (counted in " ".join((out + err).split())) == (name == "nil")
    said = complaint(capsys, "compare", str(tmp_path / "nil"), str(tmp_path / "plain"))
    assert said.startswith(f"{tmp_path / 'plain'} is counted without --gerbil-nil and the other run with it")
    # Twelve mentions are compared, as they were counted.
    code, out, _ = outcome(capsys, "compare", *[str(tmp_path / "nil")] * 2, "--name", "a", "--name", "b", "--json")
    assert [(pair["n"], pair["both"]) for pair in json.loads(out)["pairs"]] == [(12, 3)]


def test_a_uri_is_unknown_if_its_knowledge_base_is() -> None:
    assert [is_unknown_uri(uri) for uri in (own("Perth"), "urn:isbn:1", "http://d-nb.info/gnd/1")] == [True] * 3
    known = (DBPEDIA + "Perth", "http://www.wikidata.org/entity/Q1", "https://de.wikipedia.org/wiki/Perth", "Perth")
    assert not any(is_unknown_uri(uri) for uri in known)
