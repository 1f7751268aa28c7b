"""The stages of a build one after the other, on a wiki and a web so small that every figure is worked out by hand."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from build_world import COMMONNESS, FUNNELS, SAID, Small, made, small, small_wiki
from web_pages import Web
from wiki_standin import StandIn

from shadowprobe import Dataset, UsageError
from shadowprobe.base.jsonl import read_lines
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.pipeline import Build
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.status import STAGES, read_funnels
from shadowprobe.build.wiki_articles import WikiArticles
from shadowprobe.dataset.kept_pages import Cut
from shadowprobe.errors import BuildError, InputError

TEXTS = {
    "/bridge": [
        "The stones of Harlow were cut by hand in the winter of that year.",
        "A toll was taken at Harlow until the last keeper of it died.",
    ],
    "/mount": ["Snow lies on Harlow for most of the year and nobody lives there."],
    "/hall": ["The ceiling of Harlow was painted by a man who could not see."],
    "/railway": ["The engine that ran on Kestrel had no brakes when it came to the sea."],
    "/ship": ["All of the crew were saved when Kestrel sank in the fog."],
    "/tarn": SAID["/tarn"],
}


class Built:
    """A finished build, and what was told of its progress."""

    def __init__(self, world: Small, out: Path) -> None:
        self.world, self.out = world, out
        self.server: list[tuple[str, int, int | None]] = []
        found = world.build(out, progress=lambda *step: self.server.append(step))
        assert found is not None
        self.questions, self.agents = world.questions(), world.agents()
        self.dataset, self.train = found, Dataset.read(out / "train")
        self.card: dict[str, Any] = json.loads((out / "dataset.json").read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with small() as world:
        yield Built(world, tmp_path_factory.mktemp("small") / "out")


def test_a_name_has_its_entities_from_the_most_common_down(built: Built) -> None:
    assert {name: space.entities for name, space in built.dataset.spaces.items()} == {
        "Harlow": ("Harlow Bridge", "Mount Harlow", "Harlow Hall"),
        "Kestrel": ("Kestrel Railway", "SS Kestrel"),
    }


def test_entities_are_as_common_as_articles_link_to_them(built: Built) -> None:
    found = {title: entity.commonness for title, entity in built.dataset.entities.items()}
    names = ["Harlow Bridge", "Mount Harlow", "Harlow Hall", "Kestrel Railway", "SS Kestrel", "Tarn House"]
    assert found == {title: COMMONNESS[title] for title in names}
    assert built.dataset.entities["Harlow Bridge"].redirects == ("Harlow Crossing",)


def test_each_name_has_one_snippet_of_top_and_one_of_shadow(built: Built) -> None:
    top, shadow = (list(built.dataset.snippets(subset)) for subset in ("top", "shadow"))
    assert [(each.space, each.gold) for each in top] == [("Harlow", "Harlow Bridge"), ("Kestrel", "Kestrel Railway")]
    assert [each.space for each in shadow] == ["Harlow", "Kestrel"]
    assert shadow[0].gold in {"Mount Harlow", "Harlow Hall"}
    assert shadow[1].gold == "SS Kestrel"


def test_a_snippet_is_a_sentence_of_its_page_with_the_name_in_place_of_the_title(built: Built) -> None:
    found: dict[str, list[str]] = {}
    for snippet in [*built.dataset.snippets("top", "shadow", "tail"), *built.train.snippets()]:
        assert snippet.mention == (snippet.space or snippet.gold)
        path = (snippet.source or "").removeprefix(built.world.web.url(""))
        found.setdefault(path, []).append(snippet.text)
    assert {path: sorted(texts) for path, texts in found.items()} == {
        path: sorted(texts) for path, texts in TEXTS.items()
    }


def test_what_the_benchmark_leaves_over_is_to_train_with(built: Built) -> None:
    assert Counter(snippet.subset for snippet in built.train.snippets()) == {"top": 1, "shadow": 1}
    (over,) = built.train.snippets("shadow")
    (drawn, _) = built.dataset.snippets("shadow")
    assert {over.gold, drawn.gold} == {"Mount Harlow", "Harlow Hall"}


def test_every_name_stands_in_every_neutral_context(built: Built) -> None:
    found = list(built.dataset.snippets("neutral"))
    assert Counter(snippet.space for snippet in found) == {"Harlow": 7, "Kestrel": 7}
    assert {snippet.text[: snippet.start] + "{name}" + snippet.text[snippet.end :] for snippet in found} == set(
        built_in_templates()
    )


def built_in_templates() -> tuple[str, ...]:
    from shadowprobe.base.languages import read_language

    return read_language("en").neutral


def test_every_stage_accounts_for_what_it_lost(built: Built) -> None:
    assert read_funnels(built.out) == FUNNELS
    server = [Funnel(**stage) for stage in built.card["build"]["funnel"]]
    assert server == FUNNELS


def test_the_card_has_the_figures_of_the_papers_first_table(built: Built) -> None:
    table = built.card["build"]["table_1"]
    # 14, 13 and 15 words; 13, 13 and 12.
    assert table["top"] == {"spaces": 2, "entities": 2, "snippets": 3, "words": 14.0, "sentences": 1.0}
    assert table["shadow"] == {"spaces": 2, "entities": 3, "snippets": 3, "words": 12.67, "sentences": 1.0}
    assert table["tail"] == {"spaces": 0, "entities": 1, "snippets": 1, "words": 13.0, "sentences": 1.0}


def test_the_card_tells_how_common_the_entities_of_each_subset_are(built: Built) -> None:
    server = built.card["build"]["commonness"]
    assert server["bins"][:4] == [0, 1, 3, 10]
    # 5 and 4; 3, 1 and 2; 2.
    expected = {"top": ([0, 0, 2], 4.5, 4, 5), "shadow": ([0, 2, 1], 2, 1, 3), "tail": ([0, 1, 0], 2, 2, 2)}
    for subset, (counts, median, least, most) in expected.items():
        found = server[subset]
        assert found["counts"] == counts + [0] * (len(server["bins"]) - 3)
        assert (found["median"], found["least"], found["most"]) == (median, least, most)


def test_the_card_says_where_all_this_comes_from(built: Built) -> None:
    card = built.card
    assert (card["name"], card["language"], card["source"]) == ("small", "en", built.world.url)
    assert card["title"].startswith("Names from Stand-in, ")
    assert card["commonness"] == "backlinks"
    assert card["license"].startswith(f"Titles and links come from {built.world.url};")
    # 1500000000 seconds after 1970-01-01 it was 02:40 on 2017-07-14, in Greenwich.
    assert card["build"]["date"] == "2017-07-14"
    assert card["build"]["settings"]["seed"] == 7
    assert card["build"]["versions"]["wiki"] == "MediaWiki 1.39.0"
    assert card["build"]["notes"] == ["1 tail entities were found of the 2 that were wanted"]


def test_progress_counts_up_in_every_stage(built: Built) -> None:
    steps = {stage: [(done, total) for name, done, total in built.server if name == stage] for stage in STAGES}
    # How many names there will be nobody knows.
    assert steps["spaces"] == [(done, None) for done in range(1, 6)]
    for stage, first, total in (("commonness", 1, 11), ("references", 1, 11), ("crawl", 0, 8), ("snippets", 1, 7)):
        assert steps[stage] == [(done, total) for done in range(first, total + 1)]
    # One tail entity of the two that were wanted. The house and the abbey are rare enough; one page is cited.
    assert steps["tail"] == [(0, 2), (1, 2)]
    inner = [(name, done, total) for name, done, total in built.server if name.startswith("tail: ")]
    assert inner == [
        *(("tail: references", done, 2) for done in (1, 2)),
        *(("tail: crawl", done, 1) for done in (0, 1)),
        ("tail: snippets", 1, 1),
    ]
    assert list(dict.fromkeys(name for name, _, _ in built.server if ":" not in name)) == list(STAGES[:-1])


def test_every_request_is_sent_once_with_the_user_agent(built: Built) -> None:
    assert max(Counter(built.questions).values()) == 1
    assert built.agents == {"tests (+nobody)"}


def subset_golds(dataset: Dataset | None, subset: str) -> list[str | None]:
    assert dataset is not None
    return [snippet.gold for snippet in dataset.snippets(subset)]  # type: ignore[arg-type]


def test_the_limit_of_the_tail_is_the_median_of_shadow(tmp_path: Path) -> None:
    def with_a_known_hall(served: Web) -> StandIn:
        standin = small_wiki(served)
        standin.pages["Harlow Hall"]["linkshere"] = [{"pageid": number} for number in (901, 902, 903)]
        return standin

    with small(with_a_known_hall) as world:
        # Of 3, 3 and 2 the median is 3, which the mill has too.
        assert set(subset_golds(world.build(tmp_path / "out"), "tail")) == {"Tarn House", "Upton Mill"}
    assert read_funnels(tmp_path / "out")[5].dropped["more common than the median of Shadow"] == 1


def test_a_tail_of_many_rounds_keeps_the_pages_of_all_of_them(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shadowprobe.build.tail.BATCH", 5)
    rounds: list[str] = []
    built.world.build(tmp_path / "out", progress=lambda stage, *_: rounds.append(stage))
    # Twenty-three pages, five at a time; the abbey, the house, the mill and the river are in at least one round.
    assert rounds.count("tail") > 1
    assert (made(tmp_path / "out"), subset_golds(Dataset.read(tmp_path / "out"), "tail")) == (
        made(built.out),
        ["Tarn House"],
    )


def test_a_tail_snippet_that_nearly_repeats_another_snippet_is_dropped(tmp_path: Path) -> None:
    sentence = (
        "The ceiling of {} was painted by a man who could not see, and nobody who came to look at it in those years"
        " ever said a word of it."
    )
    said = SAID | {"/hall": [sentence.format("Harlow Hall")], "/tarn": [sentence.format("Tarn House")]}
    with small(said=said) as world:
        dataset = world.build(tmp_path / "out")
    assert subset_golds(dataset, "tail") == []
    assert read_funnels(tmp_path / "out")[5].dropped["no snippet was found"] == 2


def test_settings_decide_how_much_is_made(built: Built, tmp_path: Path) -> None:
    world = built.world
    assert world.build(tmp_path / "no tail", tail=0) is not None
    assert Dataset.read(tmp_path / "no tail").count("tail") == 0
    assert read_funnels(tmp_path / "no tail")[5] == Funnel("tail")
    one = world.build(tmp_path / "one", limit=1)
    assert one is not None
    assert list(one.spaces) == ["Harlow"]
    world.build(tmp_path / "cited", references=1)
    # The bridge has another that could be followed, and so has the ship.
    assert read_funnels(tmp_path / "cited")[2].dropped["more references than are followed"] == 2
    assert read_funnels(tmp_path / "cited")[2].kept == 9 - 2
    world.build(tmp_path / "cut", snippets=1)
    assert read_funnels(tmp_path / "cut")[4].dropped["more than enough from one page"] == 1
    assert "top.jsonl" not in {path.name for path in (tmp_path / "cut" / "train").iterdir()}


def test_every_seed_draws_from_the_same_snippets(built: Built, tmp_path: Path) -> None:
    drawn = set()
    for seed in range(12):
        out = tmp_path / str(seed)
        dataset = built.world.build(out, seed=seed)
        assert dataset is not None
        drawn.add(next(dataset.snippets("shadow")).gold)
        assert [funnel.kept for funnel in read_funnels(out)] == [5, 11, 9, 7, 8, 1, 2]
    # That a fair coin falls on one side twelve times happens once in 2048 choices of the seeds.
    assert drawn == {"Mount Harlow", "Harlow Hall"}


def test_neutral_contexts_can_be_the_users_own(built: Built, tmp_path: Path) -> None:
    dataset = built.world.build(tmp_path / "out", neutral=("Grüße aus {name}!",))
    assert dataset is not None
    assert [each.text for each in dataset.snippets("neutral")] == ["Grüße aus Harlow!", "Grüße aus Kestrel!"]


def test_a_sentence_about_something_with_a_longer_name_makes_no_snippet(tmp_path: Path) -> None:
    def with_a_school(served: Web) -> StandIn:
        standin = small_wiki(served)
        standin.add("Harlow Hall School", 500)
        return standin

    said = SAID | {"/hall": ["The ceiling of Harlow Hall School was painted by a man who could not see."]}
    with small(with_a_school, said) as world:
        dataset = world.build(tmp_path / "out")
        before, asked = made(tmp_path / "out"), world.asked
        world.build(tmp_path / "out", from_archive=True)
    assert read_funnels(tmp_path / "out")[4].dropped["part of a longer name that the wiki knows"] == 1
    # Of Harlow's shadows the mountain is left.
    assert subset_golds(dataset, "shadow") == ["Mount Harlow", "SS Kestrel"]
    assert (made(tmp_path / "out"), world.asked) == (before, asked)


def test_a_wiki_without_ambiguous_names_is_an_error(tmp_path: Path) -> None:
    with small(lambda _: StandIn(extensions=("Disambiguator",))) as world:
        with pytest.raises(BuildError, match=rf"^{world.url}: no name of two articles was found"):
            world.build(tmp_path / "out")
        assert read_funnels(tmp_path / "out") == []


def test_pages_without_mentions_give_an_error_that_says_where_to_look(tmp_path: Path) -> None:
    with (
        small(said={path: [] for path in SAID}) as world,
        pytest.raises(BuildError, match=rf"`shadowprobe build status --out {tmp_path / 'out'}` shows where"),
    ):
        world.build(tmp_path / "out")
    assert [funnel.stage for funnel in read_funnels(tmp_path / "out")] == list(STAGES[:-1])
    assert not (tmp_path / "out" / "dataset.json").exists()


def test_a_wrong_snippet_keeps_the_dataset_from_being_written(tmp_path: Path) -> None:
    with small() as world:
        world.build(tmp_path / "out")
        before = (tmp_path / "out" / "top.jsonl").read_bytes()
        cuts = tmp_path / "out" / "build" / "cuts.jsonl"
        cuts.write_text(cuts.read_text().replace("were cut by hand", "were cut by foot"))
        with pytest.raises(
            BuildError, match=r"'Harlow Bridge' .* is wrong, and nothing was written: the page does not"
        ):
            world.build(tmp_path / "out", "assemble")
    assert (tmp_path / "out" / "top.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "lacking", "stage"),
    [("entities", "Harlow Bridge", "commonness"), ("tail", "Tarn House", "tail"), ("tail-cuts", "Tarn House", "tail")],
)
def test_a_file_of_a_stage_that_was_emptied_is_named_with_what_makes_it_anew(
    built: Built, tmp_path: Path, name: str, lacking: str, stage: str
) -> None:
    out = tmp_path / "out"
    shutil.copytree(built.out, out)
    (out / "build" / f"{name}.jsonl").write_bytes(b"")
    with pytest.raises(InputError) as refusal:
        built.world.build(out, "assemble")
    again = f"`shadowprobe build {stage} --out {out}` makes it again"
    assert str(refusal.value) == f"{out / 'build' / f'{name}.jsonl'}: lacks `{lacking}`: {again}"
    built.world.build(out, stage)
    built.world.build(out)
    assert made(out) == made(built.out)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this machine has no device that is always full")
def test_a_full_disk_is_one_line_that_names_the_file(built: Built, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(built.out, out)
    texts = out / "build" / "snippets-texts.jsonl"
    texts.unlink()
    texts.symlink_to("/dev/full")
    with pytest.raises(UsageError) as refusal:
        built.world.build(out, "snippets")
    assert str(refusal.value) == f"{texts}: cannot be written (No space left on device)"
    texts.unlink()
    built.world.build(out)
    assert made(out) == made(built.out)


def test_stages_run_one_by_one_end_as_all_of_them_at_once(built: Built, tmp_path: Path) -> None:
    found = [built.world.build(tmp_path / "out", stage) for stage in STAGES]
    assert found[:-1] == [None] * 6
    assert made(tmp_path / "out") == made(built.out)


@pytest.mark.parametrize("stage", STAGES[1:])
def test_a_stage_without_those_before_it_says_which_is_lacking(built: Built, tmp_path: Path, stage: str) -> None:
    with pytest.raises(UsageError, match=f"^`{stage}` needs what `spaces` makes: run `shadowprobe build spaces --out "):
        built.world.build(tmp_path / "out", stage)


def test_a_stage_that_runs_anew_makes_the_later_ones_stale(tmp_path: Path) -> None:
    with small() as world:
        world.build(tmp_path / "out")
        before = made(tmp_path / "out")
        assert world.build(tmp_path / "out", "references") is None
        assert [funnel.stage for funnel in read_funnels(tmp_path / "out")] == ["spaces", "commonness", "references"]
        with pytest.raises(UsageError, match=r"^`snippets` needs what `crawl` makes"):
            world.build(tmp_path / "out", "snippets")
        world.build(tmp_path / "out")
        assert made(tmp_path / "out") == before


def test_what_the_stages_hand_on_can_be_read(built: Built) -> None:
    cuts = [cut for _, cut in read_lines(built.out / "build" / "cuts.jsonl", Cut)]
    assert {cut.original for cut in cuts} == {
        sentence for path, said in SAID.items() if path not in {"/tarn", "/mill"} for sentence in said
    }
    assert all(cut.restored() == cut.original for cut in cuts)


def test_a_finished_build_leaves_no_parts_and_no_halves_of_files(built: Built, tmp_path: Path) -> None:
    out = tmp_path / "out"
    halves = [out / ".top.jsonl.x.half", out / "build" / ".cuts.jsonl.x.half", out / "train" / ".x.half"]
    for half in halves:
        half.parent.mkdir(parents=True, exist_ok=True)
        half.touch()
    built.world.build(out)
    assert not any(half.exists() for half in halves)
    assert not (out / "build" / "snippets-parts").exists()
    assert made(out) == made(built.out)


def test_another_storage_than_before_is_refused_before_the_wiki_is_asked(built: Built, tmp_path: Path) -> None:
    archive = tmp_path / "out" / "build" / "archive"
    archive.mkdir(parents=True)
    (archive / "storage.txt").write_text("/shared/pages\n")
    asked = built.world.asked
    with pytest.raises(UsageError, match=r"^--storage /other: the pages of this build are at /shared/pages;"):
        built.world.build(tmp_path / "out", storage="/other")
    assert built.world.asked == asked


def test_at_most_sixty_articles_are_drawn_for_each_wanted_tail_entity(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [[FoundEntity(f"Page {first + number}", first + number) for number in range(30)] for first in (0, 30, 60)]
    waiting = iter(batches)
    monkeypatch.setattr(WikiArticles, "draw_articles", lambda *_: waiting)
    monkeypatch.setattr(Build, "_cut_tail", lambda *_: ({}, []))
    built.world.build(tmp_path / "out", tail=1)
    assert list(waiting) == batches[2:]
    assert read_funnels(tmp_path / "out")[5] == Funnel("tail", 60, 0, {"no snippet was found": 60})


def test_no_more_tail_entities_are_kept_than_wanted(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The house and the mill are in the tail if it has room for both, and the river is one more.
    titles = ("Tarn House", "Upton Mill", "River Rowan")
    pages = {title: built.world.standin.pages[title]["pageid"] for title in titles}
    drawn = [[FoundEntity(title, number) for title, number in pages.items()]]
    monkeypatch.setattr(WikiArticles, "draw_articles", lambda *_: iter(drawn))
    assert subset_golds(built.world.build(tmp_path / "one", tail=1), "tail") == ["Tarn House"]
    assert subset_golds(built.world.build(tmp_path / "two", tail=2), "tail") == ["Tarn House", "Upton Mill"]
    card = json.loads((tmp_path / "two" / "dataset.json").read_text())
    assert card["build"]["notes"] == []
