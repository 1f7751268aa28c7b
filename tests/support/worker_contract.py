"""What every wrapper of a system in an environment of its own must do, whatever system it is.

A test module gets all of it by one class and a fixture that calls `use_stand_in`; the stand-in stands in `systems/`.
What is peculiar to the system the module tests besides.

    class TestContract(WorkerContract):
        wrapper = "shadowprobe.linkers.blink:BlinkLinker"
        place = "models"

        def write(self, directory: Path) -> Path:
            return write_blink(directory)
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from asking import answers_of, marked, prediction_for
from standins import SYSTEMS
from world import shadow, top

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Snippet
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check


class WorkerContract:
    """All the tests; a subclass named Test... runs them against its wrapper."""

    # As `--linker` takes it.
    wrapper: ClassVar[str]
    # The option that names the directory of the system's models.
    place: ClassVar[str]

    def write(self, directory: Path) -> Path:
        """The directory with the models of the small world in it."""
        raise NotImplementedError(f"{type(self).__name__} must define write()")

    @classmethod
    def linker(cls, directory: Path, **options: str) -> Linker:
        """The wrapper, whose stand-in reads this directory."""
        return make_linker(cls.wrapper, {"python": sys.executable, cls.place: str(directory), **options})

    @classmethod
    def ask(cls, dataset: Dataset, directory: Path, *snippets: Snippet, **options: str) -> list[Prediction | Failure]:
        """What the stand-in says of a few snippets."""
        return answers_of(cls.linker(directory, **options), dataset.knowledge, *snippets)

    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        return self.write(tmp_path / "system")

    def test_every_snippet_gets_one_prediction_in_a_whole_run(
        self, world: Dataset, directory: Path, tmp_path: Path
    ) -> None:
        finished = make_linking_job(self.linker(directory), world, out=tmp_path / "run").run()
        assert finished.outcome is not None
        assert (finished.outcome.answered, finished.outcome.failed) == (world.count(), 0)
        assert [finished.results["subsets"][subset]["correct"] for subset in ("top", "shadow", "tail")] == [4, 4, 1]

    def test_the_battery_finds_nothing_broken(self, world: Dataset, directory: Path) -> None:
        assert [finding for finding in check(self.linker(directory), world) if not finding.holds] == []

    @pytest.mark.parametrize(
        "before",
        [
            pytest.param("Über die Brücke: crew ", id="umlauts"),
            pytest.param("\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A} crew ", id="beyond the BMP"),
        ],
    )
    def test_no_character_before_the_mention_moves_it(self, world: Dataset, directory: Path, before: str) -> None:
        # Not the first of all ships, which a system may name for want of a better one.
        snippet = marked(f"{before}[Berg] masts")
        assert prediction_for(self.linker(directory), world.knowledge, snippet).answer == shadow("Berg")

    def test_each_of_two_mentions_with_the_same_name_can_be_linked(self, world: Dataset, directory: Path) -> None:
        first, second = "A crew on [Avon]. It runs up Avon.", "A crew on Avon. It runs up [Avon]."
        answers = self.ask(world, directory, marked(first, "1"), marked(second, "2"))
        assert [get_answer(answer) for answer in answers] == [shadow("Avon"), top("Avon")]

    def test_a_title_with_an_umlaut_survives_a_plain_locale(self, world: Dataset, directory: Path) -> None:
        snippet = marked("From [Köln] down the Rhine.")
        assert prediction_for(self.linker(directory), world.knowledge, snippet).answer == "Köln"

    def test_what_goes_out_is_shown_as_the_worker_gets_it(self) -> None:
        sent = json.loads(self.linker(Path("nowhere")).outgoing(marked("\N{CLAPPER BOARD} [Avon]", "s1")))
        assert sent == {"id": "s1", "text": "\N{CLAPPER BOARD} Avon", "start": 2, "end": 6}

    def test_without_the_package_it_says_what_prints_the_commands(
        self, world: Dataset, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("PYTHONPATH")
        linker = self.linker(directory)
        with pytest.raises(LinkerError) as raised:
            linker.open(world.knowledge)
        problem, _, advice = str(raised.value).partition("; ")
        assert problem.startswith(
            f"`{linker.name}` does not work in {sys.executable}: ModuleNotFoundError: No module named '{linker.name}"
        )
        assert advice == f"`shadowprobe check --linker {linker.name}` prints how to make it"

    def test_the_commands_make_the_environment_and_end_with_the_check(self) -> None:
        linker = self.linker(Path("nowhere"))
        *commands, last = linker.howto.splitlines()
        (made,) = [line.split()[4] for line in commands if line.startswith("conda create -y -p ")]
        assert last.startswith(f"shadowprobe check --linker {linker.name} -o python={made}/bin/python -o {self.place}=")


def use_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets workers find the stand-ins, in a locale in which an old Python reads no UTF-8 of its own accord."""
    # What is on the path already stays there: scripts/mutate changes modules by it.
    monkeypatch.setenv("PYTHONPATH", str(SYSTEMS), prepend=os.pathsep)
    monkeypatch.setenv("LC_ALL", "C")
    # Else a Python of today would take UTF-8 in this locale too.
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    monkeypatch.setenv("PYTHONUTF8", "0")


def get_answer(answer: Prediction | Failure) -> str:
    """The answer that a prediction gives, or its status where it has none."""
    assert isinstance(answer, Prediction), answer
    return answer.answer or answer.status
