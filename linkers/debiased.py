"""Any linker, corrected for its prior: a part of what each candidate scores without context is subtracted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shadowprobe import Failure, Linker, LinkerError, Prediction, Resolver, Snippet, UsageError
from shadowprobe.base.languages import known_languages, read_templates, words_of
from shadowprobe.measure.answer_columns import AnswerColumns
from shadowprobe.measure.candidate_scores import ROUNDING, CandidateScores, Kind, Scale, describe_scale
from shadowprobe.measure.corrected_scores import CorrectedScores
from shadowprobe.measure.stored_priors import StoredPriors, read_priors
from shadowprobe.systems.calling import by_id
from shadowprobe.systems.options import describe_system, list_incidental, option_values

from ._shared.neutral_answers import NeutralAnswers

# So many names show what the scores of a linker are.
NAMES_FOR_SCALE = 16
# Another address of the same service gives the same priors.
ADDRESS = "url"


class DebiasedLinker(Linker):
    """Another linker, corrected for its prior; `-o of=NAME -o weight=0.5`, and its options as `-o of.KEY=VALUE`.

    `score'(c | x) = score(c | x) - weight * mean over neutral contexts of score(c)`, in log space, as `shadowprobe
    debias` computes it. `priors` is the debias.json of a run of the same linker: it has the means of its names, and the
    weight where `weight` is not given. For every other name the neutral contexts are linked once, and their answers are
    kept in the user's cache. `templates` is a file of other neutral contexts, one sentence a line with {name} in it.
    `scale` says what the scores are (log, probability or other); without it, that of `priors` is taken, or else the
    neutral contexts of 16 names of the dataset are looked at. Every corrected prediction has a `suspicion`.
    """

    name = "debiased"
    needs = "a linker: -o of=NAME, and what that linker needs"
    option_help: ClassVar[dict[str, str]] = {
        "of": "the linker to correct; its own options are -o of.KEY=VALUE",
        "weight": "how much of the prior is subtracted, from 0 to 1",
        "priors": "the debias.json of a run of the same linker",
        "scale": "what the scores are",
        "templates": "a file of neutral contexts, one sentence a line with {name} in it",
    }

    def __init__(
        self,
        of: Linker,
        weight: float | None = None,
        priors: Path | None = None,
        scale: Kind | None = None,
        templates: Path | None = None,
    ) -> None:
        if isinstance(of, DebiasedLinker):
            raise ValueError("`of` is corrected already; give the linker that it corrects")
        if weight is None and priors is None:
            raise ValueError("needs a weight: add -o weight=0.5, or -o priors=RUN/debias.json with a chosen one")
        if weight is not None and not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight:g}, and must be from 0 (no correction) to 1")
        self.of, self.weight, self.priors, self.scale, self.templates = of, weight, priors, scale, templates
        # It links what the inner linker links, and in its batches.
        vars(self).update(sees_gold=of.sees_gold, batch_size=of.batch_size, howto=of.howto)

    def setup(self) -> None:
        """Reads the priors, opens the inner linker, and finds out what its scores are."""
        self._name = self.of.name or type(self.of).__name__
        self._stored: StoredPriors | None = read_priors(self.priors) if self.priors is not None else None
        self._templates = read_templates(self.templates) if self.templates is not None else None
        description = self._describe_inner()
        self._weight = self._choose_weight()
        self.of.open(self.knowledge)
        try:
            self._prepare(description)
        except BaseException:
            # Nobody closes a linker that did not start.
            self.of.close()
            raise

    def _choose_weight(self) -> float:
        """The given weight, or the one that was chosen for the priors, which a reader must know."""
        if self.weight is not None or self._stored is None:
            return self.weight or 0.0
        if self._stored.weight:
            self.note(f"the weight is {self._stored.weight:g}, as {self.priors} says")
        else:
            self.note(f"{self.priors} says that the correction is not worth it; its weight is 0, and no answer changes")
        return self._stored.weight

    def _prepare(self, description: dict[str, Any]) -> None:
        self._resolver = Resolver(self.knowledge.entities.values(), language=self.knowledge.language)
        self._neutral = NeutralAnswers(self.of, self.knowledge, self._find_templates(), description)
        self._means: dict[str, dict[str, float]] = dict(self._stored.priors) if self._stored is not None else {}
        self._scale = self._stored.log_scale if self._stored is not None else self._find_scale()
        if self._stored is not None and (sentence := describe_scale(self._scale, np.zeros(0))):
            self.note(sentence)

    def _describe_inner(self) -> dict[str, Any]:
        """The inner linker without the options that cannot change an answer; refuses the priors of another one."""
        description = describe_system(self._name, self.of.version, option_values(self.of))
        incidental = list_incidental(self.of)
        options = {key: value for key, value in description["options"].items() if key not in incidental}
        if self._stored is not None:
            if self.scale not in {None, self._stored.scale.kind}:
                raise UsageError(
                    f"scale is {self.scale}, and the priors of {self.priors} are of the scale {self._stored.scale.kind}"
                )
            other = self._stored.linker
            if other.name != self._name:
                raise UsageError(f"{self.priors} has the priors of `{other.name}`, and not of `{self._name}`")
            files = description.get("files", {})
            for key, value in options.items():
                if key in files and key in other.files:
                    if files[key] != other.files[key]:
                        raise UsageError(
                            f"{self.priors} has the priors of `{self._name}` with another content of {key}={value}:"
                            " make it again with `shadowprobe debias`"
                        )
                elif key != ADDRESS and value != other.options.get(key, value):
                    raise UsageError(
                        f"{self.priors} has the priors of `{self._name}` with {key}={other.options[key]}, and not with"
                        f" {key}={value}: make it again with `shadowprobe debias`"
                    )
            if other.version != self.of.version:
                self.note(
                    f"the priors of {self.priors} are those of `{self._name}` {other.version or 'of unknown version'},"
                    f" and this is {self.of.version or 'of unknown version'}"
                )
        return {**description, "options": options}

    def _find_templates(self) -> Sequence[str]:
        return self._templates if self._templates is not None else words_of(self.knowledge.language).neutral

    def _find_scale(self) -> Scale:
        """Looks at the scores of the first names in neutral contexts; refuses a linker that cannot be corrected."""
        names = [space.name for space in self.knowledge.spaces if len(space.entities) > 1][:NAMES_FOR_SCALE]
        if not names:
            if self.scale is None:
                raise UsageError(
                    f"linker `{self.name}`: the dataset has no ambiguous names that show what the scores of"
                    f" `{self._name}` are: add -o scale=log, probability or other"
                )
            return Scale(self.scale)
        found = self._ask_neutral(names)
        answers = {name: one for name, one in found.items() if not isinstance(one, str)}
        if not answers:
            name, problem = next(iter(found.items()))
            raise LinkerError(f"linker `{self.name}`: {_explain(name, str(problem))}")
        table = self._make_table([(name, one) for name, own in answers.items() for one in own])
        scores = CandidateScores(table, self.scale)
        if why := scores.explain_left(np.ones(len(table), dtype=np.bool_)):
            raise LinkerError(f"linker `{self.name}`: `{self._name}` cannot be corrected: {why}")
        if sentence := describe_scale(scores.scale, scores.score):
            self.note(sentence)
        return scores.scale

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Links with the inner linker, and corrects what it gives."""
        given = by_id(self.of.link(snippets)) if snippets else {}
        names = {snippet.id: snippet.space or snippet.mention for snippet in snippets}
        problems = self._add_means({names[id] for id, one in given.items() if id in names and _has_choice(one)})
        rows: list[tuple[str, Prediction]] = []
        results: list[Prediction | Failure] = []
        for snippet_id, one in given.items():
            name = names.get(snippet_id, "")
            if isinstance(one, Failure):
                results.append(one)
            elif _has_choice(one) and name in problems:
                results.append(Failure(snippet_id, _explain(name, problems[name])))
            else:
                rows.append((name, one))
        self._copy_notes()
        return [*results, *self._correct(rows)]

    def _correct(self, rows: Sequence[tuple[str, Prediction]]) -> Iterable[Prediction]:
        """The corrected predictions, each given with its name."""
        table = self._make_table(rows)
        self._check_scale(table)
        corrected = CorrectedScores(CandidateScores(table, scale=self._scale, priors=self._means))
        weights = np.full(len(table.space_names), self._weight)
        return corrected.correct_predictions(enumerate(one for _, one in rows), weights)

    def _check_scale(self, table: AnswerColumns) -> None:
        """Refuses scores that are not what they looked like."""
        score, kind = table.candidates.score, self._scale.kind
        if self.scale == "probability" and (score < 0).any():
            raise LinkerError(
                f"linker `{self.name}`: `{self._name}` gives a score of {score.min():.3g}, and a probability is not"
                " below 0: choose -o scale=log or other"
            )
        if self.scale is not None or self._stored is not None or kind == "other" or not len(score):
            return
        wrong = score > (ROUNDING if kind == "log" else 1 + ROUNDING)
        if kind == "probability":
            wrong |= score < 0
        if wrong.any():
            what = "logarithms" if kind == "log" else "probabilities"
            raise LinkerError(
                f"linker `{self.name}`: `{self._name}` gives a score of {score[wrong][0]:.3g}, and in neutral contexts"
                f" its scores looked like {what}: say what they are with -o scale=log, probability or other"
            )

    def _add_means(self, names: set[str]) -> dict[str, str]:
        """Finds the priors of names that have none yet; returns why that failed, by name."""
        missing = sorted(names - self._means.keys())
        found = self._ask_neutral(missing) if missing else {}
        rows = [(name, one) for name, own in found.items() if not isinstance(own, str) for one in own]
        means = CandidateScores(self._make_table(rows), scale=self._scale).priors()
        problems = {name: own for name, own in found.items() if isinstance(own, str)}
        # A name without a score in any neutral context has no priors, and is not asked about again.
        self._means |= {name: means.get(name, {}) for name in found if name not in problems}
        return problems

    def _ask_neutral(self, names: Sequence[str]) -> dict[str, list[Prediction] | str]:
        if not self._find_templates():
            raise UsageError(
                f"linker `{self.name}`: no neutral contexts are known for `{self.knowledge.language}` (only for"
                f" {', '.join(known_languages())}): add -o templates=FILE with one sentence a line, {{name}} in it"
            )
        found = self._neutral.find(names)
        if self._neutral.problem:
            self.note(f"the answers in neutral contexts are not kept for the next run: {self._neutral.problem}")
        self._copy_notes()
        return found

    def _make_table(self, rows: Sequence[tuple[str, Prediction]]) -> AnswerColumns:
        """Predictions in columns, each given with its name. All count as neutral, which only matters without priors."""
        names = list(dict.fromkeys(name for name, _ in rows))
        number = {name: place for place, name in enumerate(names)}
        space = np.array([number[name] for name, _ in rows], dtype=np.int32)
        table = AnswerColumns(self._resolver, (), names, space, np.ones(len(rows), dtype=np.bool_))
        for row, (_, prediction) in enumerate(rows):
            table.enter(prediction, row)
        return table

    def _copy_notes(self) -> None:
        for sentence in self.of.notes:
            self.note(sentence)

    @property
    def status(self) -> str:
        """What the inner linker says to a user who waits."""
        return self.of.status

    def ready(self) -> str:
        """Which linker is corrected, with which weight, and what was found."""
        return ", ".join(filter(None, [f"{self._name}, weight {self._weight:g}", self.of.ready()]))

    def outgoing(self, snippet: Snippet) -> str:
        """What the inner linker sends."""
        return self.of.outgoing(snippet)

    def close(self) -> None:
        """Closes the inner linker."""
        self.of.close()


def _has_choice(given: Prediction | Failure) -> bool:
    """True for an entity that was chosen among scored candidates: only then a prior is needed."""
    if isinstance(given, Failure) or given.status != "linked":
        return False
    return sum(candidate.score is not None for candidate in given.candidates) > 1


def _explain(name: str, problem: str) -> str:
    return f"the neutral contexts of {name!r} could not be linked: {problem}"
