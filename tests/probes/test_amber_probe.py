"""`amber`, every figure worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from retrieval_world import FOUND, amber_set, entity, query, rankings_of, write_collection, write_sets

from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.plugins import make_retrieval_probe
from shadowprobe.queries.collection import Collection

Z = 1.959963984540054


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return write_collection(tmp_path / "little")


def probe_of(path: Path) -> RankingProbe:
    probe = make_retrieval_probe("amber", RankingProbe)
    probe.load(path)
    return probe


@pytest.fixture
def part(collection: Collection) -> dict[str, Any]:
    """The findings for the one collection and task of the little world."""
    assert collection.directory is not None
    findings = probe_of(collection.directory / "amber").measure(rankings_of(collection, FOUND))
    assert list(findings) == ["human"]
    assert list(findings["human"]) == ["qa"]
    found: dict[str, Any] = findings["human"]["qa"]
    return found


def shares(found: dict[str, Any]) -> dict[str, tuple[int, float]]:
    return {group: (rate["n"], rate["rate"]) for group, rate in found.items()}


def test_it_counts_sets_entities_and_queries(part: dict[str, Any]) -> None:
    assert (part["sets"], part["entities"]) == (4, 8)
    assert part["queries"] == {"all": 9, "head": 4, "tail": 5}


def test_accuracy_at_1_is_the_share_of_queries_whose_first_article_is_gold(part: dict[str, Any]) -> None:
    # a1, c1 of the heads and b2 of the tails.
    assert shares(part["accuracy"]["1"]) == {"all": (9, 3 / 9), "head": (4, 2 / 4), "tail": (5, 1 / 5)}


def test_accuracy_at_2_counts_articles_and_not_passages(part: dict[str, Any]) -> None:
    # With b1, a2, and a3, whose gold article comes after two passages of another one.
    assert shares(part["accuracy"]["2"]) == {"all": (9, 6 / 9), "head": (4, 3 / 4), "tail": (5, 3 / 5)}


def test_all_correct_wants_every_query_of_a_set(part: dict[str, Any]) -> None:
    # At 1 no set; at 2 Avon and Berg.
    assert shares(part["all_correct"]) == {"1": (4, 0.0), "2": (4, 2 / 4)}


def test_confusion_is_a_namesake_above_every_gold_document_or_instead_of_it(part: dict[str, Any]) -> None:
    # b1 of the heads; a2, a3 and c2 of the tails. That c2's gold document was found at all does not help.
    assert shares(part["confusion"]) == {"all": (9, 4 / 9), "head": (4, 1 / 4), "tail": (5, 3 / 5)}


def test_neither_is_where_no_document_of_the_set_was_found(part: dict[str, Any]) -> None:
    # d1 without a ranking, d2 with a river of another name.
    assert (part["neither"]["n"], part["neither"]["rate"]) == (9, 2 / 9)


def test_the_gap_is_head_minus_tail_at_the_smallest_k(part: dict[str, Any]) -> None:
    assert part["gap"]["difference"] == pytest.approx(2 / 4 - 1 / 5)
    low, high = part["gap"]["ci95"]
    assert -1 <= low < 2 / 4 - 1 / 5 < high <= 1


def test_the_verdict_is_open_where_the_interval_of_the_gap_holds_0(part: dict[str, Any]) -> None:
    low, high = part["gap"]["ci95"]
    assert low < 0 < high
    assert part["verdict"] == "undecided"


def test_each_query_has_a_row_with_its_ranks_and_its_outcome(collection: Collection) -> None:
    assert collection.directory is not None
    rows = list(probe_of(collection.directory / "amber").rows(rankings_of(collection, FOUND)))
    assert {(row["collection"], row["task"]) for row in rows} == {("human", "qa")}
    assert {row["id"] for row in rows if row["group"] == "head"} == {"a1", "b1", "c1", "d1"}
    found = {row["id"]: (row["rank"], row["namesake_rank"], row["outcome"]) for row in rows}
    assert found == {
        # The two passages of the river are one article, so that the ship stands second.
        "a1": (1, 2, "right"),
        "a2": (2, 1, "namesake first"),
        "a3": (2, 1, "namesake first"),
        "b1": (2, 1, "namesake first"),
        "b2": (1, None, "right"),
        "c1": (1, 2, "right"),
        "c2": (4, 2, "namesake first"),
        "d1": (None, None, "no ranking"),
        "d2": (None, None, "not found"),
    }
    by_id = {row["id"]: (row["namesake"], row["first"]) for row in rows}
    assert (by_id["c2"], by_id["d1"]) == (("como-lake-a", "elbe"), (None, None))


def test_a_rate_has_wilsons_interval(part: dict[str, Any]) -> None:
    # Of none of four sets: from 0 to z² / (n + z²).
    assert part["all_correct"]["1"]["ci95"] == [0.0, pytest.approx(Z**2 / (4 + Z**2))]


def test_pairs_are_binned_by_their_gap_and_one_of_unknown_popularity_is_in_none(part: dict[str, Any]) -> None:
    fifth, last = part["popularity"]
    # Avon and Dale have a gap of exactly a fifth, which is the lower edge of the second bin.
    assert (fifth["at_least"], fifth["below"]) == (0.2, 0.4)
    assert (fifth["head"]["n"], fifth["head"]["rate"]) == (2, 1 / 2)
    assert (fifth["tail"]["n"], fifth["tail"]["rate"]) == (3, 0.0)
    assert fifth["difference"] == 1 / 2
    # Berg is twice as popular, and its tail is found rather than its head.
    assert (last["at_least"], last["below"]) == (1.0, None)
    assert last["difference"] == -1.0


def one_set(tmp_path: Path, head: float | None, tail: float | None) -> RankingProbe:
    sets = [
        amber_set(
            "Avon",
            entity([query("h", "Avon?", "avon-river")], "avon-river", head=True, popularity=head),
            entity([query("t", "Avon!", "avon-ship")], "avon-ship", popularity=tail),
        )
    ]
    return probe_of(write_sets(tmp_path / "amber_sets.jsonl", sets))


@pytest.mark.parametrize(
    ("articles", "outcome"),
    [
        (["avon-river"], "right"),
        (["avon-river", "avon-ship"], "right"),
        (["avon-ship", "avon-river"], "namesake first"),
        (["elbe", "avon-ship"], "namesake first"),
        (["elbe", "avon-river", "avon-ship"], "other document first"),
        (["elbe", "avon-river"], "other document first"),
        (["elbe"], "not found"),
    ],
)
def test_an_outcome_goes_by_the_ranks_of_gold_and_namesake(
    collection: Collection, tmp_path: Path, articles: list[str], outcome: str
) -> None:
    head, _ = one_set(tmp_path, None, None).rows(rankings_of(collection, {"h": articles}))
    assert head["outcome"] == outcome


@pytest.mark.parametrize(
    ("head", "tail", "lower"),
    [
        (2.2, 2.0, 0.0),
        # 0.6 / 0.2 is a little below 3 in binary.
        (4.0, 2.5, 0.6),
        (1.9, 1.0, 0.8),
        (2.0, 1.0, 1.0),
        (9.0, 1.0, 1.0),
        # One view a month: its logarithm is 0, and the gap beyond all bounds.
        (3.0, 0.0, 1.0),
        (0.0, 0.0, 0.0),
        # A head that is less popular than its tail, by 30%: nobody's rule, but a file may have it.
        (0.7, 1.0, -0.4),
    ],
)
def test_a_gap_falls_into_the_bin_that_it_reaches(
    collection: Collection, tmp_path: Path, head: float, tail: float, lower: float
) -> None:
    found = one_set(tmp_path, head, tail).measure(rankings_of(collection, {"h": ["avon-river-1"], "t": []}))
    (only,) = found["sets"]["queries"]["popularity"]
    assert only["at_least"] == lower
    assert only["difference"] == 1.0


def test_the_difference_of_a_bin_is_that_of_its_two_rates(collection: Collection, tmp_path: Path) -> None:
    heads = [query(name, "Avon?", "avon-river") for name in ("h1", "h2")]
    tails = [query(name, "Avon!", "avon-ship") for name in ("t1", "t2", "t3", "t4")]
    avon = amber_set(
        "Avon",
        entity(heads, "avon-river", head=True, popularity=3.0),
        entity(tails, "avon-ship", popularity=1.0),
    )
    probe = probe_of(write_sets(tmp_path / "amber_sets.jsonl", [avon]))
    ranked = {"h1": ["avon-river-1"], "h2": ["elbe"], "t1": ["avon-ship"], "t2": ["elbe"], "t3": [], "t4": []}
    (only,) = probe.measure(rankings_of(collection, ranked))["sets"]["queries"]["popularity"]
    # One of two, less one of four.
    assert only["difference"] == 1 / 4


@pytest.mark.parametrize(("head", "tail"), [(None, 2.0), (2.0, None), (None, None)])
def test_without_popularities_there_are_no_bins(
    collection: Collection, tmp_path: Path, head: float | None, tail: float | None
) -> None:
    found = one_set(tmp_path, head, tail).measure(rankings_of(collection, {}))
    assert found["sets"]["queries"]["popularity"] is None


def twins(count: int) -> list[dict[str, Any]]:
    """Sets of a head and a tail with a query each."""
    return [
        amber_set(f"N{n}", entity([query(f"h{n}", "?", f"H{n}")], head=True), entity([query(f"t{n}", "?", f"T{n}")]))
        for n in range(count)
    ]


def measured(collection: Collection, tmp_path: Path, sets: list[dict[str, Any]], found: dict[str, list[str]]) -> Any:
    probe = probe_of(write_sets(tmp_path / "twins.jsonl", sets))
    return probe.measure(rankings_of(collection, found))["sets"]["queries"]


def test_the_gap_of_a_prior_is_1_and_known_for_certain(collection: Collection, tmp_path: Path) -> None:
    heads = {f"{who}{n}": [f"H{n}"] for n in range(5) for who in "ht"}
    part = measured(collection, tmp_path, twins(5), heads)
    assert part["gap"] == {"difference": 1.0, "ci95": [1.0, 1.0]}
    assert part["verdict"] == "head"


def test_the_verdict_is_for_the_tail_where_only_the_tail_is_found(collection: Collection, tmp_path: Path) -> None:
    tails = {f"{who}{n}": [f"T{n}"] for n in range(5) for who in "ht"}
    assert measured(collection, tmp_path, twins(5), tails)["verdict"] == "tail"


def test_the_gap_of_two_opposite_sets_can_be_anything(collection: Collection, tmp_path: Path) -> None:
    # Drawn with replacement, the first set alone comes up in a quarter of the rounds (+1), the second likewise (-1).
    found = {"h0": ["H0"], "t0": ["H0"], "h1": ["T1"], "t1": ["T1"]}
    part = measured(collection, tmp_path, twins(2), found)
    assert part["gap"] == {"difference": 0.0, "ci95": [-1.0, 1.0]}


def test_without_a_query_about_a_tail_there_is_no_gap_and_no_rate(collection: Collection, tmp_path: Path) -> None:
    sets = [amber_set("Avon", entity([query("h", "Avon?", "avon-river")], head=True), entity([], "avon-ship"))]
    probe = probe_of(write_sets(tmp_path / "alone.jsonl", sets))
    found = probe.measure(rankings_of(collection, {"h": ["avon-ship"]}))["sets"]["queries"]
    assert found["gap"] is None
    assert found["verdict"] is None
    assert found["accuracy"]["1"]["tail"] is None
    # An entity without a query is a namesake all the same.
    assert found["confusion"]["head"]["rate"] == 1.0


def test_a_document_of_both_entities_confuses_nobody(collection: Collection, tmp_path: Path) -> None:
    both = entity([query("h", "?", "river")], "river", "shared", head=True)
    sets = [amber_set("Avon", both, entity([query("t", "?", "ship")], "ship", "shared"))]
    probe = probe_of(write_sets(tmp_path / "shared.jsonl", sets))
    found = probe.measure(rankings_of(collection, {"h": ["shared", "river"], "t": ["shared", "ship"]}))
    assert found["sets"]["queries"]["confusion"]["all"]["rate"] == 0.0


def test_what_lies_below_the_depth_was_not_found(collection: Collection) -> None:
    assert collection.directory is not None
    probe = probe_of(collection.directory / "amber")
    found = probe.measure(rankings_of(collection, {"c2": FOUND["c2"]}, ks=(1,), depth=1))["human"]["qa"]
    # Only the river Elbe is left, so that c2 is like all the queries without a ranking.
    assert found["neither"]["rate"] == 1.0


def test_the_bootstrap_is_the_same_for_the_same_seed_and_differs_for_another(collection: Collection) -> None:
    assert collection.directory is not None
    probe = probe_of(collection.directory / "amber")
    first, again, other = (
        probe.measure(rankings_of(collection, FOUND, rounds=50, seed=seed))["human"]["qa"]["gap"]["ci95"]
        for seed in (7, 7, 8)
    )
    assert first == again != other


def test_queries_carry_the_name_of_their_set(collection: Collection) -> None:
    assert collection.directory is not None
    asked = {one.id: (one.text, one.name) for one in probe_of(collection.directory / "amber").queries()}
    assert len(asked) == 9
    assert asked["c1"] == ("What feeds Como?", "Como")


def test_a_name_has_the_documents_of_its_entities_the_most_popular_first(collection: Collection) -> None:
    assert collection.directory is not None
    names = probe_of(collection.directory / "amber").names()
    assert names["Avon"] == ["avon-river", "avon-ship"]
    assert names["Como"] == ["como-lake-a", "como-lake-b", "como-ship"]


def test_people_and_things_of_one_name_stand_in_the_order_of_their_popularity(tmp_path: Path) -> None:
    people = amber_set("Como", entity([query("p", "Como?", "p1")], "p1", head=True, popularity=3.0))
    tail = entity([query("u", "Como?", "t2")], "t2", popularity=1.0)
    things = amber_set("Como", entity([query("t", "Como?", "t1")], "t1", head=True, popularity=5.0), tail)
    write_sets(tmp_path / "human" / "qa" / "amber_sets.jsonl", [people])
    write_sets(tmp_path / "nonhuman" / "qa" / "amber_sets.jsonl", [things])
    assert probe_of(tmp_path).names() == {"Como": ["t1", "p1", "t2"]}


def test_where_nothing_says_how_popular_they_are_heads_come_before_tails(tmp_path: Path) -> None:
    people = amber_set("Como", entity([query("p", "?", "p1")], head=True), entity([query("q", "?", "p2")]))
    things = amber_set("Como", entity([query("t", "?", "t1")], head=True), entity([query("u", "?", "t2")]))
    write_sets(tmp_path / "human" / "qa" / "amber_sets.jsonl", [people])
    write_sets(tmp_path / "nonhuman" / "qa" / "amber_sets.jsonl", [things])
    assert probe_of(tmp_path).names() == {"Como": ["p1", "t1", "p2", "t2"]}


def test_the_documents_that_queries_ask_for_are_known(collection: Collection) -> None:
    assert collection.directory is not None
    gold = probe_of(collection.directory / "amber").gold()
    rivers = {"avon-river", "berg-river", "dale-river"}
    assert gold == rivers | {"avon-ship", "berg-song", "como-lake-a", "como-lake-b", "como-ship", "dale-ship"}


def test_the_long_tail_has_entities_from_the_most_popular_to_the_least(part: dict[str, Any]) -> None:
    # The ship Como has no popularity; of the two with 3.0 the order is that of the sets.
    assert [(one["rank"], one["popularity"], one["group"]) for one in part["long_tail"]] == [
        (1, 6.0, "head"),
        (2, 5.0, "tail"),
        (3, 4.0, "head"),
        (4, 3.0, "head"),
        (5, 3.0, "head"),
        (6, 2.5, "tail"),
        (7, 2.0, "tail"),
    ]


def test_the_long_tail_of_many_entities_is_thinned_out(collection: Collection, tmp_path: Path) -> None:
    sets = [
        amber_set(f"n{n}", entity([query(f"q{n}", "?", "elbe")], "elbe", head=True, popularity=1000.0 - n))
        for n in range(1000)
    ]
    path = write_sets(tmp_path / "amber_sets.jsonl", sets)
    found = probe_of(path).measure(rankings_of(collection, {}))["sets"]["queries"]["long_tail"]
    ranks = [one["rank"] for one in found]
    # Up to rank 59 a thirtieth is less than two ranks, from 60 on it is two.
    assert ranks[:60] == list(range(1, 61))
    assert ranks[60:62] == [62, 64]
    assert all(one["popularity"] == 1001 - one["rank"] for one in found)
    assert len(ranks) < 200
