"""The file of a study, read without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import InputError, Settings
from shadowprobe.running.study import Combination, Study, StudyLinker, assign_options
from shadowprobe.running.study_file import read_study

LEAST = """\
datasets = ["mini"]
[[systems]]
linker = "prior"
"""
EVERYTHING = """\
datasets = ["mini", "own"]
out = "made"
limit = 3
probes = ["overshadowing", "mine.py:Probe"]
also = ["masked_mention", "deep/mine.py:Probe"]
redirects = "table.tsv"
gerbil_threshold = true
gerbil_nil = true
bootstrap_rounds = 100
bootstrap_seed = 0
batch_size = 1
keep_replies = true
concurrency = 4

[[systems]]
linker = "blend"
name = "half"
options = { weight = 0.5 }

[[systems]]
linker = "replay"
options = { file = "../answers.jsonl" }

[[systems]]
linker = "blend"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("papers/own").mkdir(parents=True)


def read(text: str, *, force: bool = False) -> Study:
    Path("papers/study.toml").write_text(text)
    return read_study(Path("papers/study.toml"), force=force)


def test_a_study_that_says_little_is_as_the_command_line_without_options() -> None:
    assert read(LEAST) == Study(linkers=[StudyLinker("prior")], datasets=["mini"], folder=Path("papers/runs"))
    plain = read(LEAST)
    assert plain.settings == Settings()
    assert (plain.limit, plain.batch_size, plain.keep_replies, plain.concurrency) == (None, None, False, 1)
    assert (plain.force, read(LEAST, force=True).force) == (False, True)


def test_every_key_reaches_the_study_and_paths_are_relative_to_the_file() -> None:
    assert read(EVERYTHING) == Study(
        linkers=[
            StudyLinker("blend", {"weight": "0.5"}, "half"),
            StudyLinker("replay", {"file": "answers.jsonl"}),
            StudyLinker("blend"),
        ],
        datasets=["mini", "papers/own"],
        folder=Path("papers/made"),
        settings=Settings(
            probes=("overshadowing", "papers/mine.py:Probe"),
            also=("masked_mention", "papers/deep/mine.py:Probe"),
            redirects=Path("papers/table.tsv"),
            gerbil_threshold=True,
            rounds=100,
            seed=0,
            gerbil_nil=True,
        ),
        limit=3,
        batch_size=1,
        keep_replies=True,
        concurrency=4,
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("true", "true"),
        ("false", "false"),
        ("3", "3"),
        ('"./a/../b"', "papers/b"),
        ('"../b"', "b"),
        ('"b"', "b"),
        ('"http://127.0.0.1"', "http://127.0.0.1"),
    ],
)
def test_an_option_is_text_as_on_the_command_line(value: str, text: str) -> None:
    study = read(f'{LEAST}[[systems]]\nlinker = "replay"\noptions = {{ file = {value} }}\n')
    assert study.linkers[1].options == {"file": text}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("limit = 3", "limit = 0", "study.toml:3: field `limit`: expected a whole number >= 1"),
        ("batch_size = 1", "batch_size = 0", ": field `batch_size`: expected a whole number >= 1"),
        ("concurrency = 4", "concurrency = 0", ": field `concurrency`: expected a whole number >= 1"),
        ("bootstrap_rounds = 100", "bootstrap_rounds = 99", ": expected a whole number >= 100"),
        ("bootstrap_seed = 0", "bootstrap_seed = -1", ": field `bootstrap_seed`: expected a whole number >= 0"),
        # The last two have one name but for what a directory cannot be called.
        ('name = "half"', 'name = "blend"', "two systems are called `blend`; give each a `name` of its own"),
        ('"mini", "own"', '"mini", "nowhere"', "field `datasets`: `nowhere` is no directory and no known dataset"),
        ("weight = 0.5", "wieght = 0.5", "linker `blend` has no option `wieght` (did you mean `weight`?)"),
        ("limit = 3", "lmit = 3", "study.toml:3: field `lmit`: is no key of a study (did you mean `limit`?)"),
    ],
)
def test_the_least_values_are_allowed_and_those_below_are_not(old: str, new: str, words: str) -> None:
    assert old in EVERYTHING
    with pytest.raises(InputError) as refused:
        read(EVERYTHING.replace(old, new))
    assert words in str(refused.value)


def test_every_linker_is_on_every_dataset_and_those_of_one_dataset_follow_each_other() -> None:
    first, second = StudyLinker("prior"), StudyLinker("blend", name="x" * 70)
    study = Study(linkers=[first, second], datasets=["mini", "own"])
    assert study.combinations == [
        Combination(first, "mini"),
        Combination(second, "mini"),
        Combination(first, "own"),
        Combination(second, "own"),
    ]
    # What a message calls a combination is never long.
    assert study.combinations[0].label == "prior on mini"
    assert study.combinations[1].label == f"{'x' * 60}... on mini"


def test_an_option_goes_to_every_linker_that_has_it_and_the_more_special_one_counts() -> None:
    given = {"weight": "0.1", "blend.weight": "0.9"}
    assert assign_options(["prior", "blend"], given) == [
        StudyLinker("prior"),
        StudyLinker("blend", {"weight": "0.9"}),
    ]
    # One linker says itself what it takes.
    assert assign_options(["prior"], {"anything": "1"}) == [StudyLinker("prior", {"anything": "1"})]
