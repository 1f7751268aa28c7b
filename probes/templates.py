"""Which neutral template pulls a linker where."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.answers import Ints
from shadowprobe.statistics import wilson

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
        rows, texts = self._contexts(answers)
        if not rows:
            return not_measured("the neutral contexts do not say which template they are made from")
        if not (answers.prior >= 0).any():
            return not_measured("the linker names no entity in any neutral context")
        table = {
            str(template): {"text": texts[template], **self._row(answers, np.array(rows[template], dtype=np.int32))}
            for template in sorted(rows)
        }
        shares = [row["prior"] for row in table.values() if row["prior"] is not None]
        return {"spread": max(shares) - min(shares), "templates": table}

    def _contexts(self, answers: Answers) -> tuple[dict[int, list[int]], dict[int, str | None]]:
        """The rows of each template, and its text with `{name}` in place of the mention."""
        rows: defaultdict[int, list[int]] = defaultdict(list)
        texts: dict[int, str | None] = {}
        for snippet in answers.dataset.snippets("neutral"):
            if snippet.template is not None:
                rows[snippet.template].append(answers.row[snippet.id])
                text = f"{snippet.text[: snippet.start]}{{name}}{snippet.text[snippet.end :]}"
                if texts.setdefault(snippet.template, text) != text:
                    texts[snippet.template] = None
        return dict(rows), texts

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
            "prior": same / with_prior if with_prior else None,
            "prior_ci95": list(wilson(same, with_prior)) if with_prior else None,
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
