"""Scores the answers of annotators, whatever study they are of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shadowprobe.errors import UsageError
from shadowprobe.human_study.amber_sample import AmberKey
from shadowprobe.human_study.amber_score import UserStudy, measure_user_study
from shadowprobe.human_study.ambigdocs_sample import AmbigdocsKey
from shadowprobe.human_study.ambigdocs_score import CategoryAgreement, measure_categories
from shadowprobe.human_study.annotations import read_annotations
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.shadowlink_score import Agreement, measure_agreement

AnyScore = Agreement | UserStudy | CategoryAgreement


def score_answers(sample: Path, answers: Sequence[Path], runs: Sequence[Path] = ()) -> AnyScore:
    """Compares annotators with the key of a sample, with each other, and for AmbER with the runs of systems."""
    key = read_key(sample)
    if runs and not isinstance(key, AmberKey):
        raise UsageError(f"--run: goes with a sample of --study amber, and {sample} is one of {key.study}")
    annotations = read_annotations(answers, key)
    if isinstance(key, AmberKey):
        from shadowprobe.human_study.amber_systems import read_systems

        return measure_user_study(key, annotations, read_systems(runs, key))
    if isinstance(key, AmbigdocsKey):
        return measure_categories(key, annotations)
    return measure_agreement(key, annotations)
