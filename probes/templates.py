"""Which neutral template pulls a linker where."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.dataset.index import NONE
from shadowprobe.measure.answer_columns import Ints
from shadowprobe.measure.statistics import describe_rate

UNKNOWN = "unknown"


class TemplatesProbe(Probe):
    """Are the neutral contexts neutral? What each template gets, and what it pulls away from the prior.

    Of the contexts of each template: `top`, `shadow` and `elsewhere`, the shares that name the top entity of the name,
    another entity of it, or one that is none of its entities; with `nil` (NIL, skipped or failed) they add up to 1.
    `prior`: the share that names the prior, of the names that have one. `pulled_to`: the kinds of the entities that
    are named although they are not the prior, most frequent first, where the dataset knows kinds. `spread`: the
    highest `prior` minus the lowest; near 0 no template stands out. `text`: the template, where its contexts share one.
    """

    name = "templates"

    def measure(self, answers: Answers) -> Findings:
        """The row of each template, and how far they lie apart."""
        if not answers.rows("neutral").any():
            return not_measured("the dataset has no neutral contexts")
        templates = np.unique(answers.template[answers.template != NONE]).tolist()
        if not templates:
            return not_measured("the neutral contexts do not say which template they are made from")
        if not (answers.prior >= 0).any():
            return not_measured("the linker names no entity in any neutral context")
        texts = answers.dataset.index.template_texts
        table = {
            str(template): {
                "text": texts[template],
                **self._row(answers, np.flatnonzero(answers.template == template).astype(np.int32)),
            }
            for template in templates
        }
        shares = [row["prior"] for row in table.values() if row["prior"] is not None]
        return {"spread": max(shares) - min(shares), "templates": table}

    def _row(self, answers: Answers, rows: Ints) -> dict[str, Any]:
        entity, space = answers.entity[rows], answers.space[rows]
        linked, prior = entity >= 0, answers.prior[space]
        top = linked & (entity == answers.top_of[space])
        titles = [answers.dataset.spaces[answers.space_names[code]].entities for code in space]
        known = np.array([code >= 0 and answers.names[code] in own for code, own in zip(entity, titles, strict=True)])
        with_prior = int(np.count_nonzero(prior >= 0))
        same = int(np.count_nonzero(linked & (entity == prior)))
        kinds = Counter(self._kind(answers, code) for code in entity[linked & (entity != prior)])
        return {
            "n": len(rows),
            "top": float(np.mean(top)),
            "shadow": float(np.mean(known & ~top)),
            "elsewhere": float(np.mean(linked & ~known)),
            "nil": float(np.mean(~linked)),
            **describe_rate("prior", same, with_prior),
            "pulled_to": dict(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
            "mean_score": self._mean_score(answers, rows[linked]),
        }

    def _kind(self, answers: Answers, code: int) -> str:
        entity = answers.dataset.entities.get(answers.names[code])
        return (entity.kind if entity is not None else None) or UNKNOWN

    def _mean_score(self, answers: Answers, rows: Ints) -> float | None:
        score = answers.score[rows]
        score = score[~np.isnan(score)]
        return float(np.mean(score)) if len(score) else None
