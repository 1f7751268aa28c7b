"""What a run found, as results.json holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from shadowprobe.answers import MISSING, Answers
from shadowprobe.errors import PluginError
from shadowprobe.jsonl import as_read_back
from shadowprobe.probe import Findings, Probe, VariantProbe
from shadowprobe.variants import Varied

Results = dict[str, Any]
SCHEMA = 1


def measure(
    answers: Answers,
    probes: Iterable[Probe],
    *,
    linker: dict[str, Any],
    notes: Iterable[str] = (),
    varied: Mapping[str, Mapping[str, Varied]] | None = None,
) -> Results:
    """Asks every probe and gathers the findings; no time and no path, so that equal runs give equal results.

    `varied` has the answers to the variants of the probes that need some, by the name of the probe.
    """
    dataset = answers.dataset
    results: Results = {
        "schema": SCHEMA,
        "linker": linker,
        "dataset": {
            "name": dataset.name,
            "version": dataset.card.version,
            "digest": dataset.digest,
            "spaces": len(dataset.spaces) if dataset.limit is None else min(dataset.limit, len(dataset.spaces)),
            "snippets": len(answers),
            "limit": dataset.limit,
        },
        "settings": {
            "bootstrap_rounds": answers.rounds,
            "bootstrap_seed": answers.seed,
            "gerbil_threshold": answers.gerbil_threshold,
            "redirects": answers.redirects_digest,
        },
        "missing": int(np.count_nonzero(answers.entity == MISSING)),
        "identity": {**answers.rules, "page_id_conflicts": answers.page_id_conflicts},
        "notes": list(notes),
        "probes": {},
    }
    for probe in probes:
        place = results if probe.top_level else results["probes"]
        if probe.name in place:
            raise PluginError(
                f"probe `{probe.name}`: results.json has that name already, from another probe or its own"
            )
        place[probe.name] = _findings(probe, answers, (varied or {}).get(probe.name))
    return results


def _findings(probe: Probe, answers: Answers, varied: Mapping[str, Varied] | None) -> Findings:
    """What a probe found, as JSON will hold it."""
    try:
        if isinstance(probe, VariantProbe) and varied is not None:
            found = as_read_back(probe.compare(answers, varied))
        else:
            found = as_read_back(probe.measure(answers))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"probe `{probe.name}` failed: {what} (--debug shows where)") from error
    if not isinstance(found, dict):
        raise PluginError(f"probe `{probe.name}`: measure() must return a table of findings, not {found!r}")
    return found
