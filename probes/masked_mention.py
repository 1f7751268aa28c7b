"""What the context gives without the name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from shadowprobe import Answers, Findings, Snippet, VariantProbe, not_measured
from shadowprobe.statistics import wilson

if TYPE_CHECKING:
    from shadowprobe import Dataset
    from shadowprobe.variants import Varied

MASKED = "masked"


class MaskedMentionProbe(VariantProbe):
    """What does the context alone give? The mention, wherever it stands, replaced by a word that names nothing.

    Of Top and of Shadow: `accuracy` without the name; `change`, that minus the accuracy with it, with a paired
    bootstrap interval; `nil`, the share that got no entity; `answered_with_top`, the share that got the Top entity all
    the same. A linker of a closed choice still chooses among the entities of the name; a system that looks its
    candidates up by the words of the mention finds none, and its `nil` says so.
    """

    name = "masked_mention"
    needs = "new predictions: `run --also masked_mention`"

    def variants(self, dataset: Dataset) -> Iterator[tuple[str, Snippet]]:
        """The Top and Shadow snippets without their name."""
        from shadowprobe.build.languages import words_of
        from shadowprobe.contexts import masked

        word = words_of(dataset.card.language).anything
        for snippet in dataset.snippets("top", "shadow"):
            yield MASKED, masked(snippet, word)

    def compare(self, answers: Answers, varied: Mapping[str, Varied]) -> Findings:
        """The accuracy without the name on each subset."""
        from shadowprobe.variants import against_the_run

        if MASKED not in varied:
            return not_measured("the dataset has no Top or Shadow snippets")
        findings: Findings = {}
        without = varied[MASKED].answers
        for subset in ("top", "shadow"):
            found = against_the_run(answers, varied[MASKED], subset)
            if found is None:
                continue
            rows = answers.rows(subset)
            hits = int(np.count_nonzero(without.entity[rows] == answers.top_of[answers.space[rows]]))
            found["answered_with_top"] = hits / found["n"]
            found["answered_with_top_ci95"] = list(wilson(hits, found["n"]))
            findings[subset] = found
        return findings
