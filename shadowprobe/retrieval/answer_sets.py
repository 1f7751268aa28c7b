"""The sets that a language model is asked about, and the probes that read its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowprobe import plugins
from shadowprobe.catalogue import builtin_directory
from shadowprobe.errors import PluginError, ShadowprobeError, UsageError
from shadowprobe.jsonl import as_read_back, file_digest
from shadowprobe.probe import Findings
from shadowprobe.results import Results
from shadowprobe.retrieval.ambigdocs import FILE, AmbigSet, read_ambigdocs
from shadowprobe.retrieval.probe import AnswerProbe
from shadowprobe.statistics import ROUNDS, SEED

BUILTIN, BUILTIN_NAME = "builtin", "namesakes"
SCHEMA = 1


class Sets:
    """Sets of a file with the probes that read the answers to them, checked before anything is asked."""

    def __init__(
        self,
        queries: str = BUILTIN,
        *,
        documents: int | None = None,
        limit: int | None = None,
        probes: Sequence[str] = (),
        rounds: int = ROUNDS,
        seed: int = SEED,
    ) -> None:
        if not queries:
            raise UsageError(f"--queries: is empty; give a file, or `{BUILTIN}`")
        self.location = queries
        self.path = builtin_directory(BUILTIN_NAME) / FILE if queries == BUILTIN else Path(queries)
        self.name = BUILTIN_NAME if queries == BUILTIN else self.path.stem
        self.documents, self.limit = documents, limit
        found = read_ambigdocs(self.path)
        # What a file of answers may hold; a limited job may well go on in the directory of a longer one.
        self.known = {one.id: one.question for one in found}
        self.sets = [one if documents is None else one.first(documents) for one in found[:limit]]
        self.digest = file_digest(self.path)
        self.probes = [plugins.make_retrieval_probe(name, AnswerProbe) for name in probes or _all_probes()]
        if not self.probes:
            raise PluginError("no probe that is installed reads answers: install shadowprobe again")
        for probe in self.probes:
            probe.rounds, probe.seed = rounds, seed
        self.settings = {"bootstrap_rounds": rounds, "bootstrap_seed": seed}

    @property
    def described(self) -> dict[str, Any]:
        """The questions as a run records them: all that decides about the prompts."""
        return {"name": self.name, "digest": self.digest, "documents": self.documents}

    def measured(self, answers: Mapping[str, str], model: Mapping[str, Any], notes: Sequence[str] = ()) -> Results:
        """What every probe finds in the answers; no time and no path, so that equal runs give equal results."""
        return {
            "schema": SCHEMA,
            "model": dict(model),
            "queries": {**self.described, "sets": len(self.sets), "limit": self.limit},
            "settings": self.settings,
            "missing": sum(one.id not in answers for one in self.sets),
            "notes": list(notes),
            "probes": {probe.name: _findings(probe, self.sets, answers) for probe in self.probes},
        }


def _all_probes() -> Iterator[str]:
    """The probes that read answers, of all that there are."""
    for name in plugins.names(plugins.RETRIEVAL_PROBES):
        try:
            plugins.make_retrieval_probe(name, AnswerProbe)
        except PluginError:
            continue
        yield name


def _findings(probe: AnswerProbe, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Findings:
    try:
        found: Findings = as_read_back(probe.measure(sets, answers))
    except ShadowprobeError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"probe `{probe.name}` failed: {what} (--debug shows where)") from error
    return found
