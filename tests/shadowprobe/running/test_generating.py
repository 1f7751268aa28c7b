"""The task of a language model that makes sets: how many prompts there are, and what is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from generation_world import AVON_SET, DOCUMENTS, FUNNELS, PROMPTS, find_reply

from shadowprobe import Failure, UsageError
from shadowprobe.queries.query import Query
from shadowprobe.running.generating import GeneratingTask, generate_sets
from shadowprobe.sets.name_documents import GatheredNames, NameDocuments
from shadowprobe.systems.reader import Reader


class Writer(Reader):
    """Writes what is worked out by hand, three prompts at a time; it fails on what it does not like."""

    name = "writer"
    batch_size = 3

    def __init__(self) -> None:
        self.disliked = ""
        self.notes = []
        self.asked: list[list[str]] = []

    def write(self, prompts: Sequence[Query]) -> Sequence[str | Failure | None]:
        self.asked.append([prompt.id for prompt in prompts])
        return [None if prompt.id == self.disliked else find_reply(prompt.text) for prompt in prompts]


class Reads(Reader):
    name = "reads"


def gather(*names: str) -> GatheredNames:
    """The documents about these names, or about all."""
    chosen = names or tuple(dict.fromkeys(one.title.partition(" ")[0] for one in DOCUMENTS))
    documents = [
        NameDocuments(name, tuple(one for one in DOCUMENTS if one.title.startswith(f"{name} "))) for name in chosen
    ]
    return GatheredNames(documents, {"name": "rivers", "digest": "0"}, {"limit": None})


def test_all_prompts_are_asked_questions_first(tmp_path: Path) -> None:
    writer = Writer()
    task = GeneratingTask(writer, gather())
    # Before anything is asked, every document of the 7 shared names may need an answer.
    assert (task.total, task.waiting) == (7 + 15, 7 + 15)
    finished = generate_sets(task, tmp_path / "out")
    assert [len(batch) for batch in writer.asked] == [3, 3, 1, 3, 3, 1]
    assert finished.outcome.answered == PROMPTS
    assert task.waiting == 0
    assert finished.results["funnels"] == [
        {**FUNNELS[0], "seen": 8, "dropped": {"name with fewer than two documents": 1}},
        *FUNNELS[1:],
    ]
    assert (finished.results["sets"], finished.results["documents"]) == (1, 2)
    assert json.loads((tmp_path / "out/ambigdocs.json").read_text()) == [AVON_SET]
    # Four questions and four answers are rejected, and two questions for want of answers.
    assert len((tmp_path / "out/rejected.jsonl").read_text().splitlines()) == 4 + 4 + 2


def test_a_prompt_that_fails_waits_for_the_next_run(tmp_path: Path) -> None:
    writer = Writer()
    writer.disliked = "Berg"
    finished = generate_sets(GeneratingTask(writer, gather("Avon", "Berg")), tmp_path / "out")
    # Two questions and the three documents of Avon; those of Berg may need an answer each.
    assert (finished.outcome.answered, finished.outcome.failed, finished.results["missing"]) == (4, 1, 3)
    writer = Writer()
    again = generate_sets(GeneratingTask(writer, gather("Avon", "Berg")), tmp_path / "out")
    assert (again.outcome.resumed, again.outcome.answered, again.results["missing"]) == (4, 3, 0)
    assert writer.asked == [["Berg"], ["Berg\nBerg (river)", "Berg\nBerg (ship)"]]


def test_replies_are_stored_as_lines(tmp_path: Path) -> None:
    task = GeneratingTask(Writer(), gather("Como"))
    generate_sets(task, tmp_path / "out")
    assert (tmp_path / "out/replies.jsonl").read_bytes() == task.encode_answers(tmp_path)
    assert json.loads(task.encode_answers(tmp_path)) == {"id": "Como", "reply": "Where does the river Como end?"}


def test_what_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reader `reads` has no language model that writes questions"):
        GeneratingTask(Reads(), gather())
    with pytest.raises(UsageError, match="no two documents of `rivers` are about one name"):
        GeneratingTask(Writer(), gather("Fleet"))
    task = GeneratingTask(Writer(), gather("Como"))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file; generated sets go to a directory"):
        generate_sets(task, tmp_path / "file")


@pytest.mark.parametrize("name", ["ambigdocs.json", "rejected.jsonl", "run.json"])
def test_files_of_others_are_written_over_only_by_force(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match=f"{name} exists; give another --out, or --force"):
        generate_sets(GeneratingTask(Writer(), gather("Como")), tmp_path)
    generate_sets(GeneratingTask(Writer(), gather("Como")), tmp_path, force=True)
    assert json.loads((tmp_path / "ambigdocs.json").read_text()) == []
