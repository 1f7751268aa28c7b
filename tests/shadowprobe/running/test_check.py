"""The battery finds what is wrong with a wrapper."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shadowprobe import Candidate, Dataset, ItemError, Linker, LinkerError, Prediction, Snippet
from shadowprobe.running.check import Finding, check


class Good(Linker):
    """Answers with the first candidate."""

    name = "good"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        return [self.one(snippet) for snippet in snippets]

    def one(self, snippet: Snippet) -> Prediction:
        found = self.knowledge.candidates(snippet.mention)
        return self.answer(snippet, found[0], 0.5) if found else self.nil(snippet)


def broken(linker: Linker, dataset: Dataset) -> list[str]:
    """What the battery finds broken, by the words of its table."""
    return [finding.what for finding in check(linker, dataset) if not finding.holds]


def test_a_right_wrapper_passes(world: Dataset) -> None:
    assert broken(Good(), world) == []


def test_the_first_answer_is_shown(world: Dataset) -> None:
    shown = next(finding.detail for finding in check(Good(), world) if finding.what == "it answers")
    assert "[Avon]" in shown
    assert "Avon (river), score 0.5, resolved by title" in shown


class SearchesForTheName(Good):
    """Looks the mention up in the text, and takes the first place it finds."""

    def one(self, snippet: Snippet) -> Prediction:
        if snippet.text.index(snippet.mention) != snippet.start:
            raise ValueError("the span is not where I looked")
        return super().one(snippet)


class CountsUtf16(Good):
    """Reads the offsets as UTF-16 units, as Java does."""

    def one(self, snippet: Snippet) -> Prediction:
        units = snippet.text.encode("utf-16-le")
        mention = units[2 * snippet.start : 2 * snippet.end].decode("utf-16-le")
        return self.answer(snippet, self.knowledge.candidates(mention)[0])


class SkipsWhatItDoesNotFind(Good):
    """Asks for the first place of the name, and finds no answer on the mention's own."""

    def one(self, snippet: Snippet) -> Prediction:
        return super().one(snippet) if snippet.text.index(snippet.mention) == snippet.start else self.skip(snippet)


class CountsUtf16AndSaysNil(CountsUtf16):
    """The same, without a crash: the system has never heard of what stands there."""

    def one(self, snippet: Snippet) -> Prediction:
        try:
            return super().one(snippet)
        except IndexError:
            return self.nil(snippet)


class BatchDependent(Good):
    """Ranks differently when it is given more than one."""

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        return [
            self.answer(s, c[-1 if len(snippets) == 2 else 0])
            if (c := self.knowledge.candidates(s.mention))
            else self.skip(s)
            for s in snippets
        ]


class OrderDependent(Good):
    """Lets the first snippet of a batch colour the others."""

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        if snippets and snippets[0].id.startswith("n"):
            return [self.nil(snippet) for snippet in snippets]
        return super().link(snippets)


class Forgetful(Good):
    """Leaves one out."""

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        return super().link(snippets)[: max(1, len(snippets) - 1)]


class Crashing(Good):
    """Takes it for granted that every name is known."""

    def one(self, snippet: Snippet) -> Prediction:
        return self.answer(snippet, self.knowledge.candidates(snippet.mention)[0])


class Unranked(Good):
    """Lists its candidates from the worst up."""

    def one(self, snippet: Snippet) -> Prediction:
        worst_first = (Candidate("A", score=0.1), Candidate("B", score=0.9))
        return self.answer(snippet, "B", 0.9, worst_first)


class NotFinite(Good):
    """Takes the logarithm of nothing."""

    def one(self, snippet: Snippet) -> Prediction:
        return self.answer(snippet, "B", float("-inf"))


class NeedsAtLeastOne(Good):
    """Looks at the first snippet of every batch."""

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        assert snippets[0]
        return super().link(snippets)


class OfAnotherWiki(Good):
    """Names entities that the dataset does not know."""

    def one(self, snippet: Snippet) -> Prediction:
        return self.answer(snippet, f"Fluss {snippet.mention}")


