"""The report as a file: what is packed into it, what its tables say, and when it is not written."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from page_reading import Read, unpack
from world import hand_predictions, shadow, snippet, top

from shadowprobe import (
    Answers,
    Candidate,
    Card,
    Dataset,
    Entity,
    EntitySpace,
    Findings,
    PluginError,
    Prediction,
    Probe,
    UsageError,
    score,
    write_dataset,
)
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.cli import main
from shadowprobe.dataset.dataset import SUBSETS
from shadowprobe.measure.outcomes import OUTCOMES
from shadowprobe.plugins import Listing
from shadowprobe.reporting.html.data import CANDIDATES, pack_mentions
from shadowprobe.reporting.html.page import page
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.linking import Settings

HOSTILE = "</script><script>alert(1)</script><!-- <b>&amp;\u202e\N{CLAPPER BOARD}"
# As a wiki allows it: without an entity of HTML, and without a mark of direction.
TITLE = "</script><script>alert(1)</script><!-- <b>\N{CLAPPER BOARD}"


def run_of(
    directory: Path, dataset: Dataset, predictions: Iterable[Prediction], probes: Sequence[str] = ()
) -> FinishedRun:
    """A finished run of these answers."""
    directory.mkdir()
    (directory / "predictions.jsonl").write_bytes(encode_lines(predictions))
    score(directory, dataset, name="hand", out=directory, settings=Settings(probes=tuple(probes)))
    (run,) = read_runs([directory], str(dataset.path))
    return run


@pytest.fixture
def hand(world: Dataset, tmp_path: Path) -> FinishedRun:
    return run_of(tmp_path / "hand", world, hand_predictions())


def names_of(coded: list[Any]) -> list[str]:
    """Front-coded names as they were; none of these has a character beyond the BMP in what is shared."""
    names: list[str] = []
    for shared, rest in zip(coded[::2], coded[1::2], strict=True):
        names.append((names[-1] if names else "")[:shared] + rest)
    return names


def candidates_of(data: dict[str, Any], row: int) -> tuple[list[str], list[float | None]]:
    """The titles and the scores of the candidates of a row."""
    columns = data["systems"][0]["candidates"]
    part = slice(columns["start"][row], columns["start"][row] + columns["size"][row])
    return [data["strings"][code] for code in columns["title"][part]], columns["score"][part]


def test_every_text_and_identifier_comes_out_as_it_went_in(world: Dataset, hand: FinishedRun) -> None:
    data = unpack(pack_mentions([hand]))
    strings, passages, columns = data["strings"], data["passages"], data["snippets"]
    texts = [
        passages[columns["before"][row]] + strings[columns["mention"][row]] + passages[columns["after"][row]]
        for row in range(world.count())
    ]
    snippets = list(world.snippets())
    assert texts == [snippet.text for snippet in snippets]
    assert names_of(columns["id"]) == [snippet.id for snippet in snippets]
    assert [SUBSETS[code] for code in columns["subset"]] == [snippet.subset for snippet in snippets]
    golds = [strings[code] if code >= 0 else None for code in columns["gold"]]
    assert golds == [snippet.gold for snippet in snippets]


def test_an_identifier_counts_what_it_shares_as_a_browser_does(world: Dataset, tmp_path: Path) -> None:
    film = "\N{CLAPPER BOARD}"
    two = [snippet(f"{film}a{n}", "tail", "The novel Ourika.", "Ourika", gold="Ourika") for n in (1, 2)]
    dataset = write_dataset(tmp_path / "film", Card(name="film"), world.entities.values(), [], {"tail": two})
    data = unpack(pack_mentions([run_of(tmp_path / "run", dataset, [])]))
    # Two units for the film and one for the letter.
    assert data["snippets"]["id"] == [0, f"{film}a1", 3, "2"]


def test_every_text_is_kept_once(hand: FinishedRun) -> None:
    data = unpack(pack_mentions([hand]))
    for texts in (data["strings"], data["passages"]):
        assert len(texts) == len(set(texts))
    # Four names stand in this sentence, and what stands before them is the same.
    assert data["passages"].count("Why not ") == 1


def test_answers_priors_and_outcomes_are_those_of_the_run(hand: FinishedRun) -> None:
    data = unpack(pack_mentions([hand]))
    (system,) = data["systems"]
    ids = names_of(data["snippets"]["id"])
    answer = {name: system["entity"][row] for row, name in enumerate(ids)}
    assert data["strings"][answer["sAvon"]] == top("Avon")
    assert (answer["tDale"], answer["sDale"]) == (-1, -2)
    outcome = {name: OUTCOMES[system["outcome"][row]] for row, name in enumerate(ids)}
    assert (outcome["sAvon"], outcome["tDale"], outcome["sDale"]) == ("overshadowed", "NIL", "skipped")
    priors = [data["strings"][code] for code in system["prior"]]
    assert priors == [top("Avon"), top("Berg"), top("Como"), shadow("Dale")]
    assert system["score"][ids.index("tAvon")] == 0.9
    assert system["score"][ids.index("tDale")] is None


def test_a_snippet_that_failed_has_its_error_beside_it(world: Dataset, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", world, [one for one in hand_predictions() if one.id != "sAvon"])
    (run.path / "failures.jsonl").write_text('{"id": "sAvon", "error": "time-out"}\n')
    (system,) = unpack(pack_mentions([run]))["systems"]
    row = run.answers.row["sAvon"]
    assert (system["entity"][row], OUTCOMES[system["outcome"][row]]) == (-3, "failed")
    assert system["errors"] == {str(row): "time-out"}


def test_of_many_candidates_the_first_are_listed_and_the_place_of_the_gold_one_is_said(
    world: Dataset, tmp_path: Path
) -> None:
    others = [Candidate(f"Other {n}", score=1 / n) for n in range(1, CANDIDATES + 3)]
    many = Prediction("sBerg", answer=shadow("Berg"), candidates=(*others, Candidate(shadow("Berg"))))
    run = run_of(tmp_path / "run", world, [many])
    data = unpack(pack_mentions([run]))
    (system,) = data["systems"]
    row = run.answers.row["sBerg"]
    titles, scores = candidates_of(data, row)
    assert titles == [f"Other {n}" for n in range(1, CANDIDATES + 1)]
    assert scores[:3] == [1.0, 0.5, 0.3333]
    # Two others and the gold one, which stands last.
    assert (system["unlisted"][row], system["gold_rank"][row]) == (3, CANDIDATES + 3)


def test_a_candidate_is_the_entity_that_the_run_has_stored_for_it(world: Dataset, tmp_path: Path) -> None:
    candidates = (Candidate("avon vessel", entity=shadow("Avon")), Candidate(top("Avon")))
    run = run_of(tmp_path / "run", world, [Prediction("sAvon", answer="x", candidates=candidates)])
    titles, _ = candidates_of(unpack(pack_mentions([run])), run.answers.row["sAvon"])
    assert titles == [shadow("Avon"), top("Avon")]


class Letters(Probe):
    """A probe of another package with a row for every answer that names an entity."""

    name = "letters"

    def measure(self, answers: Answers) -> Findings:
        """Nothing that a table shows."""
        return {"longest": 12}

    def rows(self, answers: Answers) -> Iterator[dict[str, Any]]:
        """The first letter of each answer."""
        for snippet_id, row in answers.row.items():
            if answers.linked[row]:
                yield {"id": snippet_id, "first": answers.names[answers.entity[row]][0]}


@pytest.fixture
def with_letters(hand: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> FinishedRun:
    """The run of the small world, measured with a probe of another package too."""
    listed = [Listing(name, "", "", package) for name, package in (("letters", "other"), ("prior", "shadowprobe"))]
    monkeypatch.setattr("shadowprobe.reporting.html.data.listings", lambda _: listed)
    monkeypatch.setattr("shadowprobe.reporting.html.data.make_probe", {"letters": Letters()}.__getitem__)
    hand.results["probes"]["letters"] = {"longest": 12}
    return hand


def test_a_probe_of_another_package_adds_a_column_to_the_mentions(with_letters: FinishedRun) -> None:
    data = unpack(pack_mentions([with_letters]))
    ((title, values),) = data["systems"][0]["columns"]
    first = {name: values[row] for row, name in enumerate(names_of(data["snippets"]["id"]))}
    assert title == "letters first"
    assert data["strings"][first["sAvon"]] == "A"
    # It got NIL, and the probe has no row for it.
    assert first["tDale"] == -1


def test_a_probe_whose_rows_fail_is_named(with_letters: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Letters, "rows", lambda *_: iter([{"id": "nobody", "first": "N"}]))
    with pytest.raises(PluginError, match=r"rows\(\) of the probe `letters` failed: KeyError: 'nobody'"):
        pack_mentions([with_letters])


def test_without_such_a_probe_there_is_no_further_column(hand: FinishedRun) -> None:
    assert "columns" not in pack_mentions([hand])["systems"][0]


def test_the_tables_show_the_numbers_worked_out_by_hand(hand: FinishedRun) -> None:
    tables = Read(page([hand])).tables
    # Top: two right, one wrong, one NIL. Shadow: two right, one wrong, one skipped, so that P is 2/3 and F 4/7.
    scores = [[*row[:5], *row[6:]] for row in tables["table-scores"]]
    assert scores == [
        ["system", "subset", "P", "R", "F", "n", "answered", "NIL", "skipped"],
        ["hand", "Shadow", "0.667", "0.500", "0.571", "4", "3", "0", "1"],
        ["hand", "Top", "0.500", "0.500", "0.500", "4", "3", "1", "0"],
        ["hand", "Tail", "1.000", "1.000", "1.000", "1", "1", "0", "0"],
    ]
    assert tables["table-priors"][1:] == [
        ["hand", "Top", "50.0", "0.0", "0.0", "25.0", "25.0"],
        ["hand", "Shadow", "0.0", "25.0", "50.0", "0.0", "25.0"],
    ]
    # Avon and Como get one entity for both, Avon its prior; only Berg has both right; only Avon's ship is a river.
    rates = {row[0].strip(): row[1].partition(" ")[0] for row in tables["table-names"][1:5]}
    assert rates == {
        "same answer in both contexts": "50.0%",
        "and it is the prior": "25.0%",
        "both contexts right": "25.0%",
        "Shadow answered with the Top entity": "25.0%",
    }


def test_markup_in_the_data_stays_text(tmp_path: Path) -> None:
    entities = [Entity(f"{TITLE} one", commonness=2), Entity(f"{TITLE} two", commonness=1, description=HOSTILE)]
    spaces = [EntitySpace(HOSTILE, tuple(entity.title for entity in entities))]
    text = f"Why not {HOSTILE} and more?"
    snippets = [snippet(HOSTILE, "top", text, HOSTILE, space=HOSTILE, gold=entities[0].title, source=HOSTILE)]
    dataset = write_dataset(tmp_path / "hostile", Card(name=HOSTILE), entities, spaces, {"top": snippets})
    run_of(tmp_path / "run", dataset, [Prediction(HOSTILE, answer=HOSTILE)])
    runs = read_runs([tmp_path / "run"], str(dataset.path), [HOSTILE])
    written = Read(page(runs))
    # No element but those that the page has of its own.
    assert [written.scripts, written.count("style"), written.count("b")] == [1, 1, 0]
    assert written.data["systems"][0]["label"] == HOSTILE
    assert HOSTILE in written.data["strings"]
    assert written.texts["title"] == [f"{HOSTILE} on {HOSTILE}"]


def test_the_policy_allows_the_one_script_and_the_one_style_and_nothing_else(hand: FinishedRun) -> None:
    content = page([hand])
    ((policy,),) = [
        [attributes["content"] or ""]
        for tag, attributes in Read(content).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    for directive, pattern in (("script-src", r"<script>(.*?)</script>"), ("style-src", r"<style>(.*?)</style>")):
        (body,) = re.findall(pattern, content, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert rules.pop(directive) == [f"'sha256-{digest}'"]
    nothing = ["'none'"]
    assert rules == {
        "default-src": nothing,
        "img-src": ["data:"],
        "base-uri": nothing,
        "form-action": nothing,
    }


def test_what_was_run_has_the_whole_digest_of_the_data(hand: FinishedRun) -> None:
    assert f"digest {hand.dataset.digest}" in page([hand])


def test_the_same_runs_give_the_same_file(hand: FinishedRun) -> None:
    assert page([hand]) == page([hand])


def test_what_was_not_measured_is_said_and_has_no_table(world: Dataset, tmp_path: Path) -> None:
    written = Read(page([run_of(tmp_path / "run", world, hand_predictions(), probes=["subsets"])]))
    assert "hand: whether it reads the context or repeats its prior was not measured." in written.texts["bdi"]
    assert list(written.tables) == ["table-systems", "table-scores"]


def test_results_that_were_scored_with_redirects_say_that_the_mentions_are_not(world: Dataset, tmp_path: Path) -> None:
    run_of(tmp_path / "run", world, hand_predictions())
    (tmp_path / "redirects.tsv").write_text("Avon River\tAvon (river)\n")
    settings = Settings(redirects=tmp_path / "redirects.tsv")
    score(tmp_path / "run", world, name="hand", out=tmp_path / "run", settings=settings)
    written = Read(page(read_runs([tmp_path / "run"], str(world.path))))
    said = "the results were scored with a table of redirects, which the mentions below do without"
    assert said in written.texts["bdi"]


def test_a_figure_that_cannot_be_drawn_is_left_out(world: Dataset, tmp_path: Path) -> None:
    alone = [snippet("tail1", "tail", "The novel Ourika.", "Ourika", gold="Ourika")]
    dataset = write_dataset(tmp_path / "tail", Card(name="tail"), world.entities.values(), [], {"tail": alone})
    written = Read(page([run_of(tmp_path / "run", dataset, [Prediction("tail1", answer="Ourika")])]))
    # There is no name with two contexts, no prior and no score.
    assert written.count("img") == 0
    assert written.tables["table-scores"][1][:3] == ["hand", "Tail", "1.000"]


def test_all_figures_are_in_the_report_of_a_whole_run(hand: FinishedRun) -> None:
    pytest.importorskip("matplotlib")
    figures = [attributes["id"] for tag, attributes in Read(page([hand])).elements if tag == "img"]
    assert figures == ["figure-overshadowing", "figure-outcomes", "figure-confidence", "figure-risk-coverage"]


def test_runs_over_other_snippets_do_not_stand_side_by_side(hand: FinishedRun, tmp_path: Path) -> None:
    snippets = [snippet("tail1", "tail", "The novel Ourika.", "Ourika", gold="Ourika")]
    other = write_dataset(tmp_path / "other", Card(name="other"), [Entity("Ourika")], [], {"tail": snippets})
    run = run_of(tmp_path / "run", other, [])
    with pytest.raises(UsageError) as error:
        pack_mentions([hand, run])
    assert f"over `other` with {other.digest[:12]}..." in str(error.value)
    assert f"over `world` with the digest {hand.dataset.digest[:12]}..." in str(error.value)


def test_runs_over_another_part_of_a_dataset_do_not_stand_side_by_side(
    world: Dataset, hand: FinishedRun, tmp_path: Path
) -> None:
    run_of(tmp_path / "part", world, hand_predictions())
    score(tmp_path / "part", world, name="hand", out=tmp_path / "part", limit=2)
    with pytest.raises(UsageError, match=r"over all of it, .* over the first 2 names; run both with the same --limit"):
        pack_mentions([hand, *read_runs([tmp_path / "part"], str(world.path), ["part"])])


def test_two_runs_under_one_name_are_refused(world: Dataset, hand: FinishedRun) -> None:
    runs = read_runs([hand.path, hand.path], str(world.path), ["same", "same"])
    with pytest.raises(UsageError, match="two runs are called 'same': give each a --name of its own"):
        pack_mentions(runs)


def ended(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)


def test_the_report_of_one_run_stands_in_its_directory_and_is_not_written_over(
    world: Dataset, hand: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    report = hand.path / "report.html"
    command = ("report", str(hand.path), "--dataset", str(world.path))
    assert ended(*command) == 0
    assert capsys.readouterr().err == f"Written to {report}\n"
    report.write_text("mine")
    assert ended(*command) == 2
    assert f"{report} exists; give another --out, or --force to write over it" in capsys.readouterr().err
    assert report.read_text() == "mine"
    assert ended(*command, "--force") == 0
    assert report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_report_of_several_runs_stands_where_the_command_is_given(
    world: Dataset, hand: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("--name", "one", "--name", "two")
    assert ended("report", str(hand.path), str(hand.path), "--dataset", str(world.path), *names) == 0
    systems = Read((tmp_path / "report.html").read_text(encoding="utf-8")).data["systems"]
    assert [system["label"] for system in systems] == ["one", "two"]


def test_a_directory_in_place_of_the_file_becomes_a_folder_of_reports(
    world: Dataset, hand: FinishedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "site"
    assert ended("report", str(hand.path), "--dataset", str(world.path), "--out", str(place)) == 0
    assert capsys.readouterr().err == f"Written to {place}/index.html\n"
    assert sorted(path.name for path in (place / "reports").iterdir()) == ["1.html"]


def test_the_directory_of_the_report_is_made_and_an_empty_name_refused(
    world: Dataset, hand: FinishedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("report", str(hand.path), "--dataset", str(world.path), "--out")
    assert ended(*command, str(tmp_path / "made" / "now" / "r.html")) == 0
    assert (tmp_path / "made" / "now" / "r.html").exists()
    assert ended(*command, "") == 2
    assert "--out: the name of the file is empty" in capsys.readouterr().err


def test_marks_of_direction_in_a_name_stay_within_it(world: Dataset, hand: FinishedRun) -> None:
    turned = "\u202eturned"
    content = page(read_runs([hand.path], str(world.path), [turned]))
    assert f'<p class="verdict"><bdi>{turned}</bdi> reads the context about as often' in content
    assert f"<h1><bdi>{turned}</bdi> on <bdi>world</bdi></h1>" in content
    assert "Dataset <bdi>world</bdi> 1: 4 names" in content


def test_the_findings_of_a_probe_of_ones_own_are_in_the_report(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from shadowprobe import Probe\n\n"
        "class Mine(Probe):\n"
        "    name = 'mine'\n"
        "    def measure(self, answers):\n"
        "        return {'share': 0.25, 'by': {'top': [1, 2]}}\n"
    )
    run = run_of(tmp_path / "run", world, hand_predictions(), probes=["subsets", f"{tmp_path}/mine.py:Mine"])
    tables = Read(page([run])).tables
    assert tables["table-probe-mine"] == [["finding", "hand"], ["share", "0.25"], ["by.top", "[1, 2]"]]
