"""What the context gives without the name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from shadowprobe import Answers, Findings, Snippet, VariantProbe, not_measured
from shadowprobe.measure.statistics import describe_rate

if TYPE_CHECKING:
    from shadowprobe import Dataset
    from shadowprobe.measure.variants import Varied

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
        from shadowprobe.base.languages import words_of
        from shadowprobe.measure.context_variants import mask_mention

        word = words_of(dataset.card.language).anything
        for snippet in dataset.snippets("top", "shadow"):
            yield MASKED, mask_mention(snippet, word)

    def compare(self, answers: Answers, varied: Mapping[str, Varied]) -> Findings:
        """The accuracy without the name on each subset."""
        from shadowprobe.measure.variants import against_the_run

        if MASKED not in varied:
            return not_measured("the dataset has no Top or Shadow snippets")
        findings: Findings = {}
        for subset, row in against_the_run(answers, varied[MASKED]).items():
            rows = answers.rows(subset)
            entity = varied[MASKED].answers.entity[rows]
            hits = int(np.count_nonzero(entity == answers.top_of[answers.space[rows]]))
            findings[subset] = row | describe_rate("answered_with_top", hits, row["n"])
        return findings
