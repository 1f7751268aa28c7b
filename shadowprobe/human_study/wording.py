"""The words of each study on its form and in its sheet."""

from __future__ import annotations

from msgspec import Struct

from shadowprobe.human_study.sample import Choice, Study

NOT_SUFFICIENT = "The context is not sufficient to decide"
# The table of the poster on AmbigDocs, in the order of `ambigdocs_sample.CATEGORIES`.
KINDS_OF_ANSWERS = (
    Choice("Complete", "It gives the answer of every document, each with the entity that it is about."),
    Choice("Partial", "It gives some of the answers, each with its entity, and no answer without its entity."),
    Choice("No answer", "It gives none of the answers."),
    Choice("Ambiguous", "It gives one answer and does not say which entity it is about."),
    Choice("Merged", "Anything else: several answers without their entities, or some with and some without."),
)


class Wording(Struct, frozen=True):
    """What annotators are asked; the file `page/STUDY.html` explains it to them."""

    # Behind the name of the study, in the title of the page.
    subject: str
    ask: str
    # What an item is.
    noun: str
    # The column of the sheet that has it.
    column: str
    # What can be chosen for every item, behind its own choices.
    always: tuple[Choice, ...] = ()
    # True if the answer is marked in the chosen document.
    is_marked: bool = False


WORDINGS: dict[Study, Wording] = {
    "shadowlink": Wording(
        subject="which one is meant?",
        ask="Which one does the marked name mean here?",
        noun="text",
        column="text",
        always=(Choice(NOT_SUFFICIENT),),
    ),
    "amber": Wording(
        subject="which document has the answer?",
        ask="Which document has the answer?",
        noun="question",
        column="question",
        is_marked=True,
    ),
    "ambigdocs": Wording(
        subject="what kind of answer is it?",
        ask="What kind of answer is the output?",
        noun="output",
        column="question",
        always=KINDS_OF_ANSWERS,
    ),
}
