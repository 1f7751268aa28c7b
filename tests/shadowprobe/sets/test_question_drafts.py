"""Sets, rejected drafts and counts from replies that are worked out by hand."""

from __future__ import annotations

import msgspec
from generation_world import ANSWERS, AVON_SET, FUNNELS, QUESTIONS, names

from shadowprobe.queries.query import Document
from shadowprobe.sets.name_documents import NameDocuments
from shadowprobe.sets.question_drafts import answer_key, list_answer_prompts, list_question_prompts, make_sets

REPLIES = QUESTIONS | {
    answer_key(one.name, document): ANSWERS[document.title]
    for one in names()
    for document in one.documents
    if document.title in ANSWERS
}


def test_what_passes_all_rules_becomes_a_set() -> None:
    made = make_sets(names(), REPLIES)
    assert msgspec.json.decode(msgspec.json.encode(made.sets)) == [AVON_SET]
    assert msgspec.to_builtins(made.funnels) == FUNNELS


def test_every_stage_keeps_or_drops_what_it_sees() -> None:
    for funnel in make_sets(names(), REPLIES).funnels:
        assert funnel.seen == funnel.kept + sum(funnel.dropped.values())


def test_each_dropped_draft_is_kept_with_its_reason() -> None:
    made = make_sets(names(), REPLIES)
    reasons: dict[str, int] = {}
    for one in made.rejected:
        reasons[one.reason] = reasons.get(one.reason, 0) + 1
    assert reasons == {reason: count for funnel in FUNNELS for reason, count in _dropped(funnel).items()}


def _dropped(funnel: dict[str, object]) -> dict[str, int]:
    dropped = funnel["dropped"]
    assert isinstance(dropped, dict)
    return dropped


def test_only_documents_of_a_question_that_can_be_asked_are_asked_about() -> None:
    assert [prompt.id for prompt in list_question_prompts(names())] == list(QUESTIONS)
    assert list(list_answer_prompts(names(), {})) == []
    # Avon, Berg and Esk.
    assert [prompt.id.partition("\n")[2] for prompt in list_answer_prompts(names(), QUESTIONS)] == list(ANSWERS)


def test_what_has_no_reply_yet_is_counted_as_such() -> None:
    _, questions, answers, _ = make_sets(names(), {"Avon": QUESTIONS["Avon"]}).funnels
    assert questions.dropped == {"no reply": 6}
    assert answers.dropped == {"no reply": 3}


def test_a_name_with_one_document_is_counted_and_not_asked_about() -> None:
    alone = NameDocuments("Fleet", (Document("1", "Fleet", "A river."),))
    assert list(list_question_prompts([alone])) == []
    assert make_sets([alone], {}).funnels[0].dropped == {"name with fewer than two documents": 1}
