"""A finished run corrected for its prior: what that changes, and the corrected answers as a run of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import shadowprobe
from shadowprobe.base.files import file_digest, write_atomically
from shadowprobe.base.jsonl import convert_to_json, encode_json, encode_lines, read_lines
from shadowprobe.base.model import Prediction
from shadowprobe.errors import UsageError
from shadowprobe.measure.candidate_scores import CandidateScores, Kind, describe_scale
from shadowprobe.measure.debiasing import BOTH_RIGHT, TOP_LOSS, Correction, Debiasing, debias
from shadowprobe.measure.stored_priors import SCHEMA
from shadowprobe.running.api import score_predictions
from shadowprobe.running.debias_file import WEIGHT, Found
from shadowprobe.running.directory import (
    DEBIAS,
    PREDICTIONS,
    RESULTS,
    RUN,
    RunCard,
    make_relative,
    read_card,
    refuse_existing,
)
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.kinds import NOUNS
from shadowprobe.running.linking import Settings
from shadowprobe.running.stored import write_run

# Why answers are left as they are, in words.
REASONS = {
    "nil": "NIL",
    "no_answer": "no answer",
    "no_candidates": "no candidates",
    "no_scores": "candidates without scores",
    "answer_not_best": "an answer that is not the best of its candidates",
    "one_candidate": "one candidate only",
    "no_neutral_scores": "a name without scores in neutral contexts",
}


class CorrectedRun(NamedTuple):
    """What debias.json holds, and the directory of the corrected run."""

    found: Found
    out: Path


class Plan(NamedTuple):
    """A run that can be corrected, and the directory that the corrected run may be written to."""

    run: FinishedRun
    card: RunCard
    correction: Correction
    out: Path
    weight: float | None
    top_loss: float


def correct_run(
    run: FinishedRun,
    out: Path | None = None,
    *,
    weight: float | None = None,
    top_loss: float | None = None,
    scale: Kind | None = None,
    force: bool = False,
) -> CorrectedRun:
    """Corrects the stored answers of a run and writes debias.json beside them; asks no system.

    `top_loss` is the share of right answers on Top that a chosen weight may cost.
    """
    return carry_out(plan_correction(run, out, weight=weight, top_loss=top_loss, scale=scale, force=force))


def plan_correction(
    run: FinishedRun,
    out: Path | None,
    *,
    weight: float | None,
    top_loss: float | None,
    scale: Kind | None,
    force: bool,
) -> Plan:
    """Refuses a run that cannot be corrected; writes nothing."""
    _check_choice(weight, top_loss)
    card = _check(run)
    target = out or _name_target(run.path)
    if target.resolve() == run.path.resolve():
        raise UsageError(f"--out {target}: is the run itself; name another directory")
    if not force:
        refuse_existing(target, (RESULTS, RUN, PREDICTIONS))
    _check_scale(run, scale)
    correction = Correction(run.answers, scale)
    _refuse_uncorrectable(run, correction.scores)
    return Plan(run, card, correction, target, weight, TOP_LOSS if top_loss is None else top_loss)


def carry_out(plan: Plan) -> CorrectedRun:
    """Corrects the answers of a run with a weight or with chosen ones, and writes what was found."""
    run, correction = plan.run, plan.correction
    debiasing = debias(correction, plan.weight, top_loss=plan.top_loss)
    notes = list(_list_notes(run, correction.scores, debiasing))
    found = _describe(run, correction, debiasing, notes)
    stored = (prediction for _, prediction in read_lines(run.path / PREDICTIONS, Prediction))
    rows = run.answers.row
    lines = encode_lines(
        correction.correct_predictions(
            ((rows.get(prediction.id), prediction) for prediction in stored), debiasing.weight_of_space
        )
    )
    write_atomically(run.path / DEBIAS, encode_json(found))
    _write_run(run, plan.card, plan.out, lines, debiasing, notes)
    return CorrectedRun(found, plan.out)


def _name_target(path: Path) -> Path:
    """The directory beside a run that gets its corrected answers."""
    whole = path.resolve()
    # `.` and `..` have no name that could be replaced.
    place = path if path.name not in {"", ".."} else whole
    return place.with_name(f"{whole.name}-debiased")


def _check_choice(weight: float | None, top_loss: float | None) -> None:
    """Refuses a weight outside of 0 to 1, a limit outside of 0 to 100 points, and both together."""
    if weight is not None and not 0 <= weight <= 1:
        raise UsageError(f"--weight {weight:g}: give a number from 0 (no correction) to 1")
    if top_loss is not None and not 0 <= top_loss <= 1:
        raise UsageError(f"--top-loss {100 * top_loss:g}: give points from 0 to 100")
    if weight is not None and top_loss is not None:
        raise UsageError("--top-loss: limits the weights that are chosen from, and --weight gives the weight")


def _check(run: FinishedRun) -> RunCard:
    """The card of a run that can be corrected."""
    if run.kind != "linker":
        raise UsageError(f"{run.path} is a run of a {NOUNS[run.kind]}; only answers of linkers can be corrected")
    if WEIGHT in run.system["options"]:
        raise UsageError(f"{run.path} is corrected already; give the run that it was made from")
    return read_card(run.path / RUN)


def _check_scale(run: FinishedRun, scale: Kind | None) -> None:
    """Refuses the logarithms of scores that have none."""
    score = run.answers.candidates.score
    if scale == "probability" and len(score) and score.min() < 0:
        raise UsageError(
            f"--scale probability: {run.path} has a score of {score.min():.3g}, and a probability is not below 0;"
            " choose log or other"
        )


def _refuse_uncorrectable(run: FinishedRun, scores: CandidateScores) -> None:
    """Refuses a run of which no answer can be corrected, and says why."""
    answers = run.answers
    if not answers.rows("neutral").any():
        raise UsageError(f"{run.path}: the dataset `{run.data['name']}` has no neutral contexts to take a prior from")
    if why := scores.explain_left(answers.has_gold):
        raise UsageError(f"{run.path}: cannot be corrected: {why}")


def _list_notes(run: FinishedRun, scores: CandidateScores, debiasing: Debiasing) -> Iterator[str]:
    """What a careful reader must know of a correction."""
    answers = run.answers
    rows = answers.scored("top", "shadow", "all")
    left = {reason: count for reason, count in scores.count_left(rows).items() if count}
    if left:
        words = ", ".join(f"{count} with {REASONS[reason]}" for reason, count in left.items())
        yield f"{sum(left.values())} of {int(np.count_nonzero(rows))} answers are left as they are: {words}"
    borrowed = ~scores.has_own_prior & scores.can_change[scores.lists.row_of]
    if borrowed.any():
        yield (
            f"{int(np.count_nonzero(borrowed))} candidates are in no neutral context of their name; the lowest mean of"
            " the name is subtracted from them"
        )
    if sentence := describe_scale(scores.scale, scores.score):
        yield sentence
    if debiasing.chosen_by == "default":
        yield f"too few names have a Top and a Shadow snippet to choose a weight; it is {debiasing.weight:g}"
    if debiasing.chosen_by == "cross-fit" and (best := _find_costly_weight(debiasing)) is not None:
        yield (
            f"a weight of {best['weight']:g} makes the most names right in both contexts, but costs"
            f" {100 * (debiasing.curve[0]['top'] - best['top']):.1f} points on Top: --top-loss allows such weights"
        )
    if run.results["settings"]["redirects"] is not None:
        yield "the run was counted with a redirect table, the correction is counted without it"


def _find_costly_weight(debiasing: Debiasing) -> dict[str, Any] | None:
    """The best weight over all names if it costs more on Top than it may; else None."""
    best = max(debiasing.curve, key=lambda point: point[BOTH_RIGHT])
    return best if debiasing.curve[0]["top"] - best["top"] > debiasing.top_loss + 1e-9 else None


def _describe(run: FinishedRun, correction: Correction, debiasing: Debiasing, notes: list[str]) -> Found:
    """What debias.json holds; no time and no path, so that equal runs give equal files."""
    answers, scores = run.answers, correction.scores
    found: Found = convert_to_json(debiasing)
    del found["weight_of_space"]
    after = correction.apply(debiasing.weight_of_space)
    return {
        "schema": SCHEMA,
        "linker": dict(run.system),
        "dataset": dict(run.data),
        "predictions": file_digest(run.path / PREDICTIONS),
        "settings": {"bootstrap_rounds": answers.rounds, "bootstrap_seed": answers.seed},
        "scale": scores.scale._asdict(),
        **found,
        "break_even": debiasing.break_even._asdict() if debiasing.break_even is not None else None,
        "answers": {
            "n": int(np.count_nonzero(answers.has_gold)),
            "changed": int(np.count_nonzero(answers.has_gold & (answers.entity != after.entity))),
            "left": scores.count_left(answers.has_gold),
        },
        "notes": notes,
        "priors": scores.priors(),
    }


def _write_run(
    run: FinishedRun, card: RunCard, target: Path, predictions: bytes, debiasing: Debiasing, notes: list[str]
) -> None:
    """The corrected answers as a run directory, measured like any other."""
    weights = sorted(set(debiasing.weight_of_space.tolist()))
    weight = "/".join(f"{one:g}" for one in weights)
    own_names = " (for each half of the names the weight that was chosen on the other)" if len(weights) > 1 else ""
    origin = f"answers of `{run.system['name']}`, corrected by `shadowprobe debias` with weight {weight}{own_names}"
    new_card = replace_card(card, {WEIGHT: weight}, [f"{origin}; no system was asked", *notes])
    if card.relative_locations and (relative := make_relative(run.dataset.path, target)) is not None:
        new_card.relative_locations = {"dataset": relative}
    write_run(target, new_card, PREDICTIONS, predictions)
    settings = run.results["settings"]
    score_predictions(
        target,
        run.dataset,
        settings=Settings(
            gerbil_threshold=settings["gerbil_threshold"],
            rounds=settings["bootstrap_rounds"],
            seed=settings["bootstrap_seed"],
            gerbil_nil=run.counts_nil,
        ),
        location=card.location_of("dataset") or None,
    )


def replace_card(card: RunCard, options: dict[str, Any], notes: list[str]) -> RunCard:
    """The card of a corrected run: the same linker and questions, with an option and notes that say so."""
    linker = {**card.system, "name": f"{card.system['name']} debiased"}
    linker["options"] = {**card.system["options"], **options}
    return RunCard(
        linker=linker,
        dataset=card.dataset,
        shadowprobe=shadowprobe.__version__,
        notes=[*card.notes, *notes],
        locations=card.locations,
        name=f"{card.name} debiased" if card.name else "",
    )
