"""Examples from a held-out part, never about the name or a document of the set that is asked about."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from namesake_sets import AVON, BERG, COMO, ambig_set

from shadowprobe import UsageError
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.queries.document_order import DocumentOrder
from shadowprobe.queries.examples import Examples, HeldOut
from shadowprobe.systems.chat_answerer import make_prompt

# The same name in other letters, as a disambiguation page, and one of its documents under another name.
LEAKS = [
    ambig_set("leak-1", "AVON", ("Avon (soap)", "leaked soap"), ("Avon (town)", "leaked town")),
    ambig_set("leak-2", "avon (disambiguation)", ("Avon (soap)", "leaked soap"), ("Avon (town)", "leaked town")),
    ambig_set("leak-3", "A\u00adv", ("Avon  (river)", "leaked river"), ("Av (town)", "leaked town")),
]
FAIR = [BERG, COMO]


def numbered(count: int, name: str = "N{0}") -> list[AmbigSet]:
    return [
        ambig_set(number, name.format(number), (f"N{number} (a)", "x"), (f"N{number} (b)", "y"))
        for number in range(count)
    ]


def test_a_planted_leak_is_never_shown() -> None:
    for seed in range(50):
        examples = Examples([*LEAKS, *FAIR], 2, seed)
        assert {one.id for one in examples.choose(AVON)} == {"berg", "como"}
        assert "leaked" not in make_prompt(AVON, examples=examples)


def test_too_few_examples_about_other_names_are_refused_before_anybody_is_asked() -> None:
    Examples([*LEAKS, *FAIR], 2).check([AVON])
    with pytest.raises(UsageError, match=r"--shots 3: 2 of the 5 examples are about other names .* 'avon' \(Avon\)"):
        Examples([*LEAKS, *FAIR], 3).check([replace(BERG, qid="x", ambiguous_entity="X", documents=()), AVON])
    with pytest.raises(UsageError, match=r"--shots 1: 0 of the 0 examples"):
        Examples([], 1).check([AVON])


def test_the_examples_of_a_set_are_drawn_by_its_id_and_the_seed() -> None:
    pool = numbered(30)
    chosen = {(seed, one.id): [e.id for e in Examples(pool, 3, seed).choose(one)] for seed in (0, 1) for one in FAIR}
    assert all(len(set(ids)) == 3 for ids in chosen.values())
    assert len({tuple(ids) for ids in chosen.values()}) == 4
    assert [e.id for e in Examples(pool, 3).choose(BERG)] == chosen[0, "berg"]


def test_all_sets_of_a_name_are_held_out_or_none() -> None:
    sets = [*numbered(6), *(replace(one, qid=f"again-{one.qid}") for one in numbered(6, "n{0} (disambiguation)"))]
    held, asked = HeldOut(2, 3).split(sets)
    assert (len(held), len(asked)) == (4, 8)
    assert not {one.name.lower() for one in held} & {one.name.lower() for one in asked}
    assert HeldOut(2, 3).split(sets) == (held, asked)
    assert any(HeldOut(2, seed).split(sets)[0] != held for seed in range(5))


def test_a_name_must_be_left_to_ask_about() -> None:
    assert len(HeldOut(2).split([AVON, BERG, COMO])[1]) == 1
    with pytest.raises(UsageError, match="--held-out 3: the sets are about 3 names, and none would be left"):
        HeldOut(3).split([AVON, BERG, COMO])


def test_an_example_has_its_documents_its_question_and_the_answer_of_each() -> None:
    prompt = make_prompt(AVON, DocumentOrder("given"), Examples([COMO], 1))
    assert prompt == (
        "Answer each question from the documents above it and from nothing else. The first answers are examples.\n\n"
        "Document 1: Como (river)\nAll that is known of Como (river).\n\n"
        "Document 2: Como (ship)\nAll that is known of Como (ship).\n\n"
        "Document 3: Como (play)\nAll that is known of Como (play).\n\n"
        "Question: What of Como?\n"
        "Answer: Como (river): Tuscany. Como (ship): Genoa. Como (play): Lyon.\n\n"
        "Document 1: Avon (river)\nAll that is known of Avon (river).\n\n"
        "Document 2: Avon (ship)\nAll that is known of Avon (ship).\n\n"
        "Question: What of Avon?\nAnswer:"
    )


def test_the_documents_of_examples_are_in_the_same_order() -> None:
    prompt = make_prompt(AVON, DocumentOrder("reversed"), Examples([COMO], 1))
    assert "Answer: Como (play): Lyon. Como (ship): Genoa. Como (river): Tuscany.\n" in prompt
    assert prompt.rindex("Avon (ship)") < prompt.rindex("Avon (river)")
