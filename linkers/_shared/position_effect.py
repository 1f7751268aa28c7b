"""How much the position of an option decides whether a model chooses it."""

from __future__ import annotations

from collections.abc import Sequence

from .decision_protocols import Question


class PositionEffect:
    """Counts how often the first option is chosen, and how often the order of the options changes the choice."""

    def __init__(self) -> None:
        self.questions = self.texts = self.changed = 0
        self.first = self.expected = 0.0

    def add(self, questions: Sequence[Question], answers: Sequence[dict[str, float]]) -> None:
        """Counts the choices for one text, which was asked about with several orders of the options."""
        chosen = set()
        for question, probabilities in zip(questions, answers, strict=True):
            highest = max(probabilities.values())
            best = frozenset(name for name, probability in probabilities.items() if probability == highest)
            chosen.add(best)
            self.questions += 1
            # Of several best options, each is the choice in a part of the cases.
            self.first += (question.options[0].name in best) / len(best)
            self.expected += 1 / len(question.options)
        if len(questions) > 1:
            self.texts += 1
            self.changed += len(chosen) > 1

    def describe(self) -> str:
        """The effect in one sentence."""
        said = (
            f"position effect: the first option was chosen in {self.first / self.questions:.0%} of {self.questions}"
            f" questions, and by chance it would be {self.expected / self.questions:.0%}"
        )
        if self.texts:
            said += f"; another order changed the choice for {self.changed} of {self.texts} texts"
        return said