class NamesNobody(Good):
    """Says that it has linked the mention, and to nothing."""

    def one(self, snippet: Snippet) -> Prediction:
        return self.answer(snippet, " ")


class NeedsAWordBefore(Good):
    """Looks at the word before the mention."""

    def one(self, snippet: Snippet) -> Prediction:
        assert snippet.text == snippet.mention or snippet.text[: snippet.start].split()[-1]
        return super().one(snippet)


class NeedsAWordBehind(Good):
    """Looks at the word behind the mention."""

    def one(self, snippet: Snippet) -> Prediction:
        assert snippet.text == snippet.mention or snippet.text[snippet.end :].split()[0]
        return super().one(snippet)


class Talkative(Good):
    """Answers for what nobody asked about."""

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        return [*super().link(snippets), Prediction("nobody", status="nil")]


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (SearchesForTheName, "the name twice"),
        (SkipsWhatItDoesNotFind, "the name twice"),
        (CountsUtf16, "characters beyond the BMP"),
        (CountsUtf16AndSaysNil, "characters beyond the BMP"),
        (BatchDependent, "any batch size"),
        (OrderDependent, "any order"),
        (Forgetful, "a prediction for every snippet"),
        (Crashing, "an unknown name"),
        (Unranked, "candidates fall from the best"),
        (NotFinite, "scores are finite"),
        (NeedsAtLeastOne, "no snippets, no predictions"),
        (OfAnotherWiki, "entities that the dataset knows"),
        (NamesNobody, "it answers"),
        (NeedsAWordBefore, "at the very start and at the very end"),
        (NeedsAWordBehind, "at the very start and at the very end"),
        (Talkative, "none besides"),
    ],
)
def test_each_common_mistake_is_found(kind: Callable[[], Linker], what: str, world: Dataset) -> None:
    assert any(what in found for found in broken(kind(), world))


def test_what_goes_wrong_without_a_crash_is_told_with_its_likely_cause(world: Dataset) -> None:
    searching, counting = (
        [finding.detail for finding in check(kind(), world) if not finding.holds]
        for kind in (SkipsWhatItDoesNotFind, CountsUtf16AndSaysNil)
    )
    shown = "...Anglers say that [Avon] runs clear above the mill.... is answered, and"
    assert searching == [
        f"{shown} with the name once more behind it the second is skipped: is it looked for in the text, and not where"
        " its offsets say?"
    ]
    assert counting == [
        f"{shown} behind such characters it is nil: are its offsets code points, or does the system count otherwise?"
    ]


def test_where_nothing_is_answered_offsets_cannot_be_told(world: Dataset) -> None:
    class Silent(Good):
        def one(self, snippet: Snippet) -> Prediction:
            return self.skip(snippet)

    findings = {finding.what: finding for finding in check(Silent(), world)}
    for what in ("the name twice: each of the two can be asked for", "characters beyond the BMP before the mention"):
        assert findings[what] == Finding(what, True, "unknown: no snippet of the sample is answered")


def test_a_linker_that_cannot_start_is_one_finding(world: Dataset) -> None:
    class Stuck(Good):
        def setup(self) -> None:
            raise OSError("no such model")

    findings = list(check(Stuck(), world))
    assert [(finding.what, finding.holds, finding.detail) for finding in findings] == [
        ("it starts", False, "OSError: no such model")
    ]


def test_where_the_system_was_found_is_shown(world: Dataset) -> None:
    class Found(Good):
        def ready(self) -> str:
            return "version 7"

    assert next(iter(check(Found(), world))) == Finding("it starts", True, "version 7")


def test_a_system_that_is_not_to_be_had_is_said_once(world: Dataset) -> None:
    class Gone(Good):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            raise LinkerError("nobody is at home")

    assert [finding.detail for finding in check(Gone(), world) if not finding.holds] == ["nobody is at home"]


def test_a_failure_of_one_snippet_does_not_stop_the_other_cases(world: Dataset) -> None:
    class Fussy(Good):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            if any(snippet.text.isascii() is False for snippet in snippets):
                raise ItemError("not in my alphabet")
            return super().link(snippets)

    assert broken(Fussy(), world) == ["characters beyond the BMP before the mention"]
