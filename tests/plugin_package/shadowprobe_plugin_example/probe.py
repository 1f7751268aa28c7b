"""A probe as an outsider writes it."""

from __future__ import annotations

from shadowprobe import Answers, Findings, Probe


class Vowels(Probe):
    """Do answers begin with a vowel?"""

    name = "vowels"

    def measure(self, answers: Answers) -> Findings:
        """The share of the answers whose title begins with a vowel."""
        titles = [answers.names[code] for code in answers.entity if code >= 0]
        return {"share": sum(title[0] in "AEIOU" for title in titles) / len(titles) if titles else None}
