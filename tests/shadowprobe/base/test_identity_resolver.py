"""Which entity of a dataset an answer means: the order of the rules, redirects, conflicts, and unknown answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shadowprobe.base.identity import RULES, Resolution, Resolver, read_redirects
from shadowprobe.base.model import Entity
from shadowprobe.errors import InputError

ENTITIES = (
    Entity("Mercury (planet)", page_id=19694, qid="Q308", redirects=("Planet Mercury", "Hermes (planet)")),
    Entity("Mercury (element)", page_id=18617142, qid="Q925", redirects=("Quicksilver", "Hg")),
    Entity("Kiev", page_id=585629, qid="Q1899"),
    Entity("Q10", page_id=77, qid="Q500"),
    Entity("Straße", redirects=("Strasse",)),
)


@pytest.fixture
def resolver() -> Resolver:
    return Resolver(ENTITIES)


def with_table(**redirects: str) -> Resolver:
    return Resolver(ENTITIES, redirects=redirects)


@pytest.mark.parametrize(
    ("answer", "resolution"),
    [
        ("https://en.wikipedia.org/?curid=19694", Resolution("Mercury (planet)", "page_id")),
        ("curid:19694", Resolution("Mercury (planet)", "page_id")),
        ("http://www.wikidata.org/entity/Q308", Resolution("Mercury (planet)", "qid")),
        ("q308", Resolution("Mercury (planet)", "qid")),
        ("mercury_(planet)", Resolution("Mercury (planet)", "title")),
        ("http://dbpedia.org/resource/Mercury_%28planet%29", Resolution("Mercury (planet)", "title")),
        ("YAGO:Stra\\u00dfe", Resolution("Straße", "title")),
        ("https://en.wikipedia.org/wiki/Quicksilver#Uses", Resolution("Mercury (element)", "redirect")),
        ("hg", Resolution("Mercury (element)", "redirect")),
        ("Mercury", Resolution("Mercury", "unresolved")),
    ],
)
def test_each_rule_finds_its_entity(resolver: Resolver, answer: str, resolution: Resolution) -> None:
    assert resolver.resolve(answer) == resolution
    assert resolution.rule in RULES


def test_a_page_id_goes_before_a_qid_and_a_qid_before_a_title(resolver: Resolver) -> None:
    assert resolver.resolve("Kiev", page_id=19694, qid="Q925").entity == "Mercury (planet)"
    assert resolver.resolve("Kiev", qid="Q925").entity == "Mercury (element)"
    assert resolver.resolve("Kiev", page_id=1, qid="Q925") == Resolution("Mercury (element)", "qid", conflict=True)
    assert resolver.resolve("Kiev", page_id=1, qid="Q1").entity == "Kiev"


@pytest.mark.parametrize("qid", ["Q925", "q925", " Q925 ", "wd:Q925", "http://www.wikidata.org/entity/Q925"])
def test_a_qid_is_understood_in_every_form(resolver: Resolver, qid: str) -> None:
    assert resolver.resolve(None, qid=qid) == Resolution("Mercury (element)", "qid")


def test_an_explicit_key_goes_before_the_one_within_the_answer(resolver: Resolver) -> None:
    assert resolver.resolve("curid:19694", page_id=585629).entity == "Kiev"
    assert resolver.resolve("Q308", qid="Q1899").entity == "Kiev"


def test_a_title_that_looks_like_a_qid_is_found_where_no_entity_has_that_qid(resolver: Resolver) -> None:
    assert resolver.resolve("Q10") == Resolution("Q10", "title")
    assert resolver.resolve("https://en.wikipedia.org/wiki/Q10") == Resolution("Q10", "title")
    both = Resolver([Entity("Q10"), Entity("Coenzyme", qid="Q10")])
    assert both.resolve("Q10") == Resolution("Coenzyme", "qid")
    assert both.resolve("http://dbpedia.org/resource/Q10") == Resolution("Q10", "title")


@pytest.mark.parametrize("answer", ["wd:Q10", "http://www.wikidata.org/entity/Q10"])
def test_an_unknown_qid_is_never_taken_for_the_title_it_looks_like(resolver: Resolver, answer: str) -> None:
    found = resolver.resolve(answer)
    assert found.rule == "unresolved"
    assert found.entity != "Q10"


@pytest.mark.parametrize(
    "answer",
    [
        "https://de.wikipedia.org/wiki/Kiev",
        "http://fr.dbpedia.org/resource/Kiev",
        "https://simple.wikipedia.org/wiki/Kiev",
        "https://de.wikipedia.org/?curid=585629",
    ],
)
def test_another_edition_does_not_match_an_english_dataset(resolver: Resolver, answer: str) -> None:
    found = resolver.resolve(answer)
    assert found.rule == "unresolved"
    assert found.entity != "Kiev"


def test_another_edition_matches_by_what_all_editions_share(resolver: Resolver) -> None:
    assert resolver.resolve("https://de.wikipedia.org/wiki/Kiew", qid="Q1899") == Resolution("Kiev", "qid")


def test_a_dataset_of_another_language_matches_its_own_edition_only() -> None:
    german = Resolver([Entity("Merkur (Planet)", page_id=3245)], language="de")
    assert german.resolve("https://de.wikipedia.org/wiki/Merkur_(Planet)").rule == "title"
    assert german.resolve("http://de.dbpedia.org/resource/Merkur_(Planet)").rule == "title"
    assert german.resolve("https://de.m.wikipedia.org/?curid=3245").rule == "page_id"
    assert german.resolve("Merkur_(Planet)").rule == "title"
    assert german.resolve("https://en.wikipedia.org/wiki/Merkur_(Planet)").rule == "unresolved"
    assert german.resolve("http://dbpedia.org/resource/Merkur_(Planet)").rule == "unresolved"


def test_a_page_id_that_contradicts_the_title_is_a_conflict(resolver: Resolver) -> None:
    assert resolver.resolve("Kiev", page_id=999) == Resolution("Kiev", "title", conflict=True)
    assert resolver.resolve("Hg", page_id=999) == Resolution("Mercury (element)", "redirect", conflict=True)
    assert not resolver.resolve("Kiev", page_id=585629).conflict
    assert not resolver.resolve("Kiev").conflict
    assert not resolver.resolve("Straße", page_id=999).conflict, "the dataset knows no page id to contradict"
    assert not resolver.resolve("Unheard of", page_id=999).conflict


def test_an_entity_goes_before_a_redirect_of_the_same_name() -> None:
    resolver = Resolver([Entity("Mercury", redirects=("Quicksilver",)), Entity("Quicksilver")])
    assert resolver.resolve("Quicksilver") == Resolution("Quicksilver", "title")


def test_the_dataset_goes_before_the_table() -> None:
    assert with_table(Hg="Kiev", Kiev="Q10").resolve("Hg").entity == "Mercury (element)"
    assert with_table(Hg="Kiev", Kiev="Q10").resolve("Kiev") == Resolution("Kiev", "title")


def test_a_chain_of_redirects_is_followed_to_its_end() -> None:
    resolver = with_table(A="B", B="C", C="Planet Mercury", X="Kiev")
    assert resolver.resolve("A") == Resolution("Mercury (planet)", "redirect")
    assert resolver.resolve("https://en.wikipedia.org/wiki/X") == Resolution("Kiev", "redirect")


def test_a_title_of_the_dataset_that_has_moved_since_is_found_under_its_new_name() -> None:
    resolver = with_table(Kiev="Kyiv", Kyjiw="Kyiv", Odessa="Elsewhere")
    assert resolver.resolve("Kyiv") == Resolution("Kiev", "redirect")
    assert resolver.resolve("Kyjiw") == Resolution("Kiev", "redirect")
    assert resolver.resolve("Elsewhere").rule == "unresolved"


def test_two_titles_of_the_dataset_that_became_one_article_are_not_guessed_between() -> None:
    resolver = with_table(Kiev="Merged", Q10="Merged")
    assert resolver.resolve("Merged") == Resolution("Merged", "unresolved")
    assert resolver.resolve("Kiev") == Resolution("Kiev", "title")


@pytest.mark.parametrize("table", [{"A": "A"}, {"A": "B", "B": "A"}, {"Z": "A", "A": "B", "B": "C", "C": "A"}])
def test_a_circle_of_redirects_ends_and_its_titles_are_one(table: dict[str, str]) -> None:
    resolver = with_table(**table)
    found = {resolver.resolve(title) for title in {*table, *table.values()}}
    assert found == {Resolution("A", "unresolved")}


@pytest.mark.parametrize(
    "answers",
    [
        (
            "Venus",
            "venus",
            "http://dbpedia.org/resource/Venus",
            "https://en.m.wikipedia.org/wiki/Venus#Orbit",
            "YAGO:Venus",
        ),
        ("Q42", "q42", "wd:Q42", "http://www.wikidata.org/entity/Q42", "https://www.wikidata.org/wiki/Q42"),
        ("curid:5", "curid=5", "https://en.wikipedia.org/?curid=5"),
        (
            "https://de.wikipedia.org/wiki/Venus",
            "http://de.dbpedia.org/resource/Venus",
            "https://de.m.wikipedia.org/wiki/venus",
        ),
        ("https://de.wikipedia.org/?curid=5", "https://de.m.wikipedia.org/wiki?curid=5"),
        ("http://kb.example/all#Venus",),
        ("http://kb.example/all#Mars",),
        ("Old", "Older", "New"),
        ("#Orbit",),
        ("_",),
    ],
)
def test_equal_answers_are_equal_although_the_dataset_does_not_know_them(answers: tuple[str, ...]) -> None:
    resolver = with_table(Older="Old", Old="New")
    keys = {resolver.resolve(answer) for answer in answers}
    assert len(keys) == 1
    others = {"Mars", "Q43", "curid:6", "https://fr.wikipedia.org/wiki/Venus", "https://fr.wikipedia.org/?curid=5", "?"}
    assert keys.isdisjoint(resolver.resolve(answer) for answer in others)
    assert {key.rule for key in keys} == {"unresolved"}


def test_keys_given_without_an_answer_are_those_of_the_written_forms(resolver: Resolver) -> None:
    assert resolver.resolve(None, qid="Q42") == resolver.resolve("wd:Q42")
    assert resolver.resolve(None, page_id=5) == resolver.resolve("curid:5")
    assert resolver.resolve("Venus", page_id=5, qid="Q313") == resolver.resolve("Venus")


def test_answers_without_a_name_are_distinguished(resolver: Resolver) -> None:
    found = {
        resolver.resolve(answer).entity for answer in ("#Orbit", "#History", "_", "https://de.wikipedia.org/wiki/")
    }
    assert len(found) == 4


def test_memory_does_not_grow_with_the_number_of_answers() -> None:
    resolver = Resolver(ENTITIES, cache_size=10)
    for number in range(50):
        assert resolver.resolve(f"Nobody {number}").entity == f"Nobody {number}"
    assert resolver.resolve.cache_info().currsize == 10


def test_a_redirect_table_is_read_from_lines_with_a_tab(tmp_path: Path) -> None:
    path = tmp_path / "redirects.tsv"
    path.write_bytes("\ufeffkiew\tKiev\r\n\n  \nPeking\tBeijing#Name\nS%C3%A3o\tSão_Paulo".encode())
    assert read_redirects(path) == {"Kiew": "Kiev", "Peking": "Beijing", "São": "São Paulo"}


@pytest.mark.parametrize("name", ["redirects.json", "REDIRECTS.JSON"])
def test_a_redirect_table_is_read_from_a_json_object(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps({"kiew": "Kiev", "S\u00e3o": "S%C3%A3o_Paulo"}))
    assert read_redirects(path) == {"Kiew": "Kiev", "São": "São Paulo"}


@pytest.mark.parametrize(
    "line",
    [b"Kiew", b"Kiew\t", b"\tKiev", b"Kiew\tKiev\tKyiv", b"Kiew Kiev", b"_\tKiev", b"Kiew\t#Name", b"Ki\xe9v\tKiev"],
)
def test_a_broken_line_of_a_redirect_table_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "redirects.tsv"
    path.write_bytes(b"Peking\tBeijing\n\n" + line + b"\nBombay\tMumbai\n")
    with pytest.raises(InputError) as caught:
        read_redirects(path)
    assert (caught.value.path, caught.value.line) == (path, 3)


@pytest.mark.parametrize("content", ["[]", '{"Kiew": 1}', '{"Kiew": ""}', '{"": "Kiev"}', '{"#": "Kiev"}', "{", ""])
def test_a_json_redirect_table_of_the_wrong_shape_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "redirects.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_redirects(path)
    assert caught.value.path == path


@pytest.mark.parametrize("name", ["none.tsv", "none.json", "."])
def test_a_redirect_table_that_cannot_be_opened_is_an_input_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_redirects(tmp_path / name)


def test_a_table_from_a_file_reaches_the_dataset(tmp_path: Path) -> None:
    path = tmp_path / "redirects.tsv"
    path.write_text("kyiv\tKYIV_CITY\nKYIV CITY\tKiev\n")
    assert Resolver(ENTITIES, redirects=read_redirects(path)).resolve("Kyiv") == Resolution("Kiev", "redirect")


def test_a_table_may_lead_from_an_item_to_a_title() -> None:
    resolver = with_table(Q7="Kiev", Q8="Quicksilver", Q9="Nowhere")
    assert resolver.resolve("Q7") == Resolution("Kiev", "redirect")
    assert resolver.resolve(None, None, "Q8") == Resolution("Mercury (element)", "redirect")
    assert resolver.resolve(None, None, "Q9") == Resolution("wd:Q9", "unresolved")
    # The page id that comes with it is that of another page.
    assert resolver.resolve(None, 5, "Q7") == Resolution("Kiev", "redirect", conflict=True)
