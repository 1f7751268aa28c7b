"""Stored answers, of a file or of a run directory, measured without asking any system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shadowprobe.base.files import lock_file, make_directory, write_atomically
from shadowprobe.base.jsonl import encode_json, read_json
from shadowprobe.errors import InputError, UsageError
from shadowprobe.running.directory import (
    RESULTS,
    RUN,
    Results,
    RunCard,
    describe_difference,
    refuse_existing,
    remove_derived,
)
from shadowprobe.running.job import FinishedJob, make_card
from shadowprobe.running.naming import default_directory
from shadowprobe.running.task import Task


def score_stored(
    task: Task, source: Path, *, name: str | None = None, out: Path | None = None, force: bool = False
) -> FinishedJob:
    """Measures stored answers and writes results.json beside a copy of them."""
    path = task.find_answers(source)
    card = task.read_card(path)
    system = card.system if card is not None else {"name": path.stem, "version": "", "options": {}}
    task.system = {**system, "name": name or system["name"]}
    # A run is scored in its own directory, unless its results go by another name.
    in_place = card is not None and name is None
    target = out or (path.parent if in_place else default_directory(task.system["name"], task.name))
    # The results of a run may be written again; other results may belong to another run.
    is_own = path.name == task.answers_file and target.resolve() == path.parent.resolve()
    if not is_own and not force:
        refuse_existing(target, (RESULTS, RUN, task.answers_file))
    task.prepare(path.parent if card is not None else None)
    task.load(path)
    task.load_further()
    notes = [*(card.notes if card is not None else ()), *task.notes]
    results = task.measure(notes)
    if in_place and out is None:
        _refuse_other_part(target, results, task)
    if not is_own:
        new_card = make_card(task, target)
        new_card.notes = notes
        # Beside their results, so that figures, reports and comparisons find them.
        write_run(target, new_card, task.answers_file, task.encode_answers(path))
    with lock_file(target, task.answers_file):
        write_atomically(target / RESULTS, encode_json(results))
    return FinishedJob(results, target)


def write_run(target: Path, card: RunCard, answers_file: str, answers: bytes) -> None:
    """Writes a card and answers that were made elsewhere; what belongs to earlier answers is removed."""
    make_directory(target)
    with lock_file(target, answers_file):
        remove_derived(target)
        write_atomically(target / RUN, encode_json(card))
        write_atomically(target / answers_file, answers)


def _refuse_other_part(run: Path, results: Results, task: Task) -> None:
    """Refuses to replace the results of a run with those over another part of its data, unless --out names the run."""
    try:
        earlier = read_json(run / RESULTS, dict[str, Any])
    except InputError:
        # There are none, or they are damaged.
        return
    for entry in (task.over, "queries"):
        if earlier.get(entry) != results.get(entry):
            difference = describe_difference(entry, earlier.get(entry), results.get(entry))
            raise UsageError(f"{run / RESULTS}: its {difference}; give the options of the run, or --out DIR")
